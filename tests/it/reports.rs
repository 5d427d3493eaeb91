//! Reports, comparisons and lists, as folds of the stories of whole runs.

use chaos_gameday::model::approval::{ApprovalMode, Person};
use chaos_gameday::model::attendance::{Attendance, Writer};
use chaos_gameday::model::brief::Brief;
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::{Phase, Trigger};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::request::{Continuity, Proof};
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::takeover::Rescuer;
use chaos_gameday::model::units::Span;
use chaos_gameday::report::{
    Change, Comparison, Figure, Measure, RecoveryFate, Report, ReportFormat, RunRow, SloFate,
    StepFate,
};
use console::measure_text_width;

use crate::support::events::{Story, Weather, slo, usual_brief};
use crate::support::journals;

fn report(story: &Story) -> Report {
    Report::from_events(story.records())
}

fn text(report: &Report) -> String {
    ReportFormat::Text.format().render(report)
}

fn json(report: &Report) -> String {
    ReportFormat::Json.format().render(report)
}

fn stories() -> [(&'static str, Story); 8] {
    [
        ("held", Story::held()),
        ("deviated", Story::deviated()),
        ("refused", Story::refused()),
        ("aborted", Story::aborted()),
        ("inconclusive", Story::inconclusive()),
        ("stuck", Story::stuck()),
        ("rescued", Story::rescued()),
        ("recovered", Story::recovered()),
    ]
}

#[test]
fn every_story_has_its_text() {
    for (name, story) in stories() {
        insta::assert_snapshot!(format!("text_{name}"), text(&report(&story)));
    }
}

#[test]
fn every_story_has_its_json() {
    for (name, story) in stories() {
        insta::assert_snapshot!(format!("json_{name}"), json(&report(&story)));
    }
}

#[test]
fn every_story_has_its_outcome_and_fates() {
    let told: Vec<_> = stories()
        .iter()
        .map(|(name, story)| {
            let report = report(story);
            let recovery = report.recovery.map(|recovery| recovery.fate);
            (
                *name,
                report.verdict.exit_code,
                report.steps[0].fate,
                recovery,
            )
        })
        .collect();
    let expected = [
        ("held", Some(0), StepFate::Held, Some(RecoveryFate::InTime)),
        (
            "deviated",
            Some(1),
            StepFate::CutShort,
            Some(RecoveryFate::InTime),
        ),
        (
            "refused",
            Some(3),
            StepFate::NotReached,
            Some(RecoveryFate::NotMeasured),
        ),
        (
            "aborted",
            Some(5),
            StepFate::CutShort,
            Some(RecoveryFate::InTime),
        ),
        (
            "inconclusive",
            Some(6),
            StepFate::CutShort,
            Some(RecoveryFate::InTime),
        ),
        (
            "stuck",
            Some(7),
            StepFate::InPlace,
            Some(RecoveryFate::NotMeasured),
        ),
        (
            "rescued",
            Some(6),
            StepFate::CutShort,
            Some(RecoveryFate::NotMeasured),
        ),
        (
            "recovered",
            Some(6),
            StepFate::Held,
            Some(RecoveryFate::NotMeasured),
        ),
    ];
    assert_eq!(told, expected);
}

#[test]
fn a_fault_that_was_never_or_only_partly_in_is_not_called_held() {
    let in_part = |injected, trigger, cause: Cause| {
        let mut story = Story::begun();
        story.baseline_holds().enter(Trigger::NextStep, Some(0));
        story.enter(Trigger::UndoRecorded, Some(0));
        story
            .enter(Trigger::Injected, Some(0))
            .tell(Event::Confirmed {
                step: 0,
                proof: Proof {
                    injected,
                    planned: 2,
                    continuity: Continuity::Same,
                    evidence: Vec::new(),
                },
            });
        story.ending(cause.clone()).undo(0, trigger).recover(0);
        story.settle(Trigger::Recovered, cause);
        let report = report(&story);
        (report.verdict.exit_code, report.steps[0].fate)
    };
    let never = Cause::NeverInjected {
        why: "no rule was read back".to_owned(),
    };
    let partly = Cause::PartlyInjected {
        injected: 1,
        planned: 2,
    };
    assert_eq!(
        in_part(0, Trigger::NotConfirmed, never),
        (Some(3), StepFate::NotRun)
    );
    assert_eq!(
        in_part(1, Trigger::NotConfirmed, partly),
        (Some(6), StepFate::PartlyIn)
    );
}

#[test]
fn a_run_that_ended_before_any_fault_says_that_none_was_in() {
    let mut story = Story::begun();
    story.enter(Trigger::Begin, None).watch(3, Weather::Calm);
    let cause = Cause::Aborted {
        by: "SIGINT".to_owned(),
    };
    story.ending(cause.clone()).settle(Trigger::Abort, cause);
    let told = text(&report(&story));
    assert!(
        told.contains("Ended by a person or a signal; no fault was in.\n"),
        "{told}"
    );
}

#[test]
fn a_report_without_an_approval_says_that_none_was_needed() {
    let mut records = Story::held().records();
    for record in &mut records {
        if let Event::Approved { approval, .. } = &mut record.event {
            approval.mode = ApprovalMode::NotNeeded;
        }
    }
    let told = text(&Report::from_events(&records));
    assert!(
        told.contains("  Approval      no approval was needed\n"),
        "{told}"
    );
    assert!(
        told.contains("T+00:00.0 no approval was needed\n"),
        "{told}"
    );
    assert!(!told.contains("Approved"), "{told}");
}

#[test]
fn names_of_slos_are_whole_up_to_24_columns() {
    let name = "unclear-answers-in-a-row";
    let brief = Brief {
        slos: vec![slo(name, "<= 800ms", 30)],
        ..usual_brief()
    };
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(3, Weather::Calm);
    story.watch(30, Weather::Storm);
    let told = text(&report(&story));
    let row = format!("  {name} <= 800ms ");
    assert!(told.contains(&row), "{told}");
    assert!(told.contains("in a row, patience\n    30s: "), "{told}");
    let mut rows = told.lines().filter(|line| line.contains(name));
    assert!(rows.all(|line| measure_text_width(line) <= 80));
}

#[test]
fn a_recovery_that_is_late_or_unseen_says_so() {
    let ended = |weather, cause: Cause| {
        let mut story = Story::begun();
        story.baseline_holds().inject(0).watch(30, Weather::Calm);
        story
            .undo(0, Trigger::HoldOver)
            .enter(Trigger::StepsOver, None);
        for _ in 0..60 {
            story.watch(1, weather);
        }
        story.settle(Trigger::RecoveryOver, cause);
        text(&report(&story))
    };
    let slos = || vec!["error-rate".to_owned()];
    let late = ended(Weather::Storm, Cause::RecoveryLate { slos: slos() });
    assert!(
        late.contains("LATE: the SLOs were not back within 1m of the undo."),
        "{late}"
    );
    let unseen = ended(Weather::Fog, Cause::RecoveryUnseen { slos: slos() });
    assert!(unseen.contains("UNSEEN: the SLOs could not be read within 1m of the undo."));
}

/// Lines that a person copies may be longer; nothing else.
fn assert_fits(text: &str) {
    for line in text.lines().filter(|line| !line.starts_with("    curl ")) {
        assert!(measure_text_width(line) <= 80, "too wide: {line}");
    }
}

#[test]
fn a_journal_cut_at_any_line_still_says_what_is_known_and_that_it_is_incomplete() {
    for (name, story) in stories() {
        let records = story.records();
        for count in 0..records.len() {
            let report = Report::from_events(&records[..count]);
            let text = text(&report);
            assert_fits(&text);
            let state = RunState::of(&records[..count]);
            // Stuck, and nobody has taken it over yet.
            if name == "recovered" && !state.ends.is_empty() && state.takeovers.is_empty() {
                continue;
            }
            assert_eq!(report.verdict.outcome, None, "{name} {count}");
            assert!(text.starts_with("INCOMPLETE"), "{name} {count}");
            assert_eq!(
                report.in_place.len(),
                state.in_place().count(),
                "{name} {count}"
            );
            let warned = text.contains("curl -X DELETE");
            assert_eq!(warned, state.in_place().next().is_some(), "{name} {count}");
            let value: serde_json::Value = serde_json::from_str(&json(&report)).expect("JSON");
            assert_eq!(value["verdict"]["outcome"], serde_json::Value::Null);
        }
        assert_fits(&text(&report(&story)));
    }
}

#[test]
fn a_run_that_died_with_its_fault_in_place_says_how_to_undo_it() {
    let mut story = Story::begun();
    story.baseline_holds().inject(0).watch(3, Weather::Calm);
    insta::assert_snapshot!(text(&report(&story)));
}

#[test]
fn nothing_at_all_is_a_report_too() {
    let nothing: [Record; 0] = [];
    insta::assert_snapshot!(text(&Report::from_events(&nothing)));
}

#[test]
fn a_journal_without_its_start_still_tells_its_timeline() {
    let records = Story::deviated().records();
    let report = Report::from_events(&records[40..]);
    assert_eq!(report.verdict.outcome, Some(Outcome::Deviated));
    assert_eq!(
        (report.run.as_ref(), report.slos.len(), report.steps.len()),
        (None, 0, 0)
    );
    assert!(text(&report).contains("its journal does not hold its start"));
}

#[test]
fn damage_of_the_journal_stands_under_the_verdict() {
    let mut report = report(&Story::held());
    report.evidence.push("line 6: no record".to_owned());
    let text = text(&report);
    let second_part: Vec<&str> = text
        .lines()
        .skip_while(|line| !line.is_empty())
        .take(3)
        .collect();
    assert_eq!(
        second_part,
        ["", "THE JOURNAL IS DAMAGED", "  - line 6: no record"]
    );
}

/// A run in which everything happens that the usual stories lack.
fn eventful() -> Story {
    let mut brief = usual_brief();
    brief.variables.insert("HOLD".to_owned(), "30s".to_owned());
    brief
        .variables
        .insert("TOKEN".to_owned(), "(secret)".to_owned());
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(3, Weather::Calm);
    story.watch(3, Weather::Storm).watch(2, Weather::Calm);
    story.tell(Event::Noted {
        text: "the alert \"checkout errors\" fired".to_owned(),
        by: None,
    });
    story.tell(Event::TicksMissed {
        slo: "latency-p99".to_owned(),
        missed: 2,
    });
    story.tell(Event::Asked {
        question: "go on?".to_owned(),
    });
    story.tell(Event::Answered {
        answer: "yes".to_owned(),
    });
    story.tell(Event::Warned {
        message: "the API does not tell its session, so a restart would not be noticed".to_owned(),
    });
    story.tell(Event::UndoFailed {
        step: 0,
        attempt: 1,
        problem: Problem::new(ProblemKind::Unreachable, "connection reset"),
    });
    story.undo(0, Trigger::HoldOver).recover(0);
    story.settle(Trigger::Recovered, Cause::StepsDone);
    story
}

#[test]
fn an_eventful_run_tells_everything() {
    let report = report(&eventful());
    assert_eq!(report.slos[0].fate, SloFate::Dipped);
    let text = text(&report);
    assert_fits(&text);
    insta::assert_snapshot!(text);
}

#[test]
fn marks_and_notes_say_who_and_how_long_after_the_fault() {
    let report = report(&Story::attended());
    let mark = &report.marks[0];
    assert_eq!(
        (
            mark.label.as_str(),
            mark.step.as_deref(),
            mark.after_fault_ms
        ),
        ("alert fired", Some("kinesis refuses writes"), Some(6_254))
    );
    let text = text(&report);
    assert_fits(&text);
    let unbroken = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for words in [
        "alert fired 6.2s after the fault of \"kinesis refuses writes\" went in",
        "ada@workbench: checkout is down for me too",
        "ada@workbench marked \"alert fired\", 6.2s after the fault of step 1 went in",
        "a person wants to be asked before the next step",
    ] {
        assert!(unbroken.contains(words), "no `{words}` in\n{text}");
    }
}

#[test]
fn a_report_cannot_steer_the_terminal() {
    let mut brief = usual_brief();
    brief.hypothesis = "calm\u{1b}[2J\u{1b}]0;title\u{7} \u{202e}desrever".to_owned();
    brief.steps[0].name = "a\r\nEXIT CODE 0\u{9b}31m".to_owned();
    brief.steps[0].faults = vec!["x".repeat(300)];
    brief.slos[0].name = "\u{200b}sly\u{1b}[8m".repeat(20);
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).tell(Event::Noted {
        text: "\u{1b}[31mred\nsecond line".to_owned(),
        by: None,
    });
    let report = report(&story);
    let compared = Comparison::between(&report, &report);
    let comparison = ReportFormat::Text.format().render_comparison(&compared);
    for text in [text(&report), comparison] {
        let hostile = |letter: char| {
            (letter.is_control() && letter != '\n') || "\u{202e}\u{200b}".contains(letter)
        };
        assert_eq!(text.find(hostile), None);
        assert_fits(&text);
    }
}

#[test]
fn a_long_timeline_leaves_the_flapping_out_and_says_so() {
    let mut story = Story::begun();
    story.baseline_holds();
    for _ in 0..60 {
        story.watch(1, Weather::Storm).watch(1, Weather::Calm);
    }
    let report = report(&story);
    let text = text(&report);
    assert!(report.timeline.len() > 300);
    assert!(text.lines().count() < 60, "{text}");
    assert!(
        text.contains("360 changes of SLO states left out here; the JSON report has them all.")
    );
}

#[test]
fn formats_are_named_and_others_are_refused() {
    let words = ReportFormat::ALL.map(|format| format.to_string());
    assert_eq!(words, ["text", "json"]);
    for format in ReportFormat::ALL {
        assert_eq!(format.word().parse(), Ok(format));
    }
    let refused = Problem::new(ProblemKind::Invalid, "`pdf` is no report format");
    assert_eq!(
        "pdf".parse::<ReportFormat>(),
        Err(refused.hint("write text or json"))
    );
}

#[test]
fn a_comparison_says_which_of_the_runs_was_taken_over() {
    let (before, after) = (report(&Story::held()), report(&Story::recovered()));
    let compared = Comparison::between(&before, &after);
    let page = ReportFormat::Text.format().render_comparison(&compared);
    let (head, _) = page.split_once("\n\n").expect("a table below");
    insta::assert_snapshot!(head);
}

#[test]
fn a_fix_is_better_and_its_reverse_is_worse() {
    let (broken, fixed) = (report(&Story::deviated()), report(&Story::held()));
    let better = Comparison::between(&broken, &fixed);
    insta::assert_snapshot!(ReportFormat::Text.format().render_comparison(&better));
    let worse = Comparison::between(&fixed, &broken);
    let changes = |comparison: &Comparison| {
        comparison
            .rows
            .iter()
            .map(|row| row.change)
            .collect::<Vec<_>>()
    };
    let turned: Vec<_> = changes(&better)
        .into_iter()
        .map(|change| match change {
            Change::Better => Change::Worse,
            Change::Worse => Change::Better,
            Change::Same => Change::Same,
            Change::Unknown => Change::Unknown,
        })
        .collect();
    assert_eq!(changes(&worse), turned);
    assert!(turned.contains(&Change::Worse));
}

#[test]
fn a_comparison_has_its_json() {
    let comparison = Comparison::between(&report(&Story::deviated()), &report(&Story::held()));
    insta::assert_snapshot!(ReportFormat::Json.format().render_comparison(&comparison));
}

#[test]
fn the_same_run_twice_is_the_same_in_everything_that_was_measured() {
    for (name, story) in stories() {
        let one = report(&story);
        let comparison = Comparison::between(&one, &one);
        assert_eq!(comparison.differences, Vec::<String>::new(), "{name}");
        for row in comparison.rows {
            let expected = match row.after {
                Some(_) => Change::Same,
                None => Change::Unknown,
            };
            assert_eq!(row.change, expected, "{name} {:?}", row.measure);
        }
    }
}

#[test]
fn a_difference_within_the_noise_of_the_baselines_is_none() {
    let before = report(&Story::held());
    let spread = |report: &Report| {
        let slo = &report.slos[0];
        slo.baseline_worst.expect("a baseline") - slo.baseline_best.expect("a baseline")
    };
    let row = |after: &Report| {
        let rows = Comparison::between(&before, after).rows;
        let found = rows
            .into_iter()
            .find(|row| row.measure == Measure::WorstWithFault);
        found.expect("a row for the first SLO")
    };
    let mut after = before.clone();
    let worst = before.slos[0].fault_worst.expect("it was read");
    for (factor, change) in [
        (0.9, Change::Same),
        (1.1, Change::Worse),
        (-1.1, Change::Better),
    ] {
        after.slos[0].fault_worst = Some(worst + spread(&before) * factor);
        let row = row(&after);
        assert_eq!(
            (row.change, row.noise),
            (change, Some(Figure::Ratio(spread(&before))))
        );
    }
}

#[test]
fn other_plans_are_named_difference_by_difference() {
    let mut brief = usual_brief();
    brief.variables.insert("RATE".to_owned(), "50".to_owned());
    brief.steps[0].hold = Span::from_secs(60);
    brief.steps[0].faults = vec!["kinesis:PutRecord answers 503 for 50% of requests".to_owned()];
    brief.slos[0].objective = "< 2%".parse().expect("a valid objective");
    brief.slos.remove(2);
    brief.recovery_within = Span::from_secs(90);
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(60, Weather::Calm);
    story.undo(0, Trigger::HoldOver).recover(0);
    story.settle(Trigger::Recovered, Cause::StepsDone);
    let comparison = Comparison::between(&report(&Story::held()), &report(&story));
    assert_eq!(
        comparison.differences,
        [
            "variable RATE: unset before, 50 after",
            "recovery.within: 1m before, 1m30s after",
            "SLO `error-rate`: < 1% for 5s, rollback on breach, rollback on no data before, \
             < 2% for 5s, rollback on breach, rollback on no data after",
            "SLO `throughput`: only before",
            "fault of step `kinesis refuses writes`: kinesis:PutRecord answers 503 \
             ServiceUnavailable before, kinesis:PutRecord answers 503 for 50% of requests after",
            "hold of step `kinesis refuses writes`: 30s before, 1m after",
        ]
    );
}

#[test]
fn runs_are_rows_with_what_is_known() {
    let id = || "r-20260314-093000-k7x2".parse().expect("a valid run id");
    let records = Story::deviated().records();
    let row = RunRow::of(id(), &RunState::of(&records));
    let expected = RunRow {
        id: id(),
        started: Some(records[0].time),
        experiment: Some(usual_brief().experiment),
        outcome: Some(Outcome::Deviated),
        took_ms: records.last().expect("records").elapsed_ms,
        in_place: 0,
        taken_over_by: None,
        attendance: None,
        trouble: None,
    };
    assert_eq!(row, expected);
    let of = |records: &[Record]| RunRow::of(id(), &RunState::of(records));
    let stuck = of(&Story::stuck().records());
    let unfinished = of(&records[..30]);
    let unreadable = RunRow::unreadable(id(), "the file is empty");
    let endings = [&row, &stuck, &unfinished, &unreadable].map(RunRow::ending);
    assert_eq!(endings, ["deviated", "stuck", "unfinished", "unreadable"]);
    assert_eq!((stuck.in_place, unreadable.in_place), (1, 0));

    let rescued = of(&Story::rescued().records());
    let recovered = of(&Story::recovered().records());
    let endings = [&rescued, &recovered].map(RunRow::ending);
    assert_eq!(
        endings,
        ["inconclusive (guardian)", "inconclusive (recover)"]
    );
    let attended = [
        Attendance::Nobody,
        Attendance::Unknown,
        Attendance::Writer(writer(None)),
        Attendance::Writer(writer(Some(Rescuer::Guardian))),
    ];
    let endings = attended.map(|attendance| unfinished.clone().attended(attendance).ending());
    assert_eq!(
        endings,
        [
            "no end: chaos recover",
            "unfinished",
            "running",
            "being ended (guardian)"
        ]
    );
}

fn writer(rescuer: Option<Rescuer>) -> Writer {
    Writer {
        rescuer,
        person: Person {
            user: "ann".to_owned(),
            host: "desk".to_owned(),
        },
        pid: 4711,
        since: "2026-03-14T09:30:00Z".parse().expect("a time"),
    }
}

/// The head of the page of a run that got as far as its fault, by who is at work on it.
#[test]
fn a_run_without_an_end_says_whether_somebody_is_at_work_on_it() {
    let records = Story::rescued().until(Phase::Observing);
    let pages = [
        Attendance::Nobody,
        Attendance::Unknown,
        Attendance::Writer(writer(None)),
        Attendance::Writer(writer(Some(Rescuer::Abort))),
    ]
    .map(|attendance| {
        let report = Report::from_events(&records).attended(attendance);
        let page = text(&report);
        let (head, _) = page.split_once("  Plan ").expect("what it ran");
        head.to_owned()
    });
    insta::assert_snapshot!("text_unfinished", pages.join("\n-----\n"));
}

/// A stuck run that somebody takes over and does not end either has no end, whatever it said before.
#[test]
fn a_takeover_takes_the_end_back_until_there_is_another_one() {
    let records = Story::recovered().records();
    let taken = records
        .iter()
        .position(|record| matches!(record.event, Event::TakenOver(_)))
        .expect("a takeover");
    let outcomes =
        [taken, taken + 1, records.len()].map(|count| RunState::of(&records[..count]).outcome);
    assert_eq!(
        outcomes,
        [Some(Outcome::Stuck), None, Some(Outcome::Inconclusive)]
    );
    let open = Report::from_events(&records[..=taken]);
    assert_eq!(open.former_ends.len(), 1, "it was stuck");
    assert_eq!(open.verdict.outcome, None);
}

#[test]
fn a_committed_journal_gives_the_report_of_its_story() {
    for (name, story) in [
        ("attended", Story::attended()),
        ("deviated", Story::deviated()),
        ("signed", Story::signed()),
        ("stuck", Story::stuck()),
    ] {
        let path = journals::fixture(&format!("{name}.jsonl"));
        let recorded = chaos_gameday::journal::read(&path).expect("a fixture");
        assert_eq!(Report::from_events(&recorded.records), report(&story));
    }
}

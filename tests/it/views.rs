//! What a person sees: frames, lines, JSON, the closing summary, the player and the printer.

use std::io::ErrorKind;
use std::time::Duration;

use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::state::RunState;
use chaos_gameday::view::prompt::{self, Answer};
use chaos_gameday::view::{
    Canvas, ColorChoice, Colour, Devices, Environment, Glyphs, LineView, LiveView, Loudness,
    Player, Setup, Shape, Size, Speed, Stream, View, closing, frame, list, view,
};
use proptest::prelude::*;

use crate::support::events::{Story, Weather, slo, usual_brief};
use crate::support::screen::{captured, failing};

fn canvas(width: usize) -> Canvas {
    Canvas {
        width,
        height: 40,
        glyphs: Glyphs::Unicode,
        colour: Colour::Off,
    }
}

fn setup(devices: Devices, loudness: Loudness) -> Setup {
    Setup {
        devices,
        loudness,
        ..Setup::PIPE
    }
}

/// The frame at three widths, one after the other.
fn frames(records: &[Record], later_ms: u64) -> String {
    let state = RunState::of(records);
    let drawn = [60, 80, 200].map(|width| {
        let lines = frame(&state, state.elapsed_ms + later_ms, canvas(width));
        format!("{}\n{}", "=".repeat(width), lines.join("\n"))
    });
    drawn.join("\n")
}

fn shown_through(records: &[Record], view: &mut dyn View) {
    let mut state = RunState::default();
    for record in records {
        state.apply(record);
        view.show(record, &state);
    }
    view.finish(&state);
}

fn lines_of(records: &[Record], loudness: Loudness) -> String {
    let (printer, seen) = captured(setup(Devices::NONE, loudness));
    shown_through(records, &mut LineView::new(printer));
    assert_eq!(seen.stdout(), "", "lines are talk");
    seen.stderr()
}

#[test]
fn every_story_ends_as_its_name_says() {
    let ends = [
        (Story::held(), Outcome::Held, Phase::Settled),
        (Story::deviated(), Outcome::Deviated, Phase::Settled),
        (Story::refused(), Outcome::Refused, Phase::Settled),
        (Story::aborted(), Outcome::Aborted, Phase::Settled),
        (Story::inconclusive(), Outcome::Inconclusive, Phase::Settled),
        (Story::stuck(), Outcome::Stuck, Phase::Stuck),
    ];
    for (story, outcome, phase) in ends {
        let state = RunState::of(&story.records());
        assert_eq!(
            (state.outcome, state.phase),
            (Some(outcome), Some(phase)),
            "{outcome:?}"
        );
    }
}

#[test]
fn frame_of_a_baseline() {
    insta::assert_snapshot!(frames(&Story::held().first_ms(5_500), 400));
}

#[test]
fn frame_in_the_middle_of_a_breach() {
    insta::assert_snapshot!(frames(&Story::deviated().first_ms(16_500), 300));
}

#[test]
fn frame_while_undoing_after_a_failed_attempt() {
    insta::assert_snapshot!(frames(&Story::stuck().first_ms(42_600), 700));
}

#[test]
fn frame_of_a_stuck_run() {
    insta::assert_snapshot!(frames(&Story::stuck().records(), 0));
}

#[test]
fn frame_of_a_run_that_sees_nothing() {
    let mut story = Story::begun();
    story.baseline_holds().inject(0).watch(4, Weather::Fog);
    insta::assert_snapshot!(frames(&story.records(), 0));
}

#[test]
fn frame_before_the_first_event() {
    assert_eq!(
        frame(&RunState::default(), 0, canvas(80)),
        ["waiting for the run to begin"]
    );
}

#[test]
fn frame_without_unicode_has_the_same_words() {
    let state = RunState::of(&Story::deviated().first_ms(16_500));
    let plain = Canvas {
        glyphs: Glyphs::Ascii,
        ..canvas(80)
    };
    let lines = frame(&state, 16_800, plain);
    assert!(lines.iter().all(|line| line.is_ascii()), "{lines:#?}");
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn frame_with_colours_says_the_same_as_without() {
    let state = RunState::of(&Story::deviated().first_ms(16_500));
    let coloured = Canvas {
        colour: Colour::On,
        ..canvas(80)
    };
    let bare: Vec<String> = frame(&state, 16_800, coloured)
        .iter()
        .map(|line| console::strip_ansi_codes(line).into_owned())
        .collect();
    assert!(frame(&state, 16_800, coloured).join("").contains('\u{1b}'));
    assert_eq!(bare, frame(&state, 16_800, canvas(80)));
}

#[test]
fn of_a_thousand_slos_the_worst_twenty_are_shown_and_the_rest_is_counted() {
    let mut brief = usual_brief();
    brief.slos = (0..1_000)
        .map(|number| slo(&format!("shard-{number}"), "< 1%", 30))
        .collect();
    brief.slos[700] = slo("shard-700", "> 90%", 30);
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0);
    let state = RunState::of(&story.records());
    let lines = frame(&state, state.elapsed_ms, canvas(80));
    assert_eq!(lines.len(), 2 + 20 + 1 + 1);
    assert_eq!(
        lines[22],
        "  the worst 20 of 1000 SLOs; 980 more, 980 of them ok"
    );
    let mut state = state;
    state.slos[700].state = Some(chaos_gameday::model::sample::SloState::Breaching);
    let lines = frame(&state, state.elapsed_ms, canvas(80));
    assert!(lines[2].starts_with("! shard-700 "), "{}", lines[2]);
}

#[test]
fn a_low_terminal_shows_fewer_slos_rather_than_losing_the_last_lines() {
    let mut brief = usual_brief();
    brief.slos = (0..30)
        .map(|number| slo(&format!("shard-{number}"), "< 1%", 30))
        .collect();
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0);
    let state = RunState::of(&story.records());
    let low = Canvas {
        height: 12,
        ..canvas(80)
    };
    let lines = frame(&state, state.elapsed_ms, low);
    assert!(lines.len() < 12, "{lines:#?}");
    assert!(lines[lines.len() - 1].starts_with("in place: 1 rule"));
}

#[test]
fn lines_of_a_deviated_run() {
    insta::assert_snapshot!(lines_of(&Story::deviated().records(), Loudness::Normal));
}

#[test]
fn lines_of_a_deviated_run_when_quiet() {
    insta::assert_snapshot!(lines_of(&Story::deviated().records(), Loudness::Quiet));
}

#[test]
fn lines_of_a_stuck_run_when_quiet_still_say_how_to_undo_it() {
    insta::assert_snapshot!(lines_of(&Story::stuck().records(), Loudness::Quiet));
}

#[test]
fn lines_with_every_detail_have_one_for_each_event() {
    let records = Story::refused().records();
    let lines = lines_of(&records, Loudness::Verbose);
    let told = lines.lines().filter(|line| line.starts_with("T+")).count();
    let statuses = lines
        .lines()
        .filter(|line| line.contains(" of 10s · error-rate "))
        .count();
    assert_eq!(told - statuses, records.len());
}

#[test]
fn a_status_line_comes_at_most_every_ten_seconds_also_when_nothing_happens() {
    let (printer, seen) = captured(Setup::PIPE);
    let mut view = LineView::new(printer);
    let state = RunState::of(&Story::stuck().until(Phase::Undoing));
    let began = state.elapsed_ms;
    for second in 0..25 {
        view.tick(began + second * 1_000, &state);
    }
    let clocks: Vec<String> = seen
        .stderr()
        .lines()
        .map(|line| line[..10].to_owned())
        .collect();
    assert_eq!(clocks, ["T+00:40.3 ", "T+00:50.3 ", "T+01:00.3 "]);
}

#[test]
fn closings_of_every_outcome() {
    let stories = [
        Story::held(),
        Story::deviated(),
        Story::refused(),
        Story::aborted(),
        Story::inconclusive(),
        Story::stuck(),
    ];
    let closings = stories.map(|story| {
        let state = RunState::of(&story.records());
        let mut lines = closing::summary(&state, canvas(80));
        lines.extend(closing::by_hand(&state, canvas(80)));
        lines.join("\n")
    });
    insta::assert_snapshot!(closings.join("\n"));
}

#[test]
fn a_run_without_an_end_says_so_and_how_to_undo_it() {
    let state = RunState::of(&Story::held().until(Phase::Observing));
    let summary = closing::summary(&state, canvas(80));
    assert_eq!(summary[1], "no end: nobody wrote down how this run ended");
    assert_eq!(closing::by_hand(&state, canvas(80)).len(), 3);
}

#[test]
fn json_lines_are_the_events_and_nothing_else_is_said() {
    let records = Story::deviated().records();
    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    let read: Vec<Record> = seen
        .stdout()
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is an event"))
        .collect();
    assert_eq!(read, records);
    assert_eq!(seen.stderr(), "");
}

#[test]
fn json_of_a_stuck_run_keeps_the_commands_off_stdout() {
    let records = Story::stuck().records();
    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    assert_eq!(seen.stdout().lines().count(), records.len());
    assert!(
        seen.stderr().contains("curl -X DELETE"),
        "{}",
        seen.stderr()
    );
}

const HOSTILE: &str = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{9b}31m\u{202e}live\r\n\u{7f}";

fn hostile_records() -> Vec<Record> {
    let mut brief = usual_brief();
    brief.slos[0].name = HOSTILE.to_owned();
    brief.steps[0].name = HOSTILE.to_owned();
    let mut story = Story::begun_with(brief);
    story.baseline_holds().inject(0).watch(9, Weather::Storm);
    story.tell(Event::Warned {
        message: HOSTILE.to_owned(),
    });
    story.tell(Event::UndoFailed {
        step: 0,
        attempt: 1,
        problem: Problem::new(ProblemKind::Unreachable, HOSTILE),
    });
    story.records()
}

#[test]
fn hostile_names_never_steer_a_terminal() {
    let steers = |text: &str| {
        text.chars()
            .any(|c| (c.is_control() && c != '\n') || c == '\u{202e}')
    };
    let records = hostile_records();
    let lines = lines_of(&records, Loudness::Verbose);
    assert!(!steers(&lines), "{lines:?}");

    let (printer, seen) = captured(Setup::PIPE);
    shown_through(&records, &mut *view(Shape::Json, &printer));
    assert!(!steers(&seen.stdout()), "{:?}", seen.stdout());
    let last = seen.stdout().lines().last().map(str::to_owned);
    let last: Record = serde_json::from_str(&last.expect("there are lines")).expect("an event");
    assert_eq!(Some(&last), records.last());

    let state = RunState::of(&records);
    let drawn = frame(&state, state.elapsed_ms, canvas(80));
    assert!(!steers(&drawn.join("\n")), "{drawn:?}");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_line_is_wider_than_the_canvas(
        name in "\\PC{0,40}",
        width in 0_usize..130,
        height in 0_usize..30,
        events in 0_usize..200,
        later_ms in prop_oneof![0_u64..100_000, Just(u64::MAX)],
        value in any::<f64>(),
        glyphs in prop_oneof![Just(Glyphs::Unicode), Just(Glyphs::Ascii)],
        colour in prop_oneof![Just(Colour::On), Just(Colour::Off)],
    ) {
        let mut brief = usual_brief();
        brief.slos[1].name = name.clone();
        brief.steps[0].name = name;
        let mut story = Story::begun_with(brief);
        story.baseline_holds().inject(0).watch(40, Weather::Storm);
        let records = story.records();
        let mut state = RunState::of(&records[..events.min(records.len())]);
        for record in &mut state.slos {
            record.reading = Some(chaos_gameday::model::sample::Reading::Value(value));
            record.history.push_back((state.elapsed_ms, value));
        }
        let canvas = Canvas { width, height, glyphs, colour };
        let mut lines = frame(&state, later_ms, canvas);
        lines.extend(closing::summary(&state, canvas));
        for line in lines {
            prop_assert!(console::measure_text_width(&line) <= width, "{line:?}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn a_player_keeps_the_recorded_times() {
    for (speed, seconds) in [("1", 22.0), ("10", 2.2), ("0.5", 44.0), ("max", 0.0)] {
        let records = Story::refused().records();
        let length_s = records.last().map_or(0, |last| last.elapsed_ms) as f64 / 1_000.0;
        let factor = seconds / 22.0;
        let (printer, seen) = captured(Setup::PIPE);
        let speed: Speed = speed.parse().expect("a valid speed");
        let began = tokio::time::Instant::now();
        let state = Player::new(records.clone(), speed)
            .play(&mut LineView::new(printer))
            .await;
        let took = began.elapsed().as_secs_f64();
        assert!((took - length_s * factor).abs() < 0.05, "{speed}: {took} s");
        assert_eq!(state, RunState::of(&records));
        assert_eq!(seen.stderr(), lines_of(&records, Loudness::Normal));
    }
}

/// Counts what it is told.
#[derive(Default)]
struct Counting {
    ticks: Vec<u64>,
    finished: u32,
}

impl View for Counting {
    fn show(&mut self, _: &Record, _: &RunState) {}

    fn tick(&mut self, elapsed_ms: u64, _: &RunState) {
        self.ticks.push(elapsed_ms);
    }

    fn finish(&mut self, _: &RunState) {
        self.finished += 1;
    }
}

#[tokio::test(start_paused = true)]
async fn a_player_ticks_through_silence_and_never_past_the_next_event() {
    let mut story = Story::begun();
    story.after(950).tell(Event::Noted {
        text: "still here".to_owned(),
    });
    let mut view = Counting::default();
    let player = Player::new(story.records(), Speed::default());
    player.play(&mut view).await;
    assert_eq!(view.finished, 1);
    assert_eq!(view.ticks, [100, 200, 300, 400, 500, 600, 700, 800, 900]);
}

#[tokio::test(start_paused = true)]
async fn a_player_survives_a_time_that_no_clock_reaches() {
    let mut records = Story::begun().records();
    records[1].elapsed_ms = u64::MAX;
    let player = Player::new(records, Speed::Times(0.01));
    let mut view = Counting::default();
    let played = tokio::time::timeout(Duration::from_secs(60), player.play(&mut view)).await;
    assert!(played.is_err(), "it goes on waiting, without a panic");
}

#[test]
fn speeds_are_factors_or_max() {
    for (text, speed) in [
        ("0.5", Speed::Times(0.5)),
        ("10", Speed::Times(10.0)),
        ("10x", Speed::Times(10.0)),
        ("max", Speed::Max),
    ] {
        assert_eq!(text.parse(), Ok(speed), "{text}");
    }
    for bad in ["", "0", "-1", "fast", "nan", "inf", "1e9", "x"] {
        assert!(bad.parse::<Speed>().is_err(), "{bad}");
    }
}

#[test]
fn the_live_view_scrolls_events_and_gives_the_cursor_back() {
    let (printer, seen) = captured(setup(Devices::TERMINAL, Loudness::Normal));
    let records = Story::deviated().records();
    shown_through(&records, &mut *view(Shape::Fitting, &printer));
    let drawn = seen.stderr();
    assert_eq!(drawn.matches("\u{1b}[?25l").count(), 1);
    assert_eq!(drawn.matches("\u{1b}[?25h").count(), 1);
    assert!(!drawn.contains("\u{1b}[?1049h"), "no alternate screen");
    let bare = console::strip_ansi_codes(&drawn).into_owned();
    assert!(
        bare.contains("T+00:19.1 tripped: error-rate missed < 1% for 5s"),
        "{bare}"
    );
    assert!(bare.contains(" 0s of 10s"), "the block is drawn: {bare}");
    let after = bare.rsplit("in place:").next().unwrap_or_default();
    assert!(after.contains("deviated · exit 1"), "{after}");
    assert_eq!(seen.stdout(), "");
}

#[test]
fn a_dropped_live_view_gives_the_cursor_back() {
    let (printer, seen) = captured(setup(Devices::TERMINAL, Loudness::Normal));
    let mut view = LiveView::new(printer);
    view.tick(0, &RunState::default());
    assert!(seen.stderr().contains("\u{1b}[?25l"));
    drop(view);
    assert!(seen.stderr().ends_with("\u{1b}[?25h"));
}

#[test]
fn a_live_view_without_a_terminal_draws_nothing() {
    let (printer, seen) = captured(Setup::PIPE);
    let mut view = LiveView::new(printer);
    view.tick(0, &RunState::default());
    drop(view);
    assert_eq!(seen.stderr(), "");
}

#[test]
fn in_ci_or_on_a_dumb_terminal_there_are_plain_lines() {
    for environment in [
        Environment {
            ci: true,
            ..Environment::default()
        },
        Environment {
            term_dumb: true,
            ..Environment::default()
        },
    ] {
        let (printer, seen) = captured(Setup {
            environment,
            ..setup(Devices::TERMINAL, Loudness::Normal)
        });
        shown_through(
            &Story::held().records(),
            &mut *view(Shape::Fitting, &printer),
        );
        let escapes = seen.stderr().matches("\u{1b}[?25").count();
        assert_eq!(escapes, 0, "{environment:?}");
    }
}

#[test]
fn colours_follow_the_flag_then_the_environment_then_the_terminal() {
    let no_color = Environment {
        no_color: true,
        ..Environment::default()
    };
    let forced = Environment {
        clicolor_force: true,
        ..Environment::default()
    };
    let dumb = Environment {
        term_dumb: true,
        ..Environment::default()
    };
    let plain = Environment::default();
    use ColorChoice::{Always, Auto, Never};
    use Devices as D;
    for (choice, environment, devices, colour) in [
        (Auto, plain, D::TERMINAL, Colour::On),
        (Auto, plain, D::NONE, Colour::Off),
        (Auto, no_color, D::TERMINAL, Colour::Off),
        (Auto, forced, D::NONE, Colour::On),
        (Auto, dumb, D::TERMINAL, Colour::Off),
        (Always, no_color, D::NONE, Colour::On),
        (Never, forced, D::TERMINAL, Colour::Off),
    ] {
        let setup = Setup {
            choice,
            environment,
            devices,
            ..Setup::PIPE
        };
        assert_eq!(setup.colour(Stream::Stderr), colour, "{setup:?}");
    }
}

#[test]
fn a_closed_pipe_is_remembered_and_no_failure() {
    let printer = failing(Setup::PIPE, ErrorKind::BrokenPipe);
    assert!(!printer.is_closed());
    printer.data("never read");
    assert!(printer.is_closed());
    assert_eq!(printer.outcome(), Ok(()));
}

#[test]
fn a_full_disk_is_a_failure_of_the_data_and_not_of_the_talk() {
    let printer = failing(Setup::PIPE, ErrorKind::StorageFull);
    printer.talk("lost, and that is all");
    assert_eq!(printer.outcome(), Ok(()));
    printer.data("lost evidence");
    let kind = printer.outcome().map_err(|problem| problem.kind);
    assert_eq!(kind, Err(ProblemKind::Evidence));
}

#[test]
fn data_goes_to_stdout_unchanged_and_talk_to_stderr() {
    let (printer, seen) = captured(Setup::PIPE);
    printer.data("a\u{7f}b");
    printer.talk("said");
    printer.detail("not asked for");
    printer.warn("careful");
    printer.error(&Problem::new(ProblemKind::Absent, "no `x` in y").hint("look in z"));
    assert_eq!(seen.stdout(), "a\u{7f}b\n");
    assert_eq!(
        seen.stderr(),
        "said\nwarning: careful\nerror: no `x` in y\n  hint: look in z\n"
    );
}

#[test]
fn a_quiet_printer_still_reports_errors() {
    let (printer, seen) = captured(setup(Devices::NONE, Loudness::Quiet));
    printer.talk("chatter");
    printer.success("done");
    printer.error(&Problem::new(ProblemKind::Absent, "gone"));
    assert_eq!(seen.stderr(), "error: gone\n");
}

#[test]
fn without_a_person_nothing_is_asked() {
    let in_ci = Setup {
        environment: Environment {
            ci: true,
            ..Environment::default()
        },
        ..setup(Devices::TERMINAL, Loudness::Normal)
    };
    for setup in [Setup::PIPE, in_ci] {
        let (printer, seen) = captured(setup);
        let refused = Some(ProblemKind::Refused);
        let typed = prompt::ask_typed_name(&printer, "redis", "Approve?");
        assert_eq!(typed.map_err(|problem| problem.kind).err(), refused);
        assert_eq!(
            prompt::confirm(&printer, "Go on?", Answer::Yes),
            Ok(Answer::No)
        );
        let line = prompt::input_with_default(&printer, "Name", "x");
        assert_eq!(line.map_err(|problem| problem.kind).err(), refused);
        let chosen = prompt::select(&printer, "Which", &["a".to_owned()]);
        assert_eq!(chosen.map_err(|problem| problem.kind).err(), refused);
        assert_eq!(seen.stderr(), "");
    }
}

#[test]
fn only_the_very_name_counts_as_a_typed_yes() {
    for (typed, answer) in [
        ("redis-down", Answer::Yes),
        (" redis-down ", Answer::Yes),
        ("redis", Answer::No),
        ("Redis-down", Answer::No),
        ("yes", Answer::No),
        ("", Answer::No),
    ] {
        assert_eq!(prompt::typed_name("redis-down", typed), answer, "{typed:?}");
    }
    assert_eq!(prompt::typed_name("", ""), Answer::No);
}

#[test]
fn lists_fit_a_terminal_and_stay_whole_in_a_pipe() {
    let rows = vec![
        vec![
            "r-20260314-093000-k7x2".to_owned(),
            "deviated".to_owned(),
            "With every PutRecord refused, checkout errors stay under 1 %.".to_owned(),
        ],
        vec![
            "r-1".to_owned(),
            "held\u{1b}[2J".to_owned(),
            "short".to_owned(),
        ],
    ];
    let headings = ["run", "outcome", "hypothesis"];
    let (pipe, _) = captured(Setup::PIPE);
    let (terminal, _) = captured(Setup {
        size: Size::Fixed(60, 24),
        ..setup(Devices::TERMINAL, Loudness::Normal)
    });
    let whole = list(&pipe, &headings, &rows);
    assert_eq!(whole.lines().count(), 3);
    assert!(!whole.contains('\u{1b}'));
    let fitted = list(&terminal, &headings, &rows);
    assert!(
        fitted
            .lines()
            .all(|line| console::measure_text_width(line) <= 60)
    );
    let bare = console::strip_ansi_codes(&fitted).into_owned();
    insta::assert_snapshot!(format!("{whole}\n{}\n{bare}", "=".repeat(60)));
}

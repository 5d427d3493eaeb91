//! The report for a person: the verdict first, then what must be done, then what happened. Plain, 80
//! columns; only commands to copy may be longer.

use super::Format;
use super::compare::Comparison;
use super::content::{
    Experiment, MomentKind, Recovery, RecoveryFate, Report, RunFacts, Sent, SloFate, SloReport,
    StepFate, StepReport, TripMoment,
};
use super::page::Page;
use super::text_compare;
use super::wording::{counted, date_time, length, offset, time_of_day};
use crate::model::approval::{Approval, ApprovalMode};
use crate::model::judgement::Trip;
use crate::model::request::Purpose;
use crate::model::sample::Reading;
use crate::model::traffic::TrafficSummary;

/// A timeline longer than this is told without the changes of SLO states.
const LONG_TIMELINE: usize = 120;

pub(super) struct Text;

impl Format for Text {
    fn render(&self, report: &Report) -> String {
        let mut page = Page::default();
        verdict(&mut page, report);
        in_place(&mut page, report);
        about(&mut page, report);
        slos(&mut page, &report.slos);
        for (index, step) in report.steps.iter().enumerate() {
            step_part(&mut page, index + 1, step);
        }
        if let Some(recovery) = &report.recovery {
            page.heading("RECOVERY");
            page.sentence(&recovery_words(recovery));
        }
        if let Some(traffic) = &report.traffic {
            traffic_part(&mut page, traffic);
        }
        list(&mut page, "WARNINGS", &report.warnings);
        notes(&mut page, report);
        timeline(&mut page, report);
        page.finish()
    }

    fn render_comparison(&self, comparison: &Comparison) -> String {
        text_compare::render(comparison)
    }
}

fn verdict(page: &mut Page, report: &Report) {
    let word = report
        .verdict
        .outcome
        .map_or("INCOMPLETE".to_owned(), |outcome| {
            outcome.word().to_uppercase()
        });
    let name = report
        .experiment
        .as_ref()
        .map_or("unknown experiment", |experiment| experiment.name.as_str());
    let code = report
        .verdict
        .exit_code
        .map_or("no exit code".to_owned(), |code| {
            format!("exit code {code}")
        });
    page.banner(&format!("{word}  {name}"), &code);
    if let Some(cause) = &report.verdict.cause {
        page.sentence(&format!("{cause}."));
    }
    page.sentence(&format!("{}.", report.verdict.meaning));
    if let (None, Some(phase)) = (report.verdict.outcome, report.verdict.phase) {
        let at = report.run.as_ref().map_or(0, |run| run.took_ms);
        page.sentence(&format!("Last heard of: {}, {}.", phase.word(), offset(at)));
    }
    list(page, "THE JOURNAL IS DAMAGED", &report.evidence);
}

fn in_place(page: &mut Page, report: &Report) {
    if report.in_place.is_empty() {
        return;
    }
    page.heading("STILL IN PLACE, OR NOT PROVEN GONE: somebody must look now");
    for fault in &report.in_place {
        page.item("-", &format!("{}: {}", fault.step, fault.what));
        for seen in &fault.seen {
            page.item(" ", &format!("last seen there: {seen}"));
        }
        if !fault.by_hand.is_empty() {
            page.item(" ", "to undo it by hand:");
        }
        for command in &fault.by_hand {
            page.literal(command);
        }
    }
}

fn about(page: &mut Page, report: &Report) {
    page.gap();
    if let Some(experiment) = &report.experiment {
        page.entry("Hypothesis", &experiment.hypothesis);
    }
    if let Some(run) = &report.run {
        run_part(page, run);
    }
    if let Some(approval) = &report.approval {
        page.entry("Approved", &approval_words(approval));
    }
    if let Some(experiment) = &report.experiment {
        where_part(page, experiment);
    }
    if report.run.is_none() && report.experiment.is_none() {
        page.sentence("Nothing is known about this run: its journal does not hold its start.");
    }
}

fn run_part(page: &mut Page, run: &RunFacts) {
    page.entry("Run", &format!("{}, chaos {}", run.id, run.tool));
    if let Some(former) = &run.replay_of {
        page.entry("Replay of", former.as_str());
    }
    let started = format!(
        "{} by {}, took {}",
        date_time(run.started),
        run.requester,
        length(run.took_ms)
    );
    page.entry("Started", &started);
    page.entry("Plan", &format!("{} {}", run.plan, run.digest));
}

fn approval_words(approval: &Approval) -> String {
    let expires = date_time(approval.expires_at);
    let mut words = match approval.mode {
        ApprovalMode::NotNeeded => {
            format!(
                "not needed here by policy; recorded for {}",
                approval.approver
            )
        }
        ApprovalMode::Typed => format!(
            "by {} at a terminal, {}, until {expires}",
            approval.approver,
            date_time(approval.approved_at)
        ),
    };
    if let Some(reason) = &approval.reason {
        words.push_str(&format!(": {reason}"));
    }
    words
}

fn where_part(page: &mut Page, experiment: &Experiment) {
    page.entry("Environment", &experiment.environment);
    let worlds: Vec<String> = experiment
        .worlds
        .iter()
        .map(|world| {
            format!(
                "{} {} {} at {}",
                world.platform, world.version, world.edition, world.endpoint
            )
        })
        .collect();
    page.entries("On", &worlds);
    for (label, pairs) in [
        ("Labels", &experiment.labels),
        ("Variables", &experiment.variables),
    ] {
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        page.entries(label, &pairs);
    }
}

fn slos(page: &mut Page, slos: &[SloReport]) {
    if slos.is_empty() {
        return;
    }
    page.heading("SLOS");
    let titles = [
        "",
        "objective",
        "baseline",
        "fault in",
        "worst",
        "in breach",
        "",
    ];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(slos.iter().map(slo_row));
    page.table(&rows);
    for slo in slos {
        for trip in &slo.trips {
            page.item("-", &trip_words(slo, trip));
        }
    }
    for slo in slos {
        page.item("-", &readings(slo));
    }
}

fn slo_row(slo: &SloReport) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| slo.unit.show(value));
    vec![
        slo.name.clone(),
        format!("{} for {}", slo.objective, length(slo.patience_ms)),
        shown(slo.baseline_worst),
        shown(slo.fault_worst),
        shown(slo.worst),
        length(slo.breaching_ms),
        fate_word(slo.fate).to_owned(),
    ]
}

fn fate_word(fate: SloFate) -> &'static str {
    match fate {
        SloFate::Ok => "ok",
        SloFate::Dipped => "dipped",
        SloFate::Breached => "BREACHED",
        SloFate::Blind => "BLIND",
        SloFate::NotRead => "not read",
    }
}

fn trip_words(slo: &SloReport, trip: &TripMoment) -> String {
    let how = match trip.trip {
        Trip::Breach => "breached for its whole patience",
        Trip::Blind => "could not be read for its whole patience",
    };
    let read = match &trip.reading {
        Reading::Value(value) => slo.unit.show(*value),
        Reading::NoData { why } | Reading::SourceDown { why } => why.clone(),
    };
    format!(
        "{} {how} at {} ({read}); reaction: {}",
        slo.name,
        offset(trip.at_ms),
        trip.reaction.word()
    )
}

fn readings(slo: &SloReport) -> String {
    let mut words = format!(
        "{} reads {}: {}, {} blind",
        slo.name,
        slo.reads,
        counted(slo.samples, "reading"),
        slo.blind_samples
    );
    if slo.missed > 0 {
        words.push_str(&format!(
            ", {} missed since the source was slow",
            slo.missed
        ));
    }
    words
}

fn step_part(page: &mut Page, number: usize, step: &StepReport) {
    page.gap();
    page.banner(
        &format!("STEP {number}  {}", step.name),
        step_word(step.fate),
    );
    page.entries("Fault", &step.faults);
    page.entries("Touches", &step.targets);
    page.entry("Blast radius", &step.blast_radius);
    if let Some(proof) = &step.proof {
        let seen = format!("{} of {}", proof.injected, proof.planned);
        let evidence = match proof.evidence.as_slice() {
            [] => String::new(),
            lines => format!(": {}", lines.join("; ")),
        };
        page.entry("Seen in", &format!("{seen}{evidence}"));
    }
    step_times(page, step);
    page.entries("Not put in", &step.inject_problems);
    page.entries("Undo failed", &step.undo_problems);
    page.entries("By others", &step.foreign_changes);
    let sent: Vec<String> = step.requests.iter().map(sent_words).collect();
    page.entries("Sent", &sent);
}

fn step_word(fate: StepFate) -> &'static str {
    match fate {
        StepFate::NotReached => "not reached",
        StepFate::NotRun => "NOT RUN: never seen in",
        StepFate::PartlyIn => "only partly in",
        StepFate::Held => "held to its end",
        StepFate::CutShort => "cut short",
        StepFate::InPlace => "NOT PROVEN GONE",
    }
}

fn step_times(page: &mut Page, step: &StepReport) {
    let times = &step.times;
    let planned = length(times.hold_planned_ms);
    match times.held_ms {
        Some(held) => page.entry("Held", &format!("{} of {planned}", length(held))),
        None => page.entry("Held", &format!("0s of {planned}")),
    }
    if let (Some(detect), Some(tripped)) = (times.detect_ms, &step.tripped) {
        let how = match tripped.trip {
            Trip::Breach => "breached",
            Trip::Blind => "was blind",
        };
        let after = length(detect);
        page.entry(
            "Detected",
            &format!("{after} after it was in: {} {how}", tripped.slo),
        );
    }
    if let Some(react) = times.react_ms {
        page.entry(
            "Reacted",
            &format!("undo begun {} after that", length(react)),
        );
    }
    if let Some(gone) = times.gone_ms {
        page.entry(
            "Gone",
            &format!("seen gone {} after the undo began", length(gone)),
        );
    }
}

fn sent_words(sent: &Sent) -> String {
    let answer = sent
        .status
        .map_or("no answer".to_owned(), |status| status.to_string());
    let purpose = match sent.purpose {
        Purpose::Inject => "to put in",
        Purpose::Undo => "to undo",
    };
    let id = sent
        .request_id
        .as_ref()
        .map_or_else(String::new, |id| format!(", request id {id}"));
    format!(
        "{} {} {purpose}: {answer} after {}{id}",
        sent.method,
        sent.url,
        length(sent.took_ms)
    )
}

fn recovery_words(recovery: &Recovery) -> String {
    let within = length(recovery.within_ms);
    match (recovery.fate, recovery.took_ms) {
        (RecoveryFate::InTime, Some(took)) => {
            format!(
                "The SLOs were back {} after the undo, of {within} allowed.",
                length(took)
            )
        }
        (RecoveryFate::Late, Some(took)) => {
            format!(
                "LATE: the SLOs were back {} after the undo, {within} allowed.",
                length(took)
            )
        }
        (RecoveryFate::Late | RecoveryFate::InTime, None) => {
            format!("LATE: the SLOs were not back within {within} of the undo.")
        }
        (RecoveryFate::Unseen, _) => {
            format!("UNSEEN: the SLOs could not be read within {within} of the undo.")
        }
        (RecoveryFate::NotMeasured, _) => "Not measured.".to_owned(),
    }
}

fn traffic_part(page: &mut Page, traffic: &TrafficSummary) {
    page.heading("TRAFFIC");
    let mut parts: Vec<String> = traffic
        .by_status
        .iter()
        .map(|(status, count)| format!("{count} answered {status}"))
        .collect();
    for (count, what) in [
        (traffic.timed_out, "timed out"),
        (traffic.connection_failed, "failed to connect"),
        (traffic.dropped, "not sent, too many in flight"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    page.entry(
        "Requests",
        &format!("{} sent: {}", traffic.sent, parts.join(", ")),
    );
    let latency = format!(
        "p50 {:.0}ms, p99 {:.0}ms, max {:.0}ms from the intended start",
        traffic.p50_ms, traffic.p99_ms, traffic.max_ms
    );
    page.entry("Latency", &latency);
}

fn list(page: &mut Page, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.heading(title);
    for line in lines {
        page.item("-", line);
    }
}

fn notes(page: &mut Page, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    page.heading("NOTES");
    for note in &report.notes {
        page.item(&offset(note.at_ms), &note.text);
    }
}

fn timeline(page: &mut Page, report: &Report) {
    if report.timeline.is_empty() {
        return;
    }
    page.heading("TIMELINE (UTC)");
    let long = report.timeline.len() > LONG_TIMELINE;
    let mut left_out = 0;
    for moment in &report.timeline {
        if long && moment.kind == MomentKind::SloState {
            left_out += 1;
            continue;
        }
        let mark = format!("{} {}", time_of_day(moment.time), offset(moment.at_ms));
        page.item(&mark, &moment.what);
    }
    if left_out > 0 {
        let changes = counted(left_out, "change");
        page.sentence(&format!(
            "{changes} of SLO states left out here; the JSON report has them all."
        ));
    }
}

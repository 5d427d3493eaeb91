//! How the run went on the whole: recovery, traffic, notes and the timeline.

use super::super::content::{Marked, MomentKind, Recovery, RecoveryFate, Report};
use super::super::page::Page;
use super::super::wording::{counted, length, offset, time_of_day};
use crate::model::traffic::TrafficSummary;

/// A timeline longer than this is told without the changes of SLO states.
const LONG_TIMELINE: usize = 120;

pub(super) fn recovery_words(recovery: &Recovery) -> String {
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

pub(super) fn traffic_part(page: &mut Page, traffic: &TrafficSummary) {
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

pub(super) fn notes(page: &mut Page, report: &Report) {
    if report.notes.is_empty() {
        return;
    }
    page.heading("NOTES");
    for note in &report.notes {
        let by = note.by.as_ref();
        let words = by.map_or_else(|| note.text.clone(), |by| format!("{by}: {}", note.text));
        page.item(&offset(note.at_ms), &words);
    }
}

/// How long the team's alerts took.
pub(super) fn marks(page: &mut Page, marks: &[Marked]) {
    if marks.is_empty() {
        return;
    }
    page.heading("MARKS");
    for mark in marks {
        let since = match (mark.after_fault_ms, &mark.step) {
            (Some(after), Some(step)) => {
                format!("{} after the fault of \"{step}\" went in", length(after))
            }
            (_, _) => "before any fault was in".to_owned(),
        };
        let words = format!("{} {since}, marked by {}", mark.label, mark.by);
        page.item(&offset(mark.at_ms), &words);
    }
}

pub(super) fn timeline(page: &mut Page, report: &Report) {
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

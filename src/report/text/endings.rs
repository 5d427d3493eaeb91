//! Who ended a run that did not end itself, and the ends that it had before.

use super::super::content::{Report, TakenOver};
use super::super::page::Page;
use super::super::wording::{date_time, offset};
use crate::model::attendance::Attendance;
use crate::model::outcome::Outcome;
use crate::model::takeover::Rescuer;

/// In the order in which they came.
pub(super) fn endings(page: &mut Page, report: &Report) {
    let mut told: Vec<(u64, String)> = Vec::new();
    for end in &report.former_ends {
        let when = date_time(end.time);
        let words = format!("It was {} before, {when}: {}.", end.outcome, end.cause);
        told.push((end.at_ms, words));
    }
    told.extend(
        report
            .takeovers
            .iter()
            .map(|taken| (taken.at_ms, words(taken))),
    );
    told.sort_by_key(|(at_ms, _)| *at_ms);
    for (_, sentence) in told {
        page.sentence(&sentence);
    }
}

/// Who took it over, when, and why.
pub(super) fn words(taken: &TakenOver) -> String {
    let whose = match taken.by {
        Rescuer::Session | Rescuer::Guardian => String::new(),
        Rescuer::Abort | Rescuer::Recover => format!(" of {}", taken.person),
    };
    format!(
        "Taken over by {}{whose}, {}, {}: {}.",
        taken.by,
        date_time(taken.time),
        offset(taken.at_ms),
        taken.why
    )
}

/// It has no end, and somebody is at work on it.
pub(super) fn is_live(report: &Report) -> bool {
    let attended = matches!(
        &report.attendance,
        Some(Attendance::Unknown | Attendance::Writer(_))
    );
    attended && report.verdict.outcome.is_none()
}

/// What takes out what is in place; `None`: nobody looked whether somebody is doing that.
pub(super) fn recover(report: &Report) -> Option<String> {
    let run = &report.run.as_ref()?.id;
    if is_live(report) {
        return Some(format!("to have it undone now: chaos abort {run}"));
    }
    let over = report.attendance.is_some() || report.verdict.outcome == Some(Outcome::Stuck);
    over.then(|| format!("to have it undone: chaos recover {run}"))
}

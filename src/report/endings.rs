//! How a run ended, how often, and by whom; and what is said of one that has no end.

use crate::model::attendance::Attendance;
use crate::model::decision::Cause;
use crate::model::state::RunState;

use super::content::{FormerEnd, Report, TakenOver, Verdict};

impl Report {
    /// The same once somebody looked who is at work on the run.
    #[must_use]
    pub fn attended(mut self, attendance: Attendance) -> Self {
        if self.verdict.outcome.is_none() {
            let next = match (&attendance, &self.run) {
                (Attendance::Nobody, Some(run)) => format!("; `chaos recover {}` ends it", run.id),
                (Attendance::Nobody, None) => "; `chaos recover` ends it".to_owned(),
                (Attendance::Unknown | Attendance::Writer(_), _) => String::new(),
            };
            let fault = match self.in_place.is_empty() {
                true => "no fault is known to be in place",
                false => "a fault may be in place",
            };
            self.verdict.meaning = format!("{}; {fault}{next}", attendance.sentence());
        }
        self.attendance = Some(attendance);
        self
    }
}

pub(super) fn verdict(state: &RunState) -> Verdict {
    let meaning = match (state.meaning(), state.in_place().next()) {
        (Some(meaning), _) => meaning.to_owned(),
        (None, Some(_)) => {
            "the journal has no end: the run goes on or died, and a fault may be in place"
                .to_owned()
        }
        (None, None) => {
            "the journal has no end: the run goes on or died; no fault is known to be in place"
                .to_owned()
        }
    };
    Verdict {
        outcome: state.outcome,
        exit_code: state.outcome.map(|outcome| {
            let code = state.cause.as_ref().map(Cause::exit_code);
            code.unwrap_or(outcome.code())
        }),
        meaning,
        cause: state.cause.as_ref().map(Cause::sentence),
        phase: state.phase,
    }
}

pub(super) fn takeovers(state: &RunState) -> Vec<TakenOver> {
    let taken = state.takeovers.iter().map(|taken| TakenOver {
        at_ms: taken.at_ms,
        time: taken.time,
        by: taken.takeover.by,
        person: taken.takeover.person.clone(),
        why: taken.takeover.why.clone(),
    });
    taken.collect()
}

/// All ends but the one that counts now.
pub(super) fn former_ends(state: &RunState) -> Vec<FormerEnd> {
    let former = match state.outcome {
        Some(_) => state
            .ends
            .split_last()
            .map_or(&[][..], |(_, former)| former),
        None => &state.ends,
    };
    let former = former.iter().map(|end| FormerEnd {
        at_ms: end.at_ms,
        time: end.time,
        outcome: end.outcome,
        cause: end.cause.sentence(),
    });
    former.collect()
}

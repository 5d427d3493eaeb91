//! A run as one row of the list that `chaos runs` shows.

use jiff::Timestamp;
use serde::Serialize;

use crate::model::attendance::Attendance;
use crate::model::ids::{Name, RunId};
use crate::model::outcome::Outcome;
use crate::model::state::RunState;
use crate::model::takeover::Rescuer;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRow {
    /// The run.
    pub id: RunId,
    /// When it began; `None`: nobody wrote it down.
    pub started: Option<Timestamp>,
    /// What it tried.
    pub experiment: Option<Name>,
    /// How it ended; `None`: its journal has no end.
    pub outcome: Option<Outcome>,
    /// From its first to its latest event.
    pub took_ms: u64,
    /// Faults that were not seen gone.
    pub in_place: usize,
    /// Who ended it, or tried to, where its own engine did not; the latest one.
    pub taken_over_by: Option<Rescuer>,
    /// Who is at work on it; `None`: it has ended, or nobody looked.
    pub attendance: Option<Attendance>,
    /// Why its journal could not be read.
    pub trouble: Option<String>,
}

impl RunRow {
    /// The row of a run that got so far.
    pub fn of(id: RunId, state: &RunState) -> Self {
        Self {
            id,
            started: state.header.as_ref().map(|header| header.started),
            experiment: state.brief().map(|brief| brief.experiment.clone()),
            outcome: state.outcome,
            took_ms: state.elapsed_ms,
            in_place: state.in_place().count(),
            taken_over_by: state.takeovers.last().map(|taken| taken.takeover.by),
            attendance: None,
            trouble: None,
        }
    }

    /// The same once somebody looked who is at work on the run.
    #[must_use]
    pub fn attended(self, attendance: Attendance) -> Self {
        Self {
            attendance: Some(attendance),
            ..self
        }
    }

    /// The row of a run whose journal cannot be read.
    pub fn unreadable(id: RunId, why: impl Into<String>) -> Self {
        Self {
            trouble: Some(why.into()),
            ..Self::of(id, &RunState::default())
        }
    }

    /// How it ended, and by whom if not by itself; of one without an end, who is at work on it.
    pub fn ending(&self) -> String {
        match (self.outcome, &self.attendance, &self.trouble) {
            (Some(outcome), _, _) => match self.taken_over_by {
                None => outcome.to_string(),
                Some(by) => format!("{outcome} ({})", by.short()),
            },
            (None, Some(Attendance::Nobody), _) => "no end: chaos recover".to_owned(),
            (None, Some(Attendance::Writer(writer)), _) => match writer.rescuer {
                None => "running".to_owned(),
                Some(by) => format!("being ended ({})", by.short()),
            },
            (None, Some(Attendance::Unknown) | None, None) => "unfinished".to_owned(),
            (None, Some(Attendance::Unknown) | None, Some(_)) => "unreadable".to_owned(),
        }
    }
}

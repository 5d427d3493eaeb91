//! A run as one row of the list that `chaos runs` shows.

use jiff::Timestamp;
use serde::Serialize;

use crate::model::ids::{Name, RunId};
use crate::model::outcome::Outcome;
use crate::model::state::RunState;

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
            trouble: None,
        }
    }

    /// The row of a run whose journal cannot be read.
    pub fn unreadable(id: RunId, why: impl Into<String>) -> Self {
        Self {
            trouble: Some(why.into()),
            ..Self::of(id, &RunState::default())
        }
    }

    /// How it ended, in a word.
    pub fn ending(&self) -> &'static str {
        match (self.outcome, &self.trouble) {
            (Some(outcome), _) => outcome.word(),
            (None, Some(_)) => "unreadable",
            (None, None) => "unfinished",
        }
    }
}

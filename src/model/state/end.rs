//! The ends of a run, and those who brought one about in the place of its engine.

use jiff::Timestamp;

use crate::model::decision::Cause;
use crate::model::event::Record;
use crate::model::outcome::Outcome;
use crate::model::takeover::Takeover;

/// An end that was written down.
#[derive(Debug, Clone, PartialEq)]
pub struct EndRecord {
    /// When, in milliseconds of the run.
    pub at_ms: u64,
    /// When, UTC.
    pub time: Timestamp,
    /// How.
    pub outcome: Outcome,
    /// Why.
    pub cause: Cause,
}

impl EndRecord {
    pub(super) fn of(record: &Record, outcome: Outcome, cause: &Cause) -> Self {
        Self {
            at_ms: record.elapsed_ms,
            time: record.time,
            outcome,
            cause: cause.clone(),
        }
    }
}

/// Somebody went on where the run's own engine stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TakeoverRecord {
    /// When, in milliseconds of the run.
    pub at_ms: u64,
    /// When, UTC.
    pub time: Timestamp,
    /// Who, and why.
    pub takeover: Takeover,
}

impl TakeoverRecord {
    pub(super) fn of(record: &Record, takeover: &Takeover) -> Self {
        Self {
            at_ms: record.elapsed_ms,
            time: record.time,
            takeover: takeover.clone(),
        }
    }
}

//! What a run has done to the world in one step, and what it took.

use crate::model::judgement::Trip;
use crate::model::request::{Absence, Proof};
use crate::model::undo::Undo;

/// What is known about a step.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRecord {
    /// Its undo, once on disk.
    pub undo: Option<Undo>,
    /// When the first request of the fault was about to be sent.
    pub injecting_at_ms: Option<u64>,
    /// When the fault was first seen in, whole.
    pub confirmed_at_ms: Option<u64>,
    /// The latest answer to "is it in?".
    pub proof: Option<Proof>,
    /// When the first rollback SLO tripped, and which; also a breach that the fault began and that
    /// lost its patience only after the hold.
    pub tripped: Option<StepTrip>,
    /// When the undo began.
    pub undoing_at_ms: Option<u64>,
    /// When the fault was seen gone.
    pub gone_at_ms: Option<u64>,
    /// The latest answer to "is it out?".
    pub absence: Option<Absence>,
    /// Failed attempts to undo or to see it gone.
    pub undo_failures: u32,
}

/// The trip that ended a step.
#[derive(Debug, Clone, PartialEq)]
pub struct StepTrip {
    /// The SLO.
    pub slo: String,
    /// Breach or blindness.
    pub trip: Trip,
    /// When.
    pub at_ms: u64,
}

impl StepRecord {
    /// The undo exists and the fault was not yet seen gone: it is, or may be, in place.
    pub fn may_be_in_place(&self) -> bool {
        // An undo that was begun says so too: that the fault was about to go in may not have been written.
        let was_begun = self.injecting_at_ms.is_some() || self.undoing_at_ms.is_some();
        was_begun && self.gone_at_ms.is_none()
    }

    /// From the fault seen in to the trip.
    pub fn detect_ms(&self) -> Option<u64> {
        let trip = self.tripped.as_ref()?;
        Some(trip.at_ms.saturating_sub(self.confirmed_at_ms?))
    }

    /// From the trip to the undo; `None` also where the hold was over before the trip.
    pub fn react_ms(&self) -> Option<u64> {
        let trip = self.tripped.as_ref()?;
        self.undoing_at_ms?.checked_sub(trip.at_ms)
    }

    /// From the undo to the fault seen gone.
    pub fn gone_ms(&self) -> Option<u64> {
        Some(self.gone_at_ms?.saturating_sub(self.undoing_at_ms?))
    }

    /// How long the fault was in, from seen in to the undo.
    pub fn held_ms(&self) -> Option<u64> {
        Some(self.undoing_at_ms?.saturating_sub(self.confirmed_at_ms?))
    }
}

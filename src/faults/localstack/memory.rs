//! What this very process saw of a server while it put a fault in. An undo cannot hold it, as it is on
//! disk before the fault is sent; whoever undoes from a journal knows none of it and claims less.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// What the server does with our tag.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Tags {
    /// Not seen yet: a rule without a tag may be ours or anybody's.
    #[default]
    Unknown,
    /// Rules stand there with their descriptions.
    Kept,
    /// Right after our PATCH our rules stood there without their descriptions.
    Dropped,
}

/// Whose a latency is that reads like ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum LatencyOwner {
    /// No telling from here: only the value speaks, and it says ours.
    #[default]
    Unknown,
    /// We sent it.
    Us,
    /// We refused to send ours.
    Others,
}

/// Both, for one driver.
#[derive(Debug, Default)]
pub(super) struct Memory {
    seen: Mutex<(Tags, LatencyOwner)>,
}

impl Memory {
    fn seen(&self) -> MutexGuard<'_, (Tags, LatencyOwner)> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn tags(&self) -> Tags {
        self.seen().0
    }

    /// What a list showed. One that shows nothing takes nothing back, and what became of our own rules
    /// weighs more than another's description.
    pub(super) fn learn(&self, tags: Tags) {
        let mut seen = self.seen();
        seen.0 = match (seen.0, tags) {
            (known, Tags::Unknown) => known,
            (Tags::Dropped, Tags::Kept) => Tags::Dropped,
            (Tags::Unknown | Tags::Kept | Tags::Dropped, Tags::Kept | Tags::Dropped) => tags,
        };
    }

    pub(super) fn latency(&self) -> LatencyOwner {
        self.seen().1
    }

    /// To be told before the request is sent: its answer may be lost.
    pub(super) fn latency_is_sent(&self) {
        self.seen().1 = LatencyOwner::Us;
    }

    /// What we sent once stays ours to take back.
    pub(super) fn latency_is_refused(&self) {
        let mut seen = self.seen();
        if seen.1 != LatencyOwner::Us {
            seen.1 = LatencyOwner::Others;
        }
    }
}

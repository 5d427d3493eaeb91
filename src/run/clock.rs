//! The run's clock: monotonic milliseconds from tokio's clock, UTC from the moment it started.
//!
//! The one home of wall-clock reads.

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::model::units::Span;

/// Milliseconds and UTC that always agree with each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    started: Timestamp,
}

impl Clock {
    /// A clock that starts now.
    pub fn start() -> Self {
        Self::starting_at(Self::wall())
    }

    /// A clock that starts now and says that now is `started`.
    pub fn starting_at(started: Timestamp) -> Self {
        Self {
            origin: Instant::now(),
            started,
        }
    }

    /// UTC by this machine.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one home of wall-clock reads"
    )]
    pub fn wall() -> Timestamp {
        Timestamp::now()
    }

    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        Span::of(self.origin.elapsed()).as_millis()
    }

    /// Milliseconds from the start to this moment; 0 for one before it.
    pub fn ms_at(&self, moment: Instant) -> u64 {
        Span::of(moment.saturating_duration_since(self.origin)).as_millis()
    }

    /// UTC of so many milliseconds after the start.
    pub fn at(&self, elapsed_ms: u64) -> Timestamp {
        let past = SignedDuration::from_millis(i64::try_from(elapsed_ms).unwrap_or(i64::MAX));
        self.started.checked_add(past).unwrap_or(Timestamp::MAX)
    }
}

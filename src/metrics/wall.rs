//! Milliseconds since 1970, for sources whose samples have times of their own.

use jiff::Timestamp;
use tokio::time::Instant;

use crate::model::units::Span;

/// A wall clock that was set once and goes on by tokio's, which tests can pause: nobody who sets the
/// machine's clock can turn it back while a run lasts.
#[derive(Debug, Clone, Copy)]
pub struct WallClock {
    origin: Instant,
    set_to_ms: i64,
}

impl WallClock {
    /// A clock that says that now is `now`.
    pub fn set_to(now: Timestamp) -> Self {
        Self {
            origin: Instant::now(),
            set_to_ms: now.as_millisecond(),
        }
    }

    /// Now, in milliseconds since 1970.
    pub fn now_ms(&self) -> i64 {
        self.at_ms(Instant::now())
    }

    /// A moment, in milliseconds since 1970; one before the clock was set is when it was.
    pub fn at_ms(&self, moment: Instant) -> i64 {
        let since = Span::of(moment.saturating_duration_since(self.origin));
        let since = i64::try_from(since.as_millis()).unwrap_or(i64::MAX);
        self.set_to_ms.saturating_add(since)
    }
}

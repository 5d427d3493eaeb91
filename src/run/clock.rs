//! The run's clock: monotonic milliseconds from tokio's clock, UTC from the moment it started.
//!
//! The one home of wall-clock reads.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::model::state::RunState;
use crate::model::units::Span;

/// Milliseconds and UTC that always agree with each other.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    origin: Instant,
    started: Timestamp,
    /// Milliseconds that were over before `origin`.
    before_ms: u64,
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
            before_ms: 0,
        }
    }

    /// A clock that goes on with a record, at this UTC. It never goes back, whatever became of this
    /// machine's own clock.
    pub fn going_on(now: Timestamp, state: &RunState) -> Self {
        let latest = state.latest.unwrap_or(now);
        let since = now.duration_since(latest).as_millis();
        let since_ms = u64::try_from(since).unwrap_or(0);
        Self::continued(now.max(latest), state.elapsed_ms.saturating_add(since_ms))
    }

    /// A clock that says that now is `now`, so many milliseconds after its start.
    pub fn continued(now: Timestamp, elapsed_ms: u64) -> Self {
        let past = SignedDuration::from_millis(i64::try_from(elapsed_ms).unwrap_or(i64::MAX));
        Self {
            origin: Instant::now(),
            started: now.checked_sub(past).unwrap_or(Timestamp::MIN),
            before_ms: elapsed_ms,
        }
    }

    /// The same clock after the machine slept for so long: UTC went on, its milliseconds did not.
    #[must_use]
    pub fn after_sleep(self, ms: u64) -> Self {
        let slept = SignedDuration::from_millis(i64::try_from(ms).unwrap_or(i64::MAX));
        Self {
            started: self.started.checked_add(slept).unwrap_or(Timestamp::MAX),
            ..self
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

    /// How long ago this machine was started, its sleep counted where the system can tell.
    pub fn since_boot() -> Duration {
        use rustix::time::{ClockId, clock_gettime};
        #[cfg(target_os = "linux")]
        let clock = ClockId::Boottime;
        #[cfg(not(target_os = "linux"))]
        let clock = ClockId::Monotonic;
        Duration::try_from(clock_gettime(clock)).unwrap_or_default()
    }

    /// How long this machine has slept since it was started. Only Linux tells; elsewhere always 0.
    pub fn asleep() -> Duration {
        #[cfg(target_os = "linux")]
        {
            use rustix::time::{ClockId, clock_gettime};
            let read = |clock| Duration::try_from(clock_gettime(clock)).unwrap_or_default();
            asleep_by(|| read(ClockId::Boottime), || read(ClockId::Monotonic))
        }
        #[cfg(not(target_os = "linux"))]
        Duration::ZERO
    }

    /// Milliseconds since the start.
    pub fn elapsed_ms(&self) -> u64 {
        let since = Span::of(self.origin.elapsed()).as_millis();
        self.before_ms.saturating_add(since)
    }

    /// Milliseconds from the start to this moment; that of its origin for one before it.
    pub fn ms_at(&self, moment: Instant) -> u64 {
        let since = Span::of(moment.saturating_duration_since(self.origin)).as_millis();
        self.before_ms.saturating_add(since)
    }

    /// UTC of so many milliseconds after the start.
    pub fn at(&self, elapsed_ms: u64) -> Timestamp {
        let past = SignedDuration::from_millis(i64::try_from(elapsed_ms).unwrap_or(i64::MAX));
        self.started.checked_add(past).unwrap_or(Timestamp::MAX)
    }
}

/// Two clocks cannot be read at once. What passes between the two readings is no sleep, so they are
/// read again if that was long: whoever is stopped in between would find a sleep the next time.
#[cfg(target_os = "linux")]
fn asleep_by(
    mut with_sleep: impl FnMut() -> Duration,
    mut without: impl FnMut() -> Duration,
) -> Duration {
    const AT_ONCE: Duration = Duration::from_millis(50);
    const ATTEMPTS: u32 = 5;
    let mut asleep = Duration::ZERO;
    for _ in 0..ATTEMPTS {
        let before = without();
        let all = with_sleep();
        let after = without();
        asleep = all.saturating_sub(after);
        if after.saturating_sub(before) < AT_ONCE {
            break;
        }
    }
    asleep
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn who_is_stopped_between_the_two_clocks_looks_again() {
        // Seconds. An hour of sleep so far; ten seconds pass in the first look, none in the second.
        let mut without = [100, 110, 110, 110].into_iter().map(Duration::from_secs);
        let mut with_sleep = [3_700, 3_710].into_iter().map(Duration::from_secs);
        let mut next = || without.next().expect("two looks are enough");
        let asleep = asleep_by(|| with_sleep.next().expect("two looks"), &mut next);
        assert_eq!(asleep, Duration::from_secs(3_600));
    }
}

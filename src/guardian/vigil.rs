//! What a guardian makes of the signs of life of its run: pure, so that a simulation decides as the
//! process does.

use std::time::Duration;

use crate::model::takeover::Standing;
use crate::model::units::Span;

/// How long the guardian waits for a sign before it counts a silence.
pub const PERIOD: Duration = Duration::from_secs(1);

/// Silences in a row after which a run that has a fault in place is taken for hung. Counted, not
/// measured: while the machine sleeps, or the guardian itself is stopped, nothing is counted.
const SILENCES: u32 = 10;

/// How long a run may hang with a fault in place.
pub const HUNG_AFTER: Duration = Duration::from_secs(SILENCES as u64 * PERIOD.as_secs());

/// How long a run that overslept the end of its fault has to notice that by itself.
const TO_WAKE_UP: Duration = Duration::from_secs(5);

/// What a guardian comes upon.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sign {
    /// The run says where it stands; `now` by a clock that goes on while the machine sleeps.
    Standing {
        /// Where.
        standing: Standing,
        /// Since whenever that clock began.
        now: Duration,
    },
    /// Nothing came for a `PERIOD`.
    Silence,
    /// The other end is closed: the run's process is no more, or has let go of it.
    Closed,
    /// The run has ended, and says so.
    Dismissed,
}

/// What follows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Watch on.
    Watch,
    /// Go home.
    Leave,
    /// End the run in its place.
    TakeOver {
        /// What was found.
        why: String,
        /// Whether the run's process may still be there, and has to be ended first.
        process: RunProcess,
    },
}

/// Whether the run's process may still be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunProcess {
    /// It is gone, or has let go of its guardian; its lock says when it is done.
    Gone,
    /// It is there and does not do what it should.
    Hangs,
}

/// The memory of a watch.
#[derive(Debug, Clone)]
pub struct Vigil {
    standing: Standing,
    silences: u32,
    /// Until when the fault that is in may stay there.
    out_by: Option<Duration>,
    /// Since when that is known to be over.
    late_since: Option<Duration>,
}

impl Default for Vigil {
    fn default() -> Self {
        Self {
            standing: Standing::Clear,
            silences: 0,
            out_by: None,
            late_since: None,
        }
    }
}

impl Vigil {
    /// Takes one more sign in.
    pub fn take(&mut self, sign: Sign) -> Verdict {
        match sign {
            Sign::Dismissed => Verdict::Leave,
            Sign::Closed => Verdict::TakeOver {
                why: "its process died".to_owned(),
                process: RunProcess::Gone,
            },
            Sign::Standing { standing, now } => self.stands(standing, now),
            Sign::Silence => self.silent(),
        }
    }

    fn stands(&mut self, standing: Standing, now: Duration) -> Verdict {
        self.standing = standing;
        self.silences = 0;
        let Standing::In { at_most_ms } = standing else {
            self.out_by = None;
            self.late_since = None;
            return Verdict::Watch;
        };
        let out_by = now.saturating_add(Duration::from_millis(at_most_ms));
        // The run counts by a clock that stands still while the machine sleeps, so what it said first
        // counts: later words may put the end off.
        let out_by = self.out_by.map_or(out_by, |first| first.min(out_by));
        self.out_by = Some(out_by);
        if now <= out_by {
            return Verdict::Watch;
        }
        let late_since = *self.late_since.get_or_insert(now);
        if now.saturating_sub(late_since) < TO_WAKE_UP {
            return Verdict::Watch;
        }
        Verdict::TakeOver {
            why: format!(
                "its fault should have been out {} ago",
                Span::of(now.saturating_sub(out_by))
            ),
            process: RunProcess::Hangs,
        }
    }

    fn silent(&mut self) -> Verdict {
        match self.standing {
            // A run that hangs with nothing in place harms nobody.
            Standing::Clear => Verdict::Watch,
            Standing::In { .. } | Standing::Undoing => {
                self.silences += 1;
                match self.silences >= SILENCES {
                    false => Verdict::Watch,
                    true => Verdict::TakeOver {
                        why: format!("it gave no sign of life for {}", Span::of(HUNG_AFTER)),
                        process: RunProcess::Hangs,
                    },
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stands(standing: Standing, second: u64) -> Sign {
        Sign::Standing {
            standing,
            now: Duration::from_secs(second),
        }
    }

    fn within(seconds: u64) -> Standing {
        Standing::In {
            at_most_ms: seconds * 1_000,
        }
    }

    fn hangs(verdict: &Verdict) -> bool {
        matches!(verdict, Verdict::TakeOver { process, .. } if *process == RunProcess::Hangs)
    }

    #[test]
    fn silence_counts_only_with_a_fault_in_place() {
        for (standing, hung) in [
            (Standing::Clear, false),
            (within(600), true),
            (Standing::Undoing, true),
        ] {
            let mut vigil = Vigil::default();
            assert_eq!(vigil.take(stands(standing, 0)), Verdict::Watch);
            for _ in 1..SILENCES {
                assert_eq!(vigil.take(Sign::Silence), Verdict::Watch);
            }
            assert_eq!(hangs(&vigil.take(Sign::Silence)), hung, "{standing:?}");
        }
    }

    #[test]
    fn nine_silences_are_no_death() {
        let mut vigil = Vigil::default();
        vigil.take(stands(Standing::Undoing, 0));
        for _ in 0..9 {
            assert_eq!(vigil.take(Sign::Silence), Verdict::Watch);
        }
        assert_eq!(HUNG_AFTER, Duration::from_secs(10));
    }

    #[test]
    fn one_sign_ends_a_silence() {
        let mut vigil = Vigil::default();
        for round in 0..3 {
            for _ in 1..SILENCES {
                assert_eq!(vigil.take(Sign::Silence), Verdict::Watch);
            }
            assert_eq!(vigil.take(stands(Standing::Undoing, round)), Verdict::Watch);
        }
    }

    #[test]
    fn the_first_word_on_the_end_of_a_fault_counts_across_a_sleep() {
        let mut vigil = Vigil::default();
        assert_eq!(vigil.take(stands(within(30), 100)), Verdict::Watch);
        // It slept for an hour and still means to hold on for 25 s.
        assert_eq!(vigil.take(stands(within(25), 3_700)), Verdict::Watch);
        assert_eq!(vigil.take(stands(within(24), 3_704)), Verdict::Watch);
        assert!(hangs(&vigil.take(stands(within(20), 3_705))));
        let mut vigil = Vigil::default();
        vigil.take(stands(within(30), 100));
        vigil.take(stands(Standing::Undoing, 120));
        assert_eq!(vigil.take(stands(within(30), 3_700)), Verdict::Watch);
    }

    #[test]
    fn a_closed_end_is_a_death_and_a_word_of_parting_is_none() {
        let gone = |verdict| matches!(verdict, Verdict::TakeOver { process, .. } if process == RunProcess::Gone);
        assert!(gone(Vigil::default().take(Sign::Closed)));
        assert_eq!(Vigil::default().take(Sign::Dismissed), Verdict::Leave);
    }
}

//! Judging a series of readings against one SLO.
//!
//! Pure, so that the engine, a replay and a what-if judge alike.

use serde::{Deserialize, Serialize};

use super::sample::{Reading, SloState};
use super::slo::Slo;
use super::units::Span;

/// Why an SLO lost its patience.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trip {
    /// The objective was missed for as long as `for` allows.
    Breach,
    /// There was no value for as long as `noDataFor` allows.
    Blind,
}

/// What one reading means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// The state now.
    pub state: SloState,
    /// When the current breach, or blindness, began; `None` while ok.
    pub began_ms: Option<u64>,
    /// Milliseconds that it has lasted; 0 while ok.
    pub streak_ms: u64,
    /// Set on the one reading that completes the patience.
    pub trip: Option<Trip>,
}

/// The two times of a reading, on the run's monotonic clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Moment {
    /// The tick that it was due at: what a value says is about then, however late it comes in. Ticks
    /// are whole multiples of `every`, so a slow answer or a late timer neither lengthens nor shortens
    /// a breach.
    pub about_ms: u64,
    /// When it came in: somebody who sees nothing has seen nothing until then.
    pub known_ms: u64,
}

/// The memory that judging one SLO needs.
///
/// * A breach lasts from the first bad value to the latest one. It trips on a bad value only: what
///   happened between two readings, and in a gap without values, is not guessed.
/// * Blindness lasts from the first reading without a value until now, whether there was no data or
///   no source; any value ends it.
/// * A gap in which blindness did not lose its own patience neither ends nor restarts a breach: the
///   breach goes on from where it began once values are back and still bad. A longer one restarts it.
/// * Each breach, and each blindness, trips once.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    breach: Option<Streak>,
    blindness: Option<Streak>,
}

/// A state that goes on.
#[derive(Debug, Clone, Copy)]
struct Streak {
    since_ms: u64,
    patience: Patience,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Patience {
    Kept,
    Lost,
}

impl Judge {
    /// Judges a reading that was answered in no time, at `at_ms` on the run's monotonic clock.
    pub fn observe(&mut self, slo: &Slo, at_ms: u64, reading: &Reading) -> Verdict {
        let moment = Moment {
            about_ms: at_ms,
            known_ms: at_ms,
        };
        self.judge(slo, moment, reading)
    }

    /// Judges a reading. Those of one SLO come in the order in which they were due.
    pub fn judge(&mut self, slo: &Slo, moment: Moment, reading: &Reading) -> Verdict {
        match reading {
            // No number says nothing, whatever it is compared with.
            Reading::Value(value) if !value.is_finite() => {
                self.blind(slo, moment, SloState::NoData)
            }
            Reading::Value(value) if slo.objective.holds(*value) => {
                *self = Self::default();
                Verdict {
                    state: SloState::Ok,
                    began_ms: None,
                    streak_ms: 0,
                    trip: None,
                }
            }
            Reading::Value(_) => self.breaching(slo, moment.about_ms),
            Reading::NoData { .. } => self.blind(slo, moment, SloState::NoData),
            Reading::SourceDown { .. } => self.blind(slo, moment, SloState::SourceDown),
        }
    }

    /// Judges a reading that is still under way: as good as none once the patience for blindness is
    /// over. `None`: that is not so, or was told before.
    pub fn wait(&mut self, slo: &Slo, moment: Moment) -> Option<Verdict> {
        let mut waited = self.clone();
        let verdict = waited.blind(slo, moment, SloState::SourceDown);
        verdict.trip?;
        // Until then the answer may still be a value, with which nobody was ever blind.
        *self = waited;
        Some(verdict)
    }

    fn breaching(&mut self, slo: &Slo, about_ms: u64) -> Verdict {
        let gap = self.blindness.take();
        if gap.is_some_and(|gap| gap.patience == Patience::Lost) {
            self.breach = None;
        }
        let breach = self.breach.get_or_insert(Streak::since(about_ms));
        let trips = breach.trips(about_ms, slo.patience);
        breach.verdict(SloState::Breaching, about_ms, trips.then_some(Trip::Breach))
    }

    fn blind(&mut self, slo: &Slo, moment: Moment, state: SloState) -> Verdict {
        let since = Streak::since(moment.about_ms);
        let blindness = self.blindness.get_or_insert(since);
        let trips = blindness.trips(moment.known_ms, slo.blind_patience);
        blindness.verdict(state, moment.known_ms, trips.then_some(Trip::Blind))
    }
}

impl Streak {
    fn since(since_ms: u64) -> Self {
        Self {
            since_ms,
            patience: Patience::Kept,
        }
    }

    fn length_ms(self, until_ms: u64) -> u64 {
        until_ms.saturating_sub(self.since_ms)
    }

    /// Whether the patience is lost now, for the first time.
    fn trips(&mut self, until_ms: u64, patience: Span) -> bool {
        let lost = self.length_ms(until_ms) >= patience.as_millis();
        let trips = lost && self.patience == Patience::Kept;
        if trips {
            self.patience = Patience::Lost;
        }
        trips
    }

    fn verdict(self, state: SloState, until_ms: u64, trip: Option<Trip>) -> Verdict {
        Verdict {
            state,
            began_ms: Some(self.since_ms),
            streak_ms: self.length_ms(until_ms),
            trip,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::slo::Reaction;
    use crate::model::units::Span;

    fn slo(patience: u64, blind: u64) -> Slo {
        Slo {
            name: "errors".to_owned(),
            reads: "script".to_owned(),
            objective: "< 1".parse().expect("a valid objective"),
            patience: Span::from_secs(patience),
            blind_patience: Span::from_secs(blind),
            on_breach: Reaction::Rollback,
            on_no_data: Reaction::Rollback,
            every: Span::from_secs(1),
        }
    }

    /// `b` bad, `g` good, `n` no data, `d` source down; one reading a second.
    fn trips(slo: &Slo, script: &str) -> Vec<(usize, Trip)> {
        let mut judge = Judge::default();
        script
            .chars()
            .enumerate()
            .filter_map(|(second, letter)| {
                let reading = match letter {
                    'b' => Reading::Value(2.0),
                    'g' => Reading::Value(0.0),
                    'n' => Reading::NoData { why: String::new() },
                    _ => Reading::SourceDown { why: String::new() },
                };
                let verdict = judge.observe(slo, second as u64 * 1_000, &reading);
                verdict.trip.map(|trip| (second, trip))
            })
            .collect()
    }

    #[test]
    fn zero_patience_trips_on_the_first_bad_sample() {
        assert_eq!(trips(&slo(0, 30), "ggbbb"), [(2, Trip::Breach)]);
    }

    #[test]
    fn patience_is_counted_from_the_first_bad_sample_and_reset_by_a_good_one() {
        assert_eq!(trips(&slo(3, 30), "gbbgbbbbb"), [(7, Trip::Breach)]);
    }

    #[test]
    fn a_short_gap_neither_ends_nor_restarts_a_breach() {
        assert_eq!(trips(&slo(4, 30), "bbnnb"), [(4, Trip::Breach)]);
    }

    #[test]
    fn a_long_gap_trips_by_itself_and_restarts_the_breach() {
        assert_eq!(
            trips(&slo(4, 2), "bbnnnbbbbb"),
            [(4, Trip::Blind), (9, Trip::Breach)]
        );
    }

    #[test]
    fn no_data_and_source_down_are_one_blindness() {
        assert_eq!(trips(&slo(4, 3), "gndnd"), [(4, Trip::Blind)]);
    }
}

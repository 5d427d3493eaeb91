//! Judging a series of readings against one SLO.
//!
//! Pure, so that the engine, a replay and a what-if judge alike.

use serde::{Deserialize, Serialize};

use super::sample::{Reading, SloState};
use super::slo::Slo;

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
    /// Milliseconds that the current breach, or blindness, has lasted; 0 while ok.
    pub streak_ms: u64,
    /// Set on the one reading that completes the patience.
    pub trip: Option<Trip>,
}

/// The memory that judging one SLO needs.
///
/// A blind gap shorter than `noDataFor` neither ends nor restarts a breach: the breach goes on from
/// where it began once values are back and still bad.
#[derive(Debug, Clone, Default)]
pub struct Judge {
    breaching_since_ms: Option<u64>,
    blind_since_ms: Option<u64>,
    breach_told: bool,
    blind_told: bool,
}

impl Judge {
    /// Judges a reading taken at `at_ms` on the run's monotonic clock.
    pub fn observe(&mut self, slo: &Slo, at_ms: u64, reading: &Reading) -> Verdict {
        match reading {
            Reading::Value(value) if slo.objective.holds(*value) => {
                *self = Self::default();
                Verdict {
                    state: SloState::Ok,
                    streak_ms: 0,
                    trip: None,
                }
            }
            Reading::Value(_) => self.breaching(slo, at_ms),
            Reading::NoData { .. } => self.blind(slo, at_ms, SloState::NoData),
            Reading::SourceDown { .. } => self.blind(slo, at_ms, SloState::SourceDown),
        }
    }

    fn breaching(&mut self, slo: &Slo, at_ms: u64) -> Verdict {
        if let Some(blind_since) = self.blind_since_ms.take()
            && at_ms.saturating_sub(blind_since) >= slo.blind_patience.as_millis()
        {
            self.breaching_since_ms = None;
        }
        self.blind_told = false;
        let since = *self.breaching_since_ms.get_or_insert(at_ms);
        let streak_ms = at_ms.saturating_sub(since);
        let trips = streak_ms >= slo.patience.as_millis() && !self.breach_told;
        self.breach_told |= trips;
        Verdict {
            state: SloState::Breaching,
            streak_ms,
            trip: trips.then_some(Trip::Breach),
        }
    }

    fn blind(&mut self, slo: &Slo, at_ms: u64, state: SloState) -> Verdict {
        let since = *self.blind_since_ms.get_or_insert(at_ms);
        let streak_ms = at_ms.saturating_sub(since);
        let trips = streak_ms >= slo.blind_patience.as_millis() && !self.blind_told;
        self.blind_told |= trips;
        Verdict {
            state,
            streak_ms,
            trip: trips.then_some(Trip::Blind),
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

//! Judges readings as they arrive.

use super::clock::Clock;
use super::gauges::Gauge;
use super::input::ReadingTimes;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::judgement::{Judge, Moment, Trip, Verdict};
use crate::model::sample::{Reading, SloState};
use crate::model::slo::{Reaction, Slo};
use crate::model::units::Span;

/// The SLOs of a run and the memory of each.
pub(super) struct Watch {
    watched: Vec<Watched>,
    /// What was asked for earlier says nothing about the fault that is in, or about to be.
    armed_ms: u64,
}

struct Watched {
    slo: Slo,
    judge: Judge,
    latest: Option<Latest>,
    /// When the latest reading that came back with a value was asked for.
    valued_ms: Option<u64>,
}

/// The latest reading of an SLO.
#[derive(Debug, Clone)]
struct Latest {
    times: Times,
    state: SloState,
    reading: Reading,
}

/// The times of a reading in milliseconds of the run.
#[derive(Debug, Clone, Copy)]
pub(super) struct Times {
    /// The tick that it was due at.
    due_ms: u64,
    /// When it was asked for: it says nothing about what came after that.
    asked_ms: u64,
    /// When its answer was there.
    answered_ms: u64,
}

impl Times {
    /// By the clock of the run.
    pub(super) fn by(clock: Clock, times: ReadingTimes) -> Self {
        Self {
            due_ms: clock.ms_at(times.due),
            asked_ms: clock.ms_at(times.asked),
            answered_ms: clock.ms_at(times.answered),
        }
    }

    fn took_ms(self) -> u64 {
        self.answered_ms.saturating_sub(self.asked_ms)
    }

    /// What is judged by, when judging began at `armed_ms`.
    fn moment(self, armed_ms: u64) -> Moment {
        let about_ms = if self.asked_ms < armed_ms {
            armed_ms
        } else {
            self.due_ms
        };
        Moment {
            about_ms,
            known_ms: self.answered_ms,
        }
    }
}

/// What one reading led to.
pub(super) struct Judged {
    /// To be recorded, in order.
    pub(super) events: Vec<Event>,
    /// A rollback SLO lost its patience.
    pub(super) trip: Option<Tripped>,
}

/// A lost patience that may end the run.
pub(super) struct Tripped {
    /// The reason that it is.
    pub(super) cause: Cause,
    /// When the breach, or the blindness, began.
    pub(super) began_ms: u64,
}

/// Whether every gate holds.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Health {
    /// Every rollback SLO is ok, by a reading that is fresh enough.
    AllOk,
    /// Some are not.
    Not {
        /// Those with a value that misses the objective, with a sentence each.
        breaching: Vec<(String, String)>,
        /// Those without a (fresh) value, with a sentence each.
        blind: Vec<(String, String)>,
    },
}

impl Watch {
    pub(super) fn new(gauges: &[Gauge]) -> Self {
        let watched = gauges
            .iter()
            .map(|gauge| Watched {
                slo: gauge.slo.clone(),
                judge: Judge::default(),
                latest: None,
                valued_ms: None,
            })
            .collect();
        Self {
            watched,
            armed_ms: 0,
        }
    }

    /// Forgets every streak: what a step is judged by begins now.
    pub(super) fn rearm(&mut self, now_ms: u64) {
        self.armed_ms = now_ms;
        for watched in &mut self.watched {
            watched.judge = Judge::default();
        }
    }

    /// Takes a reading that has arrived.
    pub(super) fn take(&mut self, gauge: usize, times: Times, reading: Reading) -> Judged {
        let armed_ms = self.armed_ms;
        let Some(watched) = self.watched.get_mut(gauge) else {
            return Judged::nothing();
        };
        if reading.value().is_some() {
            watched.valued_ms = Some(times.asked_ms);
        }
        let moment = times.moment(armed_ms);
        let verdict = if times.asked_ms < armed_ms && reading.value().is_some() {
            // A value from before the fault is shown for what it is and held against nobody.
            Verdict {
                trip: None,
                ..Judge::default().judge(&watched.slo, moment, &reading)
            }
        } else {
            watched.judge.judge(&watched.slo, moment, &reading)
        };
        watched.latest = Some(Latest {
            times,
            state: verdict.state,
            reading: reading.clone(),
        });
        watched.judged(reading, times.took_ms(), verdict, armed_ms)
    }

    /// Takes note that a reading is still under way.
    pub(super) fn waiting(&mut self, gauge: usize, times: Times) -> Judged {
        let armed_ms = self.armed_ms;
        let moment = times.moment(armed_ms);
        let Some(watched) = self.watched.get_mut(gauge) else {
            return Judged::nothing();
        };
        let Some(verdict) = watched.judge.wait(&watched.slo, moment) else {
            return Judged::nothing();
        };
        let reading = Reading::SourceDown {
            why: format!("no answer for {}", Span::from_millis(times.took_ms())),
        };
        watched.judged(reading, times.took_ms(), verdict, armed_ms)
    }

    /// Whether every gate holds by a reading that was asked for at this time or later.
    pub(super) fn health(&self, asked_since_ms: u64) -> Health {
        self.health_by(|_, latest| latest.times.asked_ms >= asked_since_ms)
    }

    /// Whether every gate holds now, by a reading that is not too old for its cadence.
    pub(super) fn health_now(&self, now_ms: u64) -> Health {
        self.health_by(|slo, latest| {
            let age_ms = now_ms.saturating_sub(latest.times.answered_ms);
            age_ms
                <= slo
                    .every
                    .as_millis()
                    .saturating_mul(2)
                    .saturating_add(latest.times.took_ms())
        })
    }

    fn health_by(&self, is_fresh: impl Fn(&Slo, &Latest) -> bool) -> Health {
        let mut breaching = Vec::new();
        let mut blind = Vec::new();
        for watched in self.gates() {
            let slo = &watched.slo;
            let told = |why: String| (slo.name.clone(), why);
            let latest = watched.latest.as_ref();
            match latest.filter(|latest| is_fresh(slo, latest)) {
                None => blind.push(told(format!("`{}` has no fresh reading", slo.name))),
                Some(latest) => match latest.state {
                    SloState::Ok => {}
                    SloState::Breaching => breaching.push(told(says(slo, &latest.reading))),
                    SloState::NoData | SloState::SourceDown => {
                        blind.push(told(says(slo, &latest.reading)));
                    }
                },
            }
        }
        if breaching.is_empty() && blind.is_empty() {
            Health::AllOk
        } else {
            Health::Not { breaching, blind }
        }
    }

    /// A gate of which not one value was asked for after this time.
    pub(super) fn unseen_after(&self, since_ms: u64) -> Option<&str> {
        self.gates()
            .find(|watched| watched.valued_ms.is_none_or(|asked| asked <= since_ms))
            .map(|watched| watched.slo.name.as_str())
    }

    fn gates(&self) -> impl Iterator<Item = &Watched> {
        self.watched.iter().filter(|watched| watched.slo.is_gate())
    }
}

impl Judged {
    fn nothing() -> Self {
        Self {
            events: Vec::new(),
            trip: None,
        }
    }
}

impl Watched {
    fn judged(&self, reading: Reading, took_ms: u64, verdict: Verdict, armed_ms: u64) -> Judged {
        let slo = &self.slo;
        let mut events = vec![Event::Sampled {
            slo: slo.name.clone(),
            reading: reading.clone(),
            state: verdict.state,
            streak_ms: verdict.streak_ms,
            took_ms,
        }];
        let Some(trip) = verdict.trip else {
            return Judged { events, trip: None };
        };
        let (reaction, cause) = consequence(slo, trip, &reading);
        events.push(Event::Tripped {
            slo: slo.name.clone(),
            trip,
            reading,
            reaction,
        });
        Judged {
            events,
            trip: cause
                .zip(verdict.began_ms)
                .map(|(cause, began_ms)| Tripped {
                    cause,
                    // A timer may fire late: due before the fault, asked for with the fault in.
                    began_ms: began_ms.max(armed_ms),
                }),
        }
    }
}

fn consequence(slo: &Slo, trip: Trip, reading: &Reading) -> (Reaction, Option<Cause>) {
    let (reaction, cause) = match trip {
        Trip::Breach => (
            slo.on_breach,
            Cause::Breach {
                slo: slo.name.clone(),
            },
        ),
        Trip::Blind => (
            slo.on_no_data,
            Cause::Blind {
                slo: slo.name.clone(),
                why: says(slo, reading),
            },
        ),
    };
    match reaction {
        Reaction::Rollback => (reaction, Some(cause)),
        Reaction::Record => (reaction, None),
    }
}

/// `error-rate` is 4% (objective < 1%)
fn says(slo: &Slo, reading: &Reading) -> String {
    match reading {
        Reading::Value(value) => format!(
            "`{}` is {} (objective {})",
            slo.name,
            slo.objective.unit().show(*value),
            slo.objective
        ),
        Reading::NoData { why } => format!("`{}` has no data: {why}", slo.name),
        Reading::SourceDown { why } => format!("the source of `{}` is down: {why}", slo.name),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::metrics::Metric;
    use crate::metrics::simulated::SimulatedSeries;

    #[test]
    fn what_was_due_before_the_fault_and_asked_for_in_it_is_the_faults() {
        let gauge = Gauge {
            slo: Slo {
                name: "errors".to_owned(),
                reads: "script".to_owned(),
                objective: "< 1%".parse().unwrap(),
                patience: Span::from_secs(1),
                blind_patience: Span::from_secs(30),
                on_breach: Reaction::Rollback,
                on_no_data: Reaction::Rollback,
                every: Span::from_secs(1),
            },
            metric: Metric::Simulated("errors".to_owned()),
            source: Arc::clone(&SimulatedSeries::new().source()),
        };
        let mut watch = Watch::new(&[gauge]);
        watch.rearm(5_002);
        let times = |due_ms, asked_ms| Times {
            due_ms,
            asked_ms,
            answered_ms: asked_ms,
        };
        let bad = || Reading::Value(0.5);
        assert!(watch.take(0, times(5_000, 5_003), bad()).trip.is_none());
        let trip = watch.take(0, times(6_000, 6_000), bad()).trip;
        let trip = trip.expect("a second of it is over, by the ticks");
        assert_eq!(trip.began_ms, 5_002);
    }
}

//! Judges readings as they arrive.

use super::gauges::Gauge;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::judgement::{Judge, Trip};
use crate::model::sample::{Reading, SloState};
use crate::model::slo::{Reaction, Slo};

/// The SLOs of a run and the memory of each.
pub(super) struct Watch {
    watched: Vec<Watched>,
}

struct Watched {
    slo: Slo,
    judge: Judge,
    latest: Option<Latest>,
}

/// The latest reading of an SLO.
#[derive(Debug, Clone)]
struct Latest {
    at_ms: u64,
    state: SloState,
    reading: Reading,
}

/// What one reading led to.
pub(super) struct Judged {
    /// To be recorded, in order.
    pub(super) events: Vec<Event>,
    /// A reason to end the run, if the phase lets SLOs end it.
    pub(super) cause: Option<Cause>,
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
            })
            .collect();
        Self { watched }
    }

    /// Lets streaks that were told already trip again: a new step begins.
    pub(super) fn rearm(&mut self) {
        for watched in &mut self.watched {
            watched.judge.rearm();
        }
    }

    pub(super) fn take(
        &mut self,
        gauge: usize,
        at_ms: u64,
        reading: Reading,
        took_ms: u64,
    ) -> Judged {
        let Some(watched) = self.watched.get_mut(gauge) else {
            return Judged {
                events: Vec::new(),
                cause: None,
            };
        };
        let slo = &watched.slo;
        let verdict = watched.judge.observe(slo, at_ms, &reading);
        watched.latest = Some(Latest {
            at_ms,
            state: verdict.state,
            reading: reading.clone(),
        });
        let mut events = vec![Event::Sampled {
            slo: slo.name.clone(),
            reading: reading.clone(),
            state: verdict.state,
            streak_ms: verdict.streak_ms,
            took_ms,
        }];
        let Some(trip) = verdict.trip else {
            return Judged {
                events,
                cause: None,
            };
        };
        let (reaction, cause) = consequence(slo, trip, &reading);
        events.push(Event::Tripped {
            slo: slo.name.clone(),
            trip,
            reading,
            reaction,
        });
        Judged { events, cause }
    }

    /// Whether every gate holds by a reading taken after `since_ms`.
    pub(super) fn health(&self, since_ms: u64) -> Health {
        let mut breaching = Vec::new();
        let mut blind = Vec::new();
        for watched in self.watched.iter().filter(|watched| watched.slo.is_gate()) {
            let slo = &watched.slo;
            let fresh = watched
                .latest
                .as_ref()
                .filter(|latest| latest.at_ms >= since_ms);
            match fresh {
                None => blind.push((
                    slo.name.clone(),
                    format!("`{}` has no reading yet", slo.name),
                )),
                Some(latest) => match latest.state {
                    SloState::Ok => {}
                    SloState::Breaching => {
                        breaching.push((slo.name.clone(), says(slo, &latest.reading)));
                    }
                    SloState::NoData | SloState::SourceDown => {
                        blind.push((slo.name.clone(), says(slo, &latest.reading)));
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

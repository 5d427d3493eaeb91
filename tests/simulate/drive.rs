//! What a process reaches the world and the metrics through: nothing of it goes on once the process is
//! dead, or while it is stopped.

use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::faults::{Fault, FaultDriver, Injection, Owner, Prepared};
use chaos_gameday::metrics::{Metric, MetricSource};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::request::{Absence, Proof};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::undo::Undo;
use chaos_gameday::model::units::Span;
use futures_util::future::BoxFuture;

use crate::life::{Life, behind};
use crate::schedule::{Place, Weather};
use crate::sim::{Seen, Sim};

/// The world's driver in one process.
pub struct Driving {
    sim: Arc<Sim>,
    life: Arc<Life>,
    inner: Arc<dyn FaultDriver>,
}

impl Driving {
    pub fn driver(sim: &Arc<Sim>, life: &Arc<Life>) -> Arc<dyn FaultDriver> {
        Arc::new(Self {
            sim: Arc::clone(sim),
            life: Arc::clone(life),
            inner: sim.world.driver(sim, life),
        })
    }

    async fn call<T>(&self, inner: impl Future<Output = T>) -> T {
        behind(&self.life, async {
            self.sim.strike(&self.life, Place::Call);
            let answer = behind(&self.life, inner).await;
            self.sim.strike(&self.life, Place::Answer);
            answer
        })
        .await
    }
}

impl FaultDriver for Driving {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        Box::pin(self.call(self.inner.prepare(fault, owner)))
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(self.call(self.inner.inject(undo)))
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        Box::pin(self.call(self.inner.confirm(undo)))
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(self.call(self.inner.revert(undo)))
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(self.call(self.inner.verify_gone(undo)))
    }
}

/// The metrics as the schedule has them.
pub struct Metering {
    sim: Arc<Sim>,
    life: Arc<Life>,
}

impl Metering {
    pub fn source(sim: &Arc<Sim>, life: &Arc<Life>) -> Arc<dyn MetricSource> {
        Arc::new(Self {
            sim: Arc::clone(sim),
            life: Arc::clone(life),
        })
    }

    fn weather(&self, metric: &Metric) -> Weather {
        let place = usize::from(metric_name(metric) != "errors");
        let now_ms = self.sim.now_ms();
        let all = &self.sim.schedule.weather[place];
        let now = all.iter().rev().find(|(from, _)| *from <= now_ms);
        now.map_or(Weather::Good, |(_, weather)| *weather)
    }

    async fn ask(&self, metric: &Metric) -> Reading {
        let asked_ms = self.sim.now_ms();
        let reading = match self.weather(metric) {
            Weather::Good => Reading::Value(0.0),
            Weather::Bad => Reading::Value(0.5),
            Weather::NoData => Reading::NoData {
                why: "no series".to_owned(),
            },
            Weather::Down => Reading::SourceDown {
                why: "connection refused".to_owned(),
            },
            Weather::Flapping => Reading::Value(match (asked_ms / 1_000) % 2 {
                0 => 0.0,
                _ => 0.5,
            }),
            Weather::Slow(ms) => {
                tokio::time::sleep(Duration::from_millis(ms)).await;
                Reading::Value(0.0)
            }
        };
        let answered_ms = self.sim.now_ms();
        self.sim.inner().readings.push(Seen {
            slo: metric_name(metric).to_owned(),
            asked_ms,
            answered_ms,
            reading: reading.clone(),
        });
        reading
    }
}

fn metric_name(metric: &Metric) -> &str {
    match metric {
        Metric::Simulated(name) => name,
        other => panic!("no other metric is in a plan: {other:?}"),
    }
}

impl MetricSource for Metering {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(behind(&self.life, self.ask(metric)))
    }

    fn rehearse<'a>(&'a self, _: &'a Slo, _: &'a Metric, _: Span) -> BoxFuture<'a, Rehearsal> {
        unreachable!("no plan is made here")
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { None })
    }
}

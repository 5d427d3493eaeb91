//! Scripted series for tests and simulations of the engine: what is read, when, and how slowly.
//!
//! Everything follows tokio's clock, so that paused time makes each reading exact.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::Instant;

use super::{Metric, MetricSource};
use crate::model::judgement::Judge;
use crate::model::problem::Problem;
use crate::model::rehearsal::{Now, Rehearsal};
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;

/// Readings over time, by series name; clones share the scripts.
#[derive(Debug, Clone, Default)]
pub struct SimulatedSeries {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    started: Option<Instant>,
    summary: Option<TrafficSummary>,
    scripts: BTreeMap<String, Script>,
}

#[derive(Debug, Default)]
struct Script {
    /// Sorted by time since the start.
    readings: Vec<(Duration, Reading)>,
    delay: Duration,
}

impl SimulatedSeries {
    /// No series yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Scripts a series: each reading holds from its time since `start` until the next one's.
    /// Before the first of them the series has no data.
    #[must_use]
    pub fn series(self, name: &str, script: Vec<(Span, Reading)>) -> Self {
        let mut readings: Vec<_> = script
            .into_iter()
            .map(|(from, reading)| (from.as_duration(), reading))
            .collect();
        readings.sort_by_key(|(from, _)| *from);
        self.lock().script(name).readings = readings;
        self
    }

    /// Makes every answer of a series take so long; what is answered is what held when asked.
    #[must_use]
    pub fn delays(self, name: &str, delay: Duration) -> Self {
        self.lock().script(name).delay = delay;
        self
    }

    /// What `stop` will say that was counted; without it, nothing.
    #[must_use]
    pub fn summary(self, summary: TrafficSummary) -> Self {
        self.lock().summary = Some(summary);
        self
    }

    /// From now on a series reads this, whatever its script had in store.
    pub fn set(&self, name: &str, reading: Reading) {
        self.lock().script(name).readings = vec![(Duration::ZERO, reading)];
    }

    /// The series as a source.
    pub fn source(&self) -> Arc<dyn MetricSource> {
        Arc::new(self.clone())
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The reading that holds now, and how long its answer takes.
    fn ask(&self, metric: &Metric) -> (Reading, Duration) {
        let Metric::Simulated(name) = metric else {
            let why = format!("`{}` is no scripted series", metric.words());
            return (Reading::SourceDown { why }, Duration::ZERO);
        };
        let state = self.lock();
        let Some(script) = state.scripts.get(name) else {
            let why = format!("nobody scripted the series `{name}`");
            return (Reading::SourceDown { why }, Duration::ZERO);
        };
        let reading = state.started.map_or_else(
            || Reading::NoData {
                why: "not started yet".to_owned(),
            },
            |started| script.at(started.elapsed()),
        );
        (reading, script.delay)
    }
}

impl State {
    fn script(&mut self, name: &str) -> &mut Script {
        self.scripts.entry(name.to_owned()).or_default()
    }
}

impl Script {
    fn at(&self, elapsed: Duration) -> Reading {
        self.readings
            .iter()
            .rev()
            .find(|(from, _)| *from <= elapsed)
            .map_or_else(
                || Reading::NoData {
                    why: "the script has not begun".to_owned(),
                },
                |(_, reading)| reading.clone(),
            )
    }
}

impl MetricSource for SimulatedSeries {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async {
            self.lock().started = Some(Instant::now());
            Ok(())
        })
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            let (reading, delay) = self.ask(metric);
            if !delay.is_zero() {
                tokio::time::sleep(delay).await;
            }
            reading
        })
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        metric: &'a Metric,
        _over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async {
            let (reading, _) = self.ask(metric);
            let state = Judge::default().observe(slo, 0, &reading).state;
            Rehearsal {
                slo: slo.name.clone(),
                now: Now::Read { reading, state },
                past: None,
                freshness: None,
                warnings: Vec::new(),
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { self.lock().summary.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn errors() -> Metric {
        Metric::Simulated("errors".to_owned())
    }

    fn no_data(why: &str) -> Reading {
        Reading::NoData {
            why: why.to_owned(),
        }
    }

    #[tokio::test(start_paused = true)]
    async fn each_reading_holds_until_the_next_one() {
        let series = SimulatedSeries::new().series(
            "errors",
            vec![
                (Span::from_secs(12), Reading::Value(0.5)),
                (Span::from_secs(2), Reading::Value(0.0)),
            ],
        );
        let source = series.source();
        let mut seen = vec![source.read(&errors()).await];
        source.start().await.expect("a script starts");
        for wait in [0, 2, 9, 1, 3_600] {
            tokio::time::advance(Duration::from_secs(wait)).await;
            seen.push(source.read(&errors()).await);
        }
        series.set("errors", no_data("gone"));
        seen.push(source.read(&errors()).await);
        assert_eq!(
            seen,
            [
                no_data("not started yet"),
                no_data("the script has not begun"),
                Reading::Value(0.0),
                Reading::Value(0.0),
                Reading::Value(0.5),
                Reading::Value(0.5),
                no_data("gone"),
            ]
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_slow_answer_says_what_held_when_it_was_asked() {
        let source = SimulatedSeries::new()
            .series(
                "errors",
                vec![
                    (Span::ZERO, Reading::Value(1.0)),
                    (Span::from_secs(1), Reading::Value(2.0)),
                ],
            )
            .delays("errors", Duration::from_secs(3))
            .source();
        source.start().await.expect("a script starts");
        let asked = Instant::now();
        assert_eq!(source.read(&errors()).await, Reading::Value(1.0));
        assert_eq!(asked.elapsed(), Duration::from_secs(3));
    }

    #[tokio::test]
    async fn a_series_that_nobody_scripted_is_down() {
        let source = SimulatedSeries::new().source();
        assert_eq!(
            source.read(&errors()).await,
            Reading::SourceDown {
                why: "nobody scripted the series `errors`".to_owned()
            }
        );
    }
}

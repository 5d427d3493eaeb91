//! Prometheus, or anything with its HTTP API: one instant query a reading.
//!
//! A query that returns several series is no data, whatever their values: which of them an SLO means
//! nobody can know. A value that comes with warnings is a value; the rehearsal tells the warnings. One
//! that the server itself calls partial is none: what is missing may be the very breach.

mod api;
mod envelope;
mod freshness;
mod reading;
mod refusal;
mod rehearsal;
mod staleness;
pub(super) mod transport;
mod trouble;

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Metric, MetricSource, PrometheusSpec, SourceSetup};
use crate::model::judgement::Judge;
use crate::model::problem::Problem;
use crate::model::rehearsal::{Now, Rehearsal};
use crate::model::sample::Reading;
use crate::model::skew::ToldTime;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;
use api::Api;
use envelope::{Extent, Opened};
use rehearsal::Question;
use staleness::Staleness;
use trouble::Trouble;

/// The source; nothing is sent yet.
///
/// # Errors
/// The URL cannot be used, a secret is not set, a file of certificates cannot be used.
pub(super) fn source(
    spec: &PrometheusSpec,
    setup: &SourceSetup,
) -> Result<Arc<dyn MetricSource>, Problem> {
    Ok(Arc::new(Prometheus {
        api: Api::new(spec, setup)?,
        staleness: Staleness::default(),
    }))
}

/// What this server says of the time; `None`: nothing.
pub(super) async fn told_time(spec: &PrometheusSpec, setup: &SourceSetup) -> Option<ToldTime> {
    Api::new(spec, setup).ok()?.told_time(&setup.clock).await
}

struct Prometheus {
    api: Api,
    staleness: Staleness,
}

/// A reading and what the server warned of.
struct Told {
    reading: Reading,
    warnings: Vec<String>,
}

impl Prometheus {
    async fn ask(&self, metric: &Metric) -> Result<Told, Trouble> {
        let Metric::Prometheus(query) = metric else {
            let why = format!("`{}` is no query of Prometheus", metric.words());
            return Err(Trouble::passing(why));
        };
        let answer = self.api.instant(query).await?;
        let Opened {
            data,
            warnings,
            extent,
        } = answer.opened;
        let number = reading::number(&data)
            .map_err(|trouble| trouble.map(|text| self.api.redacted(text)))?;
        let age = number.and_then(|sample| {
            self.staleness
                .too_old(query, sample.timestamp(), answer.served)
        });
        let reading = match (age, extent) {
            (Some(age), _) => Reading::NoData {
                why: format!("the answer is from {age} ago"),
            },
            (None, Extent::Part) => Reading::NoData {
                why: "the answer is partial: some of the storage did not answer".to_owned(),
            },
            (None, Extent::Whole) => {
                reading::reading(number.map(|sample| sample.value()), &warnings)
            }
        };
        Ok(Told { reading, warnings })
    }

    async fn now(&self, slo: &Slo, metric: &Metric) -> (Now, Vec<String>) {
        let (reading, warnings) = match self.ask(metric).await {
            Ok(told) => (told.reading, told.warnings),
            Err(Trouble::Unjudgeable { why, way_out } | Trouble::Refused { why, way_out }) => {
                return (Now::Flawed { why, way_out }, Vec::new());
            }
            Err(passing @ Trouble::Passing { .. }) => (passing.reading(), Vec::new()),
        };
        let state = Judge::default().observe(slo, 0, &reading).state;
        (Now::Read { reading, state }, warnings)
    }
}

impl MetricSource for Prometheus {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            match self.ask(metric).await {
                Ok(told) => told.reading,
                Err(trouble) => trouble.reading(),
            }
        })
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        metric: &'a Metric,
        over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async move {
            let (now, warnings) = self.now(slo, metric).await;
            let told = Rehearsal {
                slo: slo.name.clone(),
                now,
                past: None,
                freshness: None,
                warnings,
            };
            match metric {
                Metric::Prometheus(query) => {
                    let question = Question { slo, query, over };
                    rehearsal::complete(&self.api, question, told).await
                }
                Metric::Traffic(_)
                | Metric::Command(_)
                | Metric::Scrape(_)
                | Metric::Simulated(_) => told,
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { None })
    }
}

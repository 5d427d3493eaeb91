//! The traffic generator: sends unique HTTP requests at a constant rate while a run lasts and says
//! how they fared over a sliding window.
//!
//! A dead target is data, not blindness: requests that nobody answers are failed requests, and
//! latency is of everything that finished, failed or not. Before a full window has passed, figures
//! are over what there is.

mod generator;
mod ledger;
mod template;
#[cfg(test)]
mod tests;
mod window;

use std::pin::pin;
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::future::BoxFuture;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::{Instant, timeout_at};

use super::{Metric, MetricSource, TrafficSpec};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::rehearsal::Rehearsal;
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;
use generator::{Generator, lock};
use ledger::Ledger;
pub use window::{Fate, TrafficWindow};

pub(super) struct Traffic {
    spec: TrafficSpec,
    tag: String,
    life: Mutex<Life>,
}

enum Life {
    New,
    Sending(Sending),
    /// Figures stay readable until they are too old.
    Stopped(Arc<Mutex<Ledger>>),
}

struct Sending {
    ledger: Arc<Mutex<Ledger>>,
    stop: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Drop for Sending {
    /// Nothing is sent by a source that nobody holds any more.
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Traffic {
    pub(super) fn new(spec: &TrafficSpec, tag: &str) -> Self {
        Self {
            spec: spec.clone(),
            tag: tag.to_owned(),
            life: Mutex::new(Life::New),
        }
    }

    fn life(&self) -> std::sync::MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) -> Result<(), Problem> {
        let mut life = self.life();
        if !matches!(*life, Life::New) {
            return Err(Problem::new(
                ProblemKind::Unexpected,
                "the traffic generator was started before",
            ));
        }
        let generator = Generator::new(&self.spec, &self.tag)?;
        *life = Life::Sending(Sending {
            ledger: generator.ledger(),
            stop: generator.stop_signal(),
            task: tokio::spawn(generator.run()),
        });
        Ok(())
    }

    fn figure(&self, metric: &Metric) -> Reading {
        let Metric::Traffic(metric) = metric else {
            let why = format!("`{}` is no figure of the traffic", metric.words());
            return Reading::SourceDown { why };
        };
        let life = self.life();
        let ledger = match &*life {
            Life::New => {
                let why = "no traffic has been sent yet".to_owned();
                return Reading::NoData { why };
            }
            // What it counted before says nothing about now: no request was refused since.
            Life::Sending(sending) if sending.task.is_finished() => {
                let why = "the traffic generator panicked, which is a bug in chaos".to_owned();
                return Reading::SourceDown { why };
            }
            Life::Sending(sending) => &sending.ledger,
            Life::Stopped(ledger) => ledger,
        };
        lock(ledger).read(metric, Instant::now())
    }

    /// Gives the very first request a moment to end.
    async fn first_result(&self) {
        let Some(ledger) = self.sending() else {
            return;
        };
        let Some((ended, until)) = lock(&ledger).first_result() else {
            return;
        };
        let mut ended = pin!(ended.notified());
        ended.as_mut().enable();
        // It may have ended before anybody listened.
        if lock(&ledger).first_result().is_some() {
            // Nothing ended in time: the figure says so.
            let _ = timeout_at(until, ended).await;
        }
    }

    fn sending(&self) -> Option<Arc<Mutex<Ledger>>> {
        match &*self.life() {
            Life::Sending(sending) => Some(Arc::clone(&sending.ledger)),
            Life::New | Life::Stopped(_) => None,
        }
    }

    /// The generator, if it is sending; from now on it counts as stopped.
    fn take(&self) -> Option<Sending> {
        let mut life = self.life();
        let Life::Sending(sending) = &*life else {
            return None;
        };
        let stopped = Life::Stopped(Arc::clone(&sending.ledger));
        match std::mem::replace(&mut *life, stopped) {
            Life::Sending(sending) => Some(sending),
            Life::New | Life::Stopped(_) => None,
        }
    }
}

impl MetricSource for Traffic {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { self.begin() })
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            self.first_result().await;
            self.figure(metric)
        })
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        _metric: &'a Metric,
        _over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async {
            super::not_before_the_run(slo, "its requests are sent only while a run lasts")
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async {
            let mut sending = self.take()?;
            sending.stop.notify_one();
            // A generator that panicked has sent its last request all the same.
            let _ = (&mut sending.task).await;
            Some(lock(&sending.ledger).settle(Instant::now()))
        })
    }
}

//! Pages in the OpenMetrics or Prometheus text format, read without any server.
//!
//! Each page is read at a fixed cadence while a run lasts, one read at a time; what was read is kept
//! for as long as the queries look back, and answers them. A page that cannot be read is down: what
//! it said before is no answer for now.

mod fetch;
mod page;
mod pages;
mod query;
mod rehearsal;
mod selector;
#[cfg(test)]
mod tests;
mod window;
mod words;

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures_util::future::{BoxFuture, join_all};
use tokio::task::JoinSet;
use tokio::time::{Instant, MissedTickBehavior, interval_at};

use super::{Metric, MetricSource, ScrapeSpec, SourceSetup};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::rehearsal::Rehearsal;
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;
use pages::Pages;
use window::Window;

/// The source.
///
/// # Errors
/// A target that cannot be told from another, or whose URL or labels cannot be used; a secret that
/// is not set, a file of certificates that cannot be used.
pub(super) fn source(
    spec: &ScrapeSpec,
    setup: &SourceSetup,
) -> Result<Arc<dyn MetricSource>, Problem> {
    Ok(Arc::new(Scraper::new(Pages::new(spec, setup)?)))
}

struct Scraper {
    pages: Arc<Pages>,
    window: Arc<Mutex<Window>>,
    life: Mutex<Life>,
    rehearsal: tokio::sync::Mutex<Option<rehearsal::Look>>,
}

enum Life {
    New,
    /// The loops, which end with this.
    Reading(JoinSet<()>),
    Stopped,
}

impl Scraper {
    fn new(pages: Pages) -> Self {
        Self {
            window: Arc::new(Mutex::new(Window::new(pages.targets(), pages.every()))),
            pages: Arc::new(pages),
            life: Mutex::new(Life::New),
            rehearsal: tokio::sync::Mutex::new(None),
        }
    }

    fn life(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads every page once and begins the loops that go on with it.
    async fn begin(&self) -> Result<(), Problem> {
        let before = std::mem::replace(&mut *self.life(), Life::Reading(JoinSet::new()));
        if !matches!(before, Life::New) {
            *self.life() = before;
            return Err(Problem::new(
                ProblemKind::Unexpected,
                "the pages were being read before",
            ));
        }
        let began = Instant::now();
        let all = 0..self.pages.targets().len();
        let first = all.clone().map(|index| self.pages.scrape(index, began));
        let scrapes = join_all(first).await;
        for (index, scrape) in scrapes.into_iter().enumerate() {
            lock(&self.window).take(index, scrape);
        }
        if let Life::Reading(loops) = &mut *self.life() {
            for index in all {
                let (pages, window) = (Arc::clone(&self.pages), Arc::clone(&self.window));
                loops.spawn(go_on(pages, window, index, began));
            }
        }
        Ok(())
    }

    fn answer(&self, metric: &Metric) -> Reading {
        let Metric::Scrape(query) = metric else {
            let why = format!("`{}` is not read from pages", metric.words());
            return Reading::SourceDown { why };
        };
        let why = match &*self.life() {
            Life::New => "the pages are read only while a run lasts",
            Life::Stopped => "the pages are no longer read",
            Life::Reading(_) => {
                return lock(&self.window).answer(query, self.pages.clock().now_ms());
            }
        };
        Reading::NoData {
            why: why.to_owned(),
        }
    }
}

/// Reads one page for ever. When it is due follows from its number alone; one that would be late by a
/// whole interval is left out.
async fn go_on(pages: Arc<Pages>, window: Arc<Mutex<Window>>, index: usize, began: Instant) {
    let every = pages.every().as_duration();
    let mut ticks = interval_at(began + every, every);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Skip);
    loop {
        let due = ticks.tick().await;
        let scrape = pages.scrape(index, due).await;
        lock(&window).take(index, scrape);
    }
}

fn lock(window: &Mutex<Window>) -> MutexGuard<'_, Window> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

impl MetricSource for Scraper {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(self.begin())
    }

    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async { self.answer(metric) })
    }

    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        metric: &'a Metric,
        _over: Span,
    ) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async {
            let mut last = self.rehearsal.lock().await;
            rehearsal::rehearse(&self.pages, &mut last, slo, metric).await
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async {
            *self.life() = Life::Stopped;
            None
        })
    }
}

//! What an SLO that is read from pages says before the run: from one read of each page.

use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::Instant;

use super::super::Metric;
use super::pages::Pages;
use super::query::{Flaw, Query};
use super::window::{Scrape, Window};
use super::words;
use crate::model::judgement::Judge;
use crate::model::rehearsal::{Freshness, Now, Rehearsal};
use crate::model::sample::Reading;
use crate::model::slo::Slo;

/// The SLOs of one document share one read of the pages; after so long they are read again.
const FRESH_FOR: Duration = Duration::from_secs(10);

/// One read of each page.
pub(super) struct Look {
    at: Instant,
    at_ms: i64,
    window: Window,
}

impl Look {
    /// Reads each page once. Each of them counts twice, one interval apart: so a rate has a value,
    /// which is wrong, but whose number and labels are those of the right one.
    async fn now(pages: &Pages) -> Self {
        let at = Instant::now();
        let at_ms = pages.clock().at_ms(at);
        let all = 0..pages.targets().len();
        let scrapes = join_all(all.map(|index| pages.scrape(index, at))).await;
        let every = i64::try_from(pages.every().as_millis()).unwrap_or(i64::MAX);
        let mut window = Window::new(pages.targets(), pages.every());
        for (index, scrape) in scrapes.into_iter().enumerate() {
            let before = Scrape {
                at_ms: at_ms.saturating_sub(every),
                took: scrape.took,
                outcome: scrape.outcome.clone(),
            };
            window.take(index, before);
            window.take(index, Scrape { at_ms, ..scrape });
        }
        Self { at, at_ms, window }
    }
}

/// The rehearsal of one SLO; nothing of it is kept but the read of the pages.
pub(super) async fn rehearse(
    pages: &Pages,
    last: &mut Option<Look>,
    slo: &Slo,
    metric: &Metric,
) -> Rehearsal {
    let query = match metric {
        Metric::Scrape(text) => Query::read(text),
        Metric::Traffic(_) | Metric::Command(_) | Metric::Prometheus(_) | Metric::Simulated(_) => {
            Err(Flaw {
                why: format!("`{}` is not read from pages", metric.words()),
                way_out: "declare the source that it is read from".to_owned(),
            })
        }
    };
    let window = query.as_ref().ok().and_then(Query::longest_range);
    let now = match query.and_then(|query| match query.too_short(pages.every()) {
        Some(flaw) => Err(flaw),
        None => Ok(query),
    }) {
        Err(flaw) => flawed(flaw),
        Ok(query) => {
            let look = match last.take().filter(|look| look.at.elapsed() < FRESH_FOR) {
                Some(look) => look,
                None => Look::now(pages).await,
            };
            seen(last.insert(look), slo, &query)
        }
    };
    Rehearsal {
        slo: slo.name.clone(),
        now,
        past: None,
        freshness: Some(Freshness {
            newest: None,
            interval: Some(pages.every()),
            window,
            starved: None,
        }),
        warnings: Vec::new(),
    }
}

/// What the pages say about a query.
fn seen(look: &mut Look, slo: &Slo, query: &Query) -> Now {
    let window = &look.window;
    if let Some(why) = window.blind(query) {
        return read(slo, Reading::SourceDown { why });
    }
    let nameless = query.selectors.iter().find(|selector| {
        let mut pages = window.concerned(selector);
        !selector.is_of_our_own() && !pages.any(|page| page.has(selector))
    });
    if let Some(selector) = nameless {
        let why = words::missing(window, selector);
        return read(slo, Reading::NoData { why });
    }
    match (window.value(query, look.at_ms), query.longest_range()) {
        (Err(flaw), _) => flawed(flaw),
        (Ok(reading), None) => read(slo, reading),
        (Ok(_), Some(_)) => {
            let found = query.selectors.iter().map(|selector| {
                let series = window.found(selector, look.at_ms).len();
                format!("`{}` finds {series} series now", selector.written)
            });
            let found = found.collect::<Vec<_>>().join(", ");
            let comparing = query.selectors.iter().any(|one| one.least > 1);
            let why = match comparing {
                true => "a rate needs two reads of the page",
                false => "its range is still to be filled",
            };
            Now::NotYet {
                why: format!("{why}; {found}"),
            }
        }
    }
}

fn read(slo: &Slo, reading: Reading) -> Now {
    let state = Judge::default().observe(slo, 0, &reading).state;
    Now::Read { reading, state }
}

fn flawed(flaw: Flaw) -> Now {
    Now::Flawed {
        why: flaw.why,
        way_out: flaw.way_out,
    }
}

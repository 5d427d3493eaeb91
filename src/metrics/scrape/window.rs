//! What was read from all pages so far: takes reads in as Prometheus does, and answers queries.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use super::super::promql::{self, Value};
use super::super::series::{Dated, Keeps, Labels, Origin, Point, SeriesStore};
use super::page::Sample;
use super::query::{Flaw, LONGEST_REACH, Query};
use super::selector::{DURATION, Selector, UP};
use super::words;
use crate::model::sample::Reading;
use crate::model::units::Span;

/// Samples that a page dates further into the future are left out, as in Prometheus.
const FUTURE_MS: i64 = 600_000;

/// Lateness that says more about this machine than about a page.
const LATE_MS: u64 = 2_000;

/// One page of the document.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Target {
    /// Its URL.
    pub(super) url: String,
    /// Host and port.
    pub(super) address: String,
    /// Labels that each of its series gets; no other target has the same.
    pub(super) labels: Labels,
}

/// One read of one page.
pub(super) struct Scrape {
    /// When it began, in milliseconds since 1970.
    pub(super) at_ms: i64,
    /// How long it took.
    pub(super) took: Duration,
    /// What was read, or why nothing was.
    pub(super) outcome: Result<Vec<Sample>, String>,
}

/// A page as it was read last.
pub(super) struct Page {
    pub(super) target: Target,
    pub(super) last: Last,
    /// Names of the metrics that it had when it could be read last.
    pub(super) metrics: BTreeSet<String>,
    /// How often it could be read.
    pub(super) reads: u64,
    /// When the last read began, in milliseconds since 1970.
    taken_ms: i64,
    round: u64,
}

/// How the last read of a page ended.
pub(super) enum Last {
    /// There was none yet.
    None,
    /// It was read.
    Read,
    /// It was not; why.
    Failed(String),
}

/// The samples of all pages, and the queries that were asked.
pub(super) struct Window {
    pub(super) pages: Vec<Page>,
    pub(super) store: SeriesStore,
    patience_ms: i64,
    queries: BTreeMap<String, Arc<Result<Query, Flaw>>>,
}

impl Window {
    /// Nothing was read yet; each page will be once in so much time.
    pub(super) fn new(targets: &[Target], every: Span) -> Self {
        let page = |target: &Target| Page {
            target: target.clone(),
            last: Last::None,
            metrics: BTreeSet::new(),
            reads: 0,
            taken_ms: i64::MIN,
            round: 0,
        };
        Self {
            patience_ms: patience(every),
            pages: targets.iter().map(page).collect(),
            store: SeriesStore::new(
                i64::try_from(promql::LOOK_BACK.as_millis()).unwrap_or(i64::MAX),
            ),
            queries: BTreeMap::new(),
        }
    }

    /// The query of this text. From now on its series are kept for as long as it looks back.
    pub(super) fn query(&mut self, text: &str) -> Arc<Result<Query, Flaw>> {
        if let Some(known) = self.queries.get(text) {
            return Arc::clone(known);
        }
        let query = Arc::new(Query::read(text));
        self.queries.insert(text.to_owned(), Arc::clone(&query));
        for selector in query.iter().flat_map(|query| &query.selectors) {
            let is_asked = |labels: &Labels| selector.matches(labels);
            self.store.keep(selector.name(), selector.keeps(), is_asked);
        }
        query
    }

    /// Takes one read of a page in.
    pub(super) fn take(&mut self, index: usize, scrape: Scrape) {
        let Scrape {
            at_ms,
            took,
            outcome,
        } = scrape;
        self.store.forget(at_ms);
        let outcome = outcome.and_then(|samples| self.admitted(index, samples));
        let page = &mut self.pages[index];
        page.round += 1;
        page.taken_ms = at_ms;
        let up = if outcome.is_ok() { 1.0 } else { 0.0 };
        let mut samples = page.ours(up, took);
        match outcome {
            Ok(read) => {
                page.reads += 1;
                page.last = Last::Read;
                page.metrics = read.iter().filter_map(name).collect();
                samples.extend(read);
            }
            Err(why) => page.last = Last::Failed(why),
        }
        let round = page.round;
        let asked = Asked::of(&self.queries);
        for sample in samples {
            let dated = sample.at_ms.map_or(Dated::ByRead, |_| Dated::ByPage);
            let origin = Origin {
                page: index,
                round,
                dated,
            };
            let point = Point {
                at_ms: sample.at_ms.unwrap_or(at_ms),
                value: Some(sample.value),
            };
            if is_of_now(point.at_ms, at_ms) {
                let keeps = |labels: &Labels| asked.keeps(labels);
                self.store.add(sample.labels, point, origin, keeps);
            }
        }
        self.store.end_missing(index, round, at_ms);
    }

    /// The samples with the labels of their page, if there is room for them.
    fn admitted(&self, index: usize, mut samples: Vec<Sample>) -> Result<Vec<Sample>, String> {
        let fixed = &self.pages[index].target.labels;
        for sample in &mut samples {
            relabel(&mut sample.labels, fixed);
        }
        let labels = samples.iter().map(|sample| &sample.labels);
        if self.store.has_room_for(labels) {
            return Ok(samples);
        }
        Err(format!(
            "there is no room for its {} samples among those that are kept; read it less often, or let the queries ask for fewer series or shorter ranges",
            samples.len()
        ))
    }

    /// Gives up pages that are no longer read although they should be: whatever keeps their reads
    /// from coming, what they said last is no answer for now.
    fn give_up(&mut self, now_ms: i64) {
        for index in 0..self.pages.len() {
            let page = &self.pages[index];
            let silent_ms = now_ms.saturating_sub(page.taken_ms);
            if matches!(page.last, Last::Read) && silent_ms > self.patience_ms {
                let silent = Span::from_millis(silent_ms.unsigned_abs());
                self.take(
                    index,
                    Scrape {
                        at_ms: now_ms,
                        took: Duration::ZERO,
                        outcome: Err(format!("it was last read {silent} ago")),
                    },
                );
            }
        }
    }

    /// The answer to a query, now.
    pub(super) fn answer(&mut self, text: &str, now_ms: i64) -> Reading {
        self.give_up(now_ms);
        let query = self.query(text);
        let query = match query.as_ref() {
            Ok(query) => query,
            Err(flaw) => {
                let why = flaw.in_one_line();
                return Reading::NoData { why };
            }
        };
        match self.value(query, now_ms) {
            Ok(reading) => reading,
            Err(flaw) => Reading::NoData {
                why: flaw.in_one_line(),
            },
        }
    }

    /// The value of a query, now.
    ///
    /// # Errors
    /// It has more than one, or its parts do not fit together.
    pub(super) fn value(&self, query: &Query, now_ms: i64) -> Result<Reading, Flaw> {
        if let Some(why) = self.blind(query) {
            return Ok(Reading::SourceDown { why });
        }
        match promql::evaluate(&query.expression, &self.store, now_ms) {
            Err(problem) => Err(Flaw::from(problem)),
            Ok(Value::Scalar(value)) => Ok(words::reading(value)),
            Ok(Value::Vector(series)) => match series.as_slice() {
                [] => Ok(self.nothing(query, now_ms)),
                [(_, value)] => Ok(words::reading(*value)),
                several => {
                    let all: Vec<_> = several.iter().map(|(labels, _)| labels.clone()).collect();
                    Err(Flaw::from(promql::several_series(&all)))
                }
            },
        }
    }

    /// Why the query cannot be answered from what can be read now, although old samples, or the
    /// `or vector(0)` behind it, may still give it a value: all pages that a selector would find
    /// something on cannot be read.
    pub(super) fn blind(&self, query: &Query) -> Option<String> {
        let mut others = query.selectors.iter().filter(|one| !one.is_of_our_own());
        others.find_map(|selector| self.blind_to(selector))
    }

    fn blind_to(&self, selector: &Selector) -> Option<String> {
        let concerned: Vec<_> = self.concerned(selector).collect();
        let holders = || {
            let all = concerned.iter().filter(|page| page.has(selector));
            all.map(|page| page.trouble())
        };
        let all_of = |troubles: Vec<Option<String>>| {
            let all: Option<Vec<_>> = troubles.into_iter().collect();
            all.and_then(|all| all.into_iter().next())
        };
        // What nobody ever had may be on a page that was never read.
        let never_read = || {
            let mut never = concerned.iter().filter(|page| page.reads == 0);
            never.find_map(|page| page.trouble())
        };
        all_of(concerned.iter().map(|page| page.trouble()).collect())
            .or_else(|| all_of(holders().collect()))
            .or_else(|| never_read().filter(|_| holders().next().is_none()))
    }

    /// What a query that finds nothing means.
    fn nothing(&self, query: &Query, now_ms: i64) -> Reading {
        let mut concerned = query.selectors.iter().flat_map(|one| self.concerned(one));
        if let Some(why) = concerned.find_map(Page::trouble) {
            return Reading::SourceDown { why };
        }
        Reading::NoData {
            why: words::nothing(self, query, now_ms),
        }
    }

    /// The pages that a selector may find something on.
    pub(super) fn concerned<'w>(
        &'w self,
        selector: &'w Selector,
    ) -> impl Iterator<Item = &'w Page> + 'w {
        let pages = self.pages.iter();
        pages.filter(|page| selector.may_concern(&page.target.labels))
    }

    /// For each series that a selector finds now, how many of its samples it finds.
    pub(super) fn found(&self, selector: &Selector, now_ms: i64) -> Vec<usize> {
        let all = self.store.of(selector.name());
        let asked = all.filter(|(labels, _)| selector.matches(labels));
        let counts = asked.map(|(_, points)| selector.counts(points, now_ms));
        counts.filter(|count| *count > 0).collect()
    }
}

impl Page {
    /// Whether it had a metric that the selector may ask for when it could be read last.
    pub(super) fn has(&self, selector: &Selector) -> bool {
        self.metrics.iter().any(|metric| selector.names(metric))
    }

    /// What Prometheus writes after every read, too.
    fn ours(&self, up: f64, took: Duration) -> Vec<Sample> {
        let both = [(UP, up), (DURATION, took.as_secs_f64())];
        let sample = |(name, value): (&str, f64)| {
            let mut labels = self.target.labels.clone();
            labels.insert("__name__".to_owned(), name.to_owned());
            Sample {
                labels,
                value,
                at_ms: None,
            }
        };
        both.into_iter().map(sample).collect()
    }

    /// Why it cannot be read; `None`: it can, or nobody tried yet.
    pub(super) fn trouble(&self) -> Option<String> {
        match &self.last {
            Last::Failed(why) => Some(format!("{}: {why}", self.target.url)),
            Last::None | Last::Read => None,
        }
    }
}

/// What all queries so far ask for.
struct Asked<'q> {
    selectors: Vec<&'q Selector>,
}

impl<'q> Asked<'q> {
    fn of(queries: &'q BTreeMap<String, Arc<Result<Query, Flaw>>>) -> Self {
        let good = queries
            .values()
            .filter_map(|query| query.as_ref().as_ref().ok());
        Self {
            selectors: good.flat_map(|query| &query.selectors).collect(),
        }
    }

    fn keeps(&self, labels: &Labels) -> Keeps {
        let asking = self.selectors.iter().filter(|one| one.matches(labels));
        asking
            .map(|one| one.keeps())
            .fold(Keeps::Newest, Keeps::max)
    }
}

/// How old the last read of a page may get, in milliseconds: one that takes as long as it may ends two
/// intervals after the one before it began, and a busy machine is late.
fn patience(every: Span) -> i64 {
    let longest = every.as_millis().saturating_mul(3).saturating_add(LATE_MS);
    i64::try_from(longest).unwrap_or(i64::MAX)
}

/// Gives a series the labels of its page. One that it has already becomes `exported_…`, as in
/// Prometheus.
fn relabel(labels: &mut Labels, fixed: &Labels) {
    for name in fixed.keys() {
        if let Some(value) = labels.remove(name) {
            let mut exported = format!("exported_{name}");
            while labels.contains_key(&exported) || fixed.contains_key(&exported) {
                exported.insert_str(0, "exported_");
            }
            labels.insert(exported, value);
        }
    }
    labels.extend(
        fixed
            .iter()
            .map(|(name, value)| (name.clone(), value.clone())),
    );
}

fn name(sample: &Sample) -> Option<String> {
    sample.labels.get("__name__").cloned()
}

/// Whether a page may date a sample so.
fn is_of_now(at_ms: i64, now_ms: i64) -> bool {
    let longest = i64::try_from(LONGEST_REACH.as_millis()).unwrap_or(i64::MAX);
    (now_ms.saturating_sub(longest)..=now_ms.saturating_add(FUTURE_MS)).contains(&at_ms)
}

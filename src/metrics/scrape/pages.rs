//! The pages of a document: what tells their series apart, and one read of one of them.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use tokio::time::{Instant, timeout};

use super::super::access::Caller;
use super::super::series::Labels;
use super::super::{ScrapeSpec, ScrapeTarget, SourceSetup, WallClock};
use super::fetch::Asker;
use super::page::Sample;
use super::window::{Scrape, Target};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// A read that begins so much after it was due counts as punctual, as in Prometheus: timers are exact
/// to a millisecond, and even times make even rates.
const PUNCTUAL: Duration = Duration::from_millis(2);

/// Reads the page of so many.
pub(super) type Fetch =
    Box<dyn Fn(usize) -> BoxFuture<'static, Result<Vec<Sample>, String>> + Send + Sync>;

/// All pages and how they are read.
pub(super) struct Pages {
    targets: Vec<Target>,
    every: Span,
    within: Span,
    clock: WallClock,
    fetch: Fetch,
}

impl Pages {
    /// The pages of a document; nothing is sent yet.
    ///
    /// # Errors
    /// Two pages whose series could not be told apart; a URL or a label that cannot be used.
    pub(super) fn new(spec: &ScrapeSpec, setup: &SourceSetup) -> Result<Self, Problem> {
        let targets = spec.targets.iter().map(target);
        let targets = targets.collect::<Result<Vec<_>, _>>()?;
        told_apart(&targets)?;
        let within = spec.timeout.min(spec.every);
        let askers = targets.iter().map(|target| {
            Ok(Arc::new(Asker {
                caller: Caller::new(&spec.access, &target.url, setup)?,
                url: target.url.clone(),
                address: target.address.clone(),
            }))
        });
        let askers = askers.collect::<Result<Vec<_>, Problem>>()?;
        let fetch: Fetch = Box::new(move |index| {
            let asker = Arc::clone(&askers[index]);
            Box::pin(async move { asker.fetch(within.as_duration()).await })
        });
        Ok(Self {
            targets,
            every: spec.every,
            within,
            clock: setup.clock,
            fetch,
        })
    }

    /// Pages whose reads a test scripts.
    #[cfg(test)]
    pub(super) fn scripted(
        targets: Vec<Target>,
        every: Span,
        clock: WallClock,
        fetch: Fetch,
    ) -> Self {
        Self {
            targets,
            every,
            within: every,
            clock,
            fetch,
        }
    }

    pub(super) fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Time between two reads of a page.
    pub(super) fn every(&self) -> Span {
        self.every
    }

    pub(super) fn clock(&self) -> WallClock {
        self.clock
    }

    /// Reads one page that was due at this moment.
    pub(super) async fn scrape(&self, index: usize, due: Instant) -> Scrape {
        let began = Instant::now();
        let punctual = began.saturating_duration_since(due) <= PUNCTUAL;
        let at = if punctual { due } else { began };
        let read = timeout(self.within.as_duration(), (self.fetch)(index)).await;
        Scrape {
            at_ms: self.clock.at_ms(at),
            took: began.elapsed(),
            outcome: read.unwrap_or_else(|_| Err(format!("no whole page within {}", self.within))),
        }
    }
}

fn target(spec: &ScrapeTarget) -> Result<Target, Problem> {
    let url = &spec.url;
    let invalid = |what: String| Problem::new(ProblemKind::Invalid, what);
    let parsed =
        url::Url::parse(url).map_err(|why| invalid(format!("`{url}` is no URL: {why}")))?;
    let host = parsed
        .host_str()
        .filter(|_| matches!(parsed.scheme(), "http" | "https"))
        .ok_or_else(|| {
            invalid(format!("`{url}` is no http address")).hint("write `http://host:port/metrics`")
        })?;
    if !parsed.username().is_empty() || parsed.password().is_some() {
        let what = format!("the URL of the page at {host} holds credentials");
        let way_out = "give them as `basic`, the password as a `${secret:NAME}`";
        return Err(invalid(what).hint(way_out));
    }
    let port = parsed.port_or_known_default().unwrap_or_default();
    let address = format!("{host}:{port}");
    let mut labels = Labels::from([("instance".to_owned(), address.clone())]);
    for (name, value) in &spec.labels {
        if !is_label(name) {
            return Err(
                invalid(format!("`{name}` is no label that a page's series can get"))
                    .hint("a letter or `_`, then letters, digits and `_`; not `__` in front"),
            );
        }
        labels.insert(name.clone(), value.clone());
    }
    labels.retain(|_, value| !value.is_empty());
    Ok(Target {
        url: url.clone(),
        address,
        labels,
    })
}

fn is_label(name: &str) -> bool {
    let admitted = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let first = |letter: char| letter.is_ascii_digit();
    !name.is_empty()
        && name.chars().all(admitted)
        && !name.starts_with(first)
        && !name.starts_with("__")
}

fn told_apart(targets: &[Target]) -> Result<(), Problem> {
    let mut seen = BTreeSet::new();
    match targets.iter().find(|target| !seen.insert(&target.labels)) {
        None => Ok(()),
        Some(twin) => Err(Problem::new(
            ProblemKind::Invalid,
            format!(
                "the series of `{}` could not be told from those of another target",
                twin.url
            ),
        )
        .hint("give each of them a label of its own under `labels`")),
    }
}

//! Metric sources: one trait, one private file for each, one match.

mod access;
mod command;
mod prometheus;
pub mod promql;
mod scrape;
pub mod series;
pub mod simulated;
mod specs;
mod traffic;
mod wall;

use std::path::PathBuf;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};

use crate::clients::Clients;
use crate::model::problem::Problem;
use crate::model::rehearsal::{Now, Rehearsal};
use crate::model::sample::Reading;
use crate::model::secret::Secrets;
use crate::model::skew::ToldTime;
use crate::model::slo::Slo;
use crate::model::traffic::TrafficSummary;
use crate::model::units::{Span, Unit};
pub use specs::{
    Access, Auth, BearerToken, MetricSpecs, PrometheusSpec, ScrapeSpec, ScrapeTarget, TlsFiles,
    TrafficSpec,
};
pub use traffic::{Fate, TrafficWindow};
pub use wall::WallClock;

/// What an SLO reads, parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Metric {
    /// A figure of the built-in traffic generator.
    Traffic(TrafficMetric),
    /// A program of the user's.
    Command(CommandMetric),
    /// A PromQL query that Prometheus answers.
    Prometheus(String),
    /// A PromQL query that we answer ourselves from the pages that we read; only a documented subset
    /// of the language.
    Scrape(String),
    /// A scripted series; no document can name it.
    Simulated(String),
}

/// A figure of the traffic generator, over its sliding window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum TrafficMetric {
    /// Share of the requests that failed: no answer in time, no connection, status 400 or above,
    /// or not sent since too many were in flight. A ratio.
    ErrorRate,
    /// Requests a second that were answered. A number.
    Throughput,
    /// Requests with these statuses in the window: `503`, or a class such as `5xx`. A number; no
    /// data where not one request was answered.
    Status(StatusClass),
    /// Latency from the intended start, of all that finished, failed or not, but for connections
    /// that were refused or broke: those have none. A duration in seconds.
    /// A request that could not be sent is as slow as a time-out; one under way counts with its age
    /// once it is older than the rest of the figure.
    Latency(Quantile),
}

/// One status (`503`) or a class of them (`5xx`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum StatusClass {
    /// This very status.
    Exactly(u16),
    /// Every status with this first digit.
    Class(u8),
}

impl TryFrom<String> for StatusClass {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl std::str::FromStr for StatusClass {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let class = text
            .strip_suffix("xx")
            .and_then(|digit| digit.parse().ok())
            .filter(|digit| (1..=5).contains(digit))
            .map(Self::Class);
        let exactly = text
            .parse()
            .ok()
            .filter(|status| (100..=599).contains(status))
            .map(Self::Exactly);
        class.or(exactly).ok_or_else(|| {
            Problem::new(
                crate::model::problem::ProblemKind::Invalid,
                format!("`{text}` is no HTTP status"),
            )
            .hint("write a status (`503`) or a class (`5xx`)")
        })
    }
}

impl From<StatusClass> for String {
    fn from(class: StatusClass) -> String {
        match class {
            StatusClass::Exactly(status) => status.to_string(),
            StatusClass::Class(digit) => format!("{digit}xx"),
        }
    }
}

impl schemars::JsonSchema for StatusClass {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "StatusClass".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "description": "An HTTP status (503) or a class of them (5xx).",
            "type": "string",
            "pattern": "^([1-5]xx|[1-5][0-9][0-9])$"
        })
    }
}

/// Which latency.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase")]
pub enum Quantile {
    /// The median.
    P50,
    /// Nine of ten are faster.
    P90,
    /// 95 of 100 are faster.
    P95,
    /// 99 of 100 are faster.
    P99,
    /// 999 of 1,000 are faster.
    P999,
    /// The slowest.
    Max,
}

/// A program whose output is the reading: a bare number in base units (a ratio, seconds, a count).
///
/// Empty output, or a path that selects nothing or null, is no data. A time-out, an exit code other
/// than 0, and output that is no number mean that the source is down. With the reading ends the
/// program and whatever it started, as far as that stayed in its process group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CommandMetric {
    /// Program and arguments; no shell. `chaos` as the program means this very binary.
    pub argv: Vec<String>,
    /// Where the number stands in JSON output (RFC 9535); `None`: the output is the number. A string
    /// that holds a bare number counts, and so do true as 1 and false as 0.
    pub json: Option<String>,
    /// Longer than this is a failure.
    pub timeout: Span,
}

impl Metric {
    /// What is read, in words.
    pub fn words(&self) -> String {
        match self {
            Self::Traffic(TrafficMetric::ErrorRate) => "traffic error rate".to_owned(),
            Self::Traffic(TrafficMetric::Throughput) => "traffic throughput".to_owned(),
            Self::Traffic(TrafficMetric::Status(class)) => {
                format!("traffic answers {}", String::from(*class))
            }
            Self::Traffic(TrafficMetric::Latency(quantile)) => {
                format!("traffic latency {}", format!("{quantile:?}").to_lowercase())
            }
            Self::Command(command) => format!("command {}", command.argv.join(" ")),
            Self::Prometheus(query) => format!("prometheus {query}"),
            Self::Scrape(query) => format!("scrape {query}"),
            Self::Simulated(series) => format!("script {series}"),
        }
    }

    /// Whether its source may know what it read before it was asked.
    pub fn may_have_a_past(&self) -> bool {
        match self {
            Self::Prometheus(_) | Self::Simulated(_) => true,
            Self::Traffic(_) | Self::Command(_) | Self::Scrape(_) => false,
        }
    }

    /// The unit that an objective on it must have; `None`: any.
    pub fn natural_unit(&self) -> Option<Unit> {
        match self {
            Self::Traffic(TrafficMetric::ErrorRate) => Some(Unit::Percent),
            Self::Traffic(TrafficMetric::Latency(_)) => Some(Unit::Duration),
            Self::Traffic(TrafficMetric::Throughput | TrafficMetric::Status(_)) => {
                Some(Unit::Number)
            }
            Self::Command(_) | Self::Prometheus(_) | Self::Scrape(_) | Self::Simulated(_) => None,
        }
    }
}

/// Something that can be read while a run lasts.
///
/// # Guarantees
/// * `read` ends by itself within the source's time-out and never panics.
/// * Blindness is told apart: the source answered with nothing (`NoData`), or did not answer
///   (`SourceDown`). A value is always finite.
/// * `start` and `stop` may be called once each; `read` before `start` is `NoData`.
pub trait MetricSource: Send + Sync {
    /// Begins whatever the source has to do in the background.
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>>;

    /// One reading, now.
    fn read<'a>(&'a self, metric: &'a Metric) -> BoxFuture<'a, Reading>;

    /// What this SLO reads before the run, and, where the source keeps a past, what it would have
    /// done over so much of it. Nothing is started, nothing is written anywhere. Zero asks only for
    /// now.
    fn rehearse<'a>(
        &'a self,
        slo: &'a Slo,
        metric: &'a Metric,
        over: Span,
    ) -> BoxFuture<'a, Rehearsal>;

    /// Ends what `start` began and says what was counted.
    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>>;
}

/// What sources need and no document says.
#[derive(Debug, Clone)]
pub struct SourceSetup {
    /// The clients of this process. Traffic makes one of its own, which needs the TLS set-up that
    /// these brought along.
    pub clients: Clients,
    /// Starts every request id of the traffic generator, so that no two runs share an id: the run's
    /// id. Nothing is sent for a rehearsal.
    pub tag: String,
    /// What the document's `${secret:NAME}` stand for.
    pub secrets: Secrets,
    /// This very binary: what a command means by `chaos`.
    pub this_program: PathBuf,
    /// The time, for samples that have one.
    pub clock: WallClock,
}

/// The rehearsal of an SLO whose source can be read only while a run lasts.
fn not_before_the_run(slo: &Slo, why: &str) -> Rehearsal {
    Rehearsal {
        slo: slo.name.clone(),
        now: Now::NotYet {
            why: why.to_owned(),
        },
        past: None,
        freshness: None,
        warnings: Vec::new(),
    }
}

/// What the servers that an experiment reads say of the time; nothing is said of those that do not.
pub async fn told_times(specs: &MetricSpecs, setup: &SourceSetup) -> Vec<ToldTime> {
    let Some(spec) = &specs.prometheus else {
        return Vec::new();
    };
    prometheus::told_time(spec, setup)
        .await
        .into_iter()
        .collect()
}

/// The sources of an experiment, each made once.
#[derive(Clone, Default)]
pub struct Sources {
    traffic: Option<Arc<dyn MetricSource>>,
    command: Option<Arc<dyn MetricSource>>,
    prometheus: Option<Arc<dyn MetricSource>>,
    scrape: Option<Arc<dyn MetricSource>>,
    simulated: Option<Arc<dyn MetricSource>>,
}

impl Sources {
    /// Makes the sources that the document declares; nothing is sent yet.
    ///
    /// # Errors
    /// A secret is not set, a file of certificates cannot be used.
    pub fn new(specs: &MetricSpecs, setup: &SourceSetup) -> Result<Self, Problem> {
        let prometheus = match &specs.prometheus {
            Some(spec) => Some(prometheus::source(spec, setup)?),
            None => None,
        };
        let scrape = match &specs.scrape {
            Some(spec) => Some(scrape::source(spec, setup)?),
            None => None,
        };
        Ok(Self {
            traffic: specs.traffic.as_ref().map(|spec| {
                Arc::new(traffic::Traffic::new(spec, &setup.tag)) as Arc<dyn MetricSource>
            }),
            command: Some(Arc::new(command::Command::new(&setup.this_program))),
            prometheus,
            scrape,
            simulated: None,
        })
    }

    /// The sources of a scripted world.
    pub fn simulated(source: Arc<dyn MetricSource>) -> Self {
        Self {
            simulated: Some(source),
            ..Self::default()
        }
    }

    /// The source that a metric is read from.
    ///
    /// # Errors
    /// The document does not declare it, or this build cannot read it.
    pub fn source_for(&self, metric: &Metric) -> Result<Arc<dyn MetricSource>, Problem> {
        let found = match metric {
            Metric::Traffic(_) => &self.traffic,
            Metric::Command(_) => &self.command,
            Metric::Prometheus(_) => &self.prometheus,
            Metric::Scrape(_) => &self.scrape,
            Metric::Simulated(_) => &self.simulated,
        };
        found.clone().ok_or_else(|| {
            Problem::new(
                crate::model::problem::ProblemKind::Invalid,
                format!(
                    "nothing is declared that `{}` could be read from",
                    metric.words()
                ),
            )
            .hint("add it under `metrics:`")
        })
    }

    /// Every source, for start and stop.
    pub fn all(&self) -> impl Iterator<Item = &Arc<dyn MetricSource>> {
        [
            &self.traffic,
            &self.command,
            &self.prometheus,
            &self.scrape,
            &self.simulated,
        ]
        .into_iter()
        .flatten()
    }
}

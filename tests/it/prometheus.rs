//! Prometheus as a metric source: against raw sockets that do whatever a server may do, and against a
//! real Prometheus.

mod access;
mod clock;
mod experiment;
mod matrix;
mod real;
mod requests;
pub mod server;
mod tls;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{
    Access, Metric, MetricSource, MetricSpecs, PrometheusSpec, SourceSetup, Sources, WallClock,
};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::rehearsal::{Now, Rehearsal};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::secret::{Secret, Secrets};
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;
use chaos_gameday::run::Clock;

/// Long enough for any machine.
const PATIENT: Span = Span::from_secs(20);

/// The value of the secret `TOKEN` in these tests.
const TOKEN: &str = "s3cr3t-t0ken";

/// The value of the secret `PASSWORD`: with everything that JSON, HTML and URLs write otherwise.
const PASSWORD: &str = r#"p&ss<w"rd' 1%"#;

thread_local! {
    /// Those of one test, which has a thread and a runtime of its own: to make them takes a while.
    static CLIENTS: Clients = Clients::new().expect("clients can be made");
}

fn spec(url: &str, timeout: Span, access: Access) -> PrometheusSpec {
    PrometheusSpec {
        url: url.to_owned(),
        timeout,
        access,
    }
}

fn setup() -> SourceSetup {
    let secrets = [("TOKEN", TOKEN), ("PASSWORD", PASSWORD)];
    let secrets = secrets.map(|(name, value)| (name.to_owned(), Ok(Secret::new(value))));
    SourceSetup {
        clients: CLIENTS.with(Clients::clone),
        secrets: Secrets::new(BTreeMap::from(secrets)),
        tag: "run-1".to_owned(),
        this_program: PathBuf::from("/no/such/chaos"),
        clock: WallClock::set_to(Clock::wall()),
    }
}

fn specs(spec: PrometheusSpec) -> MetricSpecs {
    MetricSpecs {
        prometheus: Some(spec),
        ..MetricSpecs::default()
    }
}

fn source(spec: PrometheusSpec) -> Result<Arc<dyn MetricSource>, Problem> {
    Sources::new(&specs(spec), &setup())?.source_for(&query("up"))
}

/// A source that asks nobody in particular, and is patient.
fn plain(url: &str) -> Arc<dyn MetricSource> {
    source(spec(url, PATIENT, Access::default())).expect("the URL is fine")
}

fn query(text: &str) -> Metric {
    Metric::Prometheus(text.to_owned())
}

async fn read(source: &Arc<dyn MetricSource>, text: &str) -> Reading {
    source.read(&query(text)).await
}

/// The rehearsal of `< 1` over nothing but now.
async fn rehearse(source: &Arc<dyn MetricSource>, text: &str) -> Rehearsal {
    let slo = Slo {
        name: "errors".to_owned(),
        reads: "prometheus".to_owned(),
        objective: "< 1".parse().expect("an objective"),
        patience: Span::ZERO,
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        blind_patience: Span::from_secs(30),
        every: Span::from_secs(1),
    };
    source.rehearse(&slo, &query(text), Span::ZERO).await
}

fn rehearsed(now: Now, warnings: &[&str]) -> Rehearsal {
    Rehearsal {
        slo: "errors".to_owned(),
        now,
        past: None,
        freshness: None,
        warnings: warnings.iter().map(|&text| text.to_owned()).collect(),
    }
}

fn no_data(why: &str) -> Reading {
    Reading::NoData {
        why: why.to_owned(),
    }
}

fn down(why: &str) -> Reading {
    Reading::SourceDown {
        why: why.to_owned(),
    }
}

fn state(reading: &Reading) -> SloState {
    match reading {
        Reading::Value(value) if *value < 1.0 => SloState::Ok,
        Reading::Value(_) => SloState::Breaching,
        Reading::NoData { .. } => SloState::NoData,
        Reading::SourceDown { .. } => SloState::SourceDown,
    }
}

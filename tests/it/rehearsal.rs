//! What SLOs read before the run and would have done over the past.

mod asked;
mod bounds;
mod findings;
mod kept;
mod past;
mod real;
mod shown;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{
    Access, Metric, MetricSpecs, PrometheusSpec, SourceSetup, Sources, WallClock,
};
use chaos_gameday::model::rehearsal::{Freshness, Now, Past, Rehearsal};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::secret::Secrets;
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::Plan;
use chaos_gameday::plan::document::GaugedSlo;
use chaos_gameday::policy;
use jiff::Timestamp;

use crate::support::engine::Scene;

fn span(text: &str) -> Span {
    text.parse().expect("a duration")
}

/// A gate `errors` with the objective `< 1`, read every second, blind after 30 s.
fn gate(patience: &str) -> Slo {
    Slo {
        name: "errors".to_owned(),
        reads: "script".to_owned(),
        objective: "< 1".parse().expect("an objective"),
        patience: span(patience),
        blind_patience: span("30s"),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: span("1s"),
    }
}

fn read(reading: Reading, state: SloState) -> Now {
    Now::Read { reading, state }
}

fn value(value: f64) -> Now {
    read(Reading::Value(value), SloState::Ok)
}

/// The rehearsal of `errors` with this to say about now, and nothing else.
fn now(now: Now) -> Rehearsal {
    Rehearsal {
        slo: "errors".to_owned(),
        now,
        past: None,
        freshness: None,
        warnings: Vec::new(),
    }
}

/// Six hours in which it never tripped.
fn quiet() -> Past {
    Past {
        over: span("6h"),
        step: span("1s"),
        trips: 0,
        tripped: Span::ZERO,
        breaching: Span::ZERO,
        blind: Span::ZERO,
        blind_trips: 0,
        ambiguous: None,
        range: Some((0.0, 0.5)),
        history: vec![Some(0.0); 60],
    }
}

/// Late by an interval of 15 s and a range of 30 s.
fn late() -> Freshness {
    Freshness {
        newest: Some(span("7s")),
        interval: Some(span("15s")),
        window: Some(span("30s")),
        starved: None,
    }
}

/// A plan with one step of 10 s and these SLOs, each with its rehearsal.
async fn plan(slos: Vec<(Slo, Rehearsal)>) -> Plan {
    let mut plan = Scene::healthy().plan(policy::built_in().identity()).await;
    let (slos, rehearsals): (Vec<_>, Vec<_>) = slos.into_iter().unzip();
    plan.experiment.slos = slos
        .into_iter()
        .map(|slo| GaugedSlo {
            slo,
            metric: Metric::Prometheus("sum(errors)".to_owned()),
        })
        .collect();
    plan.rehearsals = rehearsals;
    plan
}

/// What a Prometheus at this address makes of a query.
async fn rehearsed(url: &str, slo: &Slo, query: &str, over: Span) -> Rehearsal {
    let spec = PrometheusSpec {
        url: url.to_owned(),
        timeout: span("3s"),
        access: Access::default(),
    };
    let setup = SourceSetup {
        clients: Clients::new().expect("clients"),
        tag: "rehearsal".to_owned(),
        secrets: Secrets::default(),
        this_program: "chaos".into(),
        clock: WallClock::set_to(Timestamp::UNIX_EPOCH),
    };
    let specs = MetricSpecs {
        prometheus: Some(spec),
        ..MetricSpecs::default()
    };
    let sources = Sources::new(&specs, &setup).expect("a source");
    let metric = Metric::Prometheus(query.to_owned());
    let source = sources.source_for(&metric).expect("a source");
    source.rehearse(slo, &metric, over).await
}

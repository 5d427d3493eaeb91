//! Whole experiments whose SLOs a real Prometheus answers, which scrapes a real sandbox: breach, undo,
//! recovery; and what becomes of a run whose Prometheus dies or falls silent.

#![expect(
    clippy::wildcard_enum_match_arm,
    reason = "only a few events are looked at"
)]

use chaos_gameday::journal;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::judgement::Trip;
use chaos_gameday::model::sample::SloState;
use chaos_gameday::sandbox::AppVersion;
use rustix::process::Signal;
use serde_json::{Value, json};

use crate::cli::approve;
use crate::support::process::{Ended, Place, Running};
use crate::support::prometheus::{Prometheus, is_missing};
use crate::support::sandbox::Bench;

/// The share of bare 502s over the last two seconds, by what Prometheus scraped.
const EXPERIMENT: &str = r#"apiVersion: chaos/v1
kind: Experiment
metadata: {name: stream-down}
hypothesis: While the stream refuses every record, callers get a clear answer, never a bare 502.
environment: sandbox
on:
  localstack: {endpoint: "${AWS}", region: us-east-1}
metrics:
  traffic:
    url: "${APP}/orders"
    method: POST
    body: '{"order": "{id}", "item": "tea"}'
    rate: 30
    timeout: 3s
  prometheus: {url: "${PROMETHEUS}", timeout: 1s}
slos:
  - name: unclear-answers
    query: >-
      (sum(rate(http_requests_total{code="502"}[2s])) or vector(0))
      / sum(rate(http_requests_total[2s]))
    objective: "< 5%"
    for: 500ms
    noDataFor: 2s
    every: 250ms
baseline: {for: 3s}
steps:
  - name: stream refuses records
    fault: {localstack: {faults: [{service: kinesis, operation: PutRecord}]}}
    hold: 5s
recovery: {within: "${RECOVERY:-30s}"}
"#;

/// A sandbox, a Prometheus that scrapes it, and a run of the experiment.
struct Scene {
    bench: Bench,
    prometheus: Prometheus,
    place: Place,
}

impl Scene {
    async fn new(app: AppVersion) -> Self {
        let bench = Bench::start(app).await;
        let target = bench
            .sandbox
            .app_url()
            .trim_start_matches("http://")
            .to_owned();
        let prometheus = Prometheus::start(&format!(
            "- {{job_name: orders, scrape_interval: 250ms, scrape_timeout: 250ms, static_configs: [{{targets: ['{target}']}}]}}"
        ))
        .await;
        prometheus.finds("up == 1").await;
        let place = Place::new();
        place.write("experiment.yaml", EXPERIMENT);
        Self {
            bench,
            prometheus,
            place,
        }
    }

    /// Plans, approves and starts it.
    async fn start(&self) -> Running {
        self.start_with("RECOVERY=30s").await
    }

    /// The same with one more variable.
    async fn start_with(&self, variable: &str) -> Running {
        let variables = [
            variable.to_owned(),
            format!("APP={}", self.bench.sandbox.app_url()),
            format!("AWS={}", self.bench.sandbox.aws_url()),
            format!("PROMETHEUS={}", self.prometheus.url),
        ];
        let mut args = vec!["plan", "-q", "experiment.yaml"];
        args.extend(variables.iter().flat_map(|variable| ["--var", variable]));
        let planned = self.place.chaos(&args).await.exits(0);
        let plan = planned.stdout.trim();
        approve(&self.place, plan);
        self.place.start(&["run", plan])
    }

    /// The events of its one run.
    fn events(&self) -> Vec<Event> {
        let run = self.place.store().find_run("last").expect("there is one");
        let recorded = journal::read(&run.journal).expect("it can be read");
        recorded
            .records
            .into_iter()
            .map(|record| record.event)
            .collect()
    }

    async fn rules(&self) -> Value {
        self.bench.faults("GET", json!(null)).await.1
    }

    async fn ends(&self, running: Running, code: i32, words: &str) -> Ended {
        let ended = running.ended().await.exits(code).tells(words);
        assert_eq!(self.rules().await, json!([]), "left in place");
        ended
    }
}

fn states(events: &[Event]) -> Vec<SloState> {
    let mut states: Vec<_> = events
        .iter()
        .filter_map(|event| match event {
            Event::Sampled { state, .. } => Some(*state),
            _ => None,
        })
        .collect();
    states.dedup();
    states
}

// The sandbox lives in this process, and needs a thread besides the one that waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_breach_that_prometheus_shows_is_undone_and_seen_to_recover() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(AppVersion::Fragile).await;
    let running = scene.start().await;
    scene.ends(running, 1, "`unclear-answers` breached").await;
    let events = scene.events();
    let order: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            Event::UndoRecorded { .. } => Some("undo on disk"),
            Event::Tripped {
                trip: Trip::Breach, ..
            } => Some("tripped"),
            Event::GoneChecked { absence, .. } if absence.remaining.is_empty() => Some("gone"),
            Event::Recovered { .. } => Some("recovered"),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["undo on disk", "tripped", "gone", "recovered"]);
    // The first readings may come before two scrapes of traffic.
    let mut seen = states(&events);
    seen.retain(|state| *state != SloState::NoData);
    seen.dedup();
    assert_eq!(seen, [SloState::Ok, SloState::Breaching, SloState::Ok]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_app_that_stands_the_fault_holds_by_what_prometheus_shows() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(AppVersion::Fixed).await;
    let running = scene.start().await;
    scene
        .ends(running, 0, "every step was held to its end")
        .await;
}

/// Killed: the connection is refused. Frozen: it stands, and nobody answers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prometheus_that_dies_or_falls_silent_ends_the_run_with_everything_undone() {
    if is_missing() {
        return;
    }
    let with = |signal| async move {
        let scene = Scene::new(AppVersion::Fixed).await;
        // Nothing will be seen to recover.
        let mut running = scene.start_with("RECOVERY=2s").await;
        running.says("fault seen in").await;
        scene.prometheus.signal(signal);
        let ended = scene.ends(running, 6, "inconclusive").await;
        ended.tells("called blind after");
        let report = scene.place.chaos(&["report", "last", "-o", "json"]).await;
        let report = report.exits(0).json();
        assert_eq!(report["slos"][0]["fate"], "blind", "{report:#}");
        let states = states(&scene.events());
        assert_eq!(states.last(), Some(&SloState::SourceDown), "{states:?}");
        // A frozen process cannot be reaped as it is.
        scene.prometheus.signal(Signal::CONT);
    };
    tokio::join!(with(Signal::KILL), with(Signal::STOP));
}

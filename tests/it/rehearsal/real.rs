//! A known past in a real Prometheus, and what is made of it: by the source itself, and by the binary.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

use std::fmt::Write as _;

use chaos_gameday::model::rehearsal::{Past, Rehearsal};
use chaos_gameday::model::sample::SloState;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::StoredPlan;
use jiff::Timestamp;

use super::{gate, rehearsed, span, value};
use crate::support::localstack::Misfit;
use crate::support::process::Place;
use crate::support::prometheus::{Prometheus, is_missing, with_history};

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;

/// Seven hours up to now, a sample every 15 s. `errors` breaches `< 1` for ten minutes five hours
/// ago and for 90 s two hours ago, and has no samples for 40 minutes four hours ago; `steady` never
/// moves; `pods` are two series.
fn page(now: i64) -> String {
    let mut page = String::from("# TYPE errors gauge\n");
    let times = || (now - 7 * HOUR..=now).step_by(15);
    for at in times() {
        let value = match now - at {
            ago if (5 * HOUR - 10 * MINUTE + 1..=5 * HOUR).contains(&ago) => 2.0,
            ago if (2 * HOUR - 90 + 1..=2 * HOUR).contains(&ago) => 3.0,
            ago if (4 * HOUR - 40 * MINUTE + 1..=4 * HOUR).contains(&ago) => continue,
            _ => 0.5,
        };
        writeln!(page, "errors {value} {at}").unwrap();
    }
    page.push_str("# TYPE steady gauge\n");
    for at in times() {
        writeln!(page, "steady 0 {at}").unwrap();
    }
    page.push_str("# TYPE pods gauge\n");
    for pod in ["a", "b"] {
        for at in times() {
            writeln!(page, "pods{{pod=\"{pod}\"}} 1 {at}").unwrap();
        }
    }
    page.push_str("# EOF\n");
    page
}

#[expect(
    clippy::disallowed_methods,
    reason = "the server judges the age of samples by the wall clock"
)]
async fn server() -> Prometheus {
    let now = Timestamp::now().as_second();
    Prometheus::start_on(with_history(&page(now)).await, "  []", &[]).await
}

fn patient() -> Slo {
    Slo {
        every: span("1s"),
        ..gate("1m")
    }
}

#[tokio::test]
async fn a_known_past_comes_back_to_the_second() {
    if is_missing() {
        return;
    }
    let server = server().await;
    let errors = rehearsed(&server.url, &patient(), "max(errors)", span("6h")).await;
    assert_eq!(errors.now, value(0.5));
    let past = errors.past.expect("a past");
    // A sample is looked back at for five minutes, both ends included: the gap is so much shorter.
    let blind = 40 * MINUTE + 15 - (5 * MINUTE + 1);
    assert_eq!(
        Past {
            history: Vec::new(),
            ..past.clone()
        },
        Past {
            over: span("6h"),
            step: span("1s"),
            trips: 2,
            tripped: span("9m30s"),
            breaching: span("11m30s"),
            blind: Span::from_secs(blind as u64),
            blind_trips: 1,
            ambiguous: None,
            range: Some((0.5, 3.0)),
            history: Vec::new(),
        }
    );
    assert_eq!(past.history.len(), 60);
    let worst = |value: Option<f64>| past.history.iter().filter(|part| **part == value).count();
    // Ten minutes lie in two or three parts of six minutes; 35 of no value fill five at least.
    assert!((2..=3).contains(&worst(Some(2.0))), "{:?}", past.history);
    assert!((1..=2).contains(&worst(Some(3.0))), "{:?}", past.history);
    assert!((4..=6).contains(&worst(None)), "{:?}", past.history);

    let freshness = errors.freshness.expect("a freshness");
    assert_eq!(
        (freshness.interval, freshness.window),
        (Some(span("15s")), None)
    );
    assert!(freshness.newest < Some(span("30s")), "{freshness:?}");
}

#[tokio::test]
async fn a_series_that_never_moves_and_one_that_is_two_are_told() {
    if is_missing() {
        return;
    }
    let server = server().await;
    let query = "avg_over_time(steady[30s])";
    let steady = rehearsed(&server.url, &patient(), query, span("24h")).await;
    let past = steady.past.clone().expect("a past");
    assert_eq!(
        (past.moved(), past.range, past.trips),
        (false, Some((0.0, 0.0)), 0)
    );
    // It is seven hours old.
    assert!(
        past.seen() >= span("7h") && past.seen() <= span("7h1m"),
        "{past:?}"
    );
    let lateness = steady.freshness.and_then(|freshness| freshness.lateness());
    assert!(
        lateness >= Some(span("45s")) && lateness < Some(span("1m")),
        "{lateness:?}"
    );

    let pods: Rehearsal = rehearsed(&server.url, &patient(), "pods", span("1h")).await;
    let told = format!("{:?}", pods.now);
    assert!(told.contains("Flawed") && told.contains("`pod`"), "{told}");
    assert_eq!(pods.past, None);
}

#[tokio::test]
async fn a_server_that_scrapes_for_seconds_only_is_never_said_to_be_slower_than_it_is() {
    if is_missing() {
        return;
    }
    // `up` has samples in three rhythms, whether there is a page or not.
    let job = |every: &str| {
        format!(
            "  - {{job_name: every-{every}, scrape_interval: {every}, scrape_timeout: 1s, static_configs: [{{targets: ['127.0.0.1:1']}}]}}"
        )
    };
    let jobs = ["1s", "5s", "15s"];
    let server = Prometheus::start(&jobs.map(job).join("\n")).await;
    let begun = tokio::time::Instant::now();
    let mut known = [None; 3];
    while known[1].is_none() {
        assert!(begun.elapsed().as_secs() < 60, "{known:?}");
        for (every, known) in jobs.iter().zip(&mut known) {
            let query = format!("max(up{{job=\"every-{every}\"}})");
            let told = rehearsed(&server.url, &patient(), &query, span("1s")).await;
            let interval = told.freshness.and_then(|freshness| freshness.interval);
            // A busy machine scrapes a little late, and the next time a little early.
            let about = |found: Span| {
                let (found, every) = (found.as_millis(), span(every).as_millis());
                found.abs_diff(every) <= every / 5
            };
            assert!(
                interval.is_none_or(about),
                "{every}: {interval:?} after {:?}",
                begun.elapsed()
            );
            *known = known.or(interval);
        }
        tokio::time::sleep(std::time::Duration::from_millis(500)).await;
    }
    assert!(known[0].is_some(), "{known:?}");
}

/// An experiment whose SLOs read from this server.
fn experiment(localstack: &str, prometheus: &str, slos: &str) -> String {
    format!(
        "apiVersion: chaos/v1
kind: Experiment
metadata: {{name: stream-down}}
hypothesis: Orders go on while the stream refuses records.
environment: local
on:
  localstack: {{endpoint: \"{localstack}\", region: us-east-1}}
metrics:
  prometheus: {{url: \"{prometheus}\"}}
slos:
{slos}
steps:
  - name: stream refuses records
    fault: {{localstack: {{faults: [{{service: kinesis, operation: PutRecord}}]}}}}
    hold: 2m
"
    )
}

#[tokio::test]
async fn a_plan_shows_it_keeps_it_and_finds_what_is_wrong() {
    if is_missing() {
        return;
    }
    let (server, localstack) = (server().await, Misfit::start(Vec::new()).await);
    let slos = "  - {name: errors, query: max(errors), objective: \"< 1\", for: 1m}
  - {name: steady, query: max(steady), objective: \"< 1\", for: 1m}
  - {name: pods, query: pods, objective: \"< 5\", onBreach: record, onNoData: record}";
    let place = Place::new();
    place.write("x.yaml", &experiment(&localstack.url, &server.url, slos));

    let shown = place.chaos(&["plan", "x.yaml"]).await.exits(0);
    let words: Vec<_> = shown.stdout.split_whitespace().collect();
    let words = words.join(" ");
    for told in [
        "`errors` would have tripped twice (9m30s) in the last 6h with no fault in (rehearsal, at slos[0].for)",
        "`errors` had no data for 30s or longer once in the last 6h with no fault in, which would have ended a run (rehearsal, at slos[0].query)",
        "`steady` has not moved in 6h, always 0: an experiment against it cannot fail unless the fault moves it (rehearsal, at slos[1].query)",
        "`pods` can never be judged: 2 series that differ in `pod` (rehearsal, at slos[2].query)",
    ] {
        assert!(words.contains(told), "{told}: {}", shown.stdout);
    }
    for told in [
        "and over the 6h\n  before that:",
        "  errors  < 1        0.5 ok    2 (9m30s)  11m30s     0.5–3",
        "(scraped every 15s",
        "  steady  < 1        0 ok      none       never      always 0",
        "  pods    < 5        – flawed  –          –          –",
    ] {
        assert!(shown.stdout.contains(told), "{told}: {}", shown.stdout);
    }

    let planned = place.chaos(&["plan", "-q", "x.yaml"]).await.exits(0);
    let (_, text) = place.store().load_plan(planned.stdout.trim()).unwrap();
    let stored = StoredPlan::from_text(&text).unwrap();
    let past = |slo: &str| stored.plan.rehearsal(slo).unwrap().past.as_ref();
    assert_eq!(past("errors").map(|past| past.trips), Some(2));
    let again = place.chaos(&["show", planned.stdout.trim()]).await.exits(0);
    assert!(again.stdout.contains("2 (9m30s)"), "{}", again.stdout);

    // What is read later is no drift: the plan gets as far as the approval that it lacks.
    let run = place.chaos(&["run", planned.stdout.trim()]).await;
    run.exits(4).tells("needs a person's approval");

    let now_only = place.chaos(&["plan", "--rehearse", "0s", "-o", "json", "x.yaml"]);
    let now_only = now_only.await.exits(0);
    let stored = StoredPlan::from_text(&now_only.stdout).unwrap();
    let rehearsals = &stored.plan.rehearsals;
    assert_eq!(rehearsals.len(), 3);
    assert!(rehearsals.iter().all(|one| one.past.is_none()));
    assert_eq!(rehearsals[0].now, value(0.5));
}

#[tokio::test]
async fn a_gate_that_can_never_be_judged_is_denied_where_it_stands() {
    if is_missing() {
        return;
    }
    let (server, localstack) = (server().await, Misfit::start(Vec::new()).await);
    let slos = "  - {name: pods, query: pods, objective: \"< 5\"}";
    let place = Place::new();
    place.write("x.yaml", &experiment(&localstack.url, &server.url, slos));
    let denied = place.chaos(&["plan", "x.yaml"]).await;
    let denied = denied
        .exits(3)
        .tells("`pods` can never be judged")
        .tells("(rehearsal)")
        .tells("x.yaml:11:");
    assert_eq!(denied.stdout, "");
    assert!(!place.state().join("plans").exists(), "nothing is kept");
}

#[tokio::test]
async fn a_server_that_is_gone_holds_no_plan_up() {
    let localstack = Misfit::start(Vec::new()).await;
    let slos: Vec<_> = (0..40)
        .map(|number| {
            format!("  - {{name: errors-{number}, query: max(errors), objective: \"< 1\"}}")
        })
        .collect();
    let place = Place::new();
    let nobody = "http://127.0.0.1:1";
    let text = experiment(&localstack.url, nobody, &slos.join("\n"));
    place.write("x.yaml", &text);
    let begun = tokio::time::Instant::now();
    let shown = place.chaos(&["plan", "x.yaml"]).await.exits(0);
    assert!(begun.elapsed().as_secs() < 10, "{:?}", begun.elapsed());
    let words: Vec<_> = shown.stdout.split_whitespace().collect();
    let told = "the source of `errors-0`, `errors-1`, `errors-2` and 37 more is down now: ";
    let words = words.join(" ");
    assert!(words.contains(told), "{}", shown.stdout);
    assert_eq!(words.matches("is down now").count(), 1);
    assert!(shown.stdout.contains(SloState::SourceDown.word()));
}

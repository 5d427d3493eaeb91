//! The traffic generator against a real socket.

use std::collections::BTreeSet;
use std::future::Future;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::{
    Metric, MetricSource, MetricSpecs, Quantile, SourceSetup, Sources, StatusClass, TrafficMetric,
    TrafficSpec, WallClock,
};
use chaos_gameday::model::problem::ProblemKind;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::secret::Secrets;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;

use jiff::Timestamp;
use tokio::time::Instant;

use crate::support::target::{Behaviour, Target, hanging_up_after, nobody};

const ERRORS: Metric = Metric::Traffic(TrafficMetric::ErrorRate);
const THROUGHPUT: Metric = Metric::Traffic(TrafficMetric::Throughput);

fn latency(quantile: Quantile) -> Metric {
    Metric::Traffic(TrafficMetric::Latency(quantile))
}

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

/// 100 requests a second.
fn spec(url: String) -> TrafficSpec {
    TrafficSpec {
        url,
        method: "GET".to_owned(),
        headers: [].into(),
        body: None,
        rate: 100.0,
        timeout: Span::from_secs(5),
        max_in_flight: 256,
        window: Span::from_secs(10),
    }
}

fn source(spec: TrafficSpec) -> Arc<dyn MetricSource> {
    let specs = MetricSpecs {
        traffic: Some(spec),
        ..MetricSpecs::default()
    };
    let setup = SourceSetup {
        clients: Clients::new().expect("clients can be made"),
        secrets: Secrets::default(),
        tag: "run-1".to_owned(),
        this_program: PathBuf::from("chaos"),
        clock: WallClock::set_to(Timestamp::UNIX_EPOCH),
    };
    Sources::new(&specs, &setup)
        .expect("no secret is needed")
        .source_for(&ERRORS)
        .expect("traffic is declared")
}

async fn started(spec: TrafficSpec) -> Arc<dyn MetricSource> {
    let source = source(spec);
    source.start().await.expect("traffic starts");
    source
}

async fn read(source: &Arc<dyn MetricSource>, metric: &Metric) -> Option<f64> {
    source.read(metric).await.value()
}

async fn stopped(source: &Arc<dyn MetricSource>) -> TrafficSummary {
    source.stop().await.expect("traffic was started")
}

/// Waits until it is so; a busy machine may take its time.
async fn until<F: Future<Output = bool>>(what: &str, mut is_so: impl FnMut() -> F) {
    let begun = Instant::now();
    while !is_so().await {
        assert!(begun.elapsed() < ms(8_000), "never came about: {what}");
        tokio::time::sleep(ms(10)).await;
    }
}

/// Traffic at an address until ten requests have finished.
async fn ten_requests_to(address: SocketAddr) -> (Option<f64>, Option<f64>, TrafficSummary) {
    let source = started(spec(format!("http://{address}/"))).await;
    until("ten results", || async {
        read(&source, &ERRORS).await.is_some()
    })
    .await;
    tokio::time::sleep(ms(100)).await;
    let errors = read(&source, &ERRORS).await;
    let throughput = read(&source, &THROUGHPUT).await;
    (errors, throughput, stopped(&source).await)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_unique_and_come_at_the_rate() {
    let target = Target::start(Behaviour::Answer(vec![200])).await;
    let begun = Instant::now();
    let source = started(TrafficSpec {
        rate: 60.0,
        method: "POST".to_owned(),
        headers: [("x-team".to_owned(), "payments".to_owned())].into(),
        body: Some(r#"{"order":"{id}"}"#.to_owned()),
        ..spec(target.url("/orders/{id}"))
    })
    .await;
    tokio::time::sleep(ms(1_000)).await;
    let throughput = read(&source, &THROUGHPUT).await;
    let due = begun.elapsed().as_secs_f64() * 60.0;
    let summary = stopped(&source).await;

    let seen = target.seen();
    let ids: BTreeSet<_> = seen.iter().map(|request| request.id.clone()).collect();
    assert_eq!(ids.len(), seen.len());
    assert_eq!(summary.sent, seen.len() as u64);
    assert_eq!(summary.by_status, [(200, summary.sent)].into());
    let sent = summary.sent as f64;
    assert!(
        sent > due * 0.75 - 2.0 && sent < due * 1.1 + 2.0,
        "{sent} sent of {due} due"
    );
    assert!(
        throughput > Some(40.0) && throughput < Some(70.0),
        "{throughput:?}"
    );

    let last = seen.last().expect("something was sent");
    assert!(last.id.starts_with("run-1-"), "{}", last.id);
    assert_eq!(last.uri, format!("/orders/{}", last.id));
    assert_eq!(last.body, format!(r#"{{"order":"{}"}}"#, last.id));
    assert_eq!(
        ["content-type", "x-team"].map(|name| last.headers.get(name).map(String::as_str)),
        [Some("application/json"), Some("payments")]
    );
}

#[tokio::test]
async fn statuses_are_counted_and_400_and_above_are_errors() {
    let target = Target::start(Behaviour::Answer(vec![200, 302, 404, 503])).await;
    let source = started(spec(target.url("/"))).await;
    let answers = |class| Metric::Traffic(TrafficMetric::Status(class));
    until("forty answers", || async {
        read(&source, &answers(StatusClass::Exactly(503))).await >= Some(10.0)
    })
    .await;
    let errors = read(&source, &ERRORS).await;
    assert!(errors > Some(0.45) && errors < Some(0.55), "{errors:?}");
    let summary = stopped(&source).await;
    assert_eq!(
        summary.by_status.keys().copied().collect::<Vec<_>>(),
        [200, 302, 404, 503]
    );
    let seen = target.seen();
    assert!(
        seen.iter().all(|request| request.uri == "/"),
        "no redirect is followed"
    );
    assert_eq!(
        (
            seen.len() as u64,
            summary.timed_out,
            summary.connection_failed
        ),
        (summary.sent, 0, 0)
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stall_shows_in_the_latency_of_all_requests_that_were_due_in_it() {
    let target = Target::start(Behaviour::Answer(vec![200])).await;
    let source = started(spec(target.url("/"))).await;
    tokio::time::sleep(ms(500)).await;
    let before = read(&source, &latency(Quantile::P50)).await;
    assert!(before < Some(0.1), "{before:?}");

    target.becomes(Behaviour::Hang);
    tokio::time::sleep(ms(600)).await;
    let during = read(&source, &latency(Quantile::P99)).await;
    assert!(during > Some(0.45), "shown before any answer: {during:?}");
    let errors = read(&source, &ERRORS).await;
    assert_eq!(errors, Some(0.0));

    target.becomes(Behaviour::Answer(vec![200]));
    until("the answers of the stall", || async { target.busy() == 0 }).await;
    tokio::time::sleep(ms(50)).await;
    // Of about 115 requests, 60 were due in the stall. A closed loop would have sent one of them and
    // shown a low p90.
    let after = read(&source, &latency(Quantile::P90)).await;
    assert!(after > Some(0.35), "{after:?}");
    let summary = stopped(&source).await;
    assert_eq!((summary.dropped, summary.timed_out), (0, 0));
    assert!(summary.max_ms > 550.0, "{}", summary.max_ms);
}

#[tokio::test]
async fn a_request_that_is_sent_late_counts_from_when_it_was_due() {
    let target = Target::start(Behaviour::Answer(vec![200])).await;
    let source = started(spec(target.url("/"))).await;
    until("traffic", || async { target.seen().len() >= 10 }).await;
    // Nothing of this process moves: the generator is late, and so are its requests.
    std::thread::sleep(ms(400));
    let due = target.seen().len() + 45;
    until("what was due", || async { target.seen().len() >= due }).await;
    let summary = stopped(&source).await;
    assert!(summary.max_ms > 380.0, "{}", summary.max_ms);
    assert_eq!(summary.by_status, [(200, summary.sent)].into());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_more_than_allowed_are_under_way_and_the_rest_is_failed() {
    let target = Target::start(Behaviour::Delay(ms(100))).await;
    let source = started(TrafficSpec {
        rate: 200.0,
        max_in_flight: 5,
        ..spec(target.url("/"))
    })
    .await;
    tokio::time::sleep(ms(800)).await;
    let errors = read(&source, &ERRORS).await;
    let p90 = read(&source, &latency(Quantile::P90)).await;
    let summary = stopped(&source).await;
    assert_eq!(target.busiest(), 5);
    assert_eq!(target.seen().len() as u64, summary.sent);
    assert!(summary.dropped > summary.sent, "{summary:?}");
    assert!(errors > Some(0.5), "{errors:?}");
    assert!(p90 >= Some(5.0), "as slow as a time-out: {p90:?}");
}

#[tokio::test]
async fn no_answer_in_time_is_a_failure_as_slow_as_the_time_out() {
    let target = Target::start(Behaviour::Hang).await;
    let source = started(TrafficSpec {
        timeout: Span::from_millis(150),
        ..spec(target.url("/"))
    })
    .await;
    until("a result", || async {
        read(&source, &ERRORS).await.is_some()
    })
    .await;
    assert_eq!(read(&source, &ERRORS).await, Some(1.0));
    assert_eq!(read(&source, &THROUGHPUT).await, Some(0.0));
    let p50 = read(&source, &latency(Quantile::P50)).await;
    assert!(p50 >= Some(0.15), "{p50:?}");
    let summary = stopped(&source).await;
    assert_eq!(
        (
            summary.timed_out,
            summary.connection_failed,
            summary.dropped
        ),
        (summary.sent, 0, 0)
    );
}

#[tokio::test]
async fn a_dead_target_is_all_errors_and_says_nothing_of_answers() {
    let (errors, throughput, summary) = ten_requests_to(nobody().await).await;
    assert_eq!((errors, throughput), (Some(1.0), Some(0.0)));
    assert_eq!(
        (summary.connection_failed, summary.by_status.len()),
        (summary.sent, 0)
    );
}

#[tokio::test]
async fn where_nobody_answers_neither_statuses_nor_latencies_are_known() {
    let source = started(spec(format!("http://{}/", nobody().await))).await;
    until("an error", || async {
        read(&source, &ERRORS).await == Some(1.0)
    })
    .await;
    let status = TrafficMetric::Status(StatusClass::Exactly(502));
    for metric in [status, TrafficMetric::Latency(Quantile::P99)] {
        let reading = source.read(&Metric::Traffic(metric.clone())).await;
        let Reading::NoData { why } = reading else {
            panic!("{metric:?}: {reading:?}");
        };
        assert!(why.starts_with("none of the last "), "{why}");
    }
}

#[tokio::test]
async fn a_broken_answer_is_no_answer() {
    for bytes in [
        &b""[..],
        b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf",
        b"SSH-2.0-OpenSSH_9.9\r\n",
    ] {
        let (errors, _, summary) = ten_requests_to(hanging_up_after(bytes).await).await;
        assert_eq!(errors, Some(1.0), "{bytes:?}");
        assert_eq!(summary.connection_failed, summary.sent, "{bytes:?}");
    }
}

#[tokio::test]
async fn an_answer_without_an_end_is_read_to_a_bound() {
    let target = Target::start(Behaviour::EndlessBody).await;
    let source = started(spec(target.url("/"))).await;
    until("an answer", || async {
        read(&source, &THROUGHPUT).await > Some(0.0)
    })
    .await;
    assert_eq!(read(&source, &ERRORS).await, Some(0.0));
}

#[tokio::test]
async fn errors_slide_out_of_the_window_after_recovery() {
    let target = Target::start(Behaviour::Answer(vec![503])).await;
    let source = started(TrafficSpec {
        window: Span::from_millis(600),
        ..spec(target.url("/"))
    })
    .await;
    until("errors", || async {
        read(&source, &ERRORS).await == Some(1.0)
    })
    .await;
    target.becomes(Behaviour::Answer(vec![200]));
    let begun = Instant::now();
    until("no errors", || async {
        read(&source, &ERRORS).await == Some(0.0)
    })
    .await;
    assert!(begun.elapsed() > ms(300), "{:?}", begun.elapsed());
}

#[tokio::test]
async fn stop_ends_all_sending_and_counts_what_hangs_as_timed_out() {
    let target = Target::start(Behaviour::Hang).await;
    let source = started(spec(target.url("/"))).await;
    until("traffic", || async { target.busy() >= 10 }).await;
    let begun = Instant::now();
    let summary = stopped(&source).await;
    assert!(begun.elapsed() < ms(3_000), "{:?}", begun.elapsed());
    assert_eq!(summary.timed_out, summary.sent);
    let after = target.seen().len();
    until("hung up", || async { target.busy() == 0 }).await;
    tokio::time::sleep(ms(100)).await;
    assert_eq!(target.seen().len(), after);
    assert_eq!(source.stop().await, None);
    let figures = read(&source, &ERRORS).await;
    assert_eq!(figures, Some(1.0), "figures stay readable for a window");
}

#[tokio::test]
async fn nothing_is_sent_by_a_source_that_nobody_holds() {
    let target = Target::start(Behaviour::Hang).await;
    let source = started(spec(target.url("/"))).await;
    until("traffic", || async { target.busy() >= 10 }).await;
    drop(source);
    until("hung up", || async { target.busy() == 0 }).await;
    let after = target.seen().len();
    tokio::time::sleep(ms(100)).await;
    assert_eq!(target.seen().len(), after);
}

#[tokio::test]
async fn the_first_figure_waits_for_the_first_answer_and_not_for_a_hang() {
    for (behaviour, seen) in [
        (Behaviour::Delay(ms(20)), Some(0.0)),
        (Behaviour::Hang, None),
    ] {
        let target = Target::start(behaviour.clone()).await;
        let source = started(spec(target.url("/"))).await;
        assert_eq!(read(&source, &ERRORS).await, seen, "{behaviour:?}");
        let asked = Instant::now();
        assert_eq!(read(&source, &ERRORS).await, seen, "{behaviour:?}");
        assert!(asked.elapsed() < ms(150), "the moment is over");
    }
}

#[tokio::test]
async fn before_the_start_there_is_no_data() {
    let source = source(spec("http://127.0.0.1:9/".to_owned()));
    assert_eq!(
        source.read(&ERRORS).await,
        Reading::NoData {
            why: "no traffic has been sent yet".to_owned()
        }
    );
    assert_eq!(source.stop().await, None);
}

#[tokio::test]
async fn traffic_that_cannot_be_sent_does_not_start() {
    let base = || spec("http://127.0.0.1:9/".to_owned());
    for (spec, message) in [
        (
            TrafficSpec {
                rate: 0.0,
                ..base()
            },
            "a traffic rate of 0 cannot be kept",
        ),
        (
            TrafficSpec {
                rate: f64::NAN,
                ..base()
            },
            "a traffic rate of NaN cannot be kept",
        ),
        (
            TrafficSpec {
                max_in_flight: 0,
                ..base()
            },
            "traffic with `maxInFlight: 0` never sends anything",
        ),
        (
            TrafficSpec {
                window: Span::ZERO,
                ..base()
            },
            "the traffic's `timeout` and `window` must last",
        ),
        (
            spec("orders".to_owned()),
            "`orders` is no URL: relative URL without a base",
        ),
    ] {
        let problem = source(spec).start().await.expect_err(message);
        assert_eq!(
            (
                problem.kind,
                problem.message.as_str(),
                problem.hint.is_some()
            ),
            (ProblemKind::Invalid, message, true)
        );
    }
}

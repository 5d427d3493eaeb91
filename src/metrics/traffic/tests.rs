//! The maths of window and ledger, and the request that is sent, without a socket.

use std::time::Duration;

use tokio::time::Instant;

use super::ledger::Ledger;
use super::template::Template;
use super::window::{Fate, TrafficWindow};
use super::{Life, Traffic};
use crate::metrics::{Metric, Quantile, StatusClass, TrafficMetric, TrafficSpec};
use crate::model::sample::Reading;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;

const OK: Fate = Fate::Answered(200);
const FAST: Duration = Duration::from_millis(2);
const P99: TrafficMetric = TrafficMetric::Latency(Quantile::P99);

fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn spec() -> TrafficSpec {
    TrafficSpec {
        url: "http://127.0.0.1:9/".to_owned(),
        method: "GET".to_owned(),
        headers: [].into(),
        body: None,
        rate: 10.0,
        timeout: Span::from_secs(5),
        max_in_flight: 4,
        window: Span::from_secs(10),
    }
}

/// Ten answers a second, from `from` on, for so many milliseconds.
fn answer(window: &mut TrafficWindow, from: Instant, milliseconds: u64, fate: Fate) {
    for at in (0..milliseconds).step_by(100) {
        window.record(from + ms(at), fate, FAST);
    }
}

fn millis(reading: &Reading) -> Option<u64> {
    reading
        .value()
        .map(|seconds| (seconds * 1_000.0).round() as u64)
}

#[test]
fn figures_are_over_all_fates() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10.0);
    let fates = [
        OK,
        OK,
        Fate::Answered(302),
        Fate::Answered(404),
        Fate::Answered(503),
        Fate::TimedOut,
        Fate::ConnectionFailed,
        Fate::Dropped,
    ];
    for fate in fates {
        window.record(origin, fate, FAST);
    }
    assert_eq!(window.error_rate(origin), Some(5.0 / 8.0));
    assert_eq!(
        [
            StatusClass::Exactly(200),
            StatusClass::Exactly(500),
            StatusClass::Class(4),
            StatusClass::Class(5),
        ]
        .map(|class| window.answers(class, origin)),
        [Some(2), Some(0), Some(1), Some(1)]
    );
}

#[test]
fn an_empty_window_has_no_figures() {
    let origin = Instant::now();
    let window = TrafficWindow::new(origin, ms(10_000), 10.0);
    assert_eq!(window.error_rate(origin), None);
    assert_eq!(window.throughput(origin), None);
    assert_eq!(window.answers(StatusClass::Class(5), origin), None);
    assert_eq!(window.latency(Quantile::Max, origin), None);
}

#[test]
fn failures_fall_out_of_the_window_once_they_are_older_than_it() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10.0);
    answer(&mut window, origin, 5_000, Fate::TimedOut);
    assert_eq!(window.error_rate(origin + ms(4_900)), Some(1.0));
    answer(&mut window, origin + ms(5_000), 7_000, OK);
    let sliding = window.error_rate(origin + ms(12_000));
    assert!(sliding > Some(0.2) && sliding < Some(0.4), "{sliding:?}");
    answer(&mut window, origin + ms(12_000), 3_000, OK);
    assert_eq!(window.error_rate(origin + ms(15_000)), Some(0.0));
    assert_eq!(window.error_rate(origin + ms(60_000)), None);
}

#[test]
fn throughput_is_right_from_the_first_answer_to_long_after_the_window_is_full() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10.0);
    let mut seen = Vec::new();
    // Answers come 300 ms after their requests: that is no lack of throughput.
    for at in (300..40_000).step_by(100) {
        window.record(origin + ms(at), OK, ms(300));
        seen.push(
            window
                .throughput(origin + ms(at))
                .expect("there are answers"),
        );
    }
    let (low, high) = seen.iter().fold((f64::MAX, f64::MIN), |(low, high), rate| {
        (low.min(*rate), high.max(*rate))
    });
    assert!(low > 9.9 && high < 10.2, "between {low} and {high}");
}

#[test]
fn a_target_that_answers_nothing_has_a_throughput_of_zero() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10.0);
    answer(&mut window, origin, 1_000, Fate::ConnectionFailed);
    assert_eq!(window.throughput(origin + ms(1_000)), Some(0.0));
}

#[test]
fn quantiles_are_exact_to_a_thousandth() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 1_000.0);
    for latency in 1..=1_000 {
        window.record(origin + ms(latency), OK, ms(latency));
    }
    for (quantile, expected) in [
        (Quantile::P50, 0.5),
        (Quantile::P90, 0.9),
        (Quantile::P95, 0.95),
        (Quantile::P99, 0.99),
        (Quantile::P999, 0.999),
        (Quantile::Max, 1.0),
    ] {
        let seconds = window
            .latency(quantile, origin + ms(1_000))
            .expect("there are answers")
            .as_secs_f64();
        assert!(
            seconds >= expected && seconds <= expected * 1.001,
            "{quantile:?}: {seconds}"
        );
    }
}

#[test]
fn a_result_that_is_older_than_the_whole_ring_disturbs_no_newer_one() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10.0);
    window.record(origin + ms(10_100), OK, FAST);
    window.record(origin + ms(100), Fate::TimedOut, FAST);
    assert_eq!(window.error_rate(origin + ms(10_200)), Some(0.0));
}

#[test]
fn memory_has_a_bound_whatever_comes_in() {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, ms(10_000), 10_000.0);
    let mut sizes = Vec::new();
    for round in 1..=3 {
        for at in 0..30_000 {
            let status = 100 + u16::try_from(at % 500).expect("a status");
            let latency = Duration::from_secs(at * at * at % 1_000_000);
            let now = origin + ms(round * 30_000 + at);
            window.record(now, Fate::Answered(status), latency);
        }
        sizes.push(window.counters());
    }
    assert_eq!(sizes, [sizes[0]; 3]);
    assert!(sizes[0] < 600_000, "{} counters", sizes[0]);
}

#[test]
fn blindness_says_why() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    ledger.begin(0, origin);
    ledger.begin(1, origin + ms(100));
    let mut seen = vec![ledger.read(&P99, origin + ms(200))];
    ledger.finish(0, OK, origin + ms(300));
    ledger.finish(1, OK, origin + ms(300));
    seen.push(ledger.read(&TrafficMetric::ErrorRate, origin + ms(20_000)));
    let no_data = |why: &str| Reading::NoData {
        why: why.to_owned(),
    };
    assert_eq!(
        seen,
        [
            no_data("no request has finished yet, 2 are under way"),
            no_data("no request finished in the last 10s, 0 are under way"),
        ]
    );
}

#[test]
fn a_hang_shows_in_p99_before_its_first_time_out() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    let due = |number: u64| origin + ms(number * 100);
    for number in 0..50 {
        ledger.begin(number, due(number));
        ledger.finish(number, OK, due(number) + FAST);
    }
    // From 5.0 s on nothing is answered; the first time-out would come at 10 s.
    for number in 50..70 {
        ledger.begin(number, due(number));
    }
    assert_eq!(millis(&ledger.read(&P99, due(50))), Some(2));
    let after_two_seconds = millis(&ledger.read(&P99, due(70)));
    assert!(
        after_two_seconds >= Some(1_900) && after_two_seconds <= Some(2_010),
        "{after_two_seconds:?}"
    );
    assert_eq!(
        ledger.read(&TrafficMetric::ErrorRate, due(70)),
        Reading::Value(0.0)
    );
}

#[test]
fn what_is_under_way_never_makes_a_latency_better() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    for number in 0..10 {
        ledger.begin(number, origin);
        ledger.finish(number, OK, origin + ms(1_000));
    }
    let before = ledger.read(&P99, origin + ms(1_000));
    for number in 10..30 {
        ledger.begin(number, origin + ms(1_000));
    }
    assert_eq!(ledger.read(&P99, origin + ms(1_500)), before);
}

#[test]
fn a_hang_longer_than_the_window_is_latency_and_no_blindness() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    ledger.begin(0, origin);
    ledger.finish(0, OK, origin + FAST);
    ledger.begin(1, origin + ms(100));
    assert_eq!(
        millis(&ledger.read(&P99, origin + ms(30_100))).map(|it| it / 100),
        Some(300)
    );
}

#[test]
fn a_request_that_could_not_be_sent_is_a_failure_as_slow_as_a_time_out() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    ledger.drop_one(origin, origin + ms(1));
    assert_eq!(
        ledger.read(&TrafficMetric::ErrorRate, origin + ms(1)),
        Reading::Value(1.0)
    );
    assert!(ledger.read(&P99, origin + ms(1)).value() >= Some(5.0));
}

#[test]
fn the_summary_counts_what_is_still_under_way_as_timed_out() {
    let origin = Instant::now();
    let mut ledger = Ledger::new(&spec(), origin);
    let fates = [OK, Fate::Answered(503), Fate::ConnectionFailed];
    for (number, fate) in (0..).zip(fates) {
        ledger.begin(number, origin);
        ledger.finish(number, fate, origin + ms(1));
    }
    ledger.begin(3, origin);
    ledger.drop_one(origin, origin);
    let summary = ledger.settle(origin + ms(2_000));
    assert_eq!(
        TrafficSummary {
            p50_ms: summary.p50_ms.round(),
            p99_ms: (summary.p99_ms / 100.0).round() * 100.0,
            max_ms: (summary.max_ms / 100.0).round() * 100.0,
            ..summary
        },
        TrafficSummary {
            sent: 4,
            dropped: 1,
            by_status: [(200, 1), (503, 1)].into(),
            timed_out: 1,
            connection_failed: 1,
            p50_ms: 1.0,
            p99_ms: 5_000.0,
            max_ms: 5_000.0,
        }
    );
}

#[test]
fn each_request_carries_its_own_id_in_header_url_and_body() {
    let spec = TrafficSpec {
        url: "http://127.0.0.1:9/orders/{id}?again={id}".to_owned(),
        method: "POST".to_owned(),
        headers: [("x-team".to_owned(), "payments".to_owned())].into(),
        body: Some(r#"{"order":"{id}"}"#.to_owned()),
        ..spec()
    };
    let template = Template::parse(&spec, "run 7/ä").expect("the template is fine");
    let request = template.request(12);
    let header = |name: &str| request.headers().get(name).and_then(|it| it.to_str().ok());
    assert_eq!(
        (
            request.method().as_str(),
            request.url().as_str(),
            request.body().and_then(|body| body.as_bytes()),
            header("x-chaos-request-id"),
            header("content-type"),
            header("x-team"),
        ),
        (
            "POST",
            "http://127.0.0.1:9/orders/run-7---12?again=run-7---12",
            Some(r#"{"order":"run-7---12"}"#.as_bytes()),
            Some("run-7---12"),
            Some("application/json"),
            Some("payments"),
        )
    );
}

#[test]
fn a_content_type_of_the_document_stands() {
    let spec = TrafficSpec {
        headers: [("Content-Type".to_owned(), "text/plain".to_owned())].into(),
        body: Some("hello".to_owned()),
        ..spec()
    };
    let request = Template::parse(&spec, "run").map(|template| template.request(1));
    let headers = request.expect("the template is fine").headers().clone();
    let types: Vec<_> = headers.get_all("content-type").iter().collect();
    assert_eq!(types, ["text/plain"]);
}

#[test]
fn a_request_that_cannot_be_sent_is_named() {
    let url = |text: &str| TrafficSpec {
        url: text.to_owned(),
        ..spec()
    };
    let header = |name: &str, value: &str| TrafficSpec {
        headers: [(name.to_owned(), value.to_owned())].into(),
        ..spec()
    };
    let method = TrafficSpec {
        method: "GET IT".to_owned(),
        ..spec()
    };
    for (spec, message) in [
        (
            url("/orders"),
            "`/orders` is no URL: relative URL without a base",
        ),
        (
            url("ftp://127.0.0.1/"),
            "`ftp://127.0.0.1/` is neither http nor https",
        ),
        (
            url("http://{id}.shop/"),
            "`http://{id}.shop/` has `{id}` in its host",
        ),
        (method, "`GET IT` is no HTTP method"),
        (header("a b", "c"), "`a b` is no name of an HTTP header"),
        (
            header("token", "top\nsecret"),
            "the value of header `token` cannot be sent",
        ),
    ] {
        let problem = Template::parse(&spec, "run").err();
        assert_eq!(problem.map(|it| it.message).as_deref(), Some(message));
    }
}

#[tokio::test]
async fn a_generator_that_died_is_down_and_not_healthy() {
    let traffic = Traffic::new(&spec(), "test");
    traffic.begin().expect("traffic that can be sent");
    if let Life::Sending(sending) = &*traffic.life() {
        sending.task.abort();
    }
    while matches!(&*traffic.life(), Life::Sending(sending) if !sending.task.is_finished()) {
        tokio::task::yield_now().await;
    }
    let failed = Metric::Traffic(TrafficMetric::Status(StatusClass::Exactly(502)));
    let figure = traffic.figure(&failed);
    assert!(matches!(figure, Reading::SourceDown { .. }), "{figure:?}");
}

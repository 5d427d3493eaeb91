//! The order pipeline: well, and with each hop down, in both versions.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

use std::time::Duration;

use chaos_gameday::sandbox::{AppVersion, status};
use serde_json::json;
use tokio::time::Instant;

use crate::support::sandbox::{Answer, Bench, answer, read};

const BOTH: [AppVersion; 2] = [AppVersion::Fragile, AppVersion::Fixed];

#[tokio::test]
async fn while_all_is_well_both_versions_deliver_every_order_once() {
    for app in BOTH {
        let bench = Bench::start(app).await;
        let accepted = |number| (202, json!({"id": format!("order-{number}")}));
        let expected: Vec<Answer> = (0..20).map(accepted).collect();
        assert_eq!(bench.orders(20).await, expected);
        let expected = json!({
            "app": app.to_string(), "accepted": 20, "refused": 0, "stored": 20, "counted": 20,
            "deadLettered": 0, "silent": 0, "pending": 0, "duplicated": 0, "retries": 0,
        });
        assert_eq!(bench.status_once(json!({"counted": 20})).await, expected);
        let get = json!({"TableName": "orders", "Key": {"id": {"S": "order-7"}}});
        let get = bench
            .aws("DynamoDB_20120810.GetItem", "us-east-1")
            .json(&get);
        // Its body is {"item":"tea"} as base64.
        let item = json!({"id": {"S": "order-7"}, "body": {"B": "eyJpdGVtIjoidGVhIn0="}});
        assert_eq!(answer(get).await, (200, json!({"Item": item})));
        let target = "GraniteServiceVersion20100801.GetMetricStatistics";
        let metric = json!({"Namespace": "Orders", "MetricName": "OrdersStored"});
        let sums = answer(bench.aws(target, "us-east-1").json(&metric)).await;
        let datapoint = json!({"SampleCount": 20, "Sum": 20.0});
        let expected = json!({"Label": "OrdersStored", "Datapoints": [datapoint]});
        assert_eq!(sums, (200, expected));
    }
}

#[tokio::test]
async fn with_the_stream_down_fragile_gives_an_unclear_502_and_fixed_says_when_to_come_back() {
    let (fragile, fixed) = tokio::join!(Bench::start(BOTH[0]), Bench::start(BOTH[1]));
    let down = json!([{"service": "kinesis", "operation": "PutRecord"}]);
    fragile.faults("PATCH", down.clone()).await;
    fixed.faults("PATCH", down).await;
    let post = |bench: &Bench| bench.app("POST", "/orders").json(&json!({})).send();
    let start = Instant::now();
    let (unclear, honest) = tokio::join!(post(&fragile), post(&fixed));
    assert!(start.elapsed() < Duration::from_secs(2));

    let unclear = unclear.unwrap();
    assert_eq!(
        (unclear.status().as_u16(), unclear.content_length()),
        (502, Some(0))
    );
    let stormy = fragile.status().await;
    assert!(stormy["retries"].as_u64() > Some(5), "{stormy}");
    assert_eq!(
        (&stormy["accepted"], &stormy["refused"]),
        (&json!(0), &json!(1))
    );

    let honest = honest.unwrap();
    assert_eq!(honest.headers()["retry-after"], "1");
    let body = json!({"error": "stream unavailable", "retryAfterSeconds": 1});
    assert_eq!(read(honest).await, (503, body));
    let expected = json!({
        "app": "fixed", "accepted": 0, "refused": 1, "stored": 0, "counted": 0,
        "deadLettered": 0, "silent": 0, "pending": 0, "duplicated": 0, "retries": 2,
    });
    assert_eq!(fixed.status().await, expected);
}

#[tokio::test]
async fn with_the_table_down_fragile_is_stuck_and_fixed_puts_the_orders_aside() {
    tokio::join!(
        fragile_is_stuck_behind_its_first_order(),
        fixed_puts_the_orders_aside_and_lists_them(),
    );
}

async fn fragile_is_stuck_behind_its_first_order() {
    let bench = Bench::start(AppVersion::Fragile).await;
    let down = json!([{"service": "dynamodb"}]);
    bench.faults("PATCH", down.clone()).await;
    bench.orders(5).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let stuck = bench
        .status_when(|status| status["retries"].as_u64() > Some(4))
        .await;
    assert_eq!(
        (&stuck["accepted"], &stuck["pending"]),
        (&json!(5), &json!(5))
    );
    let full = status(bench.sandbox.app_url(), &bench.clients)
        .await
        .unwrap();
    assert!(full["oldestPendingMs"].as_u64() >= Some(400), "{full}");
    bench.faults("DELETE", down).await;
    let healed = bench.status_once(json!({"counted": 5})).await;
    assert_eq!(
        (&healed["pending"], &healed["silent"]),
        (&json!(0), &json!(0))
    );
}

async fn fixed_puts_the_orders_aside_and_lists_them() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench
        .faults("PATCH", json!([{"service": "dynamodb"}]))
        .await;
    bench.orders(2).await;
    let put_aside = bench.status_once(json!({"deadLettered": 2})).await;
    let expected = json!({
        "app": "fixed", "accepted": 2, "refused": 0, "stored": 0, "counted": 0,
        "deadLettered": 2, "silent": 0, "pending": 0, "duplicated": 0, "retries": 8,
    });
    assert_eq!(put_aside, expected);
    let (_, letters) = answer(bench.app("GET", "/dead-letters")).await;
    let mut letters = letters.as_array().unwrap().clone();
    letters.sort_by_key(|letter| letter["orderId"].to_string());
    let letter = |id: &str| json!({"orderId": id, "hop": "stream to table", "reason": "503 ServiceUnavailable"});
    assert_eq!(letters, [letter("order-0"), letter("order-1")]);
}

#[tokio::test]
async fn with_the_metric_down_fragile_says_nothing_and_fixed_puts_the_orders_aside() {
    let (fragile, fixed) = tokio::join!(Bench::start(BOTH[0]), Bench::start(BOTH[1]));
    for bench in [&fragile, &fixed] {
        bench
            .faults("PATCH", json!([{"service": "cloudwatch"}]))
            .await;
        bench.orders(4).await;
    }
    let expected = json!({
        "app": "fragile", "accepted": 4, "refused": 0, "stored": 4, "counted": 0,
        "deadLettered": 0, "silent": 4, "pending": 0, "duplicated": 0, "retries": 0,
    });
    assert_eq!(fragile.status_once(json!({"silent": 4})).await, expected);
    let expected = json!({
        "app": "fixed", "accepted": 4, "refused": 0, "stored": 4, "counted": 0,
        "deadLettered": 4, "silent": 0, "pending": 0, "duplicated": 0, "retries": 16,
    });
    assert_eq!(
        fixed.status_once(json!({"deadLettered": 4})).await,
        expected
    );
}

#[tokio::test]
async fn with_latency_fixed_keeps_its_deadline_and_fragile_makes_duplicates() {
    tokio::join!(
        with_800_ms_fixed_accepts_and_delivers_every_order(),
        with_a_minute_fixed_refuses_at_its_deadline(),
        with_800_ms_fragile_refuses_an_order_and_delivers_it_several_times(),
    );
}

async fn with_a_minute_fixed_refuses_at_its_deadline() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.effects(json!({"latency": 60_000})).await;
    let start = Instant::now();
    assert_eq!(bench.order("a").await.0, 503);
    assert!(start.elapsed() < Duration::from_millis(2_500));
}

async fn with_800_ms_fixed_accepts_and_delivers_every_order() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.effects(json!({"latency": 800})).await;
    let start = Instant::now();
    let answers = bench.orders(40).await;
    assert!(
        start.elapsed() < Duration::from_secs(2),
        "{:?}",
        start.elapsed()
    );
    assert!(
        answers.iter().all(|(status, _)| *status == 202),
        "{answers:?}"
    );
    let expected = json!({
        "app": "fixed", "accepted": 40, "refused": 0, "stored": 40, "counted": 40,
        "deadLettered": 0, "silent": 0, "pending": 0, "duplicated": 0, "retries": 0,
    });
    assert_eq!(bench.status_once(json!({"counted": 40})).await, expected);
}

async fn with_800_ms_fragile_refuses_an_order_and_delivers_it_several_times() {
    let bench = Bench::start(AppVersion::Fragile).await;
    bench.effects(json!({"latency": 800})).await;
    assert_eq!(bench.order("a").await.0, 502);
    bench.effects(json!({"latency": 0})).await;
    // Attempts at 0, 300, 600 and (on an idle machine) 900 ms: given up, but executed by the
    // stream all the same.
    let delivered = bench
        .status_when(|status| status["duplicated"].as_u64() >= Some(2))
        .await;
    let fields = ["accepted", "refused", "stored"].map(|field| delivered[field].clone());
    assert_eq!(fields, [json!(0), json!(1), json!(1)]);
}

#[tokio::test]
async fn an_order_that_is_posted_twice_is_delivered_once_by_fixed_and_twice_by_fragile() {
    for (app, duplicated) in [(AppVersion::Fixed, 0), (AppVersion::Fragile, 1)] {
        let bench = Bench::start(app).await;
        for id in ["a", "a", "b"] {
            assert_eq!(bench.order(id).await, (202, json!({"id": id})));
        }
        // Once "b" has come through, so has everything before it.
        let done = bench
            .status_once(json!({"stored": 2, "duplicated": duplicated}))
            .await;
        assert_eq!(
            (&done["accepted"], &done["pending"]),
            (&json!(2), &json!(0))
        );
    }
}

#[tokio::test]
async fn what_is_no_order_is_refused_with_the_reason() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let no_json = bench.app("POST", "/orders").body("{tea}");
    let (status, body) = answer(no_json).await;
    assert_eq!(status, 400);
    assert!(
        body["error"]
            .as_str()
            .unwrap()
            .starts_with("the order is no JSON: ")
    );
    for id in ["", "a b", &"x".repeat(65)] {
        let reason = "x-order-id takes 1 to 64 letters, digits, '.', '_' and '-'";
        assert_eq!(bench.order(id).await, (400, json!({"error": reason})));
    }
    let large = bench.app("POST", "/orders").json(&"x".repeat(17 << 10));
    assert_eq!(answer(large).await.0, 413);
    assert_eq!(answer(bench.app("GET", "/orders")).await.0, 405);
    assert_eq!(answer(bench.app("GET", "/nowhere")).await.0, 404);
    assert_eq!(answer(bench.app("GET", "/healthz")).await.0, 200);
    let status = bench.status().await;
    assert_eq!(
        (&status["accepted"], &status["refused"]),
        (&json!(0), &json!(0))
    );
}

#[tokio::test]
async fn the_metrics_page_is_open_metrics_and_agrees_with_the_status() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.orders(3).await;
    bench.status_once(json!({"counted": 3})).await;
    let response = bench.app("GET", "/metrics").send().await.unwrap();
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert_eq!(response.headers()["content-type"], kind);
    let page = response.text().await.unwrap();
    let samples: Vec<&str> = page
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("sandbox_uptime_seconds"))
        .filter(|line| !line.starts_with("http_request_duration_seconds"))
        .collect();
    let expected = [
        "sandbox_app_info{version=\"fixed\"} 1",
        "http_requests_total{code=\"202\"} 3",
        "orders_accepted_total 3",
        "orders_refused_total 0",
        "orders_stored_total 3",
        "orders_counted_total 3",
        "orders_dead_lettered_total 0",
        "orders_duplicated_total 0",
        "aws_retries_total 0",
        "orders_silent 0",
        "orders_pending 0",
        "orders_oldest_pending_seconds 0",
    ];
    assert_eq!(samples, expected);
    assert!(page.ends_with("# EOF\n"));
}

/// The histogram of a page: how many were within each bound, and the sum of all.
fn durations(page: &str) -> (Vec<(&str, u64)>, f64) {
    let lines = page.lines();
    let ours = lines.filter_map(|line| line.strip_prefix("http_request_duration_seconds_"));
    let figures: Vec<_> = ours.filter_map(|line| line.rsplit_once(' ')).collect();
    let sum = figures.iter().find(|(name, _)| *name == "sum").unwrap();
    let counts = figures.iter().filter(|(name, _)| *name != "sum");
    let counts = counts.map(|(name, count)| {
        let short = name.strip_prefix("bucket{le=\"").unwrap_or(name);
        (short.trim_end_matches("\"}"), count.parse().unwrap())
    });
    (counts.collect(), sum.1.parse().unwrap())
}

#[tokio::test]
async fn the_metrics_page_has_a_histogram_of_how_long_orders_really_took() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.effects(json!({"latency": 300})).await;
    assert_eq!(bench.order("slow").await.0, 202);
    assert_eq!(
        bench.app("POST", "/orders").send().await.unwrap().status(),
        400
    );
    let page = bench.app("GET", "/metrics").send().await.unwrap();
    let page = page.text().await.unwrap();
    let (counts, sum) = durations(&page);
    // The bad order took no time, the slow one 300 ms and a bit.
    let bounds = [
        ("0.005", 1),
        ("0.01", 1),
        ("0.025", 1),
        ("0.05", 1),
        ("0.1", 1),
        ("0.25", 1),
        ("0.5", 2),
        ("1.0", 2),
        ("2.5", 2),
        ("5.0", 2),
        ("10.0", 2),
        ("+Inf", 2),
        ("count", 2),
    ];
    assert_eq!(counts, bounds, "{page}");
    assert!((0.3..0.5).contains(&sum), "{sum}");
}

//! A page that a real Prometheus really scrapes: series that come, go and start again, and reads that
//! fail. Its raw samples, read back, are what we answer from.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use chaos_gameday::metrics::series::{Labels, Point, SeriesStore};
use tokio::net::TcpListener;
use tokio::time::sleep;

use super::judge::{Instants, Judge};
use crate::support::prometheus::{Prometheus, is_missing};

const READS: i64 = 24;

const EXPRESSIONS: &[&str] = &[
    "requests_total",
    "flicker",
    "up",
    "rate(requests_total[1s])",
    "increase(requests_total[700ms])",
    "irate(requests_total[1s])",
    "resets(requests_total[10s])",
    "changes(flicker[2s])",
    "count_over_time(flicker[1s])",
    "last_over_time(flicker[300ms])",
    "avg_over_time(flicker[1s])",
    "max by (code) (requests_total)",
    "sum(rate(requests_total{code=~\"5..\"}[1s])) / sum(rate(requests_total[1s])) or vector(0)",
    "count(requests_total) or vector(0)",
    "requests_total and on (instance) up == 1",
    "up unless on (instance) flicker",
    "histogram_quantile(0.9, rate(latency_seconds_bucket[1s]))",
    "histogram_quantile(0.5, sum by (le) (latency_seconds_bucket))",
];

/// The page as it is on its nth read; now and then there is none.
async fn page(State(reads): State<Arc<AtomicI64>>) -> Result<String, StatusCode> {
    let read = reads.fetch_add(1, Ordering::Relaxed);
    if read % 10 == 8 {
        return Err(StatusCode::INTERNAL_SERVER_ERROR);
    }
    let mut page = format!(
        "# TYPE requests_total counter\n\
         requests_total{{code=\"200\"}} {}\n\
         requests_total{{code=\"500\"}} {}\n",
        read * 17,
        read % 7
    );
    if read % 5 != 3 {
        page.push_str(&format!(
            "flicker{{odd=\"größer \\\"\\\\\"}} {}\n",
            10 - read
        ));
    }
    for (bound, share) in [("0.1", 2), ("1", 5), ("+Inf", 6)] {
        let count = read * share;
        page.push_str(&format!(
            "latency_seconds_bucket{{le=\"{bound}\"}} {count}\n"
        ));
    }
    Ok(page)
}

/// Serves the page; its address.
async fn serve() -> String {
    let app = Router::new()
        .route("/metrics", get(page))
        .with_state(Arc::new(AtomicI64::new(1)));
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let address = listener.local_addr().expect("an address");
    tokio::spawn(async move { axum::serve(listener, app).await });
    address.to_string()
}

/// What the server has of the page, by labels and time, and the times of its reads.
async fn raw_samples(server: &Prometheus) -> BTreeMap<Labels, BTreeMap<i64, f64>> {
    let answer = server.query("{job=\"page\"}[10m]", None).await;
    let series = answer["result"].as_array().expect("series").iter();
    let read = series.map(|series| {
        let labels: Labels = serde_json::from_value(series["metric"].clone()).expect("labels");
        let points = series["values"].as_array().expect("samples").iter();
        let points = points.map(|point| {
            let at_ms = (point[0].as_f64().expect("a time") * 1_000.0).round() as i64;
            let value = point[1].as_str().expect("text").parse().expect("a number");
            (at_ms, value)
        });
        (labels, points.collect())
    });
    read.collect()
}

/// The same in a store of ours. The server's API keeps its stale markers to itself; they stand where
/// a read lacks a series that the one before had.
fn store_of(raw: &BTreeMap<Labels, BTreeMap<i64, f64>>, reads: &[i64]) -> SeriesStore {
    let mut store = SeriesStore::new(3_600_000);
    for (labels, points) in raw {
        let mut was_there = false;
        for at_ms in reads {
            let value = points.get(at_ms).copied();
            if value.is_some() || was_there {
                let at_ms = *at_ms;
                store.append(labels.clone(), Point { at_ms, value });
            }
            was_there = value.is_some();
        }
    }
    store
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_scraped_page_reads_the_same_here_and_there() {
    if is_missing() {
        return;
    }
    let address = serve().await;
    let server = Prometheus::start(&format!(
        "  - {{job_name: page, scrape_interval: 100ms, scrape_timeout: 100ms, static_configs: [{{targets: ['{address}']}}]}}"
    ))
    .await;
    let read_enough = format!("count_over_time(up[10m]) >= {READS}");
    while server.query(&read_enough, None).await["result"][0].is_null() {
        sleep(Duration::from_millis(50)).await;
    }
    let raw = raw_samples(&server).await;
    let up = raw.iter().find(|(labels, _)| labels["__name__"] == "up");
    let reads: Vec<i64> = up.expect("`up`").1.keys().copied().collect();
    let instants = Instants {
        first_ms: reads[0] - 37,
        step_ms: 53,
        count: (reads[reads.len() - 1] - reads[0]) / 53,
    };
    let judge = Judge::new(&server.url, store_of(&raw, &reads));
    let expressions: Vec<_> = EXPRESSIONS.iter().map(|&text| text.to_owned()).collect();
    let verdict = judge.compare(&expressions, &[instants]).await;
    assert_eq!(verdict.differences, [""; 0]);
    assert_eq!(verdict.with_values(), EXPRESSIONS.len());
}

//! Against a real Prometheus: `prometheus` of Debian, started by the tests themselves.

use chaos_gameday::model::rehearsal::Now;
use chaos_gameday::model::sample::Reading;

use super::{down, no_data, plain, read, rehearse, rehearsed};
use crate::support::prometheus::{Prometheus, is_missing};

#[tokio::test]
async fn a_real_server_starts_and_answers() {
    if is_missing() {
        return;
    }
    let server = Prometheus::start("  []").await;
    assert_eq!(
        server.query("vector(1) + 1", None).await["result"][0]["value"][1],
        "2"
    );
}

#[tokio::test]
async fn a_real_server_is_read_right_in_every_state_that_a_query_can_bring_about() {
    if is_missing() {
        return;
    }
    let server = Prometheus::start("  []").await;
    let source = plain(&server.url);
    let several = r#"label_replace(vector(1), "a", "x", "", "") or label_replace(vector(2), "a", "y", "", "")"#;
    for (query, reading) in [
        ("vector(0.5)", Reading::Value(0.5)),
        ("1 + 1", Reading::Value(2.0)),
        ("no_such_metric", no_data("the query finds nothing")),
        ("vector(0) / 0", no_data("the query's value is NaN")),
        ("vector(1) / 0", no_data("the query's value is +Inf")),
        ("vector(-1) / 0", no_data("the query's value is -Inf")),
        (
            several,
            no_data(
                "2 series that differ in `a`; wrap the query in `sum(…)`, `max(…)` or another aggregation",
            ),
        ),
        (
            "\"text\"",
            no_data("the query returns a text; write one that returns a number"),
        ),
        (
            "up[5m]",
            no_data(
                "the query returns a range of samples, not one number; wrap it in a function over time, such as `rate(…)` or `avg_over_time(…)`",
            ),
        ),
        (
            "sum(",
            down(
                "Prometheus refuses the query: invalid parameter \"query\": 1:5: parse error: unclosed left parenthesis; correct the query",
            ),
        ),
    ] {
        assert_eq!(read(&source, query).await, reading, "{query}");
    }
}

#[tokio::test]
async fn a_real_server_calls_a_query_flawed_before_anything_is_run() {
    if is_missing() {
        return;
    }
    let server = Prometheus::start("  []").await;
    let source = plain(&server.url);
    let flawed = Now::Flawed {
        why: "Prometheus refuses the query: invalid parameter \"query\": 1:1: parse error: unknown function with name \"nonsense\"".to_owned(),
        way_out: "correct the query".to_owned(),
    };
    assert_eq!(
        rehearse(&source, "nonsense(1)").await,
        rehearsed(flawed, &[])
    );
    let long = format!("vector({}1)", "0".repeat(3_000));
    assert_eq!(read(&source, &long).await, Reading::Value(1.0));
}

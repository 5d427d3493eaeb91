//! What a Prometheus is asked about the past, over real sockets: every start, end and step, and what
//! becomes of each kind of answer.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::extract::{RawQuery, State};
use axum::http::StatusCode;
use axum::http::header::{DATE, HeaderName};
use axum::routing::get;
use axum::{Json, Router};
use chaos_gameday::model::rehearsal::{Freshness, Now, Past, Rehearsal, Starved};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::units::Span;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use super::{gate, now, rehearsed, span, value};

/// The server's clock, in seconds since 1970; ours is another.
const SERVER_NOW: i64 = 1_700_000_000;
const SERVER_DATE: &str = "Tue, 14 Nov 2023 22:13:20 GMT";

/// The series at one time: labels and value.
type Series = Vec<(Value, f64)>;

/// A server that answers range queries with these series, and writes down what it is asked.
#[derive(Clone)]
struct Scripted {
    series_at: fn(i64) -> Series,
    delay: Duration,
    /// What a range is refused with.
    refusal: Option<&'static str>,
    asked: Arc<Mutex<Vec<String>>>,
}

impl Scripted {
    fn new(series_at: fn(i64) -> Series) -> Self {
        Self {
            series_at,
            delay: Duration::ZERO,
            refusal: None,
            asked: Arc::default(),
        }
    }

    /// Starts it, lets `max(errors)` be rehearsed, and tells what came of it and what was asked.
    async fn rehearse(self, every: &str, over: &str) -> (Rehearsal, Vec<String>) {
        self.rehearse_query("max(errors)", every, over).await
    }

    async fn rehearse_query(
        self,
        query: &str,
        every: &str,
        over: &str,
    ) -> (Rehearsal, Vec<String>) {
        let asked = Arc::clone(&self.asked);
        let routes = Router::new()
            .route("/api/v1/query", get(instant))
            .route("/api/v1/query_range", get(range))
            .with_state(self);
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let server = tokio::spawn(async { axum::serve(listener, routes).await });
        let slo = chaos_gameday::model::slo::Slo {
            every: span(every),
            ..gate("2s")
        };
        let rehearsal = rehearsed(&url, &slo, query, span(over)).await;
        server.abort();
        let asked = asked.lock().expect("no test panicked").clone();
        (rehearsal, asked)
    }
}

type Answer = ([(HeaderName, &'static str); 1], Json<Value>);

fn success(data: Value) -> Answer {
    let date = [(DATE, SERVER_DATE)];
    (date, Json(json!({"status": "success", "data": data})))
}

fn parameters(asked: Option<String>) -> BTreeMap<String, String> {
    let asked = asked.unwrap_or_default();
    url::form_urlencoded::parse(asked.as_bytes())
        .into_owned()
        .collect()
}

async fn instant(State(server): State<Scripted>, RawQuery(asked): RawQuery) -> Answer {
    let query = &parameters(asked)["query"];
    let sample = |value: f64| json!([SERVER_NOW as f64 + 0.25, value.to_string()]);
    let one = |value: f64| {
        let result = json!([{"metric": {}, "value": sample(value)}]);
        json!({"resultType": "vector", "result": result})
    };
    let series = |pod: &str, value: f64| {
        let result = json!([{"metric": {"pod": pod}, "value": sample(value)}]);
        json!({"resultType": "vector", "result": result})
    };
    let samples = |every: i64| {
        let times = (SERVER_NOW - 600..SERVER_NOW).step_by(every as usize);
        let values: Vec<_> = times.map(|at| json!([at, "1"])).collect();
        json!({"resultType": "matrix", "result": [{"metric": {}, "values": values}]})
    };
    let data = match query.as_str() {
        "time()" => json!({"resultType": "scalar", "result": sample(SERVER_NOW as f64 + 0.25)}),
        "max(timestamp(errors))" => one(SERVER_NOW as f64 - 3.5),
        "max(timestamp(slow))" => one(SERVER_NOW as f64 - 40.0),
        "topk(1, count_over_time(errors[10m]))" => series("errors", 40.0),
        "topk(1, count_over_time(slow[10m]))" => series("slow", 10.0),
        "errors{pod=\"errors\"}[10m]" => samples(15),
        "slow{pod=\"slow\"}[10m]" => samples(60),
        "max(errors)" | "max(rate(errors[30s])) / max(slow)" => one(0.5),
        _ => json!({"resultType": "vector", "result": []}),
    };
    if !query.contains("errors") && !query.contains("slow") {
        let mut asked = server.asked.lock().expect("no test panicked");
        asked.push(query.clone());
    }
    success(data)
}

async fn range(
    State(server): State<Scripted>,
    RawQuery(asked): RawQuery,
) -> Result<Answer, (StatusCode, Json<Value>)> {
    let asked = parameters(asked);
    let text = |name: &str| asked[name].clone();
    let told = ["start", "end", "step"].map(text).join(" ");
    server.asked.lock().expect("no test panicked").push(told);
    tokio::time::sleep(server.delay).await;
    if let Some(why) = server.refusal {
        let body = json!({"status": "error", "errorType": "bad_data", "error": why});
        return Err((StatusCode::BAD_REQUEST, Json(body)));
    }
    let whole = |name: &str| text(name).parse::<i64>().expect("whole seconds");
    let (start, end, step) = (whole("start"), whole("end"), whole("step"));
    // As Prometheus does.
    assert!((end - start) / step < 11_000, "too many points");
    let mut series: BTreeMap<String, (Value, Vec<Value>)> = BTreeMap::new();
    for at in (start..=end).step_by(step as usize) {
        for (labels, value) in (server.series_at)(at) {
            let one = series
                .entry(labels.to_string())
                .or_insert((labels, Vec::new()));
            one.1.push(json!([at, value.to_string()]));
        }
    }
    let result = series.into_values();
    let result: Vec<_> = result
        .map(|(metric, values)| json!({"metric": metric, "values": values}))
        .collect();
    Ok(success(json!({"resultType": "matrix", "result": result})))
}

fn one_series(value: f64) -> Series {
    vec![(json!({}), value)]
}

/// Good, but for 10 s of every hour.
fn hourly_breach(at: i64) -> Series {
    one_series(if at % 3_600 < 10 { 2.0 } else { 0.5 })
}

#[tokio::test]
async fn six_hours_at_a_second_are_two_queries_and_a_day_is_eight() {
    let (six_hours, asked) = Scripted::new(hourly_breach).rehearse("1s", "6h").await;
    let start = SERVER_NOW - 6 * 3_600;
    assert_eq!(
        asked,
        [
            "time()".to_owned(),
            format!("{start} {} 1", start + 10_999),
            format!("{} {SERVER_NOW} 1", start + 11_000),
        ]
    );
    let past = six_hours.past.expect("a past");
    assert_eq!(
        (
            past.over,
            past.step,
            past.trips,
            past.breaching,
            past.tripped,
            past.blind
        ),
        (
            span("6h"),
            span("1s"),
            6,
            span("1m"),
            span("48s"),
            Span::ZERO
        )
    );
    assert_eq!((past.range, past.history.len()), (Some((0.5, 2.0)), 60));

    let (day, asked) = Scripted::new(hourly_breach).rehearse("1s", "24h").await;
    let start = SERVER_NOW - 24 * 3_600;
    let chunks = (0..8).map(|chunk| {
        let first = start + chunk * 11_000;
        format!("{first} {} 1", (first + 10_999).min(SERVER_NOW))
    });
    let expected: Vec<_> = ["time()".to_owned()].into_iter().chain(chunks).collect();
    assert_eq!(asked, expected);
    let past = day.past.expect("a past");
    assert_eq!((past.trips, past.breaching), (24, span("4m")));
}

#[tokio::test]
async fn the_step_is_the_time_between_readings_until_the_points_get_too_many() {
    for (every, over, expected, step) in [
        ("15s", "1h", vec![(3_600, 0)], 15),
        ("5m", "700s", vec![(700, 100)], 300),
        ("200ms", "1m", vec![(60, 0)], 1),
        ("1s", "100001s", vec![], 2),
    ] {
        let (_, asked) = Scripted::new(hourly_breach).rehearse(every, over).await;
        let asked = &asked[1..];
        assert!(
            asked
                .iter()
                .all(|query| query.ends_with(&format!(" {step}")))
        );
        if !expected.is_empty() {
            let expected: Vec<_> = expected
                .iter()
                .map(|(first, last)| format!("{} {} {step}", SERVER_NOW - first, SERVER_NOW - last))
                .collect();
            assert_eq!(asked, expected, "{every} {over}");
        }
    }
}

#[tokio::test]
async fn nothing_is_asked_but_now_where_nobody_wants_more() {
    let (rehearsal, asked) = Scripted::new(hourly_breach).rehearse("1s", "0s").await;
    assert_eq!(asked, Vec::<String>::new());
    assert_eq!(rehearsal, now(value(0.5)));
}

#[tokio::test]
async fn gaps_and_what_is_not_finite_are_no_values() {
    let (rehearsal, _) = Scripted::new(|at| match SERVER_NOW - at {
        60.. => vec![],
        50..60 => one_series(f64::NAN),
        40..50 => one_series(f64::INFINITY),
        _ => one_series(0.5),
    })
    .rehearse("1s", "2m")
    .await;
    let past = rehearsal.past.expect("a past");
    let history = [vec![None; 40], vec![Some(0.5); 20]].concat();
    assert_eq!(
        past,
        Past {
            over: span("2m"),
            step: span("1s"),
            trips: 0,
            tripped: Span::ZERO,
            breaching: Span::ZERO,
            blind: span("81s"),
            blind_trips: 0,
            ambiguous: None,
            range: Some((0.5, 0.5)),
            history,
        }
    );
}

#[tokio::test]
async fn one_series_may_follow_another_but_two_at_one_time_are_told() {
    let (followed, _) = Scripted::new(|at| {
        let pod = if SERVER_NOW - at > 30 { "a" } else { "b" };
        vec![(json!({"pod": pod}), 0.5)]
    })
    .rehearse("1s", "1m")
    .await;
    assert_eq!(followed.now, value(0.5));
    assert_eq!(followed.past.map(|past| past.blind), Some(Span::ZERO));

    let (doubled, _) = Scripted::new(|at| match SERVER_NOW - at {
        30 => vec![(json!({"pod": "a"}), 0.5), (json!({"pod": "b"}), 0.5)],
        _ => vec![(json!({"pod": "b"}), 0.5)],
    })
    .rehearse("1s", "1m")
    .await;
    // It can be judged now: no flaw.
    assert_eq!(doubled.now, value(0.5));
    let past = doubled.past.expect("a past");
    assert_eq!((past.blind, past.range), (span("1s"), Some((0.5, 0.5))));
    let several = "2 series that differ in `pod`".to_owned();
    assert_eq!(past.ambiguous, Some(several));
}

#[tokio::test]
async fn what_reads_otherwise_now_than_over_its_whole_past_has_moved() {
    let (rehearsal, _) = Scripted::new(|_| one_series(0.0))
        .rehearse("5m", "1h")
        .await;
    assert_eq!(rehearsal.now, value(0.5));
    let past = rehearsal.past.expect("a past");
    assert_eq!((past.range, past.moved()), (Some((0.0, 0.5)), true));
}

#[tokio::test]
async fn a_past_that_does_not_come_is_a_warning_and_now_stands() {
    let slow = Scripted {
        delay: Duration::from_secs(30),
        ..Scripted::new(hourly_breach)
    };
    let begun = tokio::time::Instant::now();
    let (rehearsal, asked) = slow.rehearse("1s", "6h").await;
    assert!(begun.elapsed() < Duration::from_secs(10));
    assert_eq!((rehearsal.now, rehearsal.past), (value(0.5), None));
    assert_eq!(asked.len(), 2, "one chunk was asked for, and no second");
    let [warning] = &rehearsal.warnings[..] else {
        panic!("{:?}", rehearsal.warnings);
    };
    assert!(
        warning.starts_with("its past could not be read (no answer from http://127.0.0.1:"),
        "{warning}"
    );
}

#[tokio::test]
async fn a_past_that_is_longer_than_the_server_lets_anybody_ask_is_no_flaw_of_the_query() {
    let bounded = Scripted {
        refusal: Some("the query time range exceeds the limit"),
        ..Scripted::new(hourly_breach)
    };
    let (rehearsal, _) = bounded.rehearse("1m", "30d").await;
    assert_eq!((rehearsal.now, rehearsal.past), (value(0.5), None));
    assert_eq!(
        rehearsal.warnings,
        [
            "its past could not be read (Prometheus refuses the query: the query time range exceeds the limit); a shorter `--rehearse` asks for less"
        ]
    );
}

#[tokio::test]
async fn a_server_that_is_down_is_asked_once() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let rehearsal = rehearsed(&url, &gate("2s"), "max(errors)", span("6h")).await;
    let Now::Read {
        reading: Reading::SourceDown { .. },
        state: SloState::SourceDown,
    } = rehearsal.now
    else {
        panic!("{:?}", rehearsal.now);
    };
    assert_eq!((rehearsal.past, rehearsal.freshness), (None, None));
}

#[tokio::test]
async fn the_worst_selector_tells_how_late_the_data_is() {
    let (plain, _) = Scripted::new(hourly_breach).rehearse("1s", "1m").await;
    assert_eq!(
        plain.freshness,
        Some(Freshness {
            newest: Some(Span::from_millis(3_750)),
            interval: Some(span("15s")),
            window: None,
            starved: None,
        })
    );
    let query = "max(rate(errors[30s])) / max(slow)";
    let (worst, _) = Scripted::new(hourly_breach)
        .rehearse_query(query, "1s", "1m")
        .await;
    assert_eq!(
        worst.freshness,
        Some(Freshness {
            newest: Some(Span::from_millis(40_250)),
            interval: Some(span("1m")),
            window: Some(span("30s")),
            starved: None,
        })
    );
    // The range of one selector says nothing about the samples of another.
    let (starved, _) = Scripted::new(hourly_breach)
        .rehearse_query("max(rate(slow[30s])) or vector(0)", "1s", "1m")
        .await;
    let starved = starved.freshness.and_then(|freshness| freshness.starved);
    let expected = Starved {
        window: span("30s"),
        interval: span("1m"),
    };
    assert_eq!(starved, Some(expected));
}

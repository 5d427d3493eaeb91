//! Queries, and pages of samples that answer them: over a real connection, and from memory.

use std::path::PathBuf;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::promql::{self, Value};
use chaos_gameday::metrics::series::{Labels, Point, SeriesStore};
use chaos_gameday::metrics::{Metric, MetricSpecs, SourceSetup, Sources, WallClock};
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::secret::Secrets;
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::units::Span;
use serde_json::json;

use crate::harness::Target;
use crate::input::Corpus;
use crate::server::{BETWEEN, Server, split};

const WORDS: &[&str] = &[
    "rate(",
    "sum by (code) (",
    "histogram_quantile(0.99, ",
    "topk(3, ",
    "[5m]",
    "[1h]",
    "offset 5m ",
    "@ 1e9 ",
    "@ start() ",
    "{code=~\"5..\"}",
    "{le=\"+Inf\"}",
    "on(pod) group_left ",
    "or ",
    "unless ",
    "bool ",
    "# TYPE x counter\n",
    "# EOF\n",
    "x_total{code=\"500\"} 1\n",
    "x{} NaN 1e300\n",
    "le=\"0.1\"",
    " # {trace=\"1\"} 1\n",
    "__name__=\"x\",",
    "^",
    "%",
    "x ",
    "label_replace(",
    "absent(",
    "quantile_over_time(",
];

/// What sources need besides what a document says.
pub fn setup() -> SourceSetup {
    SourceSetup {
        clients: Clients::new().expect("clients can be made"),
        secrets: Secrets::default(),
        tag: "run-1".to_owned(),
        this_program: PathBuf::from("chaos"),
        clock: WallClock::set_to("2026-11-30T12:00:00Z".parse().expect("a time")),
    }
}

/// An SLO that reads whatever is asked for.
pub fn slo() -> Slo {
    Slo {
        name: "errors".to_owned(),
        reads: "a query".to_owned(),
        objective: "< 1%".parse().expect("an objective"),
        patience: Span::from_secs(1),
        blind_patience: Span::from_secs(1),
        on_breach: Reaction::Rollback,
        on_no_data: Reaction::Rollback,
        every: Span::from_secs(1),
    }
}

/// A value is always finite, and blindness has a reason.
pub fn check_reading(reading: &Reading) {
    match reading {
        Reading::Value(value) => assert!(value.is_finite(), "{value}"),
        Reading::NoData { why } | Reading::SourceDown { why } => assert!(!why.is_empty()),
    }
}

/// A rehearsal is about its SLO, and what it read is a reading.
pub fn check_rehearsal(rehearsal: &Rehearsal) {
    assert_eq!(rehearsal.slo, "errors");
    if let Some(value) = rehearsal.now.value() {
        assert!(value.is_finite(), "{value}");
    }
    let text = serde_json::to_string(rehearsal).expect("JSON");
    let again: Rehearsal = serde_json::from_str(&text).expect("it comes back");
    assert_eq!(&again, rehearsal);
}

/// A runtime for one case after the other.
pub fn runtime() -> tokio::runtime::Runtime {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder.enable_all().build().expect("a runtime")
}

const PAGE: &str = "# HELP x_total All.\n# TYPE x_total counter\nx_total{code=\"200\",pod=\"a\"} 10\n\
x_total{code=\"500\",pod=\"b\"} 1 1764504000000\n# TYPE l histogram\nl_bucket{le=\"0.1\"} 3\n\
l_bucket{le=\"1\"} 4\nl_bucket{le=\"+Inf\"} 5\nl_sum 1.5\nl_count 5\nq NaN\n";
const OPEN_METRICS: &str = "# TYPE x counter\n# UNIT x \nx_total{code=\"200\"} 10 1764504000.5 # {id=\"1\"} 0.5\n\
x_created{code=\"200\"} 1764500000\n# TYPE s stateset\ns{s=\"on\"} 1\n# EOF\n";

#[test]
fn a_page_answers_or_its_source_is_down() {
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: application/openmetrics-text; version=1.0.0\r\n\r\n";
    let seeds = [
        format!("sum(x_total)\n=====\n{PAGE}"),
        format!("sum(rate(x_total{{code=~\"5..\"}}[1m])) / sum(rate(x_total[1m]))\n=====\n{PAGE}"),
        format!("histogram_quantile(0.9, sum by (le) (rate(l_bucket[5m])))\n=====\n{PAGE}"),
        format!("sum(x_total)\n=====\n{head}{OPEN_METRICS}"),
        format!("max(q or x_total)\n=====\nHTTP/1.1 302 Found\r\nlocation: /\r\n\r\n{PAGE}"),
    ];
    let server = Server::start(|_, _| 1);
    let specs = MetricSpecs {
        scrape: Some(
            serde_json::from_value(json!({
                "targets": [{"url": format!("{}/metrics", server.url), "labels": {"app": "shop"}}],
                "every": "1s",
                "timeout": "1s",
            }))
            .expect("a source"),
        ),
        ..MetricSpecs::default()
    };
    let (setup, slo, runtime) = (setup(), slo(), runtime());
    Target {
        name: "page",
        corpus: Corpus {
            seeds: seeds.map(String::into_bytes).into(),
            words: WORDS,
            largest: 1 << 20,
            between: BETWEEN,
        },
        cases: 100,
        holds: &|input| {
            let query = String::from_utf8_lossy(&split(input)[0]).into_owned();
            server.answer_with(input);
            let metric = Metric::Scrape(query);
            let sources = Sources::new(&specs, &setup).expect("a source");
            let source = sources.source_for(&metric).expect("a source");
            runtime.block_on(async {
                check_rehearsal(&source.rehearse(&slo, &metric, Span::ZERO).await);
                source.start().await.expect("it starts");
                check_reading(&source.read(&metric).await);
                source.stop().await;
            });
        },
    }
    .run();
}

#[test]
fn a_query_is_answered_from_any_samples_or_refused() {
    let samples = "__name__=x_total,code=500|0:1,1000:2,2000:NaN,3000:5\n__name__=l_bucket,le=0.1|0:1,9223372036854775807:2\n__name__=q|-9223372036854775808:1e308,5:-";
    let queries = [
        "sum(rate(x_total[1m]))",
        "histogram_quantile(0.9, rate(l_bucket[5m]))",
        "x_total offset 1h",
        "max_over_time(x_total[5m]) / on(code) x_total",
        "q ^ q % q",
        "label_replace(q, \"a\", \"$1\", \"b\", \"(.*)\")",
        "quantile(0.5, x_total) by (code)",
        "x_total @ 5 > bool 1",
    ];
    let seeds = queries.map(|query| format!("{query}\n=====\n5000\n=====\n{samples}").into_bytes());
    Target {
        name: "query",
        corpus: Corpus {
            seeds: seeds.into(),
            words: WORDS,
            largest: 64 << 10,
            between: BETWEEN,
        },
        cases: 80,
        holds: &|input| {
            let parts: Vec<_> = split(input)
                .into_iter()
                .map(|part| String::from_utf8_lossy(&part).into_owned())
                .collect();
            let part = |index: usize| parts.get(index).map_or("", String::as_str);
            let at_ms = part(1).trim().parse().unwrap_or_default();
            let store = store(part(2));
            match promql::parse(part(0)) {
                Err(why) => {
                    let place = why.range.unwrap_or_default();
                    assert!(part(0).get(place.clone()).is_some(), "{place:?}");
                }
                Ok(read) => {
                    let checked = promql::check(&read);
                    promql::longest_range(&read);
                    promql::selectors(&read);
                    let answer = promql::evaluate(&read, &store, at_ms);
                    if let (Ok(()), Ok(Value::Vector(samples))) = (checked, answer) {
                        let in_order = samples.windows(2).all(|pair| pair[0].0 < pair[1].0);
                        assert!(in_order, "{samples:?}");
                    }
                }
            }
        },
    }
    .run();
}

/// `name=value,name=value|ms:value,ms:value`, a series a line; `-` for the end of one.
fn store(text: &str) -> SeriesStore {
    let mut store = SeriesStore::new(i64::MAX);
    for line in text.lines() {
        let Some((labels, points)) = line.split_once('|') else {
            continue;
        };
        let labels: Labels = labels
            .split(',')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        for (at_ms, value) in points.split(',').filter_map(|point| point.split_once(':')) {
            if let Ok(at_ms) = at_ms.parse() {
                let value = value.parse().ok();
                store.append(labels.clone(), Point { at_ms, value });
            }
        }
    }
    store
}

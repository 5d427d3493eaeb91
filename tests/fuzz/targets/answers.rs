//! What a Prometheus and a LocalStack answer, over a real connection.

use chaos_gameday::clients::Clients;
use chaos_gameday::faults::{Fault, LocalStackFault, Owner, driver_with};
use chaos_gameday::metrics::{Metric, MetricSpecs, Sources, told_times};
use chaos_gameday::model::undo::Undo;
use chaos_gameday::model::units::Span;
use serde_json::json;

use super::pages::{check_reading, check_rehearsal, runtime, setup, slo};
use crate::documents::check_shown;
use crate::harness::Target;
use crate::input::Corpus;
use crate::server::{BETWEEN, Server};

const WORDS: &[&str] = &[
    "HTTP/1.1 200 OK\r\n\r\n",
    "HTTP/1.1 503 \r\ncontent-length: 0\r\n\r\n",
    "HTTP/1.1 302 Found\r\nlocation: /\r\n\r\n",
    "transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n",
    "content-length: 18446744073709551615\r\n\r\n",
    "<Error><Code>NoSuchBucket</Code></Error>",
    "<!doctype html>",
    "{\"status\":\"success\",\"data\":",
    "{\"status\":\"error\",\"errorType\":\"bad_data\",\"error\":\"1:1: parse error\"}",
    "\"resultType\":\"vector\",\"result\":[",
    "\"resultType\":\"string\"",
    "\"histogram\":",
    "[1764504000,\"NaN\"]",
    "\"warnings\":[\"x\"]",
    "\"isPartial\":true",
    "\"latency\":",
    "\"session_id\":",
    "\"services\":{}",
    "\"version\":\"4\"",
    "\"description\":\"chaos:r-1\"",
    "{\"service\":\"kinesis\"}",
    "\"probability\":",
    "\"error\":{\"statusCode\":",
    "\n=====\n",
];

fn corpus(seeds: Vec<String>) -> Corpus {
    Corpus {
        seeds: seeds.into_iter().map(String::into_bytes).collect(),
        words: WORDS,
        largest: 2 << 20,
        between: BETWEEN,
    }
}

/// Instant query, range query, everything else.
fn prometheus_part(_: &str, path: &str) -> usize {
    let path = path.split('?').next().unwrap_or_default();
    match path.rsplit('/').next() {
        Some("query") => 0,
        Some("query_range") => 1,
        _ => 2,
    }
}

#[test]
fn a_prometheus_answers_or_is_down() {
    let vector = r#"{"status":"success","data":{"resultType":"vector","result":[{"metric":{"__name__":"up","job":"a"},"value":[1764504000.123,"0.25"]}]},"warnings":["w"]}"#;
    let scalar = r#"{"status":"success","data":{"resultType":"scalar","result":[1764504000,"1"]}}"#;
    let points: Vec<_> = (0..60)
        .map(|at| format!("[{},\"0.{at}\"]", 1_764_500_400 + at * 60))
        .collect();
    let matrix = format!(
        r#"{{"status":"success","data":{{"resultType":"matrix","result":[{{"metric":{{"job":"a"}},"values":[{}]}}]}}}}"#,
        points.join(",")
    );
    let other = r#"{"status":"success","data":{"version":"3.1","activeTargets":[{"scrapeInterval":"15s","health":"up"}],"resultType":"vector","result":[]}}"#;
    let error = r#"HTTP/1.1 400 Bad Request
content-length: 95

{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:5: parse error"}"#;
    let seeds = vec![
        format!("{vector}\n=====\n{matrix}\n=====\n{other}"),
        format!("{scalar}\n=====\n{matrix}\n=====\n{vector}"),
        format!("{error}\n=====\n{error}\n=====\n{error}"),
    ];
    let server = Server::start(prometheus_part);
    let spec = json!({"url": server.url, "timeout": "1s"});
    let specs = MetricSpecs {
        prometheus: Some(serde_json::from_value(spec).expect("a source")),
        ..MetricSpecs::default()
    };
    let (setup, slo, runtime) = (setup(), slo(), runtime());
    Target {
        name: "prometheus",
        corpus: corpus(seeds),
        cases: 40,
        holds: &|input| {
            server.answer_with(input);
            let sources = Sources::new(&specs, &setup).expect("a source");
            for query in ["up", "sum(rate(x_total[1m])) / sum(rate(y_total[5m]))"] {
                let metric = Metric::Prometheus(query.to_owned());
                let source = sources.source_for(&metric).expect("a source");
                runtime.block_on(async {
                    check_reading(&source.read(&metric).await);
                    let over = Span::from_secs(3_600);
                    check_rehearsal(&source.rehearse(&slo, &metric, over).await);
                });
            }
            for told in runtime.block_on(told_times(&specs, &setup)) {
                check_shown(&told.skew().map(|skew| skew.sentence()).unwrap_or_default());
            }
        },
    }
    .run();
}

/// Health, info, licence, effects, the list of faults; then the answers to what changes something.
fn localstack_part(method: &str, path: &str) -> usize {
    match (method, path) {
        ("GET", "/_localstack/health") => 0,
        ("GET", "/_localstack/info") => 1,
        ("GET", "/_localstack/licenseinfo") => 2,
        ("GET", "/_localstack/chaos/effects") => 3,
        ("GET", "/_localstack/chaos/faults") => 4,
        ("PATCH", _) => 5,
        _ => 6,
    }
}

#[test]
fn a_localstack_is_driven_or_refused() {
    let health =
        r#"{"services":{"kinesis":"running","sqs":"available"},"edition":"pro","version":"4.9.0"}"#;
    let info =
        r#"{"version":"4.9.0","edition":"pro","is_license_activated":true,"session_id":"aaaa-1"}"#;
    let licence = r#"{"available_plugins":["localstack.platform.plugin/chaos"]}"#;
    let effects = r#"{"latency":0}"#;
    let foreign = r#"[{"region":"us-east-1","service":"sqs","probability":0.5,"error":{"statusCode":503,"code":"X"}}]"#;
    let ours = r#"[{"region":"us-east-1","service":"kinesis","operation":"PutRecord","probability":1.0,"error":{"statusCode":503,"code":"ServiceUnavailable"},"description":"chaos:r-20261130-1200-abcd"}]"#;
    let all =
        |faults: &str| [health, info, licence, effects, faults, faults, effects].join("\n=====\n");
    let seeds = vec![
        all("[]"),
        all(foreign),
        all(ours),
        all("HTTP/1.1 404 Not Found\r\n\r\n"),
    ];
    let server = Server::start(localstack_part);
    let rules = json!([{"region": "us-east-1", "service": "kinesis", "operation": "PutRecord", "probability": 1.0, "error": {"statusCode": 503, "code": "ServiceUnavailable"}}]);
    let fault = Fault::LocalStack(LocalStackFault {
        endpoint: server.url.clone(),
        faults: serde_json::from_value(rules).expect("rules"),
        latency: Some(Span::from_millis(800)),
    });
    let clients = Clients::new().expect("clients can be made");
    let driver = driver_with(&fault, &clients, Span::from_millis(500)).expect("a driver");
    let owner = Owner::Run("r-20261130-1200-abcd".parse().expect("an id"));
    let runtime = runtime();
    // What it was before: the undo of a sound server meets the answers of another one.
    server.answer_with(all(foreign).as_bytes());
    let sound = runtime
        .block_on(driver.prepare(&fault, &owner))
        .expect("a sound server")
        .undo;
    let drive = |undo: &Undo| {
        runtime.block_on(async {
            let injection = driver.inject(undo).await;
            let _proof = driver.confirm(undo).await;
            let undone = driver.revert(undo).await;
            let gone = driver.verify_gone(undo).await;
            for problem in [injection.result.err(), undone.result.err(), gone.err()]
                .into_iter()
                .flatten()
            {
                assert!(problem.hint.is_some(), "{problem}");
            }
        });
    };
    Target {
        name: "localstack",
        corpus: corpus(seeds),
        cases: 40,
        holds: &|input| {
            server.answer_with(input);
            match runtime.block_on(driver.prepare(&fault, &owner)) {
                Ok(prepared) => drive(&prepared.undo),
                Err(problem) => assert!(problem.hint.is_some(), "{problem}"),
            }
            drive(&sound);
        },
    }
    .run();
}

//! The edge against the contract of the Chaos API.

use std::time::Duration;

use chaos_gameday::sandbox::AppVersion;
use serde_json::json;
use tokio::time::Instant;

use crate::support::sandbox::{Answer, Bench, answer, read};

const FAULTS: &str = "/_localstack/chaos/faults";
const EFFECTS: &str = "/_localstack/chaos/effects";

fn refusal() -> Answer {
    let body = json!({"error": "Bad Request", "message": "Request body validation error"});
    (400, body)
}

#[tokio::test]
async fn every_rule_that_the_contract_forbids_is_refused_and_changes_nothing() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let standing = json!([{"service": "sqs"}]);
    bench.faults("POST", standing.clone()).await;
    let forbidden = [
        json!({"service": "kinesis"}),
        json!(["kinesis"]),
        json!([{"regoin": "us-east-1"}]),
        json!([{"region": "us-*"}]),
        json!([{"region": ""}]),
        json!([{"region": null}]),
        json!([{"region": "us_east"}]),
        json!([{"service": "kin.esis"}]),
        json!([{"service": "kinesis\n"}]),
        json!([{"operation": "ListObjectsV2"}]),
        json!([{"operation": "Put-Record"}]),
        json!([{"probability": 1.01}]),
        json!([{"probability": -0.1}]),
        json!([{"probability": "1"}]),
        json!([{"description": "x".repeat(8_193)}]),
        json!([{"error": {"statusCode": 399}}]),
        json!([{"error": {"statusCode": 600}}]),
        json!([{"error": {"statusCode": 503.0}}]),
        json!([{"error": {"code": "Invalid.NotFound"}}]),
        json!([{"error": {"message": "no"}}]),
        json!([{"error": null}]),
        json!([{"service": "kinesis"}, {"service": "kinesis"}]),
        json!([{"probability": 1}, {"probability": 1.0}]),
    ];
    for rules in forbidden {
        for method in ["POST", "PATCH", "DELETE"] {
            let refused = bench.faults(method, rules.clone()).await;
            assert_eq!(refused, refusal(), "{method} {rules}");
        }
    }
    assert_eq!(answer(bench.edge("GET", FAULTS)).await, (200, standing));
}

#[tokio::test]
async fn a_latency_is_a_whole_number_of_milliseconds_and_nothing_else() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let set = (200, json!({"latency": 5}));
    assert_eq!(bench.effects(json!({"latency": 5})).await, set);
    let forbidden = [
        json!({}),
        json!([]),
        json!({"latency": -1}),
        json!({"latency": 1.0}),
        json!({"latency": "5"}),
        json!({"latency": null}),
        json!({"latency": 5, "jitter": 1}),
    ];
    for effects in forbidden {
        let refused = bench.effects(effects.clone()).await;
        assert_eq!(refused, refusal(), "{effects}");
    }
    assert_eq!(answer(bench.edge("GET", EFFECTS)).await, set);
}

#[tokio::test]
async fn a_body_that_is_not_called_json_or_is_none_is_refused() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let form = "application/x-www-form-urlencoded";
    for (path, body) in [(FAULTS, "[]"), (EFFECTS, r#"{"latency":1}"#)] {
        let wrong_type = bench.edge("POST", path).header("Content-Type", form);
        assert_eq!(answer(wrong_type.body(body)).await, refusal());
        assert_eq!(answer(bench.edge("POST", path).body(body)).await, refusal());
        let torn = bench.edge("POST", path).json(&json!(1)).body(&body[1..]);
        assert_eq!(answer(torn).await, refusal());
        let with_charset = bench
            .edge("POST", path)
            .header("Content-Type", "application/json; charset=utf-8");
        assert_eq!(answer(with_charset.body(body)).await.0, 200);
    }
}

#[tokio::test]
async fn methods_that_a_path_lacks_get_405_with_the_ones_it_has() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let cases = [
        ("PUT", FAULTS, "GET,HEAD,POST,PATCH,DELETE"),
        ("PATCH", EFFECTS, "GET,HEAD,POST"),
        ("DELETE", EFFECTS, "GET,HEAD,POST"),
        ("POST", "/_localstack/health", "GET,HEAD"),
        ("DELETE", "/_localstack/info", "GET,HEAD"),
    ];
    for (method, path, allowed) in cases {
        let response = bench.edge(method, path).send().await.unwrap();
        assert_eq!(response.headers()["allow"], allowed, "{method} {path}");
        let (status, body) = read(response).await;
        assert_eq!(
            (status, &body["error"]),
            (405, &json!("Method Not Allowed"))
        );
        assert_eq!(
            body["message"],
            format!("{method} is not allowed on {path}")
        );
    }
}

#[tokio::test]
async fn unknown_control_paths_get_an_empty_404_for_every_method() {
    let bench = Bench::start(AppVersion::Fixed).await;
    for path in [
        "/_localstack",
        "/_localstack/licenseinfo",
        "/_localstack/appinspector/status",
    ] {
        for method in ["GET", "POST", "PUT", "DELETE"] {
            let response = bench.edge(method, path).send().await.unwrap();
            assert_eq!(response.status(), 404, "{method} {path}");
            assert_eq!(
                response.headers()["content-type"],
                "text/plain; charset=utf-8"
            );
            assert_eq!(response.headers()["x-localstack"], "true");
            assert_eq!(response.text().await.unwrap(), "");
        }
    }
}

#[tokio::test]
async fn post_replaces_patch_appends_and_delete_removes_what_is_the_same() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let short = json!({"service": "kinesis"});
    let tagged = json!({"service": "kinesis", "description": "chaos:1"});
    let other = json!({"operation": "PutItem", "probability": 0.5});
    let written_out = json!({
        "error": {"code": "ServiceUnavailable", "statusCode": 503},
        "probability": 1.0,
        "service": "kinesis",
    });
    let steps = [
        ("POST", json!([short, other]), json!([short, other])),
        ("PATCH", json!([tagged]), json!([short, other, tagged])),
        ("PATCH", json!([]), json!([short, other, tagged])),
        ("DELETE", json!([]), json!([short, other, tagged])),
        (
            "DELETE",
            json!([{"service": "sqs"}]),
            json!([short, other, tagged]),
        ),
        ("DELETE", json!([written_out]), json!([other, tagged])),
        ("PATCH", json!([tagged]), json!([other, tagged, tagged])),
        ("DELETE", json!([tagged]), json!([other])),
        ("POST", json!([{}]), json!([{}])),
        ("POST", json!([]), json!([])),
    ];
    for (method, sent, listed) in steps {
        let changed = bench.faults(method, sent.clone()).await;
        assert_eq!(changed, (200, listed.clone()), "{method} {sent}");
        assert_eq!(answer(bench.edge("GET", FAULTS)).await, (200, listed));
    }
}

#[tokio::test]
async fn health_and_info_say_what_this_is_and_a_restart_shows_in_the_session() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let response = bench
        .edge("GET", "/_localstack/health")
        .send()
        .await
        .unwrap();
    assert_eq!(response.headers()["x-localstack"], "true");
    let version = concat!("sandbox-", env!("CARGO_PKG_VERSION"), "-fixed-seed-7");
    let health = json!({
        "services": {"cloudwatch": "running", "dynamodb": "running", "kinesis": "running"},
        "edition": "unknown",
        "version": version,
    });
    assert_eq!(read(response).await, (200, health));

    let (_, mut info) = answer(bench.edge("GET", "/_localstack/info")).await;
    let again = Bench::start(AppVersion::Fixed).await;
    let (_, restarted) = answer(again.edge("GET", "/_localstack/info")).await;
    assert_ne!(info["session_id"], restarted["session_id"]);
    assert_eq!(info["machine_id"], restarted["machine_id"]);
    for changing in ["session_id", "uptime", "system"] {
        assert!(info.as_object_mut().unwrap().remove(changing).is_some());
    }
    let constant = json!({
        "version": version,
        "edition": "unknown",
        "is_license_activated": false,
        "machine_id": "sandbox",
        "is_docker": false,
    });
    assert_eq!(info, constant);
}

#[tokio::test]
async fn the_first_rule_that_matches_decides_and_answers_as_the_json_protocols_do() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let rules = json!([
        {"service": "dynamodb", "probability": 0},
        {"service": "dynamodb"},
        {"region": "eu-west-1", "error": {"statusCode": 400, "code": "Throttling"}},
        {"operation": "PutMetricData"},
    ]);
    bench.faults("POST", rules).await;
    let cases = [
        ("DynamoDB_20120810.Scan", "eu-west-1", None),
        ("Kinesis_20131202.GetRecords", "us-east-1", None),
        (
            "Kinesis_20131202.GetRecords",
            "eu-west-1",
            Some((400, "Throttling")),
        ),
        (
            "GraniteServiceVersion20100801.PutMetricData",
            "us-east-1",
            Some((503, "ServiceUnavailable")),
        ),
    ];
    let body = json!({"TableName": "orders", "ShardIterator": "shardId-000000000000:0"});
    for (target, region, failure) in cases {
        let call = bench.aws(target, region).json(&body);
        let response = call.send().await.unwrap();
        let code = response.headers().get("x-amzn-errortype").cloned();
        let (status, body) = read(response).await;
        let expected = failure.map_or(200, |(status, _)| status);
        assert_eq!(status, expected, "{target} {region} {body}");
        assert_eq!(body["__type"].as_str(), failure.map(|(_, code)| code));
        assert_eq!(
            code.map(|code| code.to_str().unwrap().to_owned())
                .as_deref(),
            failure.map(|(_, code)| code)
        );
    }
}

#[tokio::test]
async fn a_faulted_write_is_not_executed() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let put = json!({"TableName": "orders", "Item": {"id": {"S": "a"}}});
    let get = json!({"TableName": "orders", "Key": {"id": {"S": "a"}}});
    bench
        .faults("POST", json!([{"operation": "PutItem"}]))
        .await;
    let write = || {
        answer(
            bench
                .aws("DynamoDB_20120810.PutItem", "us-east-1")
                .json(&put),
        )
    };
    let look = || {
        answer(
            bench
                .aws("DynamoDB_20120810.GetItem", "us-east-1")
                .json(&get),
        )
    };
    assert_eq!(write().await.0, 503);
    assert_eq!(look().await, (200, json!({})));
    bench.faults("POST", json!([])).await;
    assert_eq!(write().await, (200, json!({})));
    assert_eq!(look().await, (200, json!({"Item": {"id": {"S": "a"}}})));
}

#[tokio::test]
async fn a_probability_is_drawn_for_each_request_from_the_seed() {
    async fn failures() -> usize {
        let bench = Bench::start(AppVersion::Fixed).await;
        bench
            .faults("POST", json!([{"operation": "Scan", "probability": 0.3}]))
            .await;
        let call = || {
            answer(
                bench
                    .aws("DynamoDB_20120810.Scan", "us-east-1")
                    .json(&json!({"TableName": "orders"})),
            )
        };
        let answers = futures_util::future::join_all((0..300).map(|_| call())).await;
        answers.iter().filter(|(status, _)| *status == 503).count()
    }
    let (first, second) = tokio::join!(failures(), failures());
    assert_eq!(first, second);
    // 300 draws at 0.3: 90 expected, standard deviation 7.9.
    assert!((60..=120).contains(&first), "{first} of 300 failed");
}

#[tokio::test]
async fn latency_delays_aws_calls_and_no_control_path() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.effects(json!({"latency": 400})).await;
    let scan = || {
        bench
            .aws("DynamoDB_20120810.Scan", "us-east-1")
            .json(&json!({"TableName": "orders"}))
    };
    let timed = async |request| {
        let start = Instant::now();
        answer(request).await;
        start.elapsed()
    };
    assert!(timed(scan()).await >= Duration::from_millis(400));
    assert!(timed(bench.edge("GET", FAULTS)).await < Duration::from_millis(300));
    bench.effects(json!({"latency": 0})).await;
    assert!(timed(scan()).await < Duration::from_millis(300));
}

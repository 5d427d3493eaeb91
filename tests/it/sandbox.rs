//! The sandbox over real sockets: its Chaos API against the contract, its pipeline against outages.

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::model::problem::ProblemKind;
use chaos_gameday::sandbox::{AppVersion, Sandbox, SandboxSettings, status};
use serde_json::json;
use tokio::time::{Instant, timeout};

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
    let version = concat!("sandbox-", env!("CARGO_PKG_VERSION"));
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
        // {"item":"tea"} as base64.
        let item = json!({"id": {"S": "order-7"}, "body": {"B": "eyJpdGVtIjoidGVhIn0="}});
        assert_eq!(answer(get).await, (200, json!({"Item": item})));
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
async fn with_the_table_down_fragile_is_stuck_behind_its_first_order() {
    let bench = Bench::start(AppVersion::Fragile).await;
    let down = json!([{"service": "dynamodb"}]);
    bench.faults("PATCH", down.clone()).await;
    bench.orders(5).await;
    tokio::time::sleep(Duration::from_millis(400)).await;
    let stuck = bench.status().await;
    assert_eq!(
        (&stuck["accepted"], &stuck["pending"]),
        (&json!(5), &json!(5))
    );
    assert!(stuck["retries"].as_u64() > Some(4), "{stuck}");
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

#[tokio::test]
async fn with_the_table_down_fixed_puts_the_orders_aside_and_lists_them() {
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
async fn with_800_ms_of_latency_fixed_answers_every_order_in_time_and_delivers_it() {
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

#[tokio::test]
async fn with_800_ms_of_latency_fragile_refuses_an_order_and_delivers_it_several_times() {
    let bench = Bench::start(AppVersion::Fragile).await;
    bench.effects(json!({"latency": 800})).await;
    assert_eq!(bench.order("a").await.0, 502);
    bench.effects(json!({"latency": 0})).await;
    // Attempts at 0, 300, 600 and 900 ms: given up, but executed by the stream all the same.
    let delivered = bench.status_once(json!({"duplicated": 3})).await;
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

#[tokio::test]
async fn stopping_ends_calls_in_flight_and_frees_the_ports() {
    let bench = Bench::start(AppVersion::Fragile).await;
    bench.effects(json!({"latency": 60_000})).await;
    let hanging = bench
        .aws("DynamoDB_20120810.Scan", "us-east-1")
        .json(&json!({}));
    let hanging = tokio::spawn(hanging.send());
    tokio::time::sleep(Duration::from_millis(50)).await;
    let Bench { sandbox, clients } = bench;
    let url = sandbox.app_url().to_owned();
    timeout(Duration::from_secs(2), sandbox.stop())
        .await
        .unwrap();
    let unanswered = timeout(Duration::from_secs(2), hanging).await.unwrap();
    assert!(unanswered.unwrap().is_err());
    let gone = status(&url, &clients).await.unwrap_err();
    assert_eq!(gone.kind, ProblemKind::Unreachable);
    assert_eq!(gone.message, format!("no sandbox answers at {url}/status"));
    assert_eq!(gone.hint.unwrap(), "start one with `chaos sandbox`");
}

#[tokio::test]
async fn dropping_ends_it_too() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.status().await;
    let Bench { sandbox, clients } = bench;
    let url = sandbox.app_url().to_owned();
    drop(sandbox);
    let gone = async { while status(&url, &clients).await.is_ok() {} };
    timeout(Duration::from_secs(2), gone).await.unwrap();
}

#[tokio::test]
async fn a_taken_port_is_named_with_its_flag() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let port = |url: &str| url.rsplit(':').next().unwrap().parse().unwrap();
    let (app_port, aws_port) = (port(bench.sandbox.app_url()), port(bench.sandbox.aws_url()));
    let cases = [
        (app_port, 0, "--app-port", app_port),
        (0, aws_port, "--aws-port", aws_port),
    ];
    for (app_port, aws_port, flag, taken) in cases {
        let settings = SandboxSettings {
            app: AppVersion::Fixed,
            app_port,
            aws_port,
            seed: 1,
        };
        let Err(problem) = Sandbox::start(settings).await else {
            panic!("two listen on {taken}");
        };
        assert_eq!(problem.kind, ProblemKind::Conflict);
        let message = format!("the sandbox cannot listen on 127.0.0.1:{taken}: ");
        assert!(problem.message.starts_with(&message), "{problem}");
        assert!(problem.hint.unwrap().contains(flag));
    }
}

#[tokio::test]
async fn who_is_no_sandbox_is_told_apart_from_nobody() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let stranger = status(bench.sandbox.aws_url(), &bench.clients)
        .await
        .unwrap_err();
    assert_eq!(stranger.kind, ProblemKind::Unexpected);
    let nonsense = status("sandbox", &Clients::new().unwrap())
        .await
        .unwrap_err();
    assert_eq!(nonsense.kind, ProblemKind::Invalid);
    assert_eq!(nonsense.message, "'sandbox/status' is no URL");
}

#[test]
fn app_versions_are_written_as_they_are_read() {
    for app in BOTH {
        assert_eq!(app.to_string().parse(), Ok(app));
    }
    let problem = "broken".parse::<AppVersion>().unwrap_err();
    assert_eq!(problem.message, "the sandbox has no app version 'broken'");
}

//! Whole cycles against the sandbox, whose Chaos API keeps the contract strictly.

use chaos_gameday::faults::Owner;
use chaos_gameday::model::request::{Absence, Continuity, Proof, Request};
use chaos_gameday::model::undo::{LocalStackUndo, Undo};
use chaos_gameday::sandbox::AppVersion;
use serde_json::{Value, json};

use super::{Case, put_record, send_message, tagged};
use crate::support::sandbox::{Bench, answer};

const FAULTS: &str = "/_localstack/chaos/faults";
const EFFECTS: &str = "/_localstack/chaos/effects";

/// A sandbox on which others have two rules and a latency in place.
async fn shared_sandbox() -> Bench {
    let bench = Bench::start(AppVersion::Fixed).await;
    assert_eq!(bench.faults("PATCH", foreign()).await.0, 200);
    assert_eq!(bench.effects(json!({"latency": 3})).await.0, 200);
    bench
}

/// Sparse, oddly ordered and with a number form of its own: nothing may tidy it.
fn foreign() -> Value {
    json!([
        {"service": "s3", "probability": 1, "description": "theirs"},
        {"region": "eu-west-1", "error": {"code": "SlowDown"}},
    ])
}

async fn standing(bench: &Bench) -> (String, Value) {
    let text = bench.edge("GET", FAULTS).send().await.unwrap();
    let rules = text.text().await.unwrap();
    (rules, answer(bench.edge("GET", EFFECTS)).await.1)
}

fn case(bench: &Bench) -> Case {
    let rules = json!([put_record(), send_message()]);
    Case::new(bench.sandbox.aws_url(), rules, Some(20))
}

fn gone() -> Absence {
    Absence {
        remaining: Vec::new(),
        foreign_changes: Vec::new(),
        continuity: Continuity::Same,
    }
}

#[tokio::test]
async fn a_fault_goes_in_and_comes_out_and_others_rules_stand_byte_for_byte() {
    let bench = shared_sandbox().await;
    let before = standing(&bench).await;
    let case = case(&bench);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(standing(&bench).await, before);

    let injection = case.driver.inject(&undo).await;
    assert_eq!(injection.result, Ok(()));
    let sent: Vec<_> = injection
        .exchanges
        .iter()
        .map(|exchange| (exchange.request.method.as_str(), exchange.status))
        .collect();
    assert_eq!(sent, [("PATCH", Some(200)), ("POST", Some(200))]);
    let lines = [put_record(), send_message()].map(|rule| format!("read back: {}", tagged(rule)));
    assert_eq!(
        case.driver.confirm(&undo).await,
        Ok(Proof {
            injected: 3,
            planned: 3,
            continuity: Continuity::Same,
            evidence: [&lines[..], &["read back: a latency of 20 ms".to_owned()]].concat(),
        })
    );

    let reverted = case.driver.revert(&undo).await;
    assert_eq!(reverted.result, Ok(()));
    let sent: Vec<Request> = reverted
        .exchanges
        .into_iter()
        .map(|one| one.request)
        .collect();
    let prepared = case.prepare().await.unwrap();
    assert_eq!(sent, prepared.undo_requests);
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
    assert_eq!(standing(&bench).await, before);
}

#[tokio::test]
async fn a_plan_shows_the_literal_requests_and_their_undo() {
    let bench = shared_sandbox().await;
    let mut case = case(&bench);
    case.owner = Owner::Plan;
    let prepared = case.prepare().await.unwrap();
    let url = bench.sandbox.aws_url();
    let rules = json!([
        {
            "region": "us-east-1", "service": "kinesis", "operation": "PutRecord",
            "probability": 1.0, "description": "chaos:{run}",
            "error": {"statusCode": 503, "code": "ServiceUnavailable"},
        },
        {
            "region": "us-east-1", "service": "sqs", "operation": "SendMessage",
            "probability": 0.5, "description": "chaos:{run}",
            "error": {"statusCode": 503, "code": "ServiceUnavailable"},
        },
    ]);
    let request = |method: &str, path: &str, body: Value| Request {
        method: method.to_owned(),
        url: format!("{url}{path}"),
        body: Some(body),
    };
    assert_eq!(
        prepared.requests,
        [
            request("PATCH", FAULTS, rules.clone()),
            request("POST", EFFECTS, json!({"latency": 20})),
        ]
    );
    assert_eq!(
        prepared.undo_requests,
        [
            request("DELETE", FAULTS, rules),
            request("POST", EFFECTS, json!({"latency": 3})),
        ]
    );
    assert_eq!(prepared.blast_radius, "3 of 3 services, every request");
    assert_eq!(
        prepared
            .targets
            .iter()
            .map(ToString::to_string)
            .collect::<Vec<_>>(),
        [
            "kinesis:PutRecord (us-east-1)",
            "sqs:SendMessage (us-east-1)",
            "every call to every service",
        ]
    );
    assert_eq!(prepared.world.platform, "localstack");
}

#[tokio::test]
async fn the_undo_works_when_the_fault_never_went_in_or_went_in_twice_or_by_half() {
    let bench = shared_sandbox().await;
    let before = standing(&bench).await;
    let case = case(&bench);
    let undo = case.prepare().await.unwrap().undo;
    let half = json!([tagged(send_message())]);

    for times_in in [0, 1, 2] {
        for _ in 0..times_in {
            assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
        }
        for _ in 0..2 {
            assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
            assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
            assert_eq!(standing(&bench).await, before, "in {times_in} times");
        }
        assert!(case.driver.revert(&undo).await.exchanges.is_empty());
    }

    assert_eq!(bench.faults("PATCH", half).await.0, 200);
    let absence = case.driver.verify_gone(&undo).await.unwrap();
    assert_eq!(
        absence.remaining,
        [format!("rule {}", tagged(send_message()))]
    );
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(standing(&bench).await, before);
}

#[tokio::test]
async fn a_journal_is_enough_to_undo() {
    let bench = shared_sandbox().await;
    let before = standing(&bench).await;
    let case = case(&bench);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let text = serde_json::to_string(&undo).unwrap();
    let read: Undo = serde_json::from_str(&text).unwrap();
    let driver = chaos_gameday::faults::driver_for_undo(&read, &bench.clients).unwrap();
    assert_eq!(driver.revert(&read).await.result, Ok(()));
    assert_eq!(driver.verify_gone(&read).await, Ok(gone()));
    assert_eq!(standing(&bench).await, before);
}

#[tokio::test]
async fn what_others_change_meanwhile_is_theirs_and_is_named() {
    let bench = shared_sandbox().await;
    let case = case(&bench);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let new = json!([{"service": "sns"}]);
    assert_eq!(bench.faults("PATCH", new.clone()).await.0, 200);
    let old = json!([foreign()[0]]);
    assert_eq!(bench.faults("DELETE", old).await.0, 200);
    assert_eq!(bench.effects(json!({"latency": 7})).await.0, 200);

    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(
        case.driver.verify_gone(&undo).await,
        Ok(Absence {
            foreign_changes: vec![
                format!("a rule of others is gone: {}", foreign()[0]),
                format!("a rule of others is new: {}", new[0]),
                "the latency is 7 ms now, neither ours (20 ms) nor the one before (3 ms)"
                    .to_owned(),
            ],
            ..gone()
        })
    );
    let left = json!([foreign()[1], new[0]]).to_string();
    assert_eq!(standing(&bench).await, (left, json!({"latency": 7})));
}

#[tokio::test]
async fn a_rule_that_others_remove_is_missed() {
    let bench = shared_sandbox().await;
    let case = case(&bench);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let theirs = json!([tagged(put_record())]);
    assert_eq!(bench.faults("DELETE", theirs).await.0, 200);
    let proof = case.driver.confirm(&undo).await.unwrap();
    assert_eq!((proof.injected, proof.is_complete()), (2, false));
    let missing = format!("not in effect: {}", tagged(put_record()));
    assert_eq!(proof.evidence[0], missing);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    assert_eq!(case.driver.verify_gone(&undo).await, Ok(gone()));
}

#[tokio::test]
async fn an_undo_of_another_session_finds_a_restart() {
    let bench = shared_sandbox().await;
    let case = case(&bench);
    let Undo::LocalStack(undo) = case.prepare().await.unwrap().undo else {
        panic!("the LocalStack driver makes LocalStack undos");
    };
    let earlier = Undo::LocalStack(LocalStackUndo {
        session: Some("an earlier one".to_owned()),
        ..undo
    });
    assert_eq!(case.driver.revert(&earlier).await.result, Ok(()));
    let absence = case.driver.verify_gone(&earlier).await.unwrap();
    assert_eq!(absence.continuity, Continuity::Restarted);
    assert_eq!(absence.remaining, Vec::<String>::new());
}

//! What belongs to others, or to another run, when two of them meet.

use chaos_gameday::faults::Owner;
use chaos_gameday::sandbox::AppVersion;
use serde_json::json;

use super::{Case, put_record};
use crate::support::localstack::{Misfit, Quirk};
use crate::support::sandbox::{Bench, answer};

const FAULTS: &str = "/_localstack/chaos/faults";
const EFFECTS: &str = "/_localstack/chaos/effects";

#[tokio::test]
async fn an_untagged_rule_that_others_add_while_nothing_of_ours_is_in_stays() {
    // Ours never landed; meanwhile somebody breaks the same calls by hand, on a server that keeps tags.
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(bench.faults("PATCH", json!([put_record()])).await.0, 200);
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let standing = answer(bench.edge("GET", FAULTS)).await.1;
    assert_eq!(standing, json!([put_record()]));
}

#[tokio::test]
async fn two_runs_with_a_latency_each_leave_none_behind() {
    // The same server under two names: the lock of a run is named after the endpoint's text.
    let bench = Bench::start(AppVersion::Fixed).await;
    let by_number = bench.sandbox.aws_url().to_owned();
    let by_name = by_number.replace("127.0.0.1", "localhost");
    let first = Case::new(&by_number, json!([]), Some(20));
    let second = Case {
        owner: Owner::Run("r-20261130-1201-wxyz".parse().unwrap()),
        ..Case::new(&by_name, json!([]), Some(30))
    };
    let undo = first.prepare().await.unwrap().undo;
    assert_eq!(first.driver.inject(&undo).await.result, Ok(()));
    if let Ok(prepared) = second.prepare().await {
        assert_eq!(second.driver.inject(&prepared.undo).await.result, Ok(()));
        assert_eq!(first.driver.revert(&undo).await.result, Ok(()));
        let gone = first.driver.verify_gone(&undo).await.unwrap();
        assert_eq!(gone.remaining, Vec::<String>::new());
        assert_eq!(second.driver.revert(&prepared.undo).await.result, Ok(()));
        let gone = second.driver.verify_gone(&prepared.undo).await.unwrap();
        assert_eq!(gone.remaining, Vec::<String>::new());
    } else {
        assert_eq!(first.driver.revert(&undo).await.result, Ok(()));
    }
    let standing = answer(bench.edge("GET", EFFECTS)).await.1;
    assert_eq!(standing, json!({"latency": 0}));
}

#[tokio::test]
async fn a_latency_that_others_set_after_the_last_look_is_not_lost() {
    // Between our last look and our write somebody sets 7 ms; ours must not replace what it cannot
    // put back.
    let bench = Bench::start(AppVersion::Fixed).await;
    let case = Case::new(bench.sandbox.aws_url(), json!([]), Some(20));
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(bench.effects(json!({"latency": 7})).await.0, 200);
    let _refused = case.driver.inject(&undo).await;
    assert_eq!(case.driver.revert(&undo).await.result, Ok(()));
    let standing = answer(bench.edge("GET", EFFECTS)).await.1;
    assert_eq!(standing, json!({"latency": 7}));
}

#[tokio::test]
async fn our_rules_come_out_of_a_server_that_shows_them_with_a_field_of_its_own() {
    let server = Misfit::start(vec![Quirk::ShowsMore]).await;
    let case = Case::new(&server.url, json!([put_record()]), None);
    let undo = case.prepare().await.unwrap().undo;
    assert_eq!(case.driver.inject(&undo).await.result, Ok(()));
    let _reverted = case.driver.revert(&undo).await;
    assert_eq!(server.inner().rules, Vec::<serde_json::Value>::new());
}

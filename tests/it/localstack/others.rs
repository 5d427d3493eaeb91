//! What belongs to others, or to another run, when two of them meet.

use chaos_gameday::sandbox::AppVersion;
use serde_json::json;

use super::{Case, put_record};
use crate::support::sandbox::{Bench, answer};

const FAULTS: &str = "/_localstack/chaos/faults";

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

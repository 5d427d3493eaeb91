//! What a hint tells a person to do is there to be done, and all hints of a file come at once.

use chaos_gameday::cli::Cli;
use clap::Parser as _;

use crate::support::process::Place;

/// A document with this first line and this rule.
fn document(first: &str, rule: &str) -> String {
    format!(
        "{first}\n\
         apiVersion: chaos/v1\n\
         kind: Experiment\n\
         metadata: {{name: hints}}\n\
         environment: local\n\
         on: {{localstack: {{endpoint: \"http://127.0.0.1:9\", region: us-east-1}}}}\n\
         metrics: {{traffic: {{url: \"http://127.0.0.1:9/\"}}}}\n\
         slos: [{{name: errors, traffic: errorRate, objective: \"< 1%\"}}]\n\
         steps: [{{name: one, hold: 5s, fault: {{localstack: {{faults: [{rule}]}}}}}}]\n"
    )
}

#[tokio::test]
async fn a_bad_rule_is_told_together_with_a_misspelt_key() {
    let place = Place::new();
    let text = document("hypothesys: It holds.", "{operation: ListObjectsV2}");
    place.write("both.yaml", &text);
    let said = place.chaos(&["plan", "both.yaml"]).await.exits(2).stderr;
    for words in ["unknown key `hypothesys`", "`ListObjectsV2` has digits"] {
        assert!(said.contains(words), "not told at once: {words}\n{said}");
    }
}

#[tokio::test]
async fn a_region_left_out_is_not_said_to_be_every_region_where_one_is_written_into_the_rule() {
    let place = Place::new();
    let text = document("hypothesis: It holds.", "{service: s3, region: \"us-*\"}");
    place.write("region.yaml", &text);
    let said = place.chaos(&["plan", "region.yaml"]).await.exits(2).stderr;
    assert!(
        !said.contains("leave the region out to match every one"),
        "such a rule gets `on.localstack.region`, us-east-1:\n{said}"
    );
}

#[tokio::test]
async fn a_flag_that_a_hint_names_exists() {
    let place = Place::new();
    place.write(
        "policy.yaml",
        "apiVersion: chaos/v1\nkind: Policy\nmetadata: {name: x}\n",
    );
    let said = place.chaos(&["plan", "policy.yaml"]).await.exits(2).stderr;
    let typed = ["chaos", "plan", "--policy", "policy.yaml", "x.yaml"];
    assert!(
        !said.contains("--policy") || Cli::try_parse_from(typed).is_ok(),
        "there is no such flag:\n{said}"
    );
}

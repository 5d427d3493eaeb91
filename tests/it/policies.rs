//! Policy files: what they mean, what is said about a wrong one, and what a careful reader would say
//! about a right one.

mod advice;
mod agreement;
mod meaning;
mod wrong;

use std::fs;

use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::plan::{DocumentError, Source};
use chaos_gameday::policy::{Policy, load_policy};

/// A policy with nothing but what it needs.
const SMALL: &str = "apiVersion: chaos/v1
kind: Policy
metadata: {name: ours}
environments:
  staging:
    proof: {localstack: {hosts: [loopback]}}
";

/// A policy that says everything there is to say.
const FULL: &str = r#"apiVersion: chaos/v1
kind: Policy
metadata: {name: payments}
defaults:
  approval: {count: 2, expiresAfter: 20m, singleUse: true, signers: keys/allowed_signers}
  limits: {hold: 10m, latency: 10s, baseline: 5s, trafficRate: 200}
  gates: {atLeast: 2}
  blastRadius: {ceiling: 50%, ladder: [10%, 25%, 50%], notOlderThan: 20d}
  sameDose: {atMost: 3}
  windows:
    - {days: [mon, tue, fri], from: "09:00", to: "16:30", timeZone: Europe/Berlin}
    - {from: "22:00", to: "06:00", timeZone: UTC}
  freezes:
    - {from: 2026-12-20, to: 2027-01-06, timeZone: Europe/Berlin, reason: end of the year}
  unattended: denied
environments:
  staging:
    proof:
      kubernetes:
        contexts: ["staging-*", stage]
        clusterUids: [5d3a2b1c-7f60-4f0e-9a55-0c1f3e8d2b47]
        apiHosts: ["*.example.com", "[fd00::5]:6443"]
        namespaceLabels: {stage: staging, "team.example.com/owner": "pay*"}
      localstack: {hosts: [loopback, "localstack.staging.example.com:4566"]}
    traffic: {hosts: [loopback, "*.staging.example.com"]}
    approval:
      mode: signed
      approvers: [alice, "*@example.com"]
      requester: denied
      requireTouch: true
  local:
    proof: {localstack: {hosts: [loopback]}}
    traffic: {hosts: []}
    approval: {mode: none}
    limits: {hold: 15m}
    gates: {atLeast: 1}
    blastRadius: {ceiling: 25%}
    windows: []
    freezes: []
    unattended: allowed
production: {words: [prod, live], patterns: ["*-prd-*"], named: [prod-copy]}
protectedNamespaces: ["kube-*", chaos-mesh]
deniedHosts: ["*.bank.example.org"]
variables: {fromEnvironment: [AWS_REGION, "TEAM_*"]}
secrets:
  TOKEN: {hosts: ["prom.example.com", "other.example.com:8443"]}
"#;

const KEYS: &str = "alice@example.com ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOJrxUjrVMF0vdVnbGXIyPozsEX1iU6z+BLETfoy+EOx\n";

fn source(text: &str) -> Source {
    Source {
        name: "chaos-policy.yaml".to_owned(),
        text: text.to_owned(),
    }
}

/// Reads it where only one file of keys is to be had.
fn load(text: &str) -> Result<Policy, DocumentError> {
    load_with(text, KEYS)
}

fn load_with(text: &str, keys: &str) -> Result<Policy, DocumentError> {
    load_policy(&source(text), &|path| match path {
        "wrong/allowed_signers" => Ok(format!("# ours\n{KEYS}alice\nbob cert-authority {KEYS}")),
        "readme/allowed_signers" => Ok("no signer\n".repeat(7)),
        path if path.ends_with("allowed_signers") => Ok(keys.to_owned()),
        path => Err(
            Problem::new(ProblemKind::Invalid, format!("there is no file `{path}`"))
                .hint("check the path"),
        ),
    })
}

#[track_caller]
fn loaded(text: &str) -> Policy {
    load(text).unwrap_or_else(|error| panic!("{error}: {:#?}\n{text}", error.problems()))
}

#[track_caller]
fn changed(text: &str, from: &str, to: &str) -> String {
    assert!(text.contains(from), "{from} is not in the policy");
    text.replacen(from, to, 1)
}

#[test]
fn everything_that_is_said_is_taken_in() {
    let policy = loaded(FULL);
    insta::assert_json_snapshot!(policy);
}

#[test]
fn what_is_not_said_is_what_the_built_in_policy_says() {
    let policy = loaded(SMALL);
    let built_in = chaos_gameday::policy::built_in();
    let (ours, theirs) = (
        &policy.environments["staging"],
        &built_in.environments["local"],
    );
    assert_eq!(ours.approval, theirs.approval);
    assert_eq!(ours.limits, theirs.limits);
    assert_eq!(ours.blast_radius, theirs.blast_radius);
    assert_eq!(ours.traffic_hosts, theirs.traffic_hosts);
    assert_eq!(ours.unattended, theirs.unattended);
    assert_eq!(policy.production, built_in.production);
    let mut protected = built_in.protected_namespaces.clone();
    protected.sort_by_key(ToString::to_string);
    assert_eq!(policy.protected_namespaces, protected);
    assert_eq!(ours.proof.kubernetes, None, "a platform that nobody named");
}

/// The example and its keys, as the program would read them.
fn example() -> (String, String) {
    let read = |name: &str| {
        let path = format!("{}/examples/policy/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(path).expect("a readable example")
    };
    (read("chaos-policy.yaml"), read("allowed_signers"))
}

#[test]
fn the_example_loads_and_nothing_in_it_is_weak() {
    let (text, keys) = example();
    let policy = load_with(&text, &keys).expect("the example");
    let now = "2026-11-30T12:00:00Z".parse().expect("a time");
    assert_eq!(chaos_gameday::policy::advice(&policy, now), []);
    let first = text.lines().next();
    assert_eq!(
        first,
        Some("# yaml-language-server: $schema=../policy.schema.json")
    );
}

#[test]
fn the_policies_of_the_guide_and_the_readme_load_and_the_guide_names_every_key() {
    let read = |name: &str| {
        let path = format!("{}/{name}", env!("CARGO_MANIFEST_DIR"));
        fs::read_to_string(path).expect("a readable page")
    };
    let mut loaded = 0;
    for page in ["README.md", "docs/policy.md"] {
        let text = read(page);
        let blocks = text.split("```yaml\n").skip(1);
        let blocks = blocks.filter_map(|block| block.split("```").next());
        for policy in blocks.filter(|block| block.contains("kind: Policy")) {
            let error = load(policy).err();
            assert!(
                error.is_none(),
                "{page}: {:?}",
                error.map(|error| error.to_string())
            );
            loaded += 1;
        }
    }
    assert_eq!(loaded, 2);
    let guide = read("docs/policy.md");
    let schema = chaos_gameday::policy::policy_schema();
    let definitions = schema["$defs"].as_object().expect("definitions");
    for definition in definitions.values().chain([&schema]) {
        for key in definition["properties"].as_object().into_iter().flatten() {
            assert!(guide.contains(key.0), "the guide has no `{}`", key.0);
        }
    }
}

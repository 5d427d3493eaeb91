//! The commands of the page that explains a plan, typed after a run and its guardian were killed: the undo by hand.

use chaos_gameday::sandbox::AppVersion;
use serde_json::json;
use tokio::process::Command;

use super::{FAULT_IS_IN, Scene, approve, experiment, foreign, one_rule};
use crate::support::guardian;
use crate::support::process::Place;
use crate::support::sandbox::Bench;
use crate::support::target::{Behaviour, Target};

/// What a person who has nothing but the page types, with the run's id for its placeholder.
fn typed(page: &str, run: &str) -> Vec<String> {
    let (_, by_hand) = page.split_once("How to undo it by hand").unwrap();
    let joined = by_hand.replace("{run}", run);
    let mut commands: Vec<String> = Vec::new();
    for line in joined.lines() {
        let line = line.strip_prefix("     ").unwrap_or_default();
        if line.starts_with("curl ") {
            commands.push(line.to_owned());
        } else if let Some(command) = commands.last_mut().filter(|_| line.starts_with("  ")) {
            *command = format!("{command}\n{line}");
        }
    }
    commands
}

/// Whether there is no `curl` here. Says so; where every test has to run (`CHAOS_REQUIRE_E2E`), that is
/// a failure.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that is skipped says so, and CI may forbid it"
)]
fn curl_is_missing() -> bool {
    let found = std::process::Command::new("curl").arg("--version").output();
    if found.is_ok() {
        return false;
    }
    let required = std::env::var_os("CHAOS_REQUIRE_E2E").is_some();
    assert!(!required, "`curl` is needed");
    eprintln!("skipped: no `curl`");
    true
}

#[tokio::test]
async fn the_commands_of_the_page_undo_what_a_killed_run_left() {
    if curl_is_missing() {
        return;
    }
    let rules = format!("{}, {{service: sqs, probability: 0.5}}", one_rule());
    let scene = Scene::with_rules(&rules).await;
    let plan = scene.approved_plan(&["HOLD=1m"]).await;
    let explain = ["show", "--explain", plan.as_str()];
    let page = scene.place.chaos(&explain).await.exits(0).stdout;
    let mut run = scene.place.start(&["run", &plan]);
    run.says(FAULT_IS_IN).await;
    guardian::kill_both(run, &scene.place).await;
    assert_eq!(scene.ours().len(), 2);

    let id = scene.place.store().runs().unwrap()[0].id.to_string();
    let commands = typed(&page, &id);
    assert_eq!(commands.len(), 2, "{page}");
    let mut seen = Vec::new();
    for command in &commands {
        let done = Command::new("sh")
            .args(["-c", command])
            .output()
            .await
            .unwrap();
        assert!(done.status.success(), "{command}: {done:?}");
        seen.push(String::from_utf8(done.stdout).unwrap());
    }
    assert!(seen[0].contains(&format!("chaos:{id}")), "{}", seen[0]);
    scene.assert_clean();
    assert!(scene.localstack.inner().rules.contains(&foreign()));
}

#[tokio::test]
async fn the_commands_of_the_page_undo_rules_and_a_latency_of_a_real_server() {
    if curl_is_missing() {
        return;
    }
    let bench = Bench::start(AppVersion::Fixed).await;
    let theirs = json!([{"region": "eu-west-1", "service": "sqs", "probability": 0.5}]);
    bench.faults("PATCH", theirs).await;
    bench.effects(json!({"latency": 20})).await;
    let before = (
        bench.faults("GET", json!(null)).await,
        bench.edge("GET", "/_localstack/chaos/effects"),
    );
    let service = Target::start(Behaviour::Answer(vec![200])).await;
    let place = Place::new();
    let rules = format!("{}, {{service: dynamodb, probability: 0.5}}", one_rule());
    let text = experiment(bench.sandbox.aws_url(), &service.url("/orders"), &rules);
    place.write(
        "all.yaml",
        &text.replace("faults: [", "latency: 60ms, faults: ["),
    );
    let planned = ["plan", "-q", "all.yaml", "--var", "HOLD=1m"];
    let planned = place.chaos(&planned).await.exits(0);
    let plan = planned.stdout.trim();
    approve(&place, plan);
    let page = place
        .chaos(&["show", "--explain", plan])
        .await
        .exits(0)
        .stdout;
    let mut run = place.start(&["run", plan]);
    run.says(FAULT_IS_IN).await;
    guardian::kill_both(run, &place).await;
    assert_ne!(bench.faults("GET", json!(null)).await, before.0);

    let id = place.store().runs().unwrap()[0].id.to_string();
    for command in typed(&page, &id) {
        let done = Command::new("sh").args(["-c", &command]).output();
        let done = done.await.unwrap();
        assert!(done.status.success(), "{command}: {done:?}");
    }
    assert_eq!(bench.faults("GET", json!(null)).await, before.0);
    let latency = before.1.send().await.unwrap();
    let latency: serde_json::Value = latency.json().await.unwrap();
    assert_eq!(latency, json!({"latency": 20}));
}

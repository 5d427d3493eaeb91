//! Secrets: named in documents, plans and journals, and shown nowhere.

use std::path::Path;

use super::{Scene, approve};
use crate::support::process::{Ended, Place, Running, files_in};

const VALUE: &str = "correct-horse-battery";
const FILED: &str = "staple-from-a-file";

/// The experiment of a scene, with a Prometheus that wants two secrets.
async fn scene() -> Scene {
    let scene = Scene::new().await;
    let document = std::fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    let prometheus = format!(
        "metrics:\n  prometheus:\n    url: {}\n    auth: {{bearer: {{token: \"${{secret:TOKEN}}\"}}}}\n    headers: {{X-Key: \"key ${{secret:KEY}}\", X-Again: \"${{secret:KEY}}\"}}\n",
        scene.target.url("/prometheus")
    );
    let slo = "slos:\n  - {name: up, query: up, objective: \"== 1\", every: 200ms, onBreach: record, onNoData: record}\n";
    let document = document
        .replace("metrics:\n", &prometheus)
        .replace("slos:\n", slo);
    scene.place.write("stream-down.yaml", &document);
    scene
}

/// Runs the binary with both secrets set, one of them through a file.
async fn with_secrets(place: &Place, args: &[&str]) -> Ended {
    let file = place.write("key.txt", &format!("{FILED}\n"));
    let mut command = place.command(args);
    command
        .env("CHAOS_SECRET_TOKEN", VALUE)
        .env("CHAOS_SECRET_KEY_FILE", file);
    let ended = Running::of(command).ended().await;
    std::fs::remove_file(place.path("key.txt")).unwrap();
    ended
}

/// Asserts that neither what was said nor any file that is left holds a value.
#[track_caller]
fn assert_hidden(place: &Place, ended: &Ended) {
    for value in [VALUE, FILED] {
        let said = format!("{}\n{}", ended.stdout, ended.stderr);
        assert!(!said.contains(value), "{said}");
        for (path, bytes) in files_in(&place.state(), Path::new("")) {
            let held = bytes
                .windows(value.len())
                .any(|window| window == value.as_bytes());
            assert!(!held, "{} holds a secret", path.display());
        }
    }
}

#[tokio::test]
async fn a_secret_is_named_in_what_is_shown_and_kept_and_its_value_is_nowhere() {
    let scene = scene().await;
    let place = &scene.place;
    let planned = with_secrets(place, &["plan", "-q", "stream-down.yaml"]).await;
    let planned = planned.exits(0);
    assert_hidden(place, &planned);
    let plan = planned.stdout.trim().to_owned();
    approve(place, &plan);
    for args in [
        &["plan", "stream-down.yaml"][..],
        &["plan", "-o", "json", "stream-down.yaml"],
        &["plan", "-o", "yaml", "stream-down.yaml"],
        &["show", &plan],
        &["run", &plan, "-o", "json", "-v"],
        &["runs"],
        &["report", "last", "-o", "json"],
        &["report", "last"],
    ] {
        let ended = with_secrets(place, args).await;
        assert_hidden(place, &ended);
        if args.contains(&"yaml") || args.contains(&"json") && args[0] == "plan" {
            let ended = ended.exits(0).prints("${secret:TOKEN}");
            assert_hidden(place, &ended.prints("key ${secret:KEY}"));
        }
    }
    assert!(!files_in(&place.state(), Path::new("")).is_empty());
}

#[tokio::test]
async fn the_server_gets_the_values_and_the_plan_says_that_it_does() {
    let scene = scene().await;
    let planned = with_secrets(&scene.place, &["plan", "stream-down.yaml"]).await;
    let words: Vec<_> = planned.stdout.split_whitespace().collect();
    let url = scene.target.url("/prometheus");
    let told = format!("secrets {url} gets the secret `TOKEN`, the secret `KEY`");
    assert!(words.join(" ").contains(&told), "{}", planned.stdout);
    let queries: Vec<_> = scene.target.seen();
    let queries = queries
        .iter()
        .filter(|seen| seen.uri.starts_with("/prometheus/api/v1/query"));
    let mut asked = 0;
    for query in queries {
        let header = |name: &str| query.headers.get(name).map(String::as_str);
        let bearer = format!("Bearer {VALUE}");
        let key = format!("key {FILED}");
        assert_eq!(
            ["authorization", "x-key", "x-again"].map(header),
            [Some(bearer.as_str()), Some(&key), Some(FILED)]
        );
        assert!(!query.uri.contains(VALUE) && !query.uri.contains(FILED));
        asked += 1;
    }
    assert!(asked > 0, "nothing was asked");
}

#[tokio::test]
async fn a_run_of_a_plan_asks_nobody_anything_before_it_is_approved() {
    let scene = scene().await;
    let planned = with_secrets(&scene.place, &["plan", "-q", "stream-down.yaml"]).await;
    let plan = planned.exits(0).stdout.trim().to_owned();
    let asked = scene.target.seen().len();
    assert!(asked > 0, "a plan asks");
    with_secrets(&scene.place, &["run", &plan]).await.exits(4);
    assert_eq!(scene.target.seen().len(), asked);
}

#[tokio::test]
async fn a_secret_that_is_not_set_is_told_at_its_place_before_anybody_is_asked() {
    let scene = scene().await;
    let asked = scene.target.seen().len();
    for command in ["plan", "run"] {
        let ended = scene.place.chaos(&[command, "stream-down.yaml"]).await;
        let ended = ended
            .exits(2)
            .tells("stream-down.yaml cannot be used: 2 problems")
            .tells("the secret `TOKEN` is not set")
            .tells("set CHAOS_SECRET_TOKEN, or CHAOS_SECRET_TOKEN_FILE to the path of")
            .tells("the secret `KEY` is not set");
        // The very place, and a secret that is named twice is missed once.
        assert!(
            ended.stderr.contains("stream-down.yaml:11:28"),
            "{}",
            ended.stderr
        );
        assert_eq!(ended.stderr.matches("`KEY` is not set").count(), 1);
    }
    assert_eq!(scene.target.seen().len(), asked);
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    assert!(!scene.place.state().exists());
}

#[tokio::test]
async fn a_secret_that_no_header_can_carry_is_refused_without_saying_it() {
    let scene = scene().await;
    for (value, words) in [
        ("", "the secret `TOKEN` is empty"),
        ("two", "the secret `TOKEN` is shorter than 4 bytes"),
        ("two\nlines", "the secret `TOKEN` holds a line break"),
    ] {
        let file = scene.place.write("token.txt", value);
        let mut command = scene.place.command(&["plan", "stream-down.yaml"]);
        command
            .env("CHAOS_SECRET_TOKEN_FILE", &file)
            .env("CHAOS_SECRET_KEY", FILED);
        let ended = Running::of(command).ended().await.exits(2).tells(words);
        assert!(!ended.stderr.contains("two"), "{}", ended.stderr);
    }
    let mut command = scene.place.command(&["plan", "stream-down.yaml"]);
    command
        .env("CHAOS_SECRET_TOKEN_FILE", "/nowhere/token")
        .env("CHAOS_SECRET_KEY", FILED);
    let ended = Running::of(command).ended().await.exits(2);
    ended.tells("the secret in /nowhere/token cannot be read");
}

#[tokio::test]
async fn no_variable_carries_the_value_of_a_secret() {
    let scene = scene().await;
    let place = &scene.place;
    let document = std::fs::read_to_string(place.path("stream-down.yaml")).unwrap();
    let with = |variable: &str| {
        let text = document.replace("\nhypothesis: ", &format!("\nhypothesis: ${{{variable}}} "));
        assert_ne!(text, document);
        place.write("leaking.yaml", &text);
    };
    std::fs::create_dir_all(place.state()).unwrap();
    with("CLAIM");
    let typed = format!("CLAIM={VALUE}");
    let refused = with_secrets(place, &["plan", "leaking.yaml", "--var", &typed]).await;
    assert_hidden(place, &refused);
    refused
        .exits(2)
        .tells("the variable `CLAIM` has the value of the secret `TOKEN`")
        .tells("write `${secret:TOKEN}`");
    // Nor does a policy that lets everything in let that in.
    place.write(
        "chaos-policy.yaml",
        "apiVersion: chaos/v1
kind: Policy
metadata: {name: ours}
environments: {local: {proof: {localstack: {hosts: [loopback]}}}}
variables: {fromEnvironment: [\"*\", \"CHAOS_SECRET_*\"]}
",
    );
    for variable in ["CHAOS_SECRET_TOKEN", "CHAOS_SECRET_KEY_FILE"] {
        with(variable);
        let refused = with_secrets(place, &["plan", "leaking.yaml"]).await;
        assert_hidden(place, &refused);
        refused.exits(2).tells(variable);
    }
}

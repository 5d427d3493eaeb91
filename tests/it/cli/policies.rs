//! Which policy applies where, and what `chaos policy` and `chaos init` make of it.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use super::{Scene, approve};
use crate::support::process::{Ended, Place, Running, files_in};

/// A policy for this machine with one line more in its environment.
fn policy(name: &str, line: &str) -> String {
    format!(
        "apiVersion: chaos/v1
kind: Policy
metadata: {{name: {name}}}
environments:
  local:
    proof: {{localstack: {{hosts: [loopback]}}}}
    {line}
"
    )
}

const LAX: &str = "limits: {hold: 10m}";
/// Shorter than any hold of the experiment of a scene.
const STRICT: &str = "limits: {hold: 10ms}";

/// Runs the binary in another folder.
async fn in_folder(place: &Place, folder: &Path, args: &[&str]) -> Ended {
    let mut command = place.command(args);
    command.current_dir(folder);
    Running::of(command).ended().await
}

/// Runs the binary with a variable in its environment.
async fn with_variable(place: &Place, args: &[&str], name: &str, value: &str) -> Ended {
    let mut command = place.command(args);
    command.env(name, value);
    Running::of(command).ended().await
}

#[tokio::test]
async fn the_policy_is_the_named_one_else_the_nearest_upwards_else_the_built_in_one() {
    let scene = Scene::new().await;
    let place = &scene.place;
    std::fs::create_dir_all(place.path("team/experiments")).unwrap();
    std::fs::copy(
        place.path("stream-down.yaml"),
        place.path("team/experiments/down.yaml"),
    )
    .unwrap();
    let document = "team/experiments/down.yaml";
    let plan = ["plan", "-v", "--rehearse", "0s", document];
    let built_in = place.chaos(&plan).await.exits(0);
    built_in
        .tells("policy `built-in` applies: there is no chaos-policy.yaml upwards from team/")
        .prints("Policy built-in");

    place.write("chaos-policy.yaml", &policy("strict", STRICT));
    let denied = place.chaos(&plan).await.exits(3);
    denied
        .tells("policy `strict` of /")
        .tells("found upwards from team/");
    // Whoever wrote a policy needs no lesson in it.
    let taught = place.chaos(&plan).await.stderr;
    assert!(!taught.contains("kind: Policy"), "{taught}");

    place.write("team/chaos-policy.yaml", &policy("nearest", LAX));
    let nearest = place.chaos(&plan).await.exits(0);
    nearest.prints("Policy nearest");

    place.write("named.yaml", &policy("named", LAX));
    let named = [&plan[..], &["--policy", "named.yaml"]].concat();
    let named = place.chaos(&named).await.exits(0);
    named
        .prints("Policy named")
        .tells("named by --policy or CHAOS_POLICY");
    let set = with_variable(place, &plan, "CHAOS_POLICY", "named.yaml").await;
    set.exits(0).prints("Policy named");

    let missing = [&plan[..], &["--policy", "nowhere.yaml"]].concat();
    let missing = place.chaos(&missing).await.exits(2);
    missing.tells("there is no file `nowhere.yaml`");
}

#[tokio::test]
async fn a_policy_that_cannot_be_read_is_never_passed_over() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let plan = ["plan", "stream-down.yaml"];
    for (text, words) in [
        (
            policy("ours", LAX).replace("limits", "limit"),
            "unknown key `limit`",
        ),
        ("kind: [".to_owned(), "this is no YAML"),
        (String::new(), "the file is empty"),
        (
            policy("ours", "approval: {mode: signed, signers: keys/nowhere}"),
            "there is no file `",
        ),
    ] {
        place.write("chaos-policy.yaml", &text);
        for args in [&plan[..], &["run", "stream-down.yaml"]] {
            let ended = place.chaos(args).await.exits(2);
            ended.tells("chaos-policy.yaml").tells(words).tells("help:");
        }
    }
    std::fs::remove_file(place.path("chaos-policy.yaml")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.path("chaos-policy.yaml")).unwrap();
    place.chaos(&plan).await.exits(2).tells("chaos-policy.yaml");
    std::fs::remove_file(place.path("chaos-policy.yaml")).unwrap();
    std::fs::create_dir(place.path("chaos-policy.yaml")).unwrap();
    place.chaos(&plan).await.exits(2).tells("is a folder");
    assert!(!place.state().exists(), "a plan was made all the same");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_policy_that_others_may_write_is_told_by_check_and_by_plan() {
    let set = |path: &Path, mode| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    let scene = Scene::new().await;
    let place = &scene.place;
    let folder = place.path("team");
    std::fs::create_dir(&folder).unwrap();
    set(&folder, 0o755);
    std::fs::copy(place.path("stream-down.yaml"), folder.join("down.yaml")).unwrap();
    let file = place.write("team/chaos-policy.yaml", &policy("ours", LAX));
    let plan = ["plan", "--rehearse", "0s", "team/down.yaml"];
    let check = ["policy", "check", "team/chaos-policy.yaml"];
    for (path, mode, is_told) in [
        (&file, 0o644, false),
        (&file, 0o646, true),
        (&folder, 0o757, true),
        (&folder, 0o1777, false),
    ] {
        set(path, mode);
        let said = "others than its owner may write";
        for args in [&plan[..], &check[..]] {
            let shown = place.chaos(args).await.exits(0).stdout;
            let words = shown.split_whitespace().collect::<Vec<_>>().join(" ");
            assert_eq!(words.contains(said), is_told, "{mode:o} {shown}");
        }
        set(path, if path == &file { 0o644 } else { 0o755 });
    }
}

#[tokio::test]
async fn a_plan_finds_its_policy_again_from_any_folder() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let file = place.write("chaos-policy.yaml", &policy("ours", LAX));
    let plan = scene.plan(&[]).await;
    approve(place, &plan);
    let elsewhere = place.home();
    std::fs::create_dir_all(&elsewhere).unwrap();
    std::fs::write(
        elsewhere.join("chaos-policy.yaml"),
        policy("theirs", STRICT),
    )
    .unwrap();
    let shown = in_folder(place, &elsewhere, &["show", "-v", &plan]).await;
    shown
        .exits(0)
        .prints("Policy ours")
        .tells("the plan was made under it");

    // Not where it was: nobody guesses which one was meant.
    let moved = place.path("moved.yaml");
    std::fs::rename(&file, &moved).unwrap();
    let lost = in_folder(place, &elsewhere, &["run", &plan]).await;
    lost.exits(2)
        .tells("policy `ours`, under which this plan was made, is not at /")
        .tells("--policy FILE");
    // What it does can be read all the same, and that nothing allows it.
    for args in [&["show", &plan][..], &["show", "--explain", &plan]] {
        let shown = in_folder(place, &elsewhere, args).await.exits(0);
        shown
            .prints("stream-down")
            .prints("policy `ours` cannot be read")
            .tells("is not at /");
    }
    // Another one, and both are named.
    let other = ["run", &plan, "--policy", "chaos-policy.yaml"];
    let other = in_folder(place, &elsewhere, &other).await.exits(3);
    other
        .tells("the plan was made under policy `ours` (")
        .tells("and policy `theirs` (")
        .tells("applies now");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    // The same one at another place is the same one.
    let moved = moved.to_string_lossy().into_owned();
    let ended = in_folder(place, &elsewhere, &["run", &plan, "--policy", &moved]).await;
    ended.exits(0);
    scene.assert_clean();
}

#[tokio::test]
async fn a_plan_is_void_once_its_policy_was_changed_or_written() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let before = scene.approved_plan(&[]).await;
    place.write("chaos-policy.yaml", &policy("ours", LAX));
    let written = place.chaos(&["run", &before]).await.exits(3);
    written
        .tells("made under policy `built-in` (")
        .tells("and policy `ours` (");

    let plan = scene.approved_plan(&[]).await;
    place.write("chaos-policy.yaml", &policy("ours", "limits: {hold: 11m}"));
    for args in [["run", &plan], ["approve", &plan]] {
        let changed = place.chaos(&args).await.exits(3);
        changed
            .tells("the plan was made under policy `ours` (")
            .tells("chaos-policy.yaml applies now");
    }
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    // Other words for the same void nothing.
    let same = format!("# a comment\n{}", policy("ours", "limits: {hold: 600s}"));
    place.write("chaos-policy.yaml", &same);
    place.chaos(&["run", &plan]).await.exits(0);
}

#[tokio::test]
async fn the_built_in_policy_shows_how_to_write_one_that_allows_it() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let text = std::fs::read_to_string(place.path("stream-down.yaml")).unwrap();
    let text = text.replace("environment: local", "environment: \"our laptop\"");
    place.write("stream-down.yaml", &text);
    let plan = ["plan", "stream-down.yaml"];
    let denied = place.chaos(&plan).await.exits(3);
    let shown = denied
        .stderr
        .split("beside the document:\n")
        .nth(1)
        .unwrap();
    let (shown, rest) = shown.split_once("`chaos policy check`").unwrap();
    let next = "next: change stream-down.yaml or the policy, then plan again";
    assert_eq!(rest, format!(" shows what it allows.\n\n{next}\n"));
    place.write("chaos-policy.yaml", shown);
    place.chaos(&plan).await.exits(0).prints("Policy ours");
}

#[tokio::test]
async fn the_shell_fills_only_what_the_policy_names() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let text = std::fs::read_to_string(place.path("stream-down.yaml")).unwrap();
    let text = text.replace(
        "metadata: {name: stream-down}",
        "metadata: {name: \"${NAME_OF_IT}\"}",
    );
    place.write("stream-down.yaml", &text);
    let plan = ["plan", "stream-down.yaml", "-o", "json"];
    let planned = |value: &'static str| with_variable(place, &plan, "NAME_OF_IT", value);
    let withheld = planned("from-shell").await.exits(2);
    withheld
        .tells("the variable `NAME_OF_IT` has no value")
        .tells("policy `built-in` does not let")
        .tells("variables.fromEnvironment");
    let unset = place.chaos(&plan).await.exits(2);
    assert!(
        !unset.stderr.contains("set in this shell"),
        "{}",
        unset.stderr
    );

    let consent = "variables: {fromEnvironment: [\"NAME_*\", \"*\"]}\n";
    place.write(
        "chaos-policy.yaml",
        &format!("{}{consent}", policy("ours", LAX)),
    );
    let filled = planned("from-shell").await.exits(0).json();
    assert_eq!(filled["plan"]["experiment"]["name"], "from-shell");
    let used = &filled["plan"]["variables"]["NAME_OF_IT"];
    assert_eq!(used["source"], "environment");
    // What a flag says counts more, and what is set to nothing is not set.
    let typed = [&plan[..], &["--var", "NAME_OF_IT=typed"]].concat();
    let typed = with_variable(place, &typed, "NAME_OF_IT", "from-shell").await;
    assert_eq!(typed.exits(0).json()["plan"]["experiment"]["name"], "typed");
    planned("").await.exits(2).tells("has no value");

    // No consent reaches a secret.
    let text = text.replace("NAME_OF_IT", "CHAOS_SECRET_TOKEN");
    place.write("stream-down.yaml", &text);
    let secret = with_variable(place, &plan, "CHAOS_SECRET_TOKEN", "hush-hush").await;
    let secret = secret.exits(2).tells("has no value");
    assert!(!secret.stderr.contains("hush"), "{}", secret.stderr);
}

#[tokio::test]
async fn a_secret_goes_only_to_the_hosts_that_the_policy_names_for_it() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let text = std::fs::read_to_string(place.path("stream-down.yaml")).unwrap();
    let prometheus = format!(
        "metrics:\n  prometheus: {{url: \"{}\", auth: {{bearer: {{token: \"${{secret:TOKEN}}\"}}}}}}\n",
        scene.target.url("/prometheus")
    );
    let slo = "slos:\n  - {name: up, query: up, objective: \"== 1\", onBreach: record, onNoData: record}\n";
    let text = text
        .replace("metrics:\n", &prometheus)
        .replace("slos:\n", slo);
    place.write("stream-down.yaml", &text);
    let hosts = |hosts: &str| {
        let secrets = format!("secrets: {{TOKEN: {{hosts: [{hosts}]}}}}\n");
        place.write(
            "chaos-policy.yaml",
            &format!("{}{secrets}", policy("ours", LAX)),
        );
        let plan = &["plan", "--rehearse", "0s", "stream-down.yaml"];
        with_variable(place, plan, "CHAOS_SECRET_TOKEN", "hush-hush")
    };
    let denied = hosts("prom.example.com, \"[::1]:9\"").await.exits(3);
    denied
        .tells("the secret `TOKEN` may not go to `http://127.0.0.1:")
        .tells("`prom.example.com`")
        .tells("secrets.TOKEN.hosts");
    assert!(scene.target.seen().is_empty(), "it was asked all the same");
    hosts("prom.example.com, loopback").await.exits(0);
}

#[tokio::test]
async fn a_check_shows_what_is_allowed_and_what_is_weak() {
    let place = Place::new();
    let example = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/examples/policy/chaos-policy.yaml"
    );
    let mut command = place.command(&["policy", "check", example]);
    command.env("COLUMNS", "80");
    let shown = Running::of(command).ended().await.exits(0);
    let shown = shown
        .prints("Policy payments")
        .prints("Environment staging")
        .prints("1 approval, signed, by *@example.com")
        .prints("nothing in it is weak");
    for line in shown.stdout.lines() {
        let path = line.contains(example) || line.contains("sha256:");
        assert!(path || line.chars().count() <= 80, "{line}");
    }
    let text = policy("ours", "blastRadius: {ladder: [10%, 20%]}");
    place.write("chaos-policy.yaml", &text);
    let here = place.chaos(&["policy", "check"]).await.exits(0);
    here.prints("Policy ours")
        .prints("warn  nobody has to climb it")
        .prints("environments.local.blastRadius.ladder)")
        .prints("→ add `sameDose: {atMost: 3}`");
    // What is named last is what was meant, whatever the shell has set for everything else.
    let named = ["policy", "check", "chaos-policy.yaml"];
    let named = with_variable(&place, &named, "CHAOS_POLICY", "nowhere.yaml").await;
    named.exits(0).prints("Policy ours");
    let data = place.chaos(&["policy", "check", "-o", "json"]).await;
    let data = data.exits(0).json();
    assert_eq!(data["name"], "ours");
    assert_eq!(
        data["warnings"][0]["place"],
        "environments.local.blastRadius.ladder"
    );
    assert_eq!(
        data["policy"]["environments"]["local"]["blastRadius"]["ceiling"],
        "100%"
    );

    place.write("chaos-policy.yaml", &text.replace("20%", "5%"));
    let wrong = place.chaos(&["policy", "check"]).await.exits(2);
    assert_eq!(wrong.stdout, "");
    wrong.tells("the ladder does not rise from 10% to 5%");
    place.write(
        "experiment.yaml",
        "apiVersion: chaos/v1\nkind: Experiment\n",
    );
    let other = place.chaos(&["policy", "check", "experiment.yaml"]).await;
    other.exits(2).tells("this is an Experiment, not a Policy");
    let built_in = Place::new();
    let built_in = built_in.chaos(&["policy", "check"]).await.exits(0);
    built_in.prints("Policy built-in");
}

#[tokio::test]
async fn init_writes_a_policy_too_unless_there_is_one_or_nobody_wants_one() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let (url, traffic) = (scene.localstack.url.clone(), scene.target.url("/orders"));
    let init = |file: &'static str, more: &[&str]| {
        let args = [
            "init",
            "--yes",
            file,
            "--endpoint",
            &url,
            "--traffic",
            &traffic,
        ];
        place.chaos(&[&args[..], more].concat())
    };
    let alone = init("alone.yaml", &["--no-policy"]).await.exits(0);
    assert!(!alone.stderr.contains("policy"), "{}", alone.stderr);
    assert!(!place.path("chaos-policy.yaml").exists());

    let first = init("first.yaml", &[]).await.exits(0);
    first
        .tells("wrote first.yaml")
        .tells("wrote chaos-policy.yaml");
    let written = std::fs::read(place.path("chaos-policy.yaml")).unwrap();
    let plan = place.chaos(&["plan", "first.yaml"]).await.exits(0);
    plan.prints("Policy ours");
    let check = place.chaos(&["policy", "check"]).await.exits(0);
    check.prints("nothing in it is weak");

    std::fs::create_dir(place.path("below")).unwrap();
    let second = init("below/second.yaml", &[]).await.exits(0);
    second.tells("chaos-policy.yaml applies; `chaos policy check");
    assert!(!place.path("below/chaos-policy.yaml").exists());
    let now = std::fs::read(place.path("chaos-policy.yaml")).unwrap();
    assert_eq!(now, written, "overwritten");

    let other = policy("ours", LAX).replace("  local:", "  staging:");
    place.write("chaos-policy.yaml", &other);
    let third = init("third.yaml", &[]).await.exits(0);
    third.tells("and it knows no environment `local`");
    let other = policy("ours", LAX).replace("[loopback]", "[\"loopback:1\"]");
    place.write("chaos-policy.yaml", &other);
    let fourth = init("fourth.yaml", &[]).await.exits(0);
    fourth.tells("and nothing in it proves that http://127.0.0.1:");
}

#[tokio::test]
async fn a_policy_of_ones_own_applies_to_the_sandbox_of_a_run_too() {
    let place = Place::new();
    place.chaos(&["init", "--yes", "down.yaml"]).await.exits(0);
    let run = ["run", "--sandbox", "--yes", "down.yaml"];
    let refused = place.chaos(&run).await.exits(4);
    let refused = refused
        .tells("policy `ours` wants a person's approval of what runs in environment `sandbox`")
        .tells("approval: {mode: none}");
    // Nobody could approve it later: the sandbox is gone.
    assert!(
        !refused.stderr.contains("chaos approve"),
        "{}",
        refused.stderr
    );
    let file = place.path("chaos-policy.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let none = text.replacen(
        "  sandbox:\n",
        "  sandbox:\n    approval: {mode: none}\n",
        1,
    );
    place.write("chaos-policy.yaml", &none);
    place.write(
        "down.yaml",
        &std::fs::read_to_string(place.path("down.yaml"))
            .unwrap()
            .replace("for: 8s", "for: 1s")
            .replace("hold: 20s", "hold: 1s"),
    );
    let ran = place.chaos(&run).await;
    ran.tells("no approval needed, says the policy")
        .tells("fault seen in")
        .tells("fault seen gone");
}

#[tokio::test]
async fn a_policy_of_somebody_else_above_a_document_counts_only_by_name() {
    const SOMEBODY: u32 = 54_321;
    let scene = Scene::new().await;
    let place = &scene.place;
    let file = place.write("chaos-policy.yaml", &policy("theirs", LAX));
    // Only root can give a file away.
    if std::os::unix::fs::chown(&file, Some(SOMEBODY), None).is_err() {
        return;
    }
    let found = place.chaos(&["plan", "stream-down.yaml"]).await.exits(3);
    found
        .tells("chaos-policy.yaml belongs to another user")
        .tells("if you trust it: `--policy /");
    let named = ["plan", "stream-down.yaml", "--policy", "chaos-policy.yaml"];
    place.chaos(&named).await.exits(0).prints("Policy theirs");
    // Whoever owns the document too may say what is allowed with it.
    std::os::unix::fs::chown(place.path("stream-down.yaml"), Some(SOMEBODY), None).unwrap();
    let both = place.chaos(&["plan", "stream-down.yaml"]).await.exits(0);
    both.prints("Policy theirs");
}

#[tokio::test]
async fn old_runs_are_read_only_where_the_policy_counts_them() {
    let scene = Scene::new().await;
    let place = &scene.place;
    place.write("chaos-policy.yaml", &policy("ours", LAX));
    let plan = scene.approved_plan(&[]).await;
    place.chaos(&["run", &plan]).await.exits(0);
    let mut files = files_in(&place.state(), Path::new("")).into_iter();
    let (path, bytes) = files
        .find(|(path, _)| path.extension().is_some_and(|end| end == "jsonl"))
        .expect("a journal");
    let text = String::from_utf8(bytes).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let middle = lines.len() / 2;
    lines[middle].insert(1, ' ');
    std::fs::write(place.state().join(path), lines.join("\n") + "\n").unwrap();

    let plan = ["plan", "--rehearse", "0s", "stream-down.yaml"];
    let quiet = place.chaos(&plan).await.exits(0);
    assert!(!quiet.stderr.contains("damaged"), "{}", quiet.stderr);
    for line in [
        "sameDose: {atMost: 1}",
        "blastRadius: {ladder: [50%, 100%]}",
    ] {
        place.write("chaos-policy.yaml", &policy("ours", line));
        let told = place.chaos(&plan).await.exits(0);
        told.tells("counts for nothing here: its journal is damaged");
    }
}

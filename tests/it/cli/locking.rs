//! Two runs whose targets overlap: on one machine, and on two that share nothing but the LocalStack.

use std::collections::BTreeSet;

use chaos_gameday::cli::Cli;
use clap::CommandFactory as _;
use rustix::process::Signal;
use serde_json::json;

use super::{FAULT_IS_IN, Scene, approve, ends_clean, experiment, report};
use crate::support::process::{Place, Running};

/// Another machine: a place with nothing of the first one but the address of its LocalStack.
async fn elsewhere(scene: &Scene, fault: &str, hold: &str) -> (Place, String) {
    let place = Place::new();
    let text = experiment(&scene.localstack.url, &scene.target.url("/orders"), "");
    place.write("other.yaml", &text.replace("faults: []", fault));
    let hold = format!("HOLD={hold}");
    let args = [
        "plan",
        "-q",
        "other.yaml",
        "--var",
        &hold,
        "--var",
        "BASELINE=1s",
    ];
    let planned = place.chaos(&args).await.exits(0);
    let plan = planned.stdout.trim().to_owned();
    approve(&place, &plan);
    (place, plan)
}

const SAME: &str = "faults: [{service: kinesis, operation: PutRecord}]";
const BROADER: &str = "faults: [{service: kinesis}]";
const NARROWER: &str = "faults: [{service: kinesis, operation: PutRecord, region: us-east-1}]";
const APART: &str = "faults: [{service: sqs, operation: SendMessage}]";

#[tokio::test]
async fn whoever_cannot_start_is_told_who_is_at_work() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=10s"]).await;
    let mut first = scene.place.start(&["run", &plan]);
    first.says("baseline").await;
    let second = scene.place.chaos(&["run", &plan]).await.exits(3);
    first.signal(Signal::INT);
    let run = scene.place.store().find_run("last").unwrap().id;
    let second = second
        .tells("another run is under way on http://")
        .tells("tester@")
        .tells(&format!("for plan {plan} (stream-down), run {run}, pid "));
    second.tells(&format!("`chaos show {run}` shows it"));
    ends_clean(&scene, first.ended().await, 5, "aborted");
}

/// Those that lock; a recording that is played back does not.
const LOCK: [&str; 2] = ["run", "replay"];
/// Those that undo; they take the lock of the run that they end, and no other.
const UNDO: [&str; 2] = ["abort", "recover"];
/// Those that know of no run: one asks for what to write, the other stays until it is ended.
const KEEP_NO_RUN: [&str; 2] = ["init", "sandbox"];

/// Every command that only reads, while a run is under way and where no lock can be taken at all.
#[tokio::test]
async fn commands_that_only_read_never_lock() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=20s"]).await;
    let mut run = scene.place.start(&["run", &plan]);
    run.says(FAULT_IS_IN).await;
    let other_plan = scene.plan(&["HOLD=3s"]).await;
    let commands: &[&[&str]] = &[
        &["plan", "stream-down.yaml"],
        &["show", &plan],
        &["show", &other_plan],
        &["show", "last"],
        &["runs"],
        &["report", "last"],
        &["approve", "--list"],
        &["replay", "last", "--view", "--speed", "max"],
        &["schema"],
        &["policy", "check"],
        &["completions", "bash"],
        &["man"],
    ];
    let tried = commands.iter().map(|command| command[0]);
    let placed: BTreeSet<&str> = tried.chain(LOCK).chain(UNDO).chain(KEEP_NO_RUN).collect();
    let root = Cli::command();
    let every = root.get_subcommands().map(|command| command.get_name());
    assert_eq!(every.collect::<BTreeSet<_>>(), placed, "each has its place");
    for locks in ["held", "nowhere"] {
        for command in commands {
            let mut asked = scene.place.command(command);
            if locks == "nowhere" {
                asked.env("CHAOS_LOCK_DIR", "/dev/null/locks");
            }
            let ended = Running::of(asked).ended().await;
            let refused = ended.stderr.contains("another run is under way")
                || ended.stderr.contains("the locks cannot be kept")
                || ended.stderr.contains("CHAOS_LOCK_DIR");
            assert!(!refused, "{command:?} {locks}: {}", ended.stderr);
            let code = ended.status.code();
            assert!(
                !matches!(code, None | Some(3 | 8)),
                "{command:?} {locks}: {}",
                ended.stderr
            );
        }
    }
    run.signal(Signal::INT);
    ends_clean(&scene, run.ended().await, 5, "aborted");
    let mut nowhere = scene.place.command(&["run", &plan]);
    nowhere.env("CHAOS_LOCK_DIR", "/dev/null/locks");
    let nowhere = Running::of(nowhere).ended().await;
    assert_ne!(nowhere.status.code(), Some(0), "a run does lock");
    scene.assert_clean();
}

#[tokio::test]
async fn a_rule_of_another_machines_run_is_a_lock_with_its_owner_named() {
    let scene = Scene::new().await;
    let (other, plan) = elsewhere(&scene, SAME, "20s").await;
    let (apart, apart_plan) = elsewhere(&scene, APART, "1s").await;
    let mut first = scene.start(&["HOLD=20s"], &[]).await;
    first.says(FAULT_IS_IN).await;
    let run = scene.place.store().find_run("last").unwrap().id;

    let refused = other.chaos(&["run", &plan]).await.exits(3);
    let refused = refused
        .tells(&format!("a rule of run {run} equals faults[0]"))
        .tells("take it out by hand: curl -X DELETE");
    assert!(!refused.stderr.contains("baseline"), "{}", refused.stderr);
    assert_eq!(other.store().runs().unwrap(), [], "it did not begin");

    // Where the other run's journal is, it is told whose it is; on a lock folder that is not shared.
    let again = scene.approved_plan(&["HOLD=1s"]).await;
    let mut known = scene.place.command(&["run", &again]);
    known.env("CHAOS_LOCK_DIR", other.runtime());
    let known = Running::of(known).ended().await.exits(3);
    known.tells("tester@").tells(&format!("began {run} at "));

    // A plan is for later, and only says so.
    let planned = other.chaos(&["plan", "other.yaml"]).await.exits(0);
    let said: Vec<&str> = planned.stdout.split_whitespace().collect();
    let words = "and no run of this plan starts before it is gone";
    assert!(said.join(" ").contains(words), "{}", planned.stdout);

    // What does not overlap may run beside it.
    apart.chaos(&["run", &apart_plan]).await.exits(0);
    assert_eq!(scene.ours().len(), 1, "the first run's rule stands");
    first.signal(Signal::INT);
    ends_clean(&scene, first.ended().await, 5, "aborted");
}

/// Both looked before either wrote: the baseline ends for both at about the same moment.
#[tokio::test]
async fn of_two_machines_whose_rules_overlap_at_most_one_holds_and_both_leave_nothing() {
    for (ours, theirs) in [(SAME, SAME), (NARROWER, BROADER), (BROADER, NARROWER)] {
        let scene = Scene::new().await;
        let (one, plan) = elsewhere(&scene, ours, "3s").await;
        let (other, other_plan) = elsewhere(&scene, theirs, "3s").await;
        let first = one.start(&["run", &plan]);
        let second = other.start(&["run", &other_plan]);
        let (first, second) = tokio::join!(first.ended(), second.ended());
        let codes = [&first, &second].map(|ended| ended.status.code());
        let held = codes.iter().filter(|code| **code == Some(0)).count();
        let shown = format!("{codes:?}\n{}\n{}", first.stderr, second.stderr);
        assert!(held <= 1, "two held at once: {shown}");
        let ended: Vec<_> = codes.iter().map(|code| code.unwrap_or(-1)).collect();
        assert!(ended.iter().all(|code| [0, 3, 6].contains(code)), "{shown}");
        scene.assert_clean();
    }
}

/// A latency carries no name. Whoever finds it changed under him has not held.
#[tokio::test]
async fn of_two_machines_with_a_latency_each_at_most_one_holds_and_none_stays() {
    let scene = Scene::new().await;
    let (one, plan) = elsewhere(&scene, "latency: 20ms", "3s").await;
    let (other, other_plan) = elsewhere(&scene, "latency: 30ms", "3s").await;
    let first = one.start(&["run", &plan]);
    let second = other.start(&["run", &other_plan]);
    let (first, second) = tokio::join!(first.ended(), second.ended());
    let codes = [&first, &second].map(|ended| ended.status.code());
    let held = codes.iter().filter(|code| **code == Some(0)).count();
    let shown = format!("{codes:?}\n{}\n{}", first.stderr, second.stderr);
    assert!(held <= 1, "two held at once: {shown}");
    assert_eq!(scene.localstack.inner().latency, 0, "{shown}");
    scene.assert_clean();

    // Changed under a run: neither ours nor held.
    let (one, plan) = elsewhere(&scene, "latency: 20ms", "20s").await;
    let mut run = one.start(&["run", &plan]);
    run.says(FAULT_IS_IN).await;
    scene.localstack.inner().latency = 7;
    run.ended()
        .await
        .exits(6)
        .tells("the latency is 7 ms, not 20 ms");
    assert_eq!(scene.localstack.inner().latency, 7, "it is theirs");
    assert_eq!(
        report(&one).await["verdict"]["outcome"],
        json!("inconclusive")
    );
}

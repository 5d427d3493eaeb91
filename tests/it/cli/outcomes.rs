//! What runs come to where everybody keeps the contract, and where the service under traffic dies.

use chaos_gameday::sandbox::AppVersion;
use futures_util::future::join_all;
use serde_json::{Value, json};

use super::{FAULT_IS_IN, FOR_THE_SANDBOX, Scene, approve, ends_clean, report};
use crate::support::process::Place;
use crate::support::process::Running;
use crate::support::sandbox::Bench;
use crate::support::target::{Behaviour, Target};

/// Runs an experiment on a sandbox of its own ports; returns the exit code, the outcome that
/// the report names and the rules that are left.
async fn on_the_sandbox(app: AppVersion) -> (Option<i32>, Value, Value) {
    let bench = Bench::start(app).await;
    let place = Place::new();
    let application = format!("SANDBOX_APP={}", bench.sandbox.app_url());
    let aws = format!("SANDBOX_AWS={}", bench.sandbox.aws_url());
    place.write("stream-down.yaml", FOR_THE_SANDBOX);
    let args = [
        "plan",
        "-q",
        "stream-down.yaml",
        "--var",
        &application,
        "--var",
        &aws,
    ];
    let planned = place.chaos(&args).await.exits(0);
    let plan = planned.stdout.trim();
    approve(&place, plan);
    let ended = place.chaos(&["run", plan]).await;
    let (_, rules) = bench.faults("GET", json!(null)).await;
    let outcome = report(&place).await["verdict"]["outcome"].clone();
    (ended.status.code(), outcome, rules)
}

// The sandboxes live in this process, and need a thread besides the one that waits.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_fragile_app_deviates_where_the_fixed_one_holds_and_both_are_left_clean() {
    let both = [AppVersion::Fragile, AppVersion::Fixed].map(on_the_sandbox);
    let ended = join_all(both).await;
    let deviated = (Some(1), json!("deviated"), json!([]));
    let held = (Some(0), json!("held"), json!([]));
    assert_eq!(ended, [deviated, held]);
}

#[tokio::test]
async fn a_service_that_stands_the_fault_holds() {
    let scene = Scene::new().await;
    let ended = scene.start(&[], &[]).await.ended().await;
    ends_clean(&scene, ended, 0, "held · exit 0");
    let writes = scene.localstack.writes();
    let methods: Vec<&str> = writes.iter().map(|line| &line[..6]).collect();
    assert_eq!(methods, ["PATCH ", "DELETE"], "{writes:?}");
}

#[tokio::test]
async fn a_service_that_dies_under_the_fault_deviates_and_one_that_stays_dead_too() {
    let killed = async {
        let mut scene = Scene::new().await;
        let mut run = scene.start(&["HOLD=20s", "RECOVERY=1s"], &[]).await;
        run.says(FAULT_IS_IN).await;
        scene.target = Target::start(Behaviour::Hang).await;
        let ended = run.ended().await;
        assert_eq!(report(&scene.place).await["verdict"]["outcome"], "deviated");
        ends_clean(&scene, ended, 1, "SLO `error-rate` breached");
    };
    let failing = async {
        let scene = Scene::new().await;
        let mut run = scene.start(&["HOLD=20s"], &[]).await;
        run.says(FAULT_IS_IN).await;
        scene.target.becomes(Behaviour::Answer(vec![500]));
        run.says("fault seen gone").await;
        scene.target.becomes(Behaviour::Answer(vec![200]));
        let ended = run.ended().await;
        ends_clean(&scene, ended, 1, "recovery: SLOs back after");
    };
    tokio::join!(killed, failing);
}

#[tokio::test]
async fn a_service_that_is_broken_before_is_refused_with_nothing_sent() {
    let scene = Scene::new().await;
    scene.target.becomes(Behaviour::Answer(vec![500]));
    let ended = scene.start(&[], &[]).await.ended().await;
    ends_clean(&scene, ended, 3, "the baseline is broken");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn two_runs_on_one_endpoint_cannot_start() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=10s"]).await;
    let mut first = scene.place.start(&["run", &plan]);
    first.says(FAULT_IS_IN).await;
    let second = scene.place.chaos(&["run", &plan]).await.exits(3);
    // The first one's rule is in the way of the second, so either reason will do.
    let words = &second.stderr;
    assert!(
        words.contains("another run is under way") || words.contains("of run r-"),
        "{words}"
    );
    assert_eq!(scene.ours().len(), 1, "the first run's rule still stands");
    first.signal(rustix::process::Signal::INT);
    ends_clean(&scene, first.ended().await, 5, "aborted");
}

/// A person's terminal and a cron job, or two shells of a build tool, often have temporary folders of
/// their own; the target that both would break is one and the same.
#[tokio::test]
async fn two_runs_with_temporary_folders_of_their_own_cannot_start_either() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=10s"]).await;
    let elsewhere = |name: &str| {
        let temporary = scene.place.path(name);
        std::fs::create_dir(&temporary).unwrap();
        let mut command = scene.place.command(&["run", &plan]);
        command
            .env_remove("CHAOS_LOCK_DIR")
            .env("TMPDIR", temporary);
        Running::of(command)
    };
    let mut first = elsewhere("one");
    first.says("baseline").await;
    let second = elsewhere("two").ended().await;
    first.signal(rustix::process::Signal::INT);
    first.ended().await.exits(5);
    second.exits(3).tells("another run is under way");
}

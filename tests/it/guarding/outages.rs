//! Runs that are killed while their platform, or their disk, is of no help.

use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::request::Purpose;
use rustix::process::{Resource, Rlimit, Signal, prlimit};

use super::deaths::DIED;
use super::{SOON, Scene, assert_rescued, ending, until_killed};
use crate::cli::FAULT_IS_IN;
use crate::support::gate::{Gate, Way};
use crate::support::guardian::{guardian_of, latest_run, log, records, until};
use crate::support::process::Running;

/// A run whose sandbox is behind a gate.
async fn gated(scene: &Scene, flags: &[&str]) -> (Gate, Running) {
    let gate = Gate::before(scene.bench.sandbox.aws_url()).await;
    let plan = scene.approved_at(&gate.url, &["HOLD=1m"]).await;
    let mut args = vec!["run", plan.as_str()];
    args.extend(flags);
    let run = scene.place.start(&args);
    (gate, run)
}

async fn kill(run: Running) {
    run.signal(Signal::KILL);
    until_killed(run).await;
}

#[tokio::test]
async fn a_write_that_lands_after_the_death_of_its_run_is_undone() {
    let scene = Scene::new().await;
    let (gate, mut run) = gated(&scene, &[]).await;
    run.says("baseline").await;
    gate.becomes(Way::KeepsPatches);
    until("the fault is on its way", || gate.kept() == 1).await;
    kill(run).await;
    let place = &scene.place;
    until("the guardian looks", || {
        log(place).contains("the run is verifying")
    })
    .await;
    assert!(scene.is_clean().await, "nothing has landed yet");
    gate.becomes(Way::Open);
    scene.until_unguarded().await;
    assert!(scene.is_clean().await, "{}", log(place));
    assert_rescued(place, DIED);
    let undone = |event: &Event| {
        matches!(event, Event::Exchanged { purpose: Purpose::Undo, exchange, .. }
            if exchange.request.method == "DELETE")
    };
    let landed = records(place).iter().any(|record| undone(&record.event));
    assert!(landed, "it was there and taken out:\n{}", log(place));
}

#[tokio::test]
async fn a_platform_that_is_down_for_a_while_is_asked_until_it_is_up() {
    let scene = Scene::new().await;
    let (gate, mut run) = gated(&scene, &[]).await;
    run.says(FAULT_IS_IN).await;
    gate.becomes(Way::Shut);
    kill(run).await;
    let place = &scene.place;
    until("attempts fail", || {
        log(place).contains("attempt 3 failed: ")
    })
    .await;
    assert!(!scene.is_clean().await);
    gate.becomes(Way::Open);
    scene.until_clean(SOON).await;
    scene.until_unguarded().await;
    assert_rescued(place, DIED);
}

#[tokio::test]
async fn a_platform_that_stays_down_is_told_to_a_person_with_the_commands() {
    let scene = Scene::new().await;
    let (gate, mut run) = gated(&scene, &["--undo-timeout", "2s"]).await;
    run.says(FAULT_IS_IN).await;
    gate.becomes(Way::Shut);
    kill(run).await;
    scene.until_unguarded().await;
    assert_eq!(ending(&scene.place).0, Outcome::Stuck);
    assert!(!scene.is_clean().await);
    let command = format!(
        "to finish by hand: curl -X DELETE {}/_localstack/chaos/faults",
        gate.url
    );
    let said = log(&scene.place);
    assert!(said.contains(&command), "{said}");
    let report = scene.place.chaos(&["report", "last"]).await.exits(0);
    let by_hand = format!("curl -X DELETE {}", gate.url);
    report.prints(&by_hand);
}

#[tokio::test]
async fn a_journal_that_cannot_be_written_keeps_nobody_from_undoing() {
    let scene = Scene::new().await;
    let (_gate, mut run) = gated(&scene, &["--undo-timeout", "2s"]).await;
    run.says(FAULT_IS_IN).await;
    let none = Rlimit {
        current: Some(0),
        maximum: Some(0),
    };
    prlimit(Some(guardian_of(&scene.place)), Resource::Fsize, none).unwrap();
    let before = std::fs::read(latest_run(&scene.place).journal).unwrap();
    kill(run).await;
    scene.until_clean(SOON).await;
    scene.until_unguarded().await;
    let after = std::fs::read(latest_run(&scene.place).journal).unwrap();
    // What the run itself wrote in between stands there, and nothing of the guardian.
    assert!(after.starts_with(&before));
    assert_eq!(super::takeovers(&scene.place), []);
    assert!(scene.is_clean().await);
}

#[tokio::test]
async fn a_sandbox_that_died_with_its_run_has_nothing_in_place() {
    let scene = Scene::new().await;
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/stream-down.yaml");
    let args = ["run", "--sandbox", "--var", "BASELINE=2s", example];
    let mut run = scene.place.start(&args);
    run.says(FAULT_IS_IN).await;
    kill(run).await;
    scene.until_unguarded().await;
    assert_rescued(&scene.place, DIED);
}

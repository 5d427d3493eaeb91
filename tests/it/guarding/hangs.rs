//! Runs that do not die and do nothing.

use std::time::Duration;

use chaos_gameday::guardian::HUNG_AFTER;
use chaos_gameday::model::outcome::Outcome;
use rustix::process::Signal;
use tokio::time::sleep;

use super::{SOON, Scene, assert_rescued, ending, takeovers, until_killed};
use crate::cli::FAULT_IS_IN;
use crate::support::guardian::{guardian_of, log};

#[tokio::test]
async fn a_run_that_hangs_with_its_fault_in_is_ended() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    run.signal(Signal::STOP);
    let took = scene.until_clean(HUNG_AFTER + SOON).await;
    assert!(took > HUNG_AFTER / 2, "{took:?}");
    until_killed(run).await;
    scene.until_unguarded().await;
    assert_rescued(&scene.place, "it gave no sign of life for 10s");
    assert!(log(&scene.place).contains("killed the run's process"));
}

#[tokio::test]
async fn a_run_that_was_stopped_for_a_moment_goes_on() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=6s"]).await;
    run.says(FAULT_IS_IN).await;
    let guardian = guardian_of(&scene.place);
    run.signal(Signal::STOP);
    sleep(Duration::from_secs(3)).await;
    assert!(!scene.is_clean().await, "its fault is its own");
    run.signal(Signal::CONT);
    run.ended().await;
    assert_eq!(takeovers(&scene.place), []);
    assert_ne!(ending(&scene.place).0, Outcome::Stuck);
    assert_eq!(guardian_of(&scene.place), guardian, "nor was it replaced");
    assert!(scene.is_clean().await);
}

#[tokio::test]
async fn a_run_that_is_stopped_with_nothing_in_place_harms_nobody() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["BASELINE=2s"]).await;
    run.says("baseline").await;
    run.signal(Signal::STOP);
    sleep(HUNG_AFTER + Duration::from_secs(3)).await;
    run.signal(Signal::CONT);
    run.ended().await;
    assert_eq!(takeovers(&scene.place), []);
    assert!(scene.is_clean().await);
}

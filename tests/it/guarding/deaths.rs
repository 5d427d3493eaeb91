//! Runs that are killed.

use rustix::process::Signal;

use super::{SOON, Scene, assert_rescued, until_killed};
use crate::cli::FAULT_IS_IN;
use crate::support::guardian::{kill_both, latest_run, log};

pub(super) const DIED: &str = "its process died";

#[tokio::test]
async fn a_run_that_is_killed_with_its_fault_in_leaves_nothing_in_place() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    assert!(!scene.is_clean().await);
    run.signal(Signal::KILL);
    scene.until_clean(SOON).await;
    until_killed(run).await;
    scene.until_unguarded().await;
    assert_rescued(&scene.place, DIED);
    let said = log(&scene.place);
    for words in [
        "watches over r-",
        "a fault is, or may be, in place, for ",
        DIED,
        "takes the run over",
        "/_localstack/chaos/faults answered 200",
        "the fault was seen gone",
        "the run ended inconclusive",
        "leaves",
    ] {
        assert!(said.contains(words), "no `{words}` in\n{said}");
    }
}

#[tokio::test]
async fn a_run_that_is_killed_with_nothing_in_place_gets_its_end() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["BASELINE=30s"]).await;
    run.says("baseline").await;
    run.signal(Signal::KILL);
    until_killed(run).await;
    scene.until_unguarded().await;
    assert!(scene.is_clean().await);
    assert_rescued(&scene.place, DIED);
}

#[tokio::test]
async fn nobody_acts_where_both_are_killed() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    kill_both(run, &scene.place).await;
    let journal = latest_run(&scene.place).journal;
    let recorded = chaos_gameday::journal::read(&journal).unwrap();
    assert_eq!(recorded.end, chaos_gameday::journal::JournalEnd::Open);
    assert!(!scene.is_clean().await);
}

//! Runs on a cluster whose Chaos Mesh is well.

use std::time::Duration;

use crate::cli::FAULT_IS_IN;
use crate::support::chaos_mesh::Mode;
use crate::support::guardian::{guardian_of, kill_both, until_gone};
use crate::support::kubernetes::is_missing;

use super::{DELAY, POD_FAILURE, POD_KILL, Scene};

#[tokio::test]
async fn a_delay_goes_in_is_proven_and_is_seen_gone() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(4, "50%", DELAY, Mode::Obeys).await;
    let shown = scene.place.chaos(&["plan", "game.yaml"]).await.exits(0);
    shown.prints("2 of 4 pods");
    assert!(scene.objects().await.is_empty(), "a plan makes nothing");
    let mut run = scene.start(&["--var", "HOLD=2s"]).await;
    run.says(FAULT_IS_IN).await;
    let objects = scene.objects().await;
    assert_eq!(objects.len(), 1);
    let spec = &objects[0]["spec"];
    assert_eq!(spec["mode"], "all");
    assert_eq!(spec["duration"], "92000ms");
    assert_eq!(spec["delay"]["jitter"], "0ms");
    let named = spec["selector"]["pods"][&scene.namespace]
        .as_array()
        .unwrap();
    assert_eq!(named.len(), 2);
    assert!(objects[0]["metadata"]["labels"]["managed-by"].is_null());
    assert_eq!(scene.entries().await, 2);
    run.ended().await.exits(0).tells("held");
    scene.assert_clean().await;
}

#[tokio::test]
async fn a_kill_ends_by_its_own_rules() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(3, "30%", POD_KILL, Mode::Obeys).await;
    let run = scene.start(&[]).await;
    run.ended().await.exits(0).tells("held");
    assert_eq!(scene.pods().await.len(), 2);
    scene.assert_clean().await;
}

#[tokio::test]
async fn a_pod_failure_gives_its_images_back() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "100%", POD_FAILURE, Mode::Obeys).await;
    let mut run = scene.start(&["--var", "HOLD=2s"]).await;
    run.says(FAULT_IS_IN).await;
    for pod in scene.pods().await {
        let image = pod["spec"]["containers"][1]["image"].as_str().unwrap();
        assert!(image.contains("pause"), "{image}");
    }
    run.ended().await.exits(0).tells("held");
    scene.assert_clean().await;
}

#[tokio::test]
async fn rungs_are_steps_and_a_wider_one_holds_the_narrower() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(4, "[25%, 50%]", DELAY, Mode::Obeys).await;
    let run = scene.start(&[]).await.ended().await.exits(0);
    run.tells("slow carts (25%)").tells("slow carts (50%)");
    scene.assert_clean().await;
}

#[tokio::test]
async fn a_run_that_is_killed_leaves_nothing_to_its_guardian() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", DELAY, Mode::Obeys).await;
    let mut run = scene.start(&["--var", "HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    let guardian = guardian_of(&scene.place);
    run.signal(rustix::process::Signal::KILL);
    until_gone(guardian).await;
    scene.assert_clean().await;
    let shown = scene.place.chaos(&["show", "last"]).await.exits(0);
    shown.prints("INCONCLUSIVE");
}

#[tokio::test]
async fn where_the_guardian_is_killed_too_recover_deletes_the_object() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", DELAY, Mode::Obeys).await;
    let mut run = scene.start(&["--var", "HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    kill_both(run, &scene.place).await;
    tokio::time::sleep(Duration::from_millis(200)).await;
    assert_eq!(scene.entries().await, 1, "nobody was there to undo");
    scene.place.chaos(&["recover"]).await.exits(0);
    scene.assert_clean().await;
}

//! Runs on a cluster whose Chaos Mesh misbehaves: each ends in the documented outcome.

use std::time::Duration;

use serde_json::json;

use crate::cli::FAULT_IS_IN;
use crate::support::chaos_mesh::{Mode, pod, replace_pod};
use crate::support::kubernetes::{is_in_full, is_missing};

use super::{DELAY, POD_KILL, Scene, labels};

#[tokio::test]
async fn a_target_that_is_replaced_under_the_fault_is_no_green_run() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "100%", DELAY, Mode::Obeys).await;
    let mut run = scene.start(&["--var", "HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    replace_pod(scene.plane, &scene.namespace, "cart-1", &labels()).await;
    run.ended().await.exits(6).tells("cart-1 was replaced");
    assert_eq!(scene.objects().await.len(), 0);
}

#[tokio::test]
async fn a_deletion_that_hangs_is_stuck_with_the_commands_and_recover_ends_it() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", DELAY, Mode::NeverRecovers).await;
    let run = scene.start(&[]).await;
    let stuck = run.ended().await.exits(7);
    stuck
        .tells("unable to flush ip sets")
        .tells("kubectl --context kind-test");
    assert_eq!(scene.objects().await.len(), 1, "nothing was forced");
    scene.stand_in.becomes(Mode::Obeys);
    scene.place.chaos(&["recover"]).await.exits(0);
    scene.assert_clean().await;
}

#[tokio::test]
async fn an_object_that_others_delete_is_no_green_run() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", DELAY, Mode::Obeys).await;
    let mut run = scene.start(&["--var", "HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    let object = scene.objects().await[0]["metadata"].clone();
    let path = format!(
        "/apis/chaos-mesh.org/v1alpha1/namespaces/{}/networkchaos/{}",
        scene.namespace,
        object["name"].as_str().unwrap()
    );
    scene.plane.request("DELETE", &path, &json!({})).await;
    run.ended().await.exits(6);
    scene.assert_clean().await;
}

#[tokio::test]
async fn pods_that_come_between_plan_and_run_are_a_drift() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", POD_KILL, Mode::Obeys).await;
    let plan = scene.approved_plan(&[]).await;
    pod(scene.plane, &scene.namespace, "cart-9", &labels()).await;
    let refused = scene.place.chaos(&["run", &plan]).await.exits(3);
    refused.tells("1 of 2 pods").tells("2 of 3 pods");
    assert_eq!(scene.pods().await.len(), 3, "nobody was killed");
}

#[tokio::test]
async fn who_may_create_and_not_delete_may_not_plan() {
    if is_missing() {
        return;
    }
    let scene = Scene::new(2, "50%", DELAY, Mode::Obeys).await;
    let rules = json!([
        {"apiGroups": [""], "resources": ["pods", "namespaces"], "verbs": ["get", "list"]},
        {"apiGroups": ["chaos-mesh.org"], "resources": ["*"], "verbs": ["create", "get", "list"]},
    ]);
    let user = scene.plane.account(&scene.namespace, "half", &rules).await;
    scene.log_in(&user);
    let refused = scene.place.chaos(&["plan", "game.yaml"]).await.exits(3);
    refused
        .tells("delete networkchaos.chaos-mesh.org in namespace")
        .tells("--verb=delete,patch");
}

#[tokio::test]
async fn a_controller_that_takes_its_time_is_waited_for() {
    if is_missing() {
        return;
    }
    let slow = Mode::Slow(Duration::from_secs(7));
    let scene = Scene::new(2, "50%", DELAY, slow).await;
    scene.start(&[]).await.ended().await.exits(0);
    scene.assert_clean().await;
}

/// Each is waited for as long as Chaos Mesh may take, which is a minute.
#[tokio::test]
async fn what_never_goes_in_is_refused_and_what_goes_in_partly_is_inconclusive() {
    if is_missing() || !is_in_full() {
        return;
    }
    let run = async |mode: Mode, code: i32, words: &str| {
        let scene = Scene::new(2, "100%", DELAY, mode).await;
        let plan = scene.approved_plan(&[]).await;
        let mut command = scene.place.command(&["run", &plan]);
        let ended = command.output().await.unwrap();
        let told = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert_eq!(ended.status.code(), Some(code), "{told}");
        assert!(told.contains(words), "no `{words}` in {told}");
        scene.assert_clean().await;
    };
    tokio::join!(
        run(Mode::NeverInjects, 3, "the daemon said no"),
        run(Mode::SelectsNothing, 3, "no pod is selected"),
        run(Mode::InjectsOnly(1), 6, "1 of 2"),
    );
}

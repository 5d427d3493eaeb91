//! What counts as a yes to a plan, and what makes one void.

use super::{Scene, approval, approvals, approve, keep};
use crate::support::process::names_in;
use crate::support::pty::{self, Terminal};

#[tokio::test]
async fn no_machine_approves() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let place = &scene.place;
    let in_ci = async {
        let terminal = Terminal::start_with(place, &["approve", &plan], &[("CI", "1")]);
        terminal.ended().await
    };
    let (approve, run, file, yes, (ci, shown)) = tokio::join!(
        place.chaos(&["approve", &plan]),
        place.chaos(&["run", &plan]),
        place.chaos(&["run", "stream-down.yaml"]),
        place.chaos(&["run", "stream-down.yaml", "--yes"]),
        in_ci,
    );
    for ended in [approve, run, file, yes] {
        ended
            .exits(4)
            .tells("needs a person's approval")
            .tells("hint:");
    }
    assert_eq!(ci.code(), Some(4), "{shown}");
    assert_eq!(approvals(place, &plan), 0);
    assert!(!place.state().join("runs").exists(), "no run was begun");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn an_approval_that_expired_or_is_for_another_digest_does_not_count() {
    let expired = async {
        let scene = Scene::new().await;
        let plan = scene.plan(&[]).await;
        let past = approval(&scene.place, &plan, -1);
        keep(&scene.place, past);
        let ended = scene.place.chaos(&["run", &plan]).await;
        ended
            .exits(4)
            .tells("error: the approval of tester@here expired at 20");
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    };
    let other = async {
        let scene = Scene::new().await;
        let plan = scene.plan(&[]).await;
        let mut other = approval(&scene.place, &plan, 600);
        other.digest = chaos_gameday::model::ids::Digest::of(b"another plan");
        keep(&scene.place, other);
        let ended = scene.place.chaos(&["run", &plan]).await;
        ended
            .exits(4)
            .tells("error: the approval of tester@here is for another version of this plan");
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    };
    tokio::join!(expired, other);
}

#[tokio::test]
async fn one_changed_byte_in_an_approved_plan_voids_it() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let file = scene
        .place
        .state()
        .join("plans")
        .join(format!("{plan}.json"));
    let text = std::fs::read_to_string(&file).unwrap();
    for (what, changed) in [
        ("a value", text.replacen("PutRecord", "PutRecorb", 1)),
        (
            "the claim",
            text.replacen("Orders go on", "Orders go in", 1),
        ),
        ("white space", text.replacen("  ", "   ", 1)),
        ("the end", text.trim_end().to_owned()),
        ("half of it", text[..text.len() / 2].to_owned()),
    ] {
        assert_ne!(changed, text, "{what}");
        std::fs::write(&file, changed).unwrap();
        scene
            .place
            .chaos(&["run", &plan])
            .await
            .exits(8)
            .tells("error:");
        scene.place.chaos(&["show", &plan]).await.exits(8);
    }
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    std::fs::write(&file, text).unwrap();
    scene.place.chaos(&["run", &plan]).await.exits(0);
}

#[tokio::test]
async fn a_world_that_changed_after_the_plan_is_refused_with_its_difference() {
    let restarted = async {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        scene.localstack.restart();
        let ended = scene.place.chaos(&["run", &plan]).await.exits(3);
        ended
            .tells("the world is not the one that was planned")
            .tells("step 1, session: planned `session-0`, now `session-1`");
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    };
    let overlapped = async {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let theirs = serde_json::json!({"service": "kinesis", "operation": "PutRecord"});
        scene.localstack.inner().rules.push(theirs.clone());
        let ended = scene.place.chaos(&["run", &plan]).await;
        assert_eq!(scene.ours(), [theirs]);
        ended.exits(3);
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    };
    tokio::join!(restarted, overlapped);
}

#[tokio::test]
async fn a_later_approval_counts_where_an_earlier_one_expired() {
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let past = approval(&scene.place, &plan, -1);
    keep(&scene.place, past);
    approve(&scene.place, &plan);
    let folder = scene.place.state().join("approvals").join(&plan);
    assert_eq!(names_in(&folder), ["1.json", "2.json"]);
    scene.place.chaos(&["run", &plan]).await.exits(0);
    scene.assert_clean();
}

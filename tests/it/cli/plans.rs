//! Plans as files: written where a person wants them, carried to another machine, and refused there
//! once a byte of them has changed.

use std::fs;

use chaos_gameday::plan::StoredPlan;
use serde_json::Value;

use super::{Scene, approve};
use crate::support::process::Place;

/// The plan's file in the working folder, and the plan.
async fn carried(scene: &Scene) -> (String, StoredPlan) {
    let planned = scene
        .place
        .chaos(&["plan", "-q", "stream-down.yaml", "--out", "plan.json"])
        .await
        .exits(0);
    let text = fs::read_to_string(scene.place.path("plan.json")).unwrap();
    let stored = StoredPlan::from_text(&text).unwrap();
    assert_eq!(planned.stdout.trim(), stored.id.as_str());
    (text, stored)
}

#[tokio::test]
async fn a_plan_is_written_as_the_store_keeps_it_and_never_over_anything() {
    let scene = Scene::new().await;
    let (text, stored) = carried(&scene).await;
    let (_, kept) = scene.place.store().load_plan(stored.id.as_str()).unwrap();
    assert_eq!(text, kept);

    let again = ["plan", "stream-down.yaml", "--out", "plan.json"];
    let refused = scene.place.chaos(&again).await.exits(2);
    refused.tells("plan.json exists").prints("");
    let file = fs::read_to_string(scene.place.path("plan.json")).unwrap();
    assert_eq!(file, text);

    let nowhere = ["plan", "stream-down.yaml", "--out", "new/plan.json"];
    let refused = scene.place.chaos(&nowhere).await.exits(2);
    refused.tells("mkdir -p new");
    assert_eq!(scene.place.listing(), ["plan.json", "stream-down.yaml"]);
}

#[tokio::test]
async fn a_plan_that_was_made_elsewhere_is_shown_without_a_trace_and_run_once_it_is_approved() {
    let scene = Scene::new().await;
    let (text, stored) = carried(&scene).await;
    let elsewhere = Place::new();
    elsewhere.write("from-a-chat.json", &text);

    let shown = elsewhere.chaos(&["show", "from-a-chat.json"]).await;
    shown.exits(0).prints(stored.digest.as_str());
    let as_json = ["show", "from-a-chat.json", "-o", "json"];
    assert_eq!(elsewhere.chaos(&as_json).await.exits(0).stdout, text);
    assert!(!elsewhere.state().exists(), "showing wrote something");

    let run = ["run", "from-a-chat.json"];
    let unapproved = elsewhere.chaos(&run).await.exits(4);
    unapproved.tells(stored.id.as_str());
    scene.assert_clean();
    assert_eq!(elsewhere.store().plans().unwrap(), [stored.id.clone()]);
    approve(&elsewhere, stored.id.as_str());
    elsewhere.chaos(&run).await.exits(0);
    scene.assert_clean();

    // By a part of its id too, now that it is kept.
    let part = &stored.id.as_str()[2..8];
    let again = elsewhere.chaos(&["run", part]).await;
    again.exits(0);
}

#[tokio::test]
async fn a_file_that_is_no_sound_plan_is_named_and_nothing_is_written_anywhere() {
    let scene = Scene::new().await;
    let (text, _) = carried(&scene).await;
    let before = scene.localstack.writes();
    let elsewhere = Place::new();
    let experiment = fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    elsewhere.write("stream-down.yaml", &experiment);
    elsewhere.write("edited.json", &text.replace("PutRecord", "PutRecords"));
    elsewhere.write("cut.json", &text[..text.len() / 2]);
    let marked = format!("\u{feff}{text}");
    elsewhere.write("marked.json", &marked);
    let value: Value = serde_json::from_str(&text).unwrap();
    elsewhere.write("packed.json", &value.to_string());

    for (file, code, words) in [
        ("edited.json", 8, "was changed after it was made"),
        ("packed.json", 8, "was changed after it was made"),
        ("cut.json", 8, "cut.json: this is no plan"),
        ("marked.json", 8, "marked.json: this is no plan"),
    ] {
        for verb in ["run", "show", "approve"] {
            let refused = elsewhere.chaos(&[verb, file]).await.exits(code);
            refused.tells(words);
        }
    }
    let shown = elsewhere.chaos(&["show", "stream-down.yaml"]).await;
    shown.exits(2).tells("stream-down.yaml is no plan");
    let shown = elsewhere.chaos(&["show", "nowhere.json"]).await;
    shown.exits(2).tells("there is no file nowhere.json");
    let planned = scene.place.chaos(&["plan", "plan.json"]).await;
    planned.exits(2).tells("plan.json is a plan already");
    assert!(!elsewhere.state().exists(), "something was kept");
    assert_eq!(scene.localstack.writes(), before);
}

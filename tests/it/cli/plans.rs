//! Plans as files: written where a person wants them, carried to another machine, and refused there
//! once a byte of them has changed.

use std::fs;

use chaos_gameday::plan::{StoredPlan, differences};
use serde_json::{Value, json};

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
    let kept = elsewhere.store().plans().unwrap();
    assert_eq!(kept, std::slice::from_ref(&stored.id));
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
    let (text, stored) = carried(&scene).await;
    let before = scene.localstack.writes();
    let elsewhere = Place::new();
    elsewhere.write("plan.yaml", &stored.to_yaml().unwrap());
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
        ("plan.yaml", 2, "plan.yaml is a plan as YAML"),
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

/// A text of the same form in which one leaf is another one.
fn changed(whole: &Value, pointer: &str) -> Value {
    let mut whole = whole.clone();
    let leaf = whole.pointer_mut(pointer).unwrap();
    *leaf = match &*leaf {
        Value::String(text) => json!(format!("{text}x")),
        Value::Number(number) => json!(number.as_f64().unwrap() + 1.0),
        Value::Bool(yes) => json!(!yes),
        Value::Null | Value::Array(_) | Value::Object(_) => json!("x"),
    };
    whole
}

/// Where its leaves are; an empty list or object is one.
fn leaves(value: &Value, at: &str) -> Vec<String> {
    let below: Vec<String> = match value {
        Value::Object(fields) => {
            let escaped = |key: &str| key.replace('~', "~0").replace('/', "~1");
            let below = fields.iter();
            let below =
                below.flat_map(|(key, value)| leaves(value, &format!("{at}/{}", escaped(key))));
            below.collect()
        }
        Value::Array(items) => {
            let below = items.iter().enumerate();
            let below = below.flat_map(|(index, value)| leaves(value, &format!("{at}/{index}")));
            below.collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    };
    match below.is_empty() {
        true => vec![at.to_owned()],
        false => below,
    }
}

fn is_refused(bytes: Vec<u8>) -> bool {
    let read = String::from_utf8(bytes).map(|text| StoredPlan::from_text(&text));
    !matches!(read, Ok(Ok(_)))
}

#[tokio::test]
async fn nothing_in_a_stored_plan_can_be_changed() {
    let scene = Scene::new().await;
    let (text, _) = carried(&scene).await;
    let whole: Value = serde_json::from_str(&text).unwrap();
    let places = leaves(&whole, "");
    assert!(places.len() > 60, "{places:?}");
    for place in &places {
        let text = format!("{:#}\n", changed(&whole, place));
        assert!(is_refused(text.into_bytes()), "{place} can be changed");
    }

    let bytes = text.as_bytes();
    for place in 0..bytes.len() {
        let mut other = bytes.to_vec();
        other[place] ^= 1;
        assert!(is_refused(other), "byte {place} can be flipped");
        let cut = bytes[..place].to_vec();
        assert!(
            place % 7 != 0 || is_refused(cut),
            "it can be cut at {place}"
        );
    }
    for place in (0..bytes.len()).step_by(bytes.len() / 12) {
        for value in (0..=255).filter(|value| *value != bytes[place]) {
            let mut other = bytes.to_vec();
            other[place] = value;
            assert!(is_refused(other), "byte {place} can be {value}");
        }
    }
    let id = format!("\"id\": {},", whole["id"]);
    for other in [
        format!("{text}\n"),
        format!("{text} "),
        format!(" {text}"),
        text.trim_end().to_owned(),
        text.replace('\n', "\r\n"),
        text.replacen("  ", "    ", 1),
        text.replacen(&id, &format!("{id} {id}"), 1),
        text.replacen("{\n", "{\n  \"more\": 1,\n", 1),
        text.replacen("\"plan\": {\n", "\"plan\": {\n    \"zebra\": 1,\n", 1),
    ] {
        assert_ne!(other, text);
        assert!(is_refused(other.clone().into_bytes()), "{other}");
    }
}

#[tokio::test]
async fn the_digest_is_about_the_bytes_and_drift_about_what_they_mean() {
    let scene = Scene::new().await;
    let (_, stored) = carried(&scene).await;
    let file = scene.place.path("stream-down.yaml");
    let document = fs::read_to_string(&file).unwrap();
    fs::write(&file, format!("# a remark\n\n{document}")).unwrap();
    let differing = [
        "plan",
        "stream-down.yaml",
        "--diff",
        "plan.json",
        "-o",
        "json",
    ];
    let planned = scene.place.chaos(&differing).await.exits(0);
    let remarked = StoredPlan::from_text(&planned.stdout).unwrap();
    assert_ne!(remarked.digest, stored.digest);
    assert_eq!(differences(&stored.plan, &remarked.plan), []);
    let told = format!("nothing differs in meaning from plan {}", stored.id);
    planned.tells(&told);
}

#[tokio::test]
async fn a_plan_is_compared_with_an_earlier_one_before_it_is_shown() {
    let scene = Scene::new().await;
    let old = scene.plan(&[]).await;
    let differing = [
        "plan",
        "stream-down.yaml",
        "--var",
        "HOLD=2s",
        "--diff",
        &old,
    ];
    let planned = scene.place.chaos(&differing).await.exits(0);
    let told = format!(
        "What differs from plan {old}
  variables
    HOLD: planned `1s (default)`, now `2s (--var)`
  the experiment
    step 1, hold: planned `1s`, now `2s`

Plan p-"
    );
    assert!(planned.stdout.starts_with(&told), "{}", planned.stdout);
    let unknown = ["plan", "stream-down.yaml", "--diff", "p-0000000000"];
    scene.place.chaos(&unknown).await.exits(2);
}

#[tokio::test]
async fn a_plan_is_compared_with_itself_and_one_of_something_else_is_told_apart() {
    let scene = Scene::new().await;
    let (_, stored) = carried(&scene).await;
    let text = fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    let other = text.replace("name: stream-down", "name: table-down");
    let other = other.replace("operation: PutRecord", "operation: PutRecords");
    scene.place.write("other.yaml", &other);
    let same = ["plan", "stream-down.yaml", "--diff", stored.id.as_str()];
    let told = format!("nothing differs in meaning from plan {}", stored.id);
    scene.place.chaos(&same).await.exits(0).prints(&told);
    let another = ["plan", "other.yaml", "--diff", "plan.json"];
    scene
        .place
        .chaos(&another)
        .await
        .exits(0)
        .prints("    name: planned `stream-down`, now `table-down`\n")
        .prints(
            "    step 1, request 1, rule 1, operation: planned `PutRecord`, now `PutRecords`\n",
        );
}

#[tokio::test]
async fn a_plan_that_travels_is_judged_by_the_same_policy_or_by_none() {
    let policy = |hold: &str| {
        format!(
            "apiVersion: chaos/v1
kind: Policy
metadata: {{name: ours}}
environments:
  local: {{proof: {{localstack: {{hosts: [loopback]}}}}, limits: {{hold: {hold}}}}}
"
        )
    };
    let scene = Scene::new().await;
    let policy_there = scene.place.write("chaos-policy.yaml", &policy("10m"));
    let (text, stored) = carried(&scene).await;
    // The other machine has neither the document nor the policy at their places.
    fs::remove_file(policy_there).unwrap();
    let run = ["run", "plan.json"];
    let elsewhere = Place::new();
    elsewhere.write("plan.json", &text);
    let lost = elsewhere.chaos(&run).await.exits(2);
    lost.tells("under which this plan was made, is not at /");

    elsewhere.write("named.yaml", &policy("10m"));
    let named = ["run", "plan.json", "--policy", "named.yaml"];
    elsewhere
        .chaos(&named)
        .await
        .exits(4)
        .tells(stored.id.as_str());
    elsewhere.write("other.yaml", &policy("11m"));
    let other = ["run", "plan.json", "--policy", "other.yaml"];
    let other = elsewhere.chaos(&other).await.exits(3);
    other
        .tells("the plan was made under policy `ours` (")
        .tells("and policy `ours` (")
        .tells("other.yaml applies now");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_file_of_variables_that_was_edited_changes_nothing_that_was_planned() {
    let scene = Scene::new().await;
    let file = scene.place.write("values.yaml", "HOLD: 1s\n");
    let planned = [
        "plan",
        "-q",
        "stream-down.yaml",
        "--var-file",
        "values.yaml",
    ];
    let planned = scene.place.chaos(&planned).await.exits(0);
    let plan = planned.stdout.trim();
    fs::write(file, "HOLD: 9m\n").unwrap();
    approve(&scene.place, plan);
    scene.place.chaos(&["run", plan]).await.exits(0);
    scene.assert_clean();
}

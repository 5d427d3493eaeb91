//! What is unusual is asked for by name at a terminal: a skipped rung, a run too many at one dose, names
//! that smell of production. What travels as an approval and is none is named.

use std::os::unix::fs::symlink;

use super::{Scene, approvals};
use crate::support::pty::{self, CTRL_C, Terminal};

const POLICY: &str = "apiVersion: chaos/v1
kind: Policy
metadata: {name: careful}
production: {named: [\"team=prod-checkout\"]}
environments:
  local:
    proof: {localstack: {hosts: [loopback]}}
    approval: {mode: confirm}
    blastRadius: {ladder: [10%, 25%, 50%]}
    sameDose: {atMost: 1}
";

const NAME: &str = "anything else to refuse";
const RUNG: &str = "allow `skipped-rung`";
const DOSE: &str = "allow `same-dose`";
const WHY: &str = "why is it allowed";

/// A scene with this dose, under the policy above.
async fn scene(probability: &str, label: &str) -> Scene {
    let rule = format!("{{service: kinesis, operation: PutRecord, probability: {probability}}}");
    let scene = Scene::with_rules(&rule).await;
    let file = scene.place.path("stream-down.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    let named = format!("metadata: {{name: stream-down, labels: {{{label}}}}}");
    let text = text.replace("metadata: {name: stream-down}", &named);
    std::fs::write(&file, text).unwrap();
    scene.place.write("chaos-policy.yaml", POLICY);
    scene
}

/// Each question with what is typed at it; the exit code, and what was shown.
async fn answered(scene: &Scene, args: &[&str], typed: &[(&str, &str)]) -> (Option<i32>, String) {
    let mut terminal = Terminal::start(&scene.place, args);
    for (question, keys) in typed {
        terminal.shows(question).await;
        terminal.types(keys).await;
    }
    let (status, shown) = terminal.ended().await;
    (status.code(), shown)
}

#[tokio::test]
async fn a_skipped_rung_and_a_name_of_production_are_asked_for_one_by_one() {
    if pty::is_missing() {
        return;
    }
    let scene = scene("0.5", "team: prod-checkout").await;
    let plan = scene.plan(&[]).await;
    let approve = ["approve", plan.as_str()];
    let name = (NAME, "stream-down\r");
    let production = ("Type `team=prod-checkout`", "team=prod-checkout\r");
    let rung = (RUNG, "y\r");
    let allowed = ("allow `production`", "y\r");
    let refusals: [&[(&str, &str)]; 6] = [
        &[name, (production.0, "stream-down\r")],
        &[name, (production.0, "\r")],
        &[name, production, (RUNG, "\r")],
        &[name, production, (RUNG, CTRL_C)],
        &[name, production, rung, ("allow `production`", "n\r")],
        &[name, production, rung, allowed, (WHY, "  \r")],
    ];
    for typed in refusals {
        let (code, shown) = answered(&scene, &approve, typed).await;
        assert_eq!(code, Some(4), "{typed:?} {shown}");
        assert!(shown.contains("was not approved"), "{shown}");
    }
    assert_eq!(approvals(&scene.place, &plan), 0);
    let why = (WHY, "game day, agreed with the shop\r");
    let typed = [name, production, rung, allowed, why];
    let (code, shown) = answered(&scene, &approve, &typed).await;
    assert_eq!(code, Some(0), "{shown}");
    let list = scene.place.chaos(&["approve", "--list"]).await.exits(0);
    list.prints("(allows skipped-rung)")
        .prints("(allows production)")
        .prints("game day, agreed with the shop");
    let ran = scene.place.chaos(&["run", &plan]).await.exits(0);
    ran.tells("allows skipped-rung, production");
    // Its run is the one that makes one more at this dose unusual.
    let again = scene.plan(&[]).await;
    let flags = ["--allow", "production", "--reason", "once more"];
    let approve = [&["approve", again.as_str()], &flags[..]].concat();
    let typed = [name, production, (DOSE, "y\r")];
    let (code, shown) = answered(&scene, &approve, &typed).await;
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains(RUNG), "it held at this rung: {shown}");
    scene.assert_clean();
}

#[tokio::test]
async fn what_is_no_approval_is_named_and_nothing_waits_for_it() {
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let place = &scene.place;
    place.write("empty.json", "");
    place.write("list.json", "[1, 2]");
    place.write("huge.json", &" ".repeat(11 * 1024 * 1024));
    std::fs::write(place.path("bytes.json"), [0xff, 0xfe, 0x00]).unwrap();
    std::fs::create_dir(place.path("folder.json")).unwrap();
    symlink("/dev/zero", place.path("zero.json")).unwrap();
    let pipe = place.path("pipe.json");
    let made = std::process::Command::new("mkfifo").arg(&pipe).status();
    assert!(made.unwrap().success());
    super::approve(place, &plan);
    let kept = place.state().join("approvals").join(&plan).join("1.json");
    let good = std::fs::read_to_string(kept).unwrap();
    place.write("marked.json", &format!("\u{feff}{good}"));
    place.write("longer.json", &format!("{good} "));
    let newer = good.replace("\"format\": 2", "\"format\": 3");
    place.write("newer.json", &newer);
    let odd = good.replace("\"tester\"", "\"te\\u001b[31mster\"");
    place.write("odd.json", &odd);
    for (file, code, words) in [
        ("none.json", 2, "no file `none.json`"),
        ("empty.json", 8, "this is no approval"),
        ("list.json", 8, "this is no approval"),
        ("stream-down.yaml", 8, "this is no approval"),
        ("huge.json", 8, "this is no approval"),
        ("bytes.json", 8, "this is no approval"),
        ("folder.json", 2, "folder.json"),
        ("zero.json", 2, "zero.json"),
        ("pipe.json", 2, "pipe.json"),
        ("marked.json", 8, "this is no approval"),
        ("longer.json", 8, "was changed after it was given"),
        ("newer.json", 8, "the approval has format 3"),
        ("odd.json", 8, "was changed after it was given"),
    ] {
        let ended = place.chaos(&["run", &plan, "--approval", file]).await;
        assert_eq!(ended.status.code(), Some(code), "{file}: {}", ended.stderr);
        assert!(ended.stderr.contains(words), "{file}: {}", ended.stderr);
        assert!(ended.stderr.contains("hint:"), "{file}: {}", ended.stderr);
        let wide = |line: &str| line.chars().count() > 80;
        assert!(!ended.stderr.lines().any(wide), "{file}: {}", ended.stderr);
    }
    assert_eq!(approvals(place, &plan), 1, "none of them was kept");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

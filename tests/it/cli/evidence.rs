//! What is left of a run: lists, reports, proofs, playing it back and repeating it.

use serde_json::Value;

use super::{FOR_THE_SANDBOX, Scene, after_a_run, approve};
use crate::support::process::Place;
use crate::support::target::Behaviour;

fn last(place: &Place) -> String {
    place.store().find_run("last").unwrap().id.to_string()
}

#[tokio::test]
async fn a_run_is_listed_shown_verified_and_reported() {
    let (place, said) = after_a_run().await;
    let place = &place;
    let id = last(place);
    assert!(said.contains(&format!("next: chaos report {id}")), "{said}");
    let listed = place.chaos(&["runs", "-o", "json"]).await.exits(0).json();
    assert_eq!(listed[0]["id"], id.as_str());
    assert_eq!(listed[0]["outcome"], "held");
    place
        .chaos(&["runs"])
        .await
        .exits(0)
        .prints(&id)
        .prints("held");
    place.chaos(&["show", &id]).await.exits(0).prints("HELD");
    // The part after the prefix, cut short, is enough where only one run has it.
    place
        .chaos(&["show", &id[2..12]])
        .await
        .exits(0)
        .prints("HELD");
    place
        .chaos(&["show", "--verify", &id])
        .await
        .exits(0)
        .prints("records");
    let report = place.chaos(&["report", &id]).await.exits(0);
    let report = report.prints("HELD").prints("stream refuses records");
    assert!(
        report
            .stdout
            .lines()
            .any(|line| line.contains("exit code 0")),
        "{}",
        report.stdout
    );
    let json = place
        .chaos(&["report", &id, "-o", "json"])
        .await
        .exits(0)
        .json();
    assert_eq!(json["verdict"]["outcome"], "held");
    assert_eq!(json["inPlace"], serde_json::json!([]));
}

#[tokio::test]
async fn a_flipped_byte_is_found_wherever_it_is() {
    let (place, _) = after_a_run().await;
    let journal = place.store().find_run("last").unwrap().journal;
    let whole = std::fs::read(&journal).unwrap();
    let places = [30, whole.len() / 3, whole.len() / 2, whole.len() - 40];
    for at in places {
        let mut changed = whole.clone();
        changed[at] ^= 1;
        std::fs::write(&journal, changed).unwrap();
        let verified = place.chaos(&["show", "--verify", "last"]).await;
        assert_eq!(
            verified.status.code(),
            Some(8),
            "byte {at}: {}",
            verified.stdout
        );
        assert!(
            verified.stderr.contains("error:"),
            "byte {at}: {}",
            verified.stderr
        );
    }
    let lines = whole.iter().filter(|byte| **byte == b'\n').count();
    let text = String::from_utf8(whole.clone()).unwrap();
    let without: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(line, _)| *line != lines / 2)
        .map(|(_, line)| line)
        .collect();
    std::fs::write(&journal, without.join("\n") + "\n").unwrap();
    place.chaos(&["show", "--verify", "last"]).await.exits(8);
    std::fs::write(&journal, whole).unwrap();
    place.chaos(&["show", "--verify", "last"]).await.exits(0);
}

/// The last words: from the line with the outcome on, less the hint what to type next.
fn closing(said: &str) -> Vec<&str> {
    let words = said.lines().skip_while(|line| !line.contains(" · exit "));
    words.filter(|line| !line.starts_with("next:")).collect()
}

#[tokio::test]
async fn a_recording_plays_without_a_network_and_ends_in_the_same_words() {
    let (place, said) = after_a_run().await;
    let args = ["replay", "last", "--view", "--speed", "max"];
    let played = place.chaos(&args).await.exits(0);
    assert!(!closing(&said).is_empty(), "{said}");
    assert_eq!(closing(&played.stderr), closing(&said));
    let journal = place.store().find_run("last").unwrap();
    let events = std::fs::read_to_string(journal.journal).unwrap();
    let args = ["replay", "last", "--view", "--speed", "max", "-o", "json"];
    let json = place.chaos(&args).await.exits(0);
    // The journal has a header and a seal besides.
    assert_eq!(json.stdout.lines().count() + 2, events.lines().count());
    assert_eq!(
        place.store().runs().unwrap().len(),
        1,
        "playing back is no run"
    );
}

#[tokio::test]
async fn a_repeated_run_needs_its_own_approval_and_stands_beside_the_old_one() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=10s"], &[]).await;
    run.says(super::FAULT_IS_IN).await;
    scene.target.becomes(Behaviour::Answer(vec![500]));
    run.says("fault seen gone").await;
    scene.target.becomes(Behaviour::Answer(vec![200]));
    run.ended().await.exits(1);
    let before = last(&scene.place);
    let place = &scene.place;
    let refused = place
        .chaos(&["replay", &before, "--var", "HOLD=1s"])
        .await
        .exits(4);
    refused.tells("needs a person's approval");
    let plan = place.store().plans().unwrap()[0].to_string();
    approve(place, &plan);
    let ran = place.chaos(&["run", &plan]).await.exits(0);
    assert_ne!(last(place), before, "{}", ran.stderr);
    let compared = place.chaos(&["report", &before, "last"]).await.exits(0);
    compared.prints("deviated").prints("held").prints(&before);
    let compared = place
        .chaos(&["report", &before, "last", "-o", "json"])
        .await;
    let compared: Value = compared.exits(0).json();
    assert!(compared.is_object(), "{compared}");
    scene.assert_clean();
}

#[tokio::test]
async fn the_fix_is_proven_by_a_replay_on_a_sandbox_of_its_own() {
    let place = Place::new();
    place.write("stream-down.yaml", FOR_THE_SANDBOX);
    let args = ["run", "--sandbox", "stream-down.yaml"];
    place
        .chaos(&args)
        .await
        .exits(1)
        .tells("no approval needed");
    let args = [
        "replay",
        "last",
        "--sandbox",
        "--app",
        "fixed",
        "--var",
        "HOLD=2s",
    ];
    let replayed = place.chaos(&args).await.exits(0);
    replayed.prints("deviated").prints("held");
    assert_eq!(place.store().runs().unwrap().len(), 2);
}

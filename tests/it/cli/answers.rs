//! Answers that travel as files: what is told of those that are there, of those that are missing, and of
//! what comes next.

use super::Scene;
use super::signing::Signed;
use crate::approvals::{keygen_is_missing, make_key};
use crate::support::process::Place;
use crate::support::pty::{self, Terminal};

/// Without colour, and as it was before the terminal folded it.
fn unfolded(shown: &str) -> String {
    let plain = console::strip_ansi_codes(shown);
    let words: Vec<&str> = plain.split_whitespace().collect();
    words.join(" ")
}

#[tokio::test]
async fn each_of_two_approvers_is_told_what_comes_next_and_who_has_no_key_what_is_missing() {
    if pty::is_missing() || keygen_is_missing() {
        return;
    }
    let mut signed = Signed::new(", count: 2", "").await;
    let bob = signed.key.clone();
    let alice = signed.scene.place.path("alice");
    make_key(&alice, "ed25519", "");
    let mut signers = String::new();
    for (name, key) in [("alice", &alice), ("bob", &bob)] {
        let public = std::fs::read_to_string(key.with_extension("pub")).unwrap();
        signers.push_str(&format!("{name}@example.com {public}"));
    }
    signed.scene.place.write("allowed_signers", &signers);
    let (one, two) = (Place::new(), Place::new());
    let plan = one.path("plan.json");
    let args = ["plan", "stream-down.yaml", "--out", plan.to_str().unwrap()];
    signed.run(&signed.scene.place, "ann", &args).await.exits(0);
    let (code, shown) = signed
        .approve(&one, "plan.json", &[], "stream-down\r")
        .await;
    let shown = unfolded(&shown);
    assert_eq!(code, Some(0), "{shown}");
    assert!(!shown.contains("Signing data"), "{shown}");
    for words in [
        "1 of 2 approvals",
        "another person approves it: `chaos approve plan.json --key FILE`; then: `chaos run plan.json --approval plan.bob.approval.json --approval THEIRS`",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    // At a terminal, by somebody whose key is nowhere to be found.
    let policy = signed.policy.to_str().unwrap().to_owned();
    let environment = [("USER", "carol"), ("CHAOS_POLICY", policy.as_str())];
    let args = ["run", "plan.json", "--approval", "plan.bob.approval.json"];
    let terminal = Terminal::start_with(&one, &args, &environment);
    let (status, shown) = terminal.ended().await;
    let shown = unfolded(&shown);
    assert_eq!(status.code(), Some(4), "{shown}");
    let missing = shown.find("has 1 of 2 approvals, by bob@example.com");
    let key = shown.find("none of the keys in ~/.ssh is an allowed signer");
    assert!(missing.is_some() && missing < key, "{shown}");
    assert!(shown.contains("--approval THEIRS"), "{shown}");
    // Whoever comes last gets the plan and what lies beside it.
    for file in ["plan.json", "plan.bob.approval.json"] {
        std::fs::copy(one.path(file), two.path(file)).unwrap();
    }
    signed.key = alice;
    let (code, shown) = signed
        .approve(
            &two,
            "plan.json",
            &["--out", "plan.alice.approval.json"],
            "stream-down\r",
        )
        .await;
    let shown = unfolded(&shown);
    assert_eq!(code, Some(0), "{shown}");
    for words in [
        "2 of 2 approvals",
        "next: chaos run plan.json --approval plan.alice.approval.json --approval plan.bob.approval.json",
    ] {
        assert!(shown.contains(words), "{shown}");
    }
    // A key that is named signs where the run asks for what is missing.
    let bob = bob.to_str().unwrap();
    let args = ["run", "plan.json", "--key", bob];
    std::fs::remove_dir_all(two.state()).unwrap();
    let mut terminal = Terminal::start_with(&two, &args, &environment);
    terminal.shows("anything else to refuse").await;
    terminal.types("stream-down\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(4), "{shown}");
    assert!(
        unfolded(&shown).contains("has 1 of 2 approvals, by bob"),
        "{shown}"
    );
    signed.scene.assert_clean();
}

#[tokio::test]
async fn a_no_travels_as_a_file_and_stops_the_plan_where_it_is_brought() {
    let signed = Signed::new("", "").await;
    let (bob, carol) = (Place::new(), Place::new());
    let plan = bob.path("plan.json");
    let args = ["plan", "stream-down.yaml", "--out", plan.to_str().unwrap()];
    signed.run(&signed.scene.place, "ann", &args).await.exits(0);
    std::fs::copy(&plan, carol.path("plan.json")).unwrap();
    let args = ["approve", "plan.json", "--deny", "--reason", "full queue"];
    let denied = signed.run(&bob, "bob", &args).await.exits(0);
    let told = unfolded(&denied.stderr);
    assert!(told.contains("written to plan.bob.denial.json"), "{told}");
    assert!(
        told.contains("`chaos run plan.json --approval plan.bob.denial.json` stops there"),
        "{told}"
    );
    let denial = bob.path("plan.bob.denial.json");
    std::fs::copy(&denial, carol.path("no.json")).unwrap();
    let args = ["run", "plan.json", "--approval", "no.json"];
    let stopped = signed.run(&carol, "carol", &args).await.exits(4);
    stopped.tells("said no to plan p-").tells("full queue");
    // It is no plan, and says what it is.
    for verb in ["run", "show", "plan", "approve"] {
        let ended = signed.run(&carol, "carol", &[verb, "no.json"]).await;
        let ended = ended.exits(2);
        ended
            .tells("no.json is a no to plan p-")
            .tells("--approval no.json");
    }
    // Said twice, it is the no of one person.
    let args = ["approve", "plan.json", "--deny", "--reason", "still full"];
    signed.run(&bob, "bob", &args).await.exits(0);
    let list = signed
        .run(&bob, "bob", &["approve", "--list"])
        .await
        .exits(0);
    let line = list.stdout.lines().find(|line| line.contains("the no of"));
    assert_eq!(line.unwrap().matches("bob@").count(), 1, "{}", list.stdout);
}

#[tokio::test]
async fn what_is_missing_or_misplaced_is_named_before_anything_is_shown() {
    let signed = Signed::new(", requester: denied", "").await;
    let place = &signed.scene.place;
    let args = ["run", "p2.json", "--approval", "x.json"];
    let gone = signed.run(place, "ann", &args).await.exits(2);
    gone.tells("there is no file `p2.json`");
    let planned = signed
        .run(place, "ann", &["plan", "-q", "stream-down.yaml"])
        .await;
    let plan = planned.exits(0).stdout.trim().to_owned();
    let own = signed.run(place, "ann", &["approve", &plan]).await.exits(4);
    let told = unfolded(&own.stderr);
    let next = format!("somebody else than ann approves it: `chaos approve {plan} --key FILE`");
    assert!(told.contains(&next), "{told}");
    assert!(!told.contains("Who must say yes"), "{told}");
    let none = signed.run(place, "bob", &["run", &plan]).await.exits(4);
    let told = unfolded(&none.stderr);
    let next = format!("somebody else than ann at a terminal: `chaos approve {plan} --key FILE`");
    assert!(told.contains(&next), "{told}");
    for (flags, words) in [
        (&["--deny"][..], "a no says why: --reason TEXT"),
        (&["--deny", "--reason", " "], "a no says why: --reason TEXT"),
        (
            &["--allow", "same-dose"],
            "an exception says why: --reason TEXT",
        ),
    ] {
        let args = [&["approve", plan.as_str()], flags].concat();
        signed.run(place, "bob", &args).await.exits(2).tells(words);
    }
    assert_eq!(super::approvals(place, &plan), 0);
}

#[tokio::test]
async fn an_exception_that_nothing_needs_is_left_out() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let args = [
        "approve",
        &plan,
        "--allow",
        "same-dose",
        "--reason",
        "why not",
    ];
    let mut terminal = Terminal::start(&scene.place, &args);
    terminal.shows("anything else to refuse").await;
    terminal.types("stream-down\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(
        unfolded(&shown).contains("this plan does not need `same-dose`: it is left out"),
        "{shown}"
    );
    let kept = scene
        .place
        .state()
        .join("approvals")
        .join(&plan)
        .join("1.json");
    let text = std::fs::read_to_string(kept).unwrap();
    assert!(!text.contains("same-dose"), "{text}");
}

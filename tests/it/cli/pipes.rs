//! Without a terminal: plain streams, one event a line, nothing where it was not asked for.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use super::Scene;
use crate::support::process::{Ended, Place, names_in};

#[track_caller]
fn assert_plain(what: &str, ended: &Ended) {
    for text in [&ended.stdout, &ended.stderr] {
        let odd = text.chars().find(|c| c.is_control() && *c != '\n');
        assert_eq!(odd, None, "{what}: {text:?}");
    }
}

#[tokio::test]
async fn nothing_steers_a_terminal_that_is_not_there() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let place = &scene.place;
    place.write("bad.yaml", "kind: Experiment\nsloss: 3\n");
    let run = place.chaos(&["run", &plan]).await.exits(0);
    assert_plain("run", &run);
    assert_eq!(run.stdout, "", "talk is no data");
    for args in [
        &["plan", "stream-down.yaml"][..],
        &["plan", "bad.yaml"],
        &["show", &plan],
        &["show", "last"],
        &["runs"],
        &["report", "last"],
        &["replay", "last", "--view", "--speed", "max"],
        &["approve", &plan],
        &["plan", "nowhere.yaml"],
        &["--help"],
        &["run", "--help"],
    ] {
        assert_plain(&args.join(" "), &place.chaos(args).await);
    }
}

#[tokio::test]
async fn colour_in_a_pipe_is_there_only_when_it_is_forced() {
    let scene = Scene::new().await;
    let forced = scene
        .place
        .chaos(&["--color", "always", "plan", "nowhere.yaml"])
        .await;
    assert!(forced.stderr.contains("\u{1b}["), "{:?}", forced.stderr);
    let mut command = scene.place.command(&["plan", "nowhere.yaml"]);
    command.env("CLICOLOR_FORCE", "1");
    let forced = crate::support::process::Running::of(command).ended().await;
    assert!(forced.stderr.contains("\u{1b}["), "{:?}", forced.stderr);
}

fn lines(text: &str) -> Vec<Value> {
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// The name of an event.
fn kind(record: &Value) -> &str {
    record["event"].as_object().unwrap().keys().next().unwrap()
}

/// The events of a journal, less the hashes that chain them.
fn journal(path: &Path) -> Vec<Value> {
    let mut records = lines(&std::fs::read_to_string(path).unwrap());
    records.retain(|record| record.get("seq").is_some());
    for record in &mut records {
        record.as_object_mut().unwrap().remove("prev");
    }
    records
}

#[tokio::test]
async fn a_run_as_json_is_its_journal_one_event_a_line_and_nothing_else() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let run = scene
        .place
        .chaos(&["run", &plan, "-o", "json"])
        .await
        .exits(0);
    assert_eq!(run.stderr, "");
    let shown = lines(&run.stdout);
    assert_eq!(kind(&shown[0]), "runStarted");
    assert_eq!(kind(&shown[shown.len() - 1]), "settled");
    let entry = scene.place.store().find_run("last").unwrap();
    assert_eq!(shown, journal(&entry.journal));
    let numbers: Vec<u64> = shown.iter().map(|it| it["seq"].as_u64().unwrap()).collect();
    let expected: Vec<u64> = (1..=shown.len() as u64).collect();
    assert_eq!(numbers, expected);
}

#[tokio::test]
async fn quiet_says_only_what_nobody_may_miss() {
    let scene = Scene::new().await;
    let plan = scene
        .place
        .chaos(&["plan", "-q", "stream-down.yaml"])
        .await
        .exits(0);
    assert_eq!(plan.stderr, "");
    let id = plan.stdout.strip_suffix('\n').unwrap();
    assert!(
        id.starts_with("p-") && !id.contains(char::is_whitespace),
        "{id:?}"
    );
    super::approve(&scene.place, id);
    let run = scene.place.chaos(&["run", "-q", id]).await.exits(0);
    assert_eq!(run.stdout, "");
    assert!(run.stderr.lines().count() <= 8, "{}", run.stderr);
    assert!(!run.stderr.contains("baseline"), "{}", run.stderr);
}

#[tokio::test]
async fn a_plan_is_text_json_or_yaml_of_the_same_thing() {
    let scene = Scene::new().await;
    let plan = |form: &'static str| scene.place.chaos(&["plan", "stream-down.yaml", "-o", form]);
    let (text, json, yaml) = (plan("text").await, plan("json").await, plan("yaml").await);
    let json: Value = serde_json::from_str(&json.exits(0).stdout).unwrap();
    let yaml: Value = serde_yaml::from_str(&yaml.exits(0).stdout).unwrap();
    for plan in [&json, &yaml] {
        assert_eq!(plan["plan"]["experiment"]["name"], "stream-down");
        assert!(plan["id"].as_str().unwrap().starts_with("p-"), "{plan}");
    }
    for words in [
        "kinesis:PutRecord",
        "PATCH http",
        "DELETE http",
        "digest sha256:",
    ] {
        assert!(
            text.stdout.contains(words),
            "no `{words}` in\n{}",
            text.stdout
        );
    }
    assert!(
        text.stdout.contains("next: chaos approve p-"),
        "{}",
        text.stdout
    );
}

/// Every file below a folder with its bytes.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder).unwrap().map(Result::unwrap);
    entries
        .filter(|entry| entry.path().is_file())
        .map(|entry| {
            (
                entry.path().display().to_string(),
                std::fs::read(entry.path()).unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn the_folder_that_a_person_stands_in_stays_as_it_is() {
    let scene = Scene::new().await;
    let before = files(&scene.place.path(""));
    let plan = scene.approved_plan(&[]).await;
    scene.place.chaos(&["run", &plan]).await.exits(0);
    scene.place.chaos(&["report", "last"]).await.exits(0);
    assert_eq!(files(&scene.place.path("")), before);
    assert_eq!(scene.place.listing(), ["stream-down.yaml"]);
    assert!(!scene.place.home().exists(), "nor was a home made");
}

#[tokio::test]
async fn state_goes_where_it_is_told_flag_before_variable_before_xdg_before_home() {
    let scene = Scene::new().await;
    let elsewhere = scene.place.path("flag");
    let flag = elsewhere.display().to_string();
    let xdg = scene.place.path("xdg");
    let started = |args: &[&str], with: &[(&str, &Path)], without: &[&str]| {
        let mut command = scene.place.command(args);
        command.envs(with.iter().copied());
        without.iter().for_each(|name| {
            command.env_remove(name);
        });
        crate::support::process::Running::of(command).ended()
    };
    let plan = &["plan", "-q", "stream-down.yaml"][..];
    let with_flag = [plan, &["--state-dir", &flag]].concat();
    started(&with_flag, &[], &[]).await.exits(0);
    assert_eq!(names_in(&elsewhere), ["plans"]);
    assert!(!scene.place.state().exists());
    started(plan, &[("XDG_STATE_HOME", &xdg)], &["CHAOS_STATE_DIR"])
        .await
        .exits(0);
    assert_eq!(names_in(&xdg.join("chaos")), ["plans"]);
    // A relative one is invalid by its specification, and ignored.
    let relative = Path::new("relative");
    started(plan, &[("XDG_STATE_HOME", relative)], &["CHAOS_STATE_DIR"])
        .await
        .exits(0);
    assert_eq!(
        names_in(&scene.place.home().join(".local/state/chaos")),
        ["plans"]
    );
    let homeless = started(plan, &[], &["CHAOS_STATE_DIR", "HOME"]).await;
    homeless.exits(8).tells("hint: name one with --state-dir");
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_written_is_told_and_nothing_is_injected() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    // Root may write anywhere, so that permissions would prove nothing: a file is no folder.
    scene.place.write("file", "");
    let file = scene.place.path("file").display().to_string();
    let below = scene.place.path("file/below").display().to_string();
    for folder in [file.as_str(), &below, "/proc/nowhere"] {
        let args = ["plan", "stream-down.yaml", "--state-dir", folder];
        scene
            .place
            .chaos(&args)
            .await
            .exits(8)
            .tells("error:")
            .tells("hint:");
    }
    // Approved, and then the place of the runs is taken by something else.
    std::fs::write(scene.place.state().join("runs"), "").unwrap();
    scene
        .place
        .chaos(&["run", &plan])
        .await
        .exits(8)
        .tells("error:");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn an_empty_store_says_what_to_do_next() {
    let place = Place::new();
    let runs = place.chaos(&["runs"]).await.exits(0);
    assert_eq!(runs.stdout, "");
    runs.tells("no runs yet");
    assert_eq!(
        place.chaos(&["runs", "-o", "json"]).await.exits(0).stdout,
        "[]\n"
    );
    for args in [
        &["show", "last"][..],
        &["report", "last"],
        &["replay", "last"],
    ] {
        place
            .chaos(args)
            .await
            .exits(2)
            .tells("there is no run `last`")
            .tells("hint:");
    }
    for args in [
        &["show", "p-1234567890"][..],
        &["run", "p-1234567890"],
        &["approve", "x"],
    ] {
        place
            .chaos(args)
            .await
            .exits(2)
            .tells("there is no plan")
            .tells("hint:");
    }
    assert!(!place.state().exists(), "looking makes no folders");
}

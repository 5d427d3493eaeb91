//! Every way out undoes: signals in every phase, impatient persons, readers that went away.

use futures_util::future::join_all;
use rustix::process::Signal;
use tokio::io::{AsyncBufReadExt as _, BufReader};

use super::{FAULT_IS_IN, Scene, ends_clean, report};
use crate::support::localstack::Quirk;
use crate::support::process::Running;

const SIGNALS: [(Signal, &str); 4] = [
    (Signal::INT, "SIGINT"),
    (Signal::TERM, "SIGTERM"),
    (Signal::HUP, "SIGHUP"),
    (Signal::QUIT, "SIGQUIT"),
];

/// Sends each signal once a run has said this; returns the scenes for a look at what was sent.
async fn each_signal_when(words: &str) -> Vec<Scene> {
    let runs = SIGNALS.map(|(signal, name)| async move {
        let scene = Scene::new().await;
        let mut run = scene.start(&["BASELINE=2s", "HOLD=20s"], &[]).await;
        run.says(words).await;
        run.signal(signal);
        let ended = run.ended().await;
        ends_clean(&scene, ended, 5, &format!("aborted by {name}"));
        let verdict = report(&scene.place).await["verdict"].clone();
        assert_eq!(verdict["outcome"], "aborted", "{name}");
        scene
    });
    join_all(runs).await
}

#[tokio::test]
async fn every_deadly_signal_during_the_baseline_ends_the_run_before_anything_is_sent() {
    for scene in each_signal_when("baseline").await {
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn every_deadly_signal_during_the_hold_undoes() {
    for scene in each_signal_when(FAULT_IS_IN).await {
        let writes = scene.localstack.writes();
        assert_eq!(writes.len(), 2, "one PATCH, one DELETE: {writes:?}");
    }
}

#[tokio::test]
async fn an_impatient_person_does_not_cut_a_slow_undo() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=20s"], &[]).await;
    run.says(FAULT_IS_IN).await;
    scene.becomes(vec![Quirk::IgnoresDelete]);
    run.signal(Signal::INT);
    run.says("attempt 1").await;
    run.signal(Signal::INT);
    run.signal(Signal::TERM);
    run.says("attempt 3").await;
    assert_eq!(scene.ours().len(), 1, "it is still in place");
    scene.becomes(vec![]);
    let ended = run.ended().await;
    let shown = ended
        .stderr
        .lines()
        .filter(|line| line.contains("in place"));
    let shown: Vec<&str> = shown.filter(|line| line.contains("1 rule on")).collect();
    assert!(
        !shown.is_empty(),
        "what is still in place is shown: {}",
        ended.stderr
    );
    ends_clean(&scene, ended, 5, "aborted by SIGINT");
}

#[tokio::test]
async fn readers_that_went_away_do_not_kill_the_undo() {
    let no_stdout = async {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let mut child = scene
            .place
            .command(&["run", &plan, "-o", "json"])
            .spawn()
            .unwrap();
        // As `chaos run … | head -1` does it.
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let first = lines.next_line().await.unwrap().unwrap();
        assert!(first.contains("runStarted"), "{first}");
        drop(lines);
        assert_eq!(child.wait().await.unwrap().code(), Some(0));
        assert_eq!(scene.localstack.writes().len(), 2);
        scene.assert_clean();
    };
    let no_stderr = async {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let mut child = scene.place.command(&["run", &plan]).spawn().unwrap();
        drop(child.stderr.take());
        assert_eq!(child.wait().await.unwrap().code(), Some(0));
        assert_eq!(scene.localstack.writes().len(), 2);
        scene.assert_clean();
    };
    let closed_from_the_start = async {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let mut command = tokio::process::Command::new("sh");
        let line = "exec \"$0\" \"$@\" >&- 2>&- <&-";
        command.args(["-c", line, env!("CARGO_BIN_EXE_chaos"), "run", &plan]);
        scene.place.surround(&mut command);
        let ended = Running::of(command).ended().await;
        assert_eq!(ended.status.code(), Some(0));
        assert_eq!(report(&scene.place).await["verdict"]["outcome"], "held");
        scene.assert_clean();
    };
    tokio::join!(no_stdout, no_stderr, closed_from_the_start);
}

#[tokio::test]
async fn a_full_disk_for_the_output_is_told_and_does_not_kill_the_undo() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let mut command = scene.place.command(&["run", &plan, "-o", "json"]);
    let full = std::fs::OpenOptions::new()
        .write(true)
        .open("/dev/full")
        .unwrap();
    command.stdout(full);
    let ended = Running::of(command).ended().await;
    ends_clean(&scene, ended, 8, "standard output could not be written");
}

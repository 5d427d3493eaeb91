//! What becomes of the guardian itself.

use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use rustix::process::{Pid, Signal, kill_process};

use super::deaths::DIED;
use super::{SOON, Scene, assert_rescued, ending, takeovers, until_killed};
use crate::cli::FAULT_IS_IN;
use crate::support::guardian::{guardian_of, guardians, is_there, log, records, until};

fn warnings(scene: &Scene) -> Vec<String> {
    let records = records(&scene.place).into_iter();
    let warned = records.filter_map(|record| {
        let Event::Warned { message } = record.event else {
            return None;
        };
        message.contains("guardian").then_some(message)
    });
    warned.collect()
}

async fn until_replaced(scene: &Scene, former: Pid) -> Pid {
    until("another guardian is there", || {
        guardian_of(&scene.place) != former
    })
    .await;
    guardian_of(&scene.place)
}

#[tokio::test]
async fn a_guardian_leaves_with_its_run() {
    let scene = Scene::new().await;
    let mut run = scene.start(&[]).await;
    run.says("baseline").await;
    let guardian = guardian_of(&scene.place);
    assert!(is_there(guardian));
    run.ended().await.exits(0);
    let entry = format!("/proc/{}", guardian.as_raw_nonzero());
    assert!(!std::path::Path::new(&entry).exists(), "not even a zombie");
    assert_eq!(takeovers(&scene.place), []);
    assert_eq!(guardians(&scene.place), [guardian]);
    assert!(log(&scene.place).contains("the run has ended"));
}

#[tokio::test]
async fn a_guardian_that_is_killed_is_replaced_by_one_that_does_its_work() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    let first = guardian_of(&scene.place);
    kill_process(first, Signal::KILL).unwrap();
    let second = until_replaced(&scene, first).await;
    assert!(!is_there(first) && is_there(second));
    assert_eq!(
        warnings(&scene),
        ["the guardian died; another guardian took its place"]
    );
    run.signal(Signal::KILL);
    until_killed(run).await;
    scene.until_clean(SOON).await;
    scene.until_unguarded().await;
    assert_rescued(&scene.place, DIED);
}

#[tokio::test]
async fn a_guardian_that_does_not_answer_is_replaced() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=9s"]).await;
    run.says(FAULT_IS_IN).await;
    let first = guardian_of(&scene.place);
    kill_process(first, Signal::STOP).unwrap();
    let second = until_replaced(&scene, first).await;
    assert!(!is_there(first) && is_there(second));
    run.ended().await.exits(0);
    assert_eq!(
        warnings(&scene),
        ["the guardian gave no answer for 5s; another guardian took its place"]
    );
    assert!(!is_there(second));
    assert!(scene.is_clean().await);
}

#[tokio::test]
async fn a_run_whose_guardians_die_one_after_the_other_undoes_and_ends() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    for _ in 0..3 {
        let guardian = guardian_of(&scene.place);
        kill_process(guardian, Signal::KILL).unwrap();
        until_replaced(&scene, guardian).await;
    }
    kill_process(guardian_of(&scene.place), Signal::KILL).unwrap();
    let ended = run.ended().await.exits(6);
    ended.tells("the guardian died, like 3 before it");
    assert_eq!(ending(&scene.place).0, Outcome::Inconclusive);
    assert!(scene.is_clean().await);
    scene.until_unguarded().await;
}

#[tokio::test]
async fn a_guardian_obeys_no_signal_while_its_run_is_under_way() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=3s"]).await;
    run.says(FAULT_IS_IN).await;
    let guardian = guardian_of(&scene.place);
    let signals = [
        (Signal::INT, "SIGINT"),
        (Signal::TERM, "SIGTERM"),
        (Signal::HUP, "SIGHUP"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::IO, "SIGIO"),
        (Signal::TSTP, "SIGTSTP"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::XFSZ, "SIGXFSZ"),
    ];
    for (signal, _) in signals {
        kill_process(guardian, signal).unwrap();
    }
    run.ended().await.exits(0);
    assert_eq!(guardians(&scene.place), [guardian]);
    let said = log(&scene.place);
    for (_, name) in signals {
        assert!(
            said.contains(&format!("refused {name}: ")),
            "{name}\n{said}"
        );
    }
}

#[tokio::test]
async fn nobody_types_it() {
    let place = crate::support::process::Place::new();
    let typed = place.chaos(&["guardian"]).await.exits(2);
    typed.tells("nobody said what to watch over");
    place.chaos(&["guardian", "more"]).await.exits(2);
    let help = place.chaos(&["--help"]).await.exits(0);
    assert!(!help.stdout.contains("\n  guardian"), "{}", help.stdout);
}

#[tokio::test]
async fn a_run_that_can_post_no_guardian_is_refused_before_anything_is_sent() {
    use std::os::unix::ffi::OsStrExt as _;
    let scene = Scene::new().await;
    let endpoint = scene.bench.sandbox.aws_url();
    let plan = scene.approved_at(endpoint, &[]).await;
    let mut command = scene.place.command(&["run", &plan]);
    // What a guardian is told is JSON, which such a path does not go into.
    let folder = std::ffi::OsStr::from_bytes(b"locks-\xff");
    command.env("CHAOS_LOCK_DIR", scene.place.path("").join(folder));
    let run = crate::support::process::Running::of(command);
    let ended = run.ended().await.exits(3);
    ended.tells("no guardian could be posted: the guardian of r-");
    assert!(scene.is_clean().await);
    let injecting = |record: &chaos_gameday::model::event::Record| {
        matches!(
            record.event,
            Event::Exchanged { .. } | Event::UndoRecorded { .. }
        )
    };
    assert!(!records(&scene.place).iter().any(injecting));
}

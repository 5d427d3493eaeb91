//! Ways out that take a process: a person who presses Ctrl-C twice, and a disk that is full.

use futures_util::future::join_all;
use rustix::process::Signal;
use tokio::process::Command;

use super::{FAULT_IS_IN, Scene, report};
use crate::support::localstack::Quirk;
use crate::support::process::Running;
use crate::support::pty::{self, CTRL_C, Terminal};

/// What a second Ctrl-C shows.
const STILL: &str = "SIGINT received · still in place, and undone now: 1 rule on";

#[tokio::test]
async fn a_second_ctrl_c_at_a_terminal_says_what_is_in_place_and_cuts_nothing() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=20s"]).await;
    let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
    terminal.shows(FAULT_IS_IN).await;
    scene.becomes(vec![Quirk::IgnoresDelete]);
    terminal.types(CTRL_C).await;
    terminal.shows("undo attempt 2 failed").await;
    terminal.types(CTRL_C).await;
    terminal
        .has_on_screen("still in place, and undone now: 1 rule")
        .await;
    // All but the commands to copy, which are never cut.
    let screen = terminal.screen();
    let said = screen.iter().find(|line| line.contains("undone now"));
    assert!(
        said.is_some_and(|line| line.chars().count() <= 80),
        "{screen:#?}"
    );
    terminal.shows("undo attempt 4 failed").await;
    assert_eq!(scene.ours().len(), 1, "it is still in place");
    scene.becomes(vec![]);
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(5), "{}", pty::tail_of(&shown));
    scene.assert_clean();
}

#[tokio::test]
async fn a_second_ctrl_c_without_a_terminal_says_what_is_in_place_even_when_quiet() {
    for flags in [&[][..], &["-q"][..]] {
        let scene = Scene::new().await;
        let mut run = scene.start(&["HOLD=20s"], flags).await;
        while scene.ours().is_empty() {
            tokio::time::sleep(std::time::Duration::from_millis(10)).await;
        }
        scene.becomes(vec![Quirk::IgnoresDelete]);
        run.signal(Signal::INT);
        run.says("undo attempt 1 failed").await;
        run.signal(Signal::INT);
        run.says_times(STILL, 2).await;
        scene.becomes(vec![]);
        run.ended().await.exits(5);
        scene.assert_clean();
    }
}

#[tokio::test]
async fn a_journal_that_is_full_at_any_size_is_lost_evidence_and_leaves_nothing() {
    // In blocks of 512 bytes: from the first event on, to beyond the last.
    let sizes = [7_u32, 9, 11, 13, 15, 18, 21, 25, 30, 36];
    let runs = sizes.map(|blocks| async move {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let mut command = Command::new("sh");
        let line = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" \"$@\"");
        command.args(["-c", &line, env!("CARGO_BIN_EXE_chaos"), "run", &plan]);
        scene.place.surround(&mut command);
        let ended = Running::of(command).ended().await;
        let code = ended.status.code();
        assert!(
            matches!(code, Some(0 | 8)),
            "{blocks}: {}\n{}",
            ended.status,
            ended.stderr
        );
        scene.assert_clean();
        code
    });
    let codes = join_all(runs).await;
    let lost = codes.iter().filter(|code| **code == Some(8)).count();
    assert!(lost >= 5, "most of them are too small: {codes:?}");
}

#[tokio::test]
async fn a_stuck_run_tells_how_to_finish_by_hand_where_its_events_are_data_too() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    scene.becomes(vec![Quirk::IgnoresDelete]);
    let args = ["run", &plan, "-o", "json", "--undo-timeout", "1s"];
    let ended = scene.place.chaos(&args).await.exits(7);
    let told = ended.stderr.lines().map(str::trim);
    let told: Vec<&str> = told.filter(|line| line.starts_with("curl ")).collect();
    assert_eq!(told.len(), 1, "{}", ended.stderr);
    let text = scene.place.chaos(&["report", "last"]).await.exits(0);
    text.prints(told[0]);
    let report = report(&scene.place).await;
    assert_eq!(report["inPlace"][0]["byHand"][0], told[0], "{report}");
}

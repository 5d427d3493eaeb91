//! At a real terminal: who may say yes, what a person sees, and that Ctrl-C undoes.

use std::time::Duration;

use super::{FAULT_IS_IN, FOR_THE_SANDBOX, Scene, after_a_run, approvals, foreign, report};
use crate::support::process::Place;
use crate::support::pty::{self, CTRL_C, CTRL_D, Terminal};

const QUESTION: &str = "anything else to refuse";
/// What the Escape key sends.
const ESCAPE: &str = "\u{1b}";

/// Answers the question of `chaos approve` with these keys; returns the exit code, what was shown,
/// and how many approvals are kept then.
async fn answered(keys: &str) -> (Option<i32>, String, usize) {
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    let mut terminal = Terminal::start(&scene.place, &["approve", &plan, "--reason", "rehearsed"]);
    terminal.shows(QUESTION).await;
    terminal.types(keys).await;
    let (status, shown) = terminal.ended().await;
    (status.code(), shown, approvals(&scene.place, &plan))
}

#[tokio::test]
async fn typing_the_name_approves_and_anything_else_does_not() {
    if pty::is_missing() {
        return;
    }
    let (yes, wrong, nothing, part) = tokio::join!(
        answered("stream-down\r"),
        answered("stream-up\r"),
        answered("\r"),
        answered("stream\r"),
    );
    assert_eq!((yes.0, yes.2), (Some(0), 1), "{}", yes.1);
    assert!(yes.1.contains("approved p-"), "{}", yes.1);
    for (code, shown, kept) in [wrong, nothing, part] {
        assert_eq!((code, kept), (Some(4), 0), "{shown}");
        assert!(shown.contains("was not approved"), "{shown}");
    }
}

#[tokio::test]
async fn ctrl_c_and_ctrl_d_at_the_question_mean_no() {
    if pty::is_missing() {
        return;
    }
    let (ctrl_c, ctrl_d) = tokio::join!(answered(CTRL_C), answered(CTRL_D));
    for (key, (code, shown, kept)) in [("Ctrl-C", ctrl_c), ("Ctrl-D", ctrl_d)] {
        assert_eq!((code, kept), (Some(4), 0), "{key}: {shown}");
    }
}

#[tokio::test]
async fn the_whole_way_at_one_terminal_plans_asks_runs_and_holds() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let mut terminal = Terminal::start(&scene.place, &["run", "stream-down.yaml"]);
    terminal.shows(QUESTION).await;
    assert!(
        terminal.seen().contains("PATCH http://127.0.0.1"),
        "the plan is shown before"
    );
    terminal.types("stream-down\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    scene.assert_clean();
    for words in ["error-rate", "baseline", "fault seen gone", "held · exit 0"] {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
    assert_eq!(report(&scene.place).await["approvals"][0]["mode"], "typed");
}

/// What was true when the question was asked may not be when it is answered: the world changed, or
/// somebody cleared the folder of the locks.
#[tokio::test]
async fn nobody_is_asked_for_a_yes_to_a_plan_that_was_not_shown() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.plan(&[]).await;
    for args in [
        &["run", &plan][..],
        &["run", "-q", &plan],
        &["run", "-o", "json", &plan],
        &["run", "-q", "stream-down.yaml"],
        &["approve", "-q", &plan],
    ] {
        let mut terminal = Terminal::start(&scene.place, args);
        terminal.shows(QUESTION).await;
        terminal.types("no\r").await;
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(4), "{args:?} {shown}");
        let before = shown.split(QUESTION).next().unwrap();
        for part in ["Orders go on", "PutRecord", "error-rate", "sha256:"] {
            assert!(before.contains(part), "{args:?}: no {part} in {before}");
        }
    }
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_yes_that_took_its_time_is_a_yes_to_the_world_as_it_is_now() {
    if pty::is_missing() {
        return;
    }
    for (changed, words) in [
        ("restarted", "planned `session-0`, now `session-1`"),
        ("unlocked", "was removed under this run"),
    ] {
        let scene = Scene::new().await;
        let mut terminal = Terminal::start(&scene.place, &["run", "stream-down.yaml"]);
        terminal.shows(QUESTION).await;
        match changed {
            "restarted" => {
                scene.localstack.restart();
                scene.localstack.inner().rules.push(foreign());
            }
            _ => {
                std::fs::remove_dir_all(scene.place.runtime()).unwrap();
            }
        }
        // As long as a person takes.
        tokio::time::sleep(Duration::from_millis(300)).await;
        terminal.types("stream-down\r").await;
        let (status, shown) = terminal.ended().await;
        let said: Vec<&str> = shown.split_whitespace().collect();
        assert_eq!(status.code(), Some(3), "{shown}");
        assert!(said.join(" ").contains(words), "{shown}");
        assert!(!shown.contains("baseline held"), "{shown}");
        assert_eq!(scene.place.store().runs().unwrap(), [], "no run was begun");
        scene.assert_clean();
    }
}

/// Whether the cursor is visible after all this was shown.
fn cursor_is_visible(shown: &str) -> bool {
    match (shown.rfind("\u{1b}[?25l"), shown.rfind("\u{1b}[?25h")) {
        (None, _) => true,
        (Some(hidden), visible) => visible.is_some_and(|visible| visible > hidden),
    }
}

#[tokio::test]
async fn the_live_view_shows_phase_and_slos_and_ctrl_c_undoes_and_leaves_a_cursor() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=20s"]).await;
    let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
    terminal.shows(FAULT_IS_IN).await;
    terminal.shows("observing").await;
    assert_eq!(scene.ours().len(), 1);
    assert!(
        !cursor_is_visible(&terminal.seen()),
        "a redrawn block hides the cursor"
    );
    terminal.types(CTRL_C).await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(5), "{shown}");
    scene.assert_clean();
    assert!(cursor_is_visible(&shown), "{shown}");
    for words in [
        "error-rate",
        "observing",
        "aborted by SIGINT",
        "aborted · exit 5",
    ] {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
    assert!(shown.contains("\u{1b}[3"), "a terminal gets colours");
}

/// Codes that set colours or weights: `ESC [ … m`.
fn has_colour(shown: &str) -> bool {
    shown.split("\u{1b}[").skip(1).any(|rest| {
        let end = rest.find(|c: char| c.is_ascii_alphabetic());
        end.is_some_and(|end| rest[end..].starts_with('m'))
    })
}

#[tokio::test]
async fn a_terminal_without_colour_shows_the_same_words_and_a_dumb_one_no_codes_at_all() {
    if pty::is_missing() {
        return;
    }
    let shown_with = |name: &'static str, value: &'static str| async move {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let terminal = Terminal::start_with(&scene.place, &["run", &plan], &[(name, value)]);
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(0), "{name}: {shown}");
        assert!(shown.contains("error-rate"), "{name}: {shown}");
        assert!(shown.contains("held"), "{name}: {shown}");
        assert!(cursor_is_visible(&shown), "{name}: {shown}");
        shown
    };
    let (plain, dumb, ci) = tokio::join!(
        shown_with("NO_COLOR", "1"),
        shown_with("TERM", "dumb"),
        shown_with("CI", "true"),
    );
    assert!(!has_colour(&plain), "{plain}");
    assert!(plain.contains("\u{1b}["), "but it is redrawn");
    assert!(!dumb.contains('\u{1b}'), "{dumb}");
    assert!(!ci.contains("\u{1b}[?25l"), "a log is not redrawn: {ci}");
}

#[tokio::test]
async fn a_terminal_that_closes_in_the_middle_of_a_note_undoes() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=20s"]).await;
    let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
    terminal.shows(FAULT_IS_IN).await;
    terminal.types("n").await;
    terminal.types("half a no").await;
    terminal.has_on_screen("note: half a no").await;
    let status = terminal.hangs_up().await;
    assert_eq!(status.code(), Some(5));
    scene.assert_clean();
    assert_eq!(
        report(&scene.place).await["verdict"]["cause"],
        "aborted by SIGHUP"
    );
}

#[tokio::test]
async fn a_run_in_the_background_goes_on_where_the_terminal_stops_those_who_write() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=4s"]).await;
    let script = format!("set -m; \"$0\" run {plan} & read; stty tostop; wait $!; times; exit $?");
    let mut terminal = Terminal::start_shell(&scene.place, &script);
    terminal.shows(FAULT_IS_IN).await;
    terminal.types("\n").await;
    let (_, shown) = terminal.ended().await;
    scene.assert_clean();
    assert!(shown.contains("held · exit 0"), "{}", pty::tail_of(&shown));
    // A write that is begun again and again takes a second of the processor for each second.
    let children = shown.trim_end().rsplit('\n').next().unwrap_or_default();
    assert!(
        children.starts_with("0m0.") || children.starts_with("0m1."),
        "{children}"
    );
}

#[tokio::test]
async fn init_asks_its_questions_and_writes_what_plan_accepts() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let url = scene.localstack.url.clone();
    let args = [
        "init",
        "guided.yaml",
        "--endpoint",
        &url,
        "--region",
        "us-east-1",
    ];
    let mut terminal = Terminal::start(&scene.place, &args);
    for question in [
        "Which AWS service fails?",
        "Which operation?",
        "Which URL shows the effect?",
        "How long does the fault stay in?",
        "Name of the experiment",
        "What do you claim?",
    ] {
        terminal.shows(question).await;
        terminal.types("\r").await;
    }
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    scene.place.chaos(&["plan", "guided.yaml"]).await.exits(0);
}

#[tokio::test]
async fn what_is_neither_yes_nor_no_is_asked_again() {
    if pty::is_missing() {
        return;
    }
    let place = Place::new();
    place.write("stream-down.yaml", FOR_THE_SANDBOX);
    let args = ["run", "--sandbox", "--app", "fixed", "stream-down.yaml"];
    let mut terminal = Terminal::start(&place, &args);
    terminal.shows("run it now?").await;
    terminal.types("quit\r").await;
    terminal.shows("please answer y or n").await;
    terminal.types("n\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(4), "{shown}");
    assert_eq!(shown.matches("run it now?").count(), 2, "{shown}");
    assert!(!place.state().join("runs").exists());
}

#[tokio::test]
async fn init_asks_again_where_an_answer_cannot_be_used() {
    if pty::is_missing() {
        return;
    }
    let place = Place::new();
    let args = [
        "init",
        "--endpoint",
        "http://127.0.0.1:4566",
        "--prometheus",
        "http://127.0.0.1:9090",
    ];
    let mut terminal = Terminal::start(&place, &args);
    for (question, bad, problem, good) in [
        (
            "Which AWS service",
            "My Queue",
            "the service `My Queue`",
            "sqs",
        ),
        (
            "Which operation?",
            "Send Me",
            "the operation `Send Me`",
            "SendMessage",
        ),
        ("Which URL", "foo", "`foo` is no URL", "http://127.0.0.1:1/"),
        ("Which PromQL", "sum(lost", "this is no PromQL", "sum(lost)"),
        ("What must", "few", "`few` is no objective", "== 0"),
        ("How long", "abc", "`abc` is no duration", "5s"),
        (
            "Name of the",
            "My Name",
            "`My Name` is no DNS label",
            "ours",
        ),
    ] {
        terminal.shows(question).await;
        terminal.types(&format!("{bad}\r")).await;
        terminal.shows(&format!("error:\u{1b}[0m {problem}")).await;
        terminal.types(&format!("{good}\r")).await;
    }
    terminal.shows("What do you claim?").await;
    terminal.types("\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    let written = std::fs::read_to_string(place.path("ours.yaml")).unwrap();
    for words in [
        "SendMessage",
        "hold: 5s",
        "http://127.0.0.1:1/",
        "http://127.0.0.1:9090",
        "\"sum(lost)\"",
        "\"== 0\"",
    ] {
        assert!(written.contains(words), "no `{words}` in\n{written}");
    }
}

#[tokio::test]
async fn a_replay_asks_again_and_shows_both_runs_side_by_side() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    scene.start(&[], &[]).await.ended().await.exits(0);
    let mut terminal = Terminal::start(&scene.place, &["replay", "last"]);
    terminal.shows(QUESTION).await;
    terminal.types("stream-down\r").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    scene.assert_clean();
    let runs = scene.place.store().runs().unwrap();
    assert_eq!(runs.len(), 2);
    let (_, comparison) = shown.rsplit_once("next: chaos report").unwrap();
    for run in runs {
        assert!(comparison.contains(run.id.as_str()), "{comparison}");
    }
}

#[tokio::test]
async fn a_recording_plays_through_the_live_view() {
    if pty::is_missing() {
        return;
    }
    let (place, _) = after_a_run().await;
    let args = ["replay", "last", "--view", "--speed", "20"];
    let (status, shown) = Terminal::start(&place, &args).ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    for words in ["observing", "error-rate", "held · exit 0", "\u{1b}[?25l"] {
        assert!(shown.contains(words), "no `{words}` in\n{shown}");
    }
    assert!(cursor_is_visible(&shown), "{shown}");
}

#[tokio::test]
async fn ctrl_c_ends_playing_a_recording_and_leaves_a_cursor() {
    if pty::is_missing() {
        return;
    }
    let (place, _) = after_a_run().await;
    let args = ["replay", "last", "--view", "--speed", "0.1"];
    let mut terminal = Terminal::start(&place, &args);
    terminal.shows("baseline").await;
    terminal.shows("\u{1b}[?25l").await;
    terminal.types(CTRL_C).await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(cursor_is_visible(&shown), "{shown}");
}

#[tokio::test]
async fn a_quiet_run_at_a_terminal_draws_nothing() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let (status, shown) = Terminal::start(&scene.place, &["run", "-q", &plan])
        .ended()
        .await;
    assert_eq!(status.code(), Some(0), "{shown}");
    assert!(!shown.contains("\u{1b}[?25l"), "{shown}");
    assert!(!shown.contains("baseline"), "{shown}");
}

#[tokio::test]
async fn a_courtesy_question_may_be_skipped_and_a_no_injects_nothing() {
    if pty::is_missing() {
        return;
    }
    let asked = |keys: &'static str| async move {
        let place = Place::new();
        place.write("stream-down.yaml", FOR_THE_SANDBOX);
        let args = ["run", "--sandbox", "--app", "fixed", "stream-down.yaml"];
        let mut terminal = Terminal::start(&place, &args);
        terminal.shows("run it now?").await;
        terminal.types(keys).await;
        let (status, shown) = terminal.ended().await;
        (status.code(), shown, place.state().join("runs").exists())
    };
    let skipped = async {
        let place = Place::new();
        place.write("stream-down.yaml", FOR_THE_SANDBOX);
        let args = ["run", "--sandbox", "--yes", "stream-down.yaml"];
        let mut terminal = Terminal::start(&place, &args);
        terminal.shows("baseline · ").await;
        terminal.types(CTRL_C).await;
        terminal.ended().await
    };
    let (no, ctrl_c, ctrl_d, escape, (status, shown)) = tokio::join!(
        asked("No\r"),
        asked(CTRL_C),
        asked(CTRL_D),
        asked(ESCAPE),
        skipped
    );
    let keys = ["no", "Ctrl-C", "Ctrl-D", "Escape"];
    for (key, (code, shown, ran)) in keys.into_iter().zip([no, ctrl_c, ctrl_d, escape]) {
        assert_eq!((code, ran), (Some(4), false), "{key}: {shown}");
        assert!(!shown.contains("please answer"), "{key}: {shown}");
    }
    assert_eq!(status.code(), Some(5), "{shown}");
    assert!(!shown.contains("run it now?"), "{shown}");
}

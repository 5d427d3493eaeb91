//! Keys at a real terminal while a run goes on: what they do, what the journal has of them, and that the
//! terminal is left as it was found.

use std::time::Duration;

use chaos_gameday::journal;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::remark::Pause;
use chaos_gameday::model::state::RunState;
use jiff::Timestamp;
use rustix::process::Signal;

use super::{FAULT_IS_IN, FOR_THE_SANDBOX, Scene, report};
use crate::support::process::Place;
use crate::support::pty::{self, CTRL_C, Terminal};

/// What is on the screen once keys are read.
const KEYS: &str = "? keys";
/// How late a record may be after its key, at best.
const SOON: Duration = Duration::from_millis(100);

/// The events of the only run.
fn records(place: &Place) -> Vec<Record> {
    let store = place.store();
    let runs = store.runs().unwrap();
    let [run] = &runs[..] else {
        panic!("one run, not {}", runs.len());
    };
    journal::read(&run.journal).unwrap().records
}

/// Types a key; returns when.
#[expect(
    clippy::disallowed_methods,
    reason = "the records of another process go by the wall clock"
)]
async fn typed(terminal: &mut Terminal, key: &str) -> Timestamp {
    // Where the pause before typing is over; a key waits for nothing else.
    terminal.types("").await;
    let now = Timestamp::now();
    terminal.writes(key);
    now
}

/// What a person said by this, and who.
fn person_said(record: &Record) -> Option<String> {
    if let Event::Noted { text, by } = &record.event {
        return Some(format!("{text} by {}", by.as_ref()?.user));
    }
    if let Event::Marked { label, by } = &record.event {
        return Some(format!("{label} by {}", by.user));
    }
    None
}

/// Which part of a pause this is.
fn part_of_a_pause(record: &Record) -> Option<&'static str> {
    let event = &record.event;
    let wished = Event::PauseChosen {
        pause: Pause::BeforeNextStep,
    };
    if *event == wished {
        return Some("wished for");
    }
    if matches!(event, Event::PhaseEntered { phase, .. } if *phase == Phase::AwaitingGo) {
        return Some("waits");
    }
    matches!(event, Event::Answered { .. }).then_some("goes on")
}

fn since(record: &Record, typed: Timestamp) -> Duration {
    Duration::try_from(record.time.duration_since(typed)).unwrap_or_default()
}

#[tokio::test]
async fn keys_act_while_bars_move_and_the_journal_has_them_at_once() {
    if pty::is_missing() {
        return;
    }
    let place = Place::new();
    place.write("stream-down.yaml", FOR_THE_SANDBOX);
    let args = [
        "run",
        "--sandbox",
        "--app",
        "fixed",
        "--yes",
        "--var",
        "HOLD=60s",
    ];
    let args = [&args[..], &["stream-down.yaml"]].concat();
    let mut terminal = Terminal::start(&place, &args);
    let before = terminal.modes();
    terminal.has_on_screen(KEYS).await;
    assert_eq!(terminal.modes(), before.with_keys());
    terminal.shows(FAULT_IS_IN).await;

    terminal.types("?").await;
    terminal
        .has_on_screen("Ctrl-C ends the run without a question")
        .await;
    terminal.types("?").await;
    terminal.has_on_screen("m alert fired").await;

    terminal.types("n").await;
    terminal.types("pager rang é漢").await;
    terminal.has_on_screen("note: pager rang é漢").await;
    terminal.types("\u{7f}").await;
    terminal.has_on_screen("note: pager rang é").await;
    let noted = typed(&mut terminal, "\r").await;
    terminal.has_on_screen("note by tester@").await;

    let mut marked = Vec::new();
    for _ in 0..5 {
        marked.push(typed(&mut terminal, "m").await);
    }
    terminal.has_on_screen("marked: alert fired").await;

    terminal.resizes(60, 24).await;
    terminal.has_on_screen("q quit · ? keys").await;
    let screen = terminal.screen();
    let headers = screen
        .iter()
        .filter(|line| line.contains("stream-down · step"));
    assert_eq!(headers.count(), 1, "{}", screen.join("\n"));
    terminal.resizes(100, 30).await;
    terminal.has_on_screen("q quit view").await;

    terminal.types("p").await;
    terminal.has_on_screen("there is no next step").await;
    terminal.types("q").await;
    terminal.has_on_screen("leave this view?").await;
    terminal.types("l").await;
    terminal.has_on_screen("the keys go on working").await;
    terminal.has_on_screen("observing ").await;
    assert!(!terminal.screen().iter().any(|line| line.contains(KEYS)));
    terminal.types("q").await;
    terminal.has_on_screen("back to the bars").await;
    terminal.types("b").await;
    terminal.has_on_screen(KEYS).await;

    terminal.types("a").await;
    terminal.has_on_screen("abort? y/n").await;
    terminal.types("n").await;
    terminal.has_on_screen(KEYS).await;
    terminal.types("a").await;
    terminal.has_on_screen("abort? y/n").await;
    terminal.types("y").await;
    let (status, shown, after) = terminal.left().await;
    assert_eq!(status.code(), Some(5), "{}", pty::tail_of(&shown));
    assert_eq!(after, before);

    let records = records(&place);
    let written = records
        .iter()
        .filter_map(|record| Some((record, person_said(record)?)));
    let (written, words): (Vec<&Record>, Vec<String>) = written.unzip();
    let mark = "alert fired by tester";
    assert_eq!(
        words,
        ["pager rang é by tester", mark, mark, mark, mark, mark]
    );
    let typed = [&[noted][..], &marked].concat();
    let late = written
        .iter()
        .zip(typed)
        .map(|(record, typed)| since(record, typed));
    let late: Vec<Duration> = late.collect();
    assert!(late.iter().min() < Some(&SOON), "{late:?}");
    let ending = RunState::of(&records).cause.map(|cause| cause.sentence());
    assert!(ending.is_some_and(|cause| cause.starts_with("aborted by tester@")));
    assert_eq!(
        report(&place).await["marks"].as_array().map(Vec::len),
        Some(5)
    );
}

#[tokio::test]
async fn a_pause_waits_before_the_next_step_and_the_same_key_goes_on() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let text = std::fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    let second = "  - name: once more
    fault: {localstack: {faults: [{service: kinesis, operation: PutRecord}]}}
    hold: 1s
recovery:";
    scene
        .place
        .write("stream-down.yaml", &text.replace("recovery:", second));
    let plan = scene.approved_plan(&["HOLD=3s"]).await;
    let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
    terminal.has_on_screen(KEYS).await;
    terminal.shows(FAULT_IS_IN).await;
    terminal.types("p").await;
    terminal
        .has_on_screen("will pause before the next step")
        .await;
    terminal.has_on_screen("paused before the next step").await;
    scene.assert_clean();
    terminal.has_on_screen("p go").await;
    terminal.types("p").await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(0), "{}", pty::tail_of(&shown));
    scene.assert_clean();
    let course: Vec<&str> = records(&scene.place)
        .iter()
        .filter_map(part_of_a_pause)
        .collect();
    assert_eq!(course, ["wished for", "waits", "goes on"]);
}

#[tokio::test]
async fn a_paste_does_not_abort_and_ctrl_c_does_while_a_note_is_typed() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&["HOLD=20s"]).await;
    let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
    terminal.has_on_screen(KEYS).await;
    terminal.shows(FAULT_IS_IN).await;
    terminal.types(&"ayqam".repeat(500)).await;
    terminal.has_on_screen("abort? y/n").await;
    terminal.types("\u{1b}").await;
    terminal.has_on_screen(KEYS).await;
    // Keys that send a sequence are none of ours, whatever letters are in it.
    terminal.types("\u{1b}[Aa\u{1b}OA").await;
    terminal.has_on_screen("abort? y/n").await;
    terminal.types("n").await;
    terminal.types("n").await;
    terminal.types("half a no").await;
    terminal.has_on_screen("note: half a no").await;
    terminal.types(CTRL_C).await;
    let (status, shown) = terminal.ended().await;
    assert_eq!(status.code(), Some(5), "{}", pty::tail_of(&shown));
    scene.assert_clean();
    let report = report(&scene.place).await;
    assert_eq!(report["verdict"]["cause"], "aborted by SIGINT");
    assert_eq!(report["notes"], serde_json::json!([]));
    assert_eq!(report["marks"], serde_json::json!([]));
}

#[tokio::test]
async fn a_signal_leaves_the_terminal_as_it_was_found() {
    if pty::is_missing() {
        return;
    }
    let left_by = |signal: Signal| async move {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&["HOLD=20s"]).await;
        let mut terminal = Terminal::start(&scene.place, &["run", &plan]);
        let before = terminal.modes();
        terminal.has_on_screen(KEYS).await;
        terminal.shows(FAULT_IS_IN).await;
        assert_eq!(terminal.modes(), before.with_keys());
        terminal.types("n").await;
        terminal.signals(signal);
        let (status, shown, after) = terminal.left().await;
        assert_eq!(
            status.code(),
            Some(5),
            "{signal:?}: {}",
            pty::tail_of(&shown)
        );
        assert_eq!(after, before, "{signal:?}");
        scene.assert_clean();
    };
    tokio::join!(
        left_by(Signal::TERM),
        left_by(Signal::QUIT),
        left_by(Signal::ALARM)
    );
}

#[tokio::test]
async fn where_no_keys_are_shown_none_are_read() {
    if pty::is_missing() {
        return;
    }
    let untouched = |flags: &'static [&'static str], environment: &'static [_]| async move {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&["HOLD=2s"]).await;
        let args = [&["run", plan.as_str()], flags].concat();
        let terminal = Terminal::start_with(&scene.place, &args, environment);
        let before = terminal.modes();
        while scene.ours().is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        assert_eq!(terminal.modes(), before, "{flags:?} {environment:?}");
        let (status, shown, after) = terminal.left().await;
        assert_eq!((status.code(), after), (Some(0), before), "{shown}");
        assert!(!shown.contains(KEYS), "{shown}");
    };
    tokio::join!(
        untouched(&["-q"], &[]),
        untouched(&["-o", "json"], &[]),
        untouched(&[], &[("TERM", "dumb")]),
        untouched(&[], &[("CI", "true")]),
    );
}

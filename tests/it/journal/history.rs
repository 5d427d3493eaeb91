//! What was run before, out of a store of journals.

use std::fs;
use std::io::{Seek as _, SeekFrom, Write as _};
use std::path::Path;
use std::time::Duration;

use tokio::time::Instant;

use chaos_gameday::journal::{Remembered, Store};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::history::{Dose, PastRun, Subject};
use chaos_gameday::model::ids::{Digest, RunId};
use chaos_gameday::model::outcome::Outcome;

use crate::support::events::Story;
use crate::support::journals;

fn dose(fault: &str, share: &str) -> Dose {
    Dose {
        fault: Digest::of(fault.as_bytes()),
        share: share.parse().expect("a share"),
    }
}

fn subject(fault: &str) -> Subject {
    Subject {
        environment: "local".to_owned(),
        faults: vec![dose(fault, "10%").fault],
    }
}

struct State {
    _folder: tempfile::TempDir,
    store: Store,
}

fn state() -> State {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = Store::open(folder.path().join("state")).expect("a store");
    State {
        _folder: folder,
        store,
    }
}

/// The records of a story as those of this run with these doses.
fn told(story: &Story, id: &RunId, doses: &[Dose]) -> Vec<Record> {
    let mut records = story.records();
    let Event::RunStarted { run, brief, .. } = &mut records[0].event else {
        panic!("a run begins with RunStarted");
    };
    *run = id.clone();
    brief.steps[0].doses = doses.to_vec();
    records
}

impl State {
    /// Keeps a run and says where its journal is.
    fn keep(&self, id: &str, story: &Story, doses: &[Dose]) -> std::path::PathBuf {
        let id: RunId = id.parse().expect("a run id");
        let folder = self.store.create_run(&id, "{}").expect("a new run");
        journals::write(&folder.journal(), &told(story, &id, doses));
        folder.journal()
    }

    fn remembered(&self, fault: &str) -> Remembered {
        self.store
            .history(&subject(fault))
            .expect("a readable store")
    }

    fn ids(&self, fault: &str) -> Vec<String> {
        let runs = self.remembered(fault).history.runs.into_iter();
        runs.map(|run| run.run.to_string()).collect()
    }
}

#[test]
fn a_run_is_remembered_with_its_end_and_its_doses() {
    let state = state();
    let doses = [dose("stream", "10%"), dose("table", "25%")];
    let story = Story::held();
    state.keep("r-20260314-093000-a", &story, &doses);
    let settled = story.records().pop().expect("an end");
    assert_eq!(
        state.remembered("stream").history.runs,
        [PastRun {
            run: "r-20260314-093000-a".parse().expect("a run id"),
            environment: "local".to_owned(),
            ended: settled.time,
            outcome: Outcome::Held,
            doses: doses.to_vec(),
        }]
    );
}

#[test]
fn the_newest_come_first_and_what_is_about_something_else_not_at_all() {
    let state = state();
    let stream = [dose("stream", "10%")];
    state.keep("r-20260314-093000-a", &Story::held(), &stream);
    state.keep("r-20260315-093000-b", &Story::deviated(), &stream);
    state.keep(
        "r-20260316-093000-c",
        &Story::held(),
        &[dose("table", "10%")],
    );
    assert_eq!(
        state.ids("stream"),
        ["r-20260315-093000-b", "r-20260314-093000-a"]
    );
    let elsewhere = Subject {
        environment: "staging".to_owned(),
        ..subject("stream")
    };
    let there = state.store.history(&elsewhere).expect("a readable store");
    assert_eq!(there, Remembered::default());
}

#[test]
fn what_did_not_end_or_does_not_say_its_doses_or_is_no_journal_counts_for_nothing() {
    let state = state();
    let stream = [dose("stream", "10%")];
    state.keep("r-20260314-093000-old", &Story::held(), &[]);
    state.keep("r-20260314-093001-open", &Story::begun(), &stream);
    let torn = state.keep("r-20260314-093002-torn", &Story::held(), &stream);
    let text = fs::read(&torn).expect("a journal");
    fs::write(&torn, &text[..text.len() - 20]).expect("a writable journal");
    let foreign = state.keep("r-20260314-093003-foreign", &Story::held(), &stream);
    let of_another = state.keep(
        "r-20260314-093004-source",
        &Story::held(),
        &[dose("x", "1%")],
    );
    fs::copy(&of_another, &foreign).expect("a copy");
    let garbage = state.keep("r-20260314-093005-garbage", &Story::held(), &stream);
    fs::write(&garbage, [0xff; 100_000]).expect("a writable journal");
    let empty = state.keep("r-20260314-093006-empty", &Story::held(), &stream);
    fs::write(&empty, "").expect("a writable journal");
    let gone = state.keep("r-20260314-093007-gone", &Story::held(), &stream);
    fs::remove_file(&gone).expect("a journal");
    assert_eq!(state.remembered("stream"), Remembered::default());
}

#[test]
fn a_journal_with_a_changed_line_is_named_and_does_not_count() {
    let state = state();
    let stream = [dose("stream", "10%")];
    let path = state.keep("r-20260314-093000-a", &Story::held(), &stream);
    state.keep("r-20260314-093001-b", &Story::held(), &stream);
    let text = fs::read_to_string(&path).expect("a journal");
    let changed = text.replacen("\"state\":\"ok\"", "\"state\":\"breaching\"", 1);
    assert_ne!(text, changed);
    fs::write(&path, changed).expect("a writable journal");
    let remembered = state.remembered("stream");
    assert_eq!(state.ids("stream"), ["r-20260314-093001-b"]);
    assert_eq!(
        remembered.damaged,
        ["r-20260314-093000-a".parse().expect("a run id")]
    );
}

/// Makes a journal so many megabytes long by a hole before its last lines, which takes no room.
fn stretch(path: &Path, megabytes: u64) {
    let text = fs::read_to_string(path).expect("a journal");
    let (settled, _) = text.match_indices('\n').rev().nth(2).expect("three lines");
    let mut file = fs::File::create(path).expect("a writable journal");
    write!(file, "{}", &text[..settled]).expect("room");
    file.seek(SeekFrom::Start(megabytes << 20)).expect("a hole");
    write!(file, "{}", &text[settled..]).expect("room");
}

#[test]
fn only_the_ends_of_what_is_about_something_else_are_read() {
    let state = state();
    for number in 0..8 {
        let id = format!("r-20260314-09300{number}-long");
        stretch(
            &state.keep(&id, &Story::held(), &[dose("table", "10%")]),
            4_096,
        );
    }
    let began = Instant::now();
    assert_eq!(state.remembered("stream"), Remembered::default());
    let took = began.elapsed();
    assert!(took < Duration::from_millis(500), "{took:?}");
    // Both ends of such a journal are found, and a hole is seen where it is read whole.
    stretch(
        &state.keep(
            "r-20260314-094000-long",
            &Story::held(),
            &[dose("queue", "10%")],
        ),
        20,
    );
    assert_eq!(state.remembered("queue").damaged.len(), 1);
}

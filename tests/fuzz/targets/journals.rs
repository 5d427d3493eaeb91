//! Journals: read, verified, gone on with, and everything that is made of what was read.

use std::fs;
use std::io::BufReader;
use std::path::Path;

use chaos_gameday::guardian::Leftover;
use chaos_gameday::journal::{
    AbortRequest, Asked, Entries, Entry, Journal, LastWord, last_word, read, verify,
};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::state::RunState;
use chaos_gameday::report::{Comparison, Report, ReportFormat, RunRow};
use chaos_gameday::view::{Canvas, Colour, Glyphs, LineView, Panel, View, closing, frame};

use crate::corpus;
use crate::documents::{check_shown, printer};
use crate::harness::Target;
use crate::input::Corpus;

const WORDS: &[&str] = &[
    "{\"journal\":\"chaos\",\"format\":2,",
    "\"event\":{",
    "\"prev\":\"sha256:",
    "{\"seal\":\"",
    "\"elapsedMs\":",
    "\"seq\":",
    "\"time\":\"-009999-01-02T01:59:59Z\"",
    "\"time\":\"9999-12-30T22:00:00.999999999Z\"",
    "\"step\":",
    "\"settled\"",
    "366d",
    "0s",
    "< 1%",
    "< 99999999999999999999%",
    "stuck",
    "undoing",
    "r-20261130-165251-886c",
];

fn corpus() -> Corpus {
    let mut seeds = corpus::files("tests/fixtures/journals", ".jsonl");
    // A short one is changed more often in the same place.
    let lines: Vec<_> = seeds[0].split_inclusive(|byte| *byte == b'\n').collect();
    seeds.push(lines[..6].concat());
    Corpus {
        seeds,
        words: WORDS,
        largest: 1 << 20,
        between: b"",
    }
}

#[test]
fn a_journal_is_read_and_shown_whatever_stands_in_it() {
    Target {
        name: "journal",
        corpus: corpus(),
        cases: 40,
        holds: &|input| {
            let records = entries(input);
            let state = RunState::of(&records);
            show(&records, &state);
            report(&records);
            for record in &records {
                let text = serde_json::to_string(record).expect("JSON");
                let again: Record = serde_json::from_str(&text).expect("it comes back");
                assert_eq!(&again, record);
            }
        },
    }
    .run();
}

fn entries(input: &[u8]) -> Vec<Record> {
    let entries = Entries::new(BufReader::new(input), Path::new("journal.jsonl"));
    let mut records = Vec::new();
    let mut over = false;
    for entry in entries {
        assert!(!over, "something follows a torn end");
        match entry.expect("bytes in memory can be read") {
            Entry::Header(_) => {}
            Entry::Record(record) => records.push(*record),
            Entry::Broken(found) => assert!(!found.to_string().is_empty()),
            Entry::Torn(_) => over = true,
        }
    }
    records
}

fn show(records: &[Record], state: &RunState) {
    let (printer, written) = printer();
    let mut lines = LineView::new(printer.clone());
    let mut so_far = RunState::default();
    for record in records {
        so_far.apply(record);
        lines.show(record, &so_far);
    }
    lines.tick(u64::MAX, state);
    lines.finish(state);
    closing::say(&printer, state);
    check_shown(&written.text());
    for width in [1, 20, 80, 400] {
        let canvas = Canvas {
            width,
            height: 24,
            glyphs: Glyphs::Unicode,
            colour: Colour::Off,
        };
        for elapsed_ms in [0, state.elapsed_ms, u64::MAX] {
            for line in frame(state, elapsed_ms, canvas, &Panel::live()) {
                check_shown(&line);
            }
        }
    }
}

fn report(records: &[Record]) {
    let report = Report::from_events(records);
    let other = Report::from_events(&records[..records.len() / 2]);
    for format in ReportFormat::ALL {
        let format = format.format();
        check_shown(&format.render(&report));
        check_shown(&format.render_comparison(&Comparison::between(&other, &report)));
        check_shown(&format.render_comparison(&Comparison::between(&report, &other)));
    }
}

#[test]
fn a_journal_is_gone_on_with_or_left_as_it_is() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("journal.jsonl");
    Target {
        name: "resume",
        corpus: corpus(),
        cases: 40,
        holds: &|input| {
            fs::write(&path, input).expect("a writable folder");
            let before = verify(&path).expect("a readable file");
            let word = last_word(&path).expect("a readable file");
            let _settled = Leftover::read(&path).map(|left| left.is_settled());
            match Journal::resume(&path) {
                Err(problem) => {
                    assert!(problem.hint.is_some(), "{problem}");
                    assert_eq!(fs::read(&path).expect("a readable file"), input);
                }
                Ok((journal, recorded)) => {
                    if word != LastWord::Open {
                        let end = recorded.records.last().map(|record| &record.event);
                        assert!(matches!(end, Some(Event::Settled { .. })), "{word:?}");
                    }
                    go_on(journal, &recorded.records, &path);
                    let after = verify(&path).expect("a readable file");
                    assert_eq!(after.torn, None, "what is gone on with is whole");
                    // What follows is in order, whatever was broken before.
                    assert!(after.breaks.len() <= before.breaks.len() + 2, "{after:?}");
                }
            }
        },
    }
    .run();
}

/// Writes the end of a run behind what stands there.
fn go_on(mut journal: Journal, records: &[Record], path: &Path) {
    let last = records.last();
    let end = Record {
        seq: last.map_or(1, |record| record.seq.saturating_add(1)),
        time: "2026-11-30T12:00:00Z".parse().expect("a time"),
        elapsed_ms: last.map_or(0, |record| record.elapsed_ms),
        event: Event::Settled {
            outcome: Outcome::Inconclusive,
            cause: Cause::Bug {
                why: "tried on purpose".to_owned(),
            },
        },
    };
    let durability = end.event.durability();
    journal.append(&end, durability).expect("a writable file");
    drop(journal);
    let found = read(path).expect("a journal that was gone on with");
    assert_eq!(found.records.last(), Some(&end));
    let id = found.header.run.clone();
    let row = RunRow::of(id, &RunState::of(&found.records));
    assert!(!row.ending().is_empty());
    let word = last_word(path).expect("a readable file");
    assert_eq!(word, LastWord::Ended(Outcome::Inconclusive));
}

/// What stands where a wish to end a run is left, which anybody who may write there can have put.
#[test]
fn a_wish_that_a_run_should_end_is_one_or_says_why_not() {
    let place = tempfile::tempdir().expect("a folder");
    let path = place.path().join("abort.json");
    let wish = br#"{"by":{"user":"ann","host":"desk"},"at":"2026-11-30T16:52:51Z"}"#;
    Target {
        name: "wish",
        corpus: Corpus {
            seeds: vec![wish.to_vec()],
            words: &[
                "\"by\":",
                "\"user\":",
                "\\u001b[2J",
                "\"at\":\"-009999-01-02T01:59:59Z\"",
                "null",
            ],
            largest: 64 << 10,
            between: b"",
        },
        cases: 200,
        holds: &|input| {
            fs::write(&path, input).expect("a disk");
            match Asked::look(&path) {
                Asked::Nothing => panic!("something stands there"),
                Asked::Abort(wish) => {
                    let again = serde_json::to_vec(&wish).expect("JSON");
                    assert_eq!(
                        serde_json::from_slice::<AbortRequest>(&again).ok(),
                        Some(wish)
                    );
                }
                Asked::Unreadable(why) => check_shown(&why),
            }
        },
    }
    .run();
}

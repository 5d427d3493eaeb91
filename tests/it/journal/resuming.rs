//! Going on with a journal wherever its writer was cut off, and what is durable before the world is
//! written to.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chaos_gameday::journal::{
    FORMAT, Following, Journal, JournalEnd, LastWord, Medium, Tail, last_word, read, read_from,
};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::state::RunState;

use super::{findings, saved};
use crate::support::events::Story;
use crate::support::journals::{bytes, fixture, header_of};

/// Bytes in memory.
#[derive(Debug, Clone)]
struct InMemory(Arc<Mutex<Vec<u8>>>);

impl InMemory {
    fn of(content: &[u8]) -> Self {
        Self(Arc::new(Mutex::new(content.to_vec())))
    }

    fn content(&self) -> Vec<u8> {
        self.0.lock().expect("no test panics here").clone()
    }
}

impl Medium for InMemory {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().expect("no panic").extend_from_slice(bytes);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).expect("a short journal");
        self.0.lock().expect("no panic").truncate(length);
        Ok(())
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A run that was stuck and recovered, without its readings: every sort of line, and short.
fn short_story() -> Vec<Record> {
    let mut records = Story::recovered().records();
    records.retain(|record| {
        matches!(
            record.event,
            Event::RunStarted { .. }
                | Event::UndoRecorded { .. }
                | Event::GoneChecked { .. }
                | Event::TakenOver(_)
                | Event::Settled { .. }
        )
    });
    for (seq, record) in (1..).zip(&mut records) {
        record.seq = seq;
    }
    records
}

fn next_after(records: &[Record]) -> Record {
    let last = records.last().cloned();
    let mut record = last.unwrap_or_else(|| Story::begun().records()[0].clone());
    record.seq = records.len() as u64 + 1;
    record.event = Event::Warned {
        message: "somebody went on".to_owned(),
    };
    record
}

/// The whole lines of it, as records.
fn whole_lines(content: &[u8]) -> Vec<Record> {
    let whole = content.iter().rposition(|byte| *byte == b'\n');
    let whole = &content[..whole.map_or(0, |last| last + 1)];
    read_from(whole, Path::new("whole")).map_or_else(|_| Vec::new(), |found| found.records)
}

#[test]
fn a_journal_cut_at_any_byte_is_gone_on_with_as_if_its_whole_lines_were_all() {
    let content = bytes(&short_story());
    let header = content.iter().position(|byte| *byte == b'\n').expect("one");
    for cut in header..=content.len() {
        let left = &content[..cut];
        let expected = whole_lines(left);
        let medium = InMemory::of(left);
        let tail = Tail::of(&mut io::Cursor::new(left)).expect("bytes");
        let journal = Journal::go_on(Box::new(medium.clone()), Path::new("journal"), &tail);
        let mut journal = journal.expect("a medium that never fails");
        let resumed = read_from(&medium.content()[..], Path::new("resumed")).expect("a journal");
        // A line of which only the end is missing is kept.
        let kept = &resumed.records;
        assert!(kept.len() - expected.len() <= 1, "{cut}");
        assert_eq!(kept[..expected.len()], expected[..], "{cut}");
        assert_eq!(
            RunState::of(kept),
            RunState::of(&short_story()[..kept.len()])
        );

        let next = next_after(kept);
        journal
            .append(&next, next.event.durability())
            .expect("room");
        let all = read_from(&medium.content()[..], Path::new("all")).expect("a journal");
        assert_eq!(all.breaks, [], "{cut}");
        assert!(
            !matches!(all.end, JournalEnd::Torn(_)),
            "{cut}: {:?}",
            all.end
        );
        assert_eq!(all.records, [&kept[..], &[next]].concat(), "{cut}");
    }
}

#[test]
fn the_same_on_a_disk_around_every_line_end() {
    let content = bytes(&short_story());
    let ends = content
        .iter()
        .enumerate()
        .filter(|(_, byte)| **byte == b'\n');
    for (end, _) in ends {
        for cut in end.saturating_sub(1)..=(end + 2).min(content.len()) {
            let journal = saved(&content[..cut]);
            let resumed = Journal::resume(&journal.path);
            if cut < content.iter().position(|byte| *byte == b'\n').expect("one") {
                // Not even its first line is whole: nothing was injected, and there is nothing to go on with.
                assert!(resumed.is_err(), "{cut}");
                continue;
            }
            let (mut writer, recorded) = resumed.expect("a journal");
            let next = next_after(&recorded.records);
            writer.append(&next, next.event.durability()).expect("room");
            let found = findings(&fs::read(&journal.path).expect("a file"));
            assert_eq!((found.breaks, found.torn), (vec![], None), "{cut}");
            assert_eq!(found.records, next.seq, "{cut}");
        }
    }
}

#[test]
fn a_journal_of_format_1_is_read_and_gone_on_with_as_one_chain() {
    let content = fs::read(fixture("stuck.jsonl")).expect("a fixture");
    let first = String::from_utf8(content.clone()).expect("text");
    assert!(
        first.starts_with("{\"journal\":\"chaos\",\"format\":1,"),
        "{FORMAT}"
    );
    let journal = saved(&content);
    assert_eq!(
        last_word(&journal.path),
        Ok(LastWord::Ended(Outcome::Stuck))
    );
    let (mut writer, recorded) = Journal::resume(&journal.path).expect("an older journal");
    let all = Story::recovered().records();
    for record in &all[recorded.records.len()..] {
        assert_eq!(last_word(&journal.path).is_ok(), true);
        writer
            .append(record, record.event.durability())
            .expect("room");
    }
    let now = read(&journal.path).expect("a journal");
    assert_eq!((now.end, now.breaks), (JournalEnd::Settled, vec![]));
    let state = RunState::of(&now.records);
    assert_eq!(state.outcome, Some(Outcome::Inconclusive));
    assert_eq!(state.in_place().count(), 0);
    assert_eq!(
        last_word(&journal.path),
        Ok(LastWord::Ended(Outcome::Inconclusive))
    );
}

#[test]
fn the_last_word_is_open_while_a_takeover_has_not_ended() {
    let records = Story::recovered().records();
    let taken = records
        .iter()
        .position(|record| matches!(record.event, Event::TakenOver(_)))
        .expect("a takeover");
    for (count, word) in [
        (taken, LastWord::Ended(Outcome::Stuck)),
        (taken + 1, LastWord::Open),
        (records.len() - 1, LastWord::Open),
        (records.len(), LastWord::Ended(Outcome::Inconclusive)),
    ] {
        let journal = saved(&bytes(&records[..count]));
        assert_eq!(last_word(&journal.path), Ok(word), "{count}");
    }
}

#[test]
fn whoever_follows_a_journal_hears_each_record_once_and_none_in_halves() {
    let records = short_story();
    let content = bytes(&records);
    let journal = saved(b"");
    let mut following = Following::of(&journal.path);
    let mut heard = Vec::new();
    for piece in content.chunks(97) {
        let so_far = fs::read(&journal.path).expect("a file");
        fs::write(&journal.path, [&so_far[..], piece].concat()).expect("a file");
        heard.extend(following.news().expect("a journal"));
    }
    assert_eq!(heard, records);
    assert_eq!(following.news(), Ok(Vec::new()));
}

#[test]
fn a_journal_is_begun_with_its_first_line_durable() {
    let records = Story::held().records();
    let medium = Log::default();
    let begun = Journal::begin(
        Box::new(medium.clone()),
        Path::new("log"),
        &header_of(&records),
    );
    begun.expect("a medium that never fails");
    assert_eq!(medium.said(), ["append", "sync"]);
}

/// Remembers what was asked of it.
#[derive(Debug, Clone, Default)]
struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    fn said(&self) -> Vec<&'static str> {
        self.0.lock().expect("no test panics here").clone()
    }

    fn say(&self, word: &'static str) -> io::Result<()> {
        self.0.lock().expect("no panic").push(word);
        Ok(())
    }
}

impl Medium for Log {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        self.say("append")
    }

    fn cut(&mut self, _: u64) -> io::Result<()> {
        self.say("cut")
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        self.say("begin")
    }

    fn sync(&mut self) -> io::Result<()> {
        self.say("sync")
    }
}

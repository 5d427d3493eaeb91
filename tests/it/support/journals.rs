//! Journals on disk for tests: written by the real writer from a story, and the committed fixtures.

use std::path::{Path, PathBuf};

use chaos_gameday::journal::{Header, Journal};
use chaos_gameday::model::event::{Event, Record};

/// Where a committed journal is.
pub fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/journals")
        .join(name)
}

/// The header that belongs to these records.
pub fn header_of(records: &[Record]) -> Header {
    let Event::RunStarted {
        run,
        plan,
        digest,
        tool,
        ..
    } = &records[0].event
    else {
        panic!("a run begins with RunStarted");
    };
    Header {
        tool: tool.clone(),
        run: run.clone(),
        plan: plan.clone(),
        digest: digest.clone(),
        started: records[0].time,
    }
}

/// Writes a journal with these records in it.
pub fn write(path: &Path, records: &[Record]) {
    let mut journal = Journal::create(path, &header_of(records)).expect("a writable folder");
    for record in records {
        journal
            .append(record, record.event.durability())
            .expect("a writable journal");
    }
}

/// The bytes of a journal with these records in it.
pub fn bytes(records: &[Record]) -> Vec<u8> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("journal.jsonl");
    write(&path, records);
    std::fs::read(path).expect("a readable journal")
}

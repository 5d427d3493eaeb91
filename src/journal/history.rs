//! What was run before: read from the two ends of each journal, so that a run of a million events
//! costs no more than a short one. Only what a rule may go by is read whole, to see that nobody changed
//! a line of it.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use jiff::Timestamp;

use super::disk;
use super::line::{LONGEST_LINE, ReadLine, SealLine};
use super::reader::{Entries, Entry, verify};
use super::store::{RunEntry, Store};
use crate::model::brief::Brief;
use crate::model::event::Event;
use crate::model::history::{History, PastRun, Subject};
use crate::model::ids::RunId;
use crate::model::outcome::Outcome;
use crate::model::problem::Problem;

/// So much of a journal's end is read at first: the record that ends a run is short, and so is the
/// seal.
const USUAL_END: u64 = 8 * 1024;
/// Two lines are never longer.
const LONGEST_END: u64 = 2 * (LONGEST_LINE as u64 + 1);

/// The runs that concern a plan.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Remembered {
    /// Those that count.
    pub history: History,
    /// Those that would, if their journals were whole; newest first.
    pub damaged: Vec<RunId>,
}

impl Store {
    /// The runs that concern a plan and that ended, newest first. What goes on, died, cannot be read, or
    /// does not say in what doses it broke things, is passed over.
    ///
    /// # Errors
    /// The folder of the runs cannot be read; a journal that cannot be is no error.
    pub fn history(&self, subject: &Subject) -> Result<Remembered, Problem> {
        let mut remembered = Remembered::default();
        for entry in self.runs()? {
            let run = past_run(entry.id, &entry.journal);
            let Some(run) = run.filter(|run| subject.concerns(run)) else {
                continue;
            };
            match is_whole(&entry.journal) {
                true => remembered.history.runs.push(run),
                false => remembered.damaged.push(run.run),
            }
        }
        Ok(remembered)
    }
}

impl RunEntry {
    /// What the run was to do; `None`: its journal does not say.
    pub fn brief(&self) -> Option<Brief> {
        beginning_of(&self.id, &self.journal)
    }
}

fn is_whole(journal: &Path) -> bool {
    verify(journal).is_ok_and(|found| found.breaks.is_empty() && found.torn.is_none())
}

fn past_run(run: RunId, journal: &Path) -> Option<PastRun> {
    let (outcome, ended) = end_of(journal)?;
    let brief = beginning_of(&run, journal)?;
    Some(PastRun {
        run,
        environment: brief.environment,
        ended,
        outcome,
        doses: brief
            .steps
            .into_iter()
            .flat_map(|step| step.doses)
            .collect(),
    })
}

/// What the run was to do, by its first record; a journal of another run says nothing about this one.
fn beginning_of(run: &RunId, journal: &Path) -> Option<Brief> {
    let mut entries = Entries::open(journal).ok()?;
    let Entry::Header(_) = entries.next()?.ok()? else {
        return None;
    };
    let Entry::Record(record) = entries.next()?.ok()? else {
        return None;
    };
    let Event::RunStarted {
        run: whose, brief, ..
    } = record.event
    else {
        return None;
    };
    (whose == *run).then_some(*brief)
}

/// How and when the run ended, by the record before the seal.
fn end_of(journal: &Path) -> Option<(Outcome, Timestamp)> {
    let end = last_bytes(&mut disk::open_file(journal).ok()?).ok()?;
    let lines = end.strip_suffix(b"\n")?.rsplitn(3, |byte| *byte == b'\n');
    let mut lines = lines.take(2);
    serde_json::from_slice::<SealLine>(lines.next()?).ok()?;
    let (record, _) = serde_json::from_slice::<ReadLine>(lines.next()?)
        .ok()?
        .split();
    let Event::Settled { outcome, .. } = record.event else {
        return None;
    };
    Some((outcome, record.time))
}

/// The end of a file with two whole lines in it, or all of it.
fn last_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.seek(SeekFrom::End(0))?;
    let mut size = USUAL_END;
    loop {
        let start = length.saturating_sub(size);
        file.seek(SeekFrom::Start(start))?;
        let mut end = Vec::new();
        (&mut *file).take(size).read_to_end(&mut end)?;
        let breaks = end.iter().filter(|byte| **byte == b'\n').count();
        if breaks > 2 || start == 0 || size >= LONGEST_END {
            return Ok(end);
        }
        size *= 8;
    }
}

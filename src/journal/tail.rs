//! The end of a journal: where its last whole line ends, and what that line is.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;

use super::disk;
use super::line::{LONGEST_LINE, ReadLine, SealLine};
use crate::model::event::Event;
use crate::model::ids::Digest;
use crate::model::outcome::Outcome;
use crate::model::problem::Problem;

/// Where another writer goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tail {
    /// Bytes of the whole lines.
    pub length: u64,
    /// Hash of the last whole line.
    pub last: Digest,
    /// What that line is.
    pub last_line: LastLine,
    /// A whole record or seal behind it of which only the line's end is missing; else empty.
    pub unfinished: Vec<u8>,
}

/// What the last line of a journal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastLine {
    /// The record that ends the run, or the seal behind it.
    EndOrSeal,
    /// Any other.
    Other,
}

/// How a run ended, by the last lines of its journal alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastWord {
    /// With this outcome.
    Ended(Outcome),
    /// No end stands there.
    Open,
}

/// The seal, and before it the record of the end, with a cause of some kilobytes at most.
const LAST_LINES: u64 = 64 * 1024;

impl Tail {
    /// Reads to the end.
    ///
    /// # Errors
    /// The input's.
    pub fn of(input: &mut impl BufRead) -> io::Result<Self> {
        let mut tail = Self {
            length: 0,
            last: Digest::of(b""),
            last_line: LastLine::Other,
            unfinished: Vec::new(),
        };
        let (mut line, mut last) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let read = input.read_until(b'\n', &mut line)?;
            if line.last() == Some(&b'\n') {
                line.pop();
                tail.length += read as u64;
                std::mem::swap(&mut line, &mut last);
                continue;
            }
            tail.last = Digest::of(&last);
            tail.last_line = kind(&last).unwrap_or(LastLine::Other);
            if let Some(kind) = kind(&line) {
                tail.last_line = kind;
                tail.unfinished = line;
            }
            return Ok(tail);
        }
    }
}

/// What a line is; `None`: neither a record nor a seal.
fn kind(line: &[u8]) -> Option<LastLine> {
    if line.len() > LONGEST_LINE {
        return None;
    }
    if serde_json::from_slice::<SealLine>(line).is_ok() {
        return Some(LastLine::EndOrSeal);
    }
    let (record, _) = serde_json::from_slice::<ReadLine>(line).ok()?.split();
    let ends = matches!(record.event, Event::Settled { .. });
    Some(if ends {
        LastLine::EndOrSeal
    } else {
        LastLine::Other
    })
}

/// How a run ended, without reading its whole journal.
///
/// # Errors
/// The file cannot be read.
pub fn last_word(path: &Path) -> Result<LastWord, Problem> {
    let mut file = disk::open_file(path)?;
    let text = last_bytes(&mut file).map_err(|why| disk::cannot("read", path, &why))?;
    let mut backwards = text.split(|byte| *byte == b'\n').rev().filter_map(|line| {
        let (record, _) = serde_json::from_slice::<ReadLine>(line).ok()?.split();
        Some(record.event)
    });
    // What others wrote behind the end, such as a takeover that did not come to one, opens it again.
    if let Some(Event::Settled { outcome, .. }) = backwards.next() {
        return Ok(LastWord::Ended(outcome));
    }
    Ok(LastWord::Open)
}

fn last_bytes(file: &mut File) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_LINES)))?;
    let mut text = Vec::new();
    file.take(LAST_LINES).read_to_end(&mut text)?;
    Ok(text)
}

//! The end of a journal: where its last whole line ends, and what that line is.

use std::fs::File;
use std::io::{self, BufRead, Read, Seek, SeekFrom};
use std::path::Path;

use super::disk;
use super::line::{LONGEST_LINE, ReadLine, SealLine};
use super::reader::parse_header;
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
    /// Whether the run's end stands in them: from then on a seal follows each record, also where the one
    /// behind the last record was cut off.
    pub end: End,
    /// A whole header, record or seal behind it of which only the line's end is missing; else empty.
    pub unfinished: Vec<u8>,
}

/// Whether an end stands in a journal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// It does, or a seal.
    Written,
    /// Not yet.
    ToCome,
}

/// How a run ended, by the last lines of its journal alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LastWord {
    /// With this outcome.
    Ended(Outcome),
    /// No end stands there.
    Open,
}

/// The seal, and before it the record of the end: some hundred bytes, or some kilobytes of a long cause.
/// There may be thousands of journals to look at, so little is read first.
const LAST_LINES: [u64; 2] = [2 * 1024, 64 * 1024];

impl Tail {
    /// Reads to the end.
    ///
    /// # Errors
    /// The input's.
    pub fn of(input: &mut impl BufRead) -> io::Result<Self> {
        let mut tail = Self {
            length: 0,
            last: Digest::of(b""),
            end: End::ToCome,
            unfinished: Vec::new(),
        };
        let (mut line, mut last) = (Vec::new(), Vec::new());
        loop {
            line.clear();
            let read = input.read_until(b'\n', &mut line)?;
            if line.last() == Some(&b'\n') {
                line.pop();
                tail.length += read as u64;
                if may_be_end(&line) {
                    tail.takes(kind(&line));
                }
                std::mem::swap(&mut line, &mut last);
                continue;
            }
            tail.last = Digest::of(&last);
            let kind = match tail.length {
                // The first line is neither a record nor a seal.
                0 => parse_header(&line).ok().map(|_| End::ToCome),
                _ => kind(&line),
            };
            tail.takes(kind);
            if kind.is_some() {
                tail.unfinished = line;
            }
            return Ok(tail);
        }
    }

    fn takes(&mut self, kind: Option<End>) {
        if kind == Some(End::Written) {
            self.end = End::Written;
        }
    }
}

/// Whether a line is worth a closer look: to parse every line of a long journal takes seconds.
fn may_be_end(line: &[u8]) -> bool {
    let names_it = |name: &[u8]| line.windows(name.len()).any(|part| part == name);
    names_it(b"\"settled\"") || names_it(b"\"seal\"")
}

/// What a line is; `None`: neither a record nor a seal.
fn kind(line: &[u8]) -> Option<End> {
    if line.len() > LONGEST_LINE {
        return None;
    }
    if serde_json::from_slice::<SealLine>(line).is_ok() {
        return Some(End::Written);
    }
    let (record, _) = serde_json::from_slice::<ReadLine>(line).ok()?.split();
    let ends = matches!(record.event, Event::Settled { .. });
    Some(if ends { End::Written } else { End::ToCome })
}

/// How a run ended, without reading its whole journal.
///
/// # Errors
/// The file cannot be read.
pub fn last_word(path: &Path) -> Result<LastWord, Problem> {
    let mut file = disk::open_file(path)?;
    for most in LAST_LINES {
        let text = last_bytes(&mut file, most).map_err(|why| disk::cannot("read", path, &why))?;
        let mut backwards = text.split(|byte| *byte == b'\n').rev().filter_map(|line| {
            let (record, _) = serde_json::from_slice::<ReadLine>(line).ok()?.split();
            Some(record.event)
        });
        // What others wrote behind the end, such as a takeover that did not come to one, opens it again.
        match backwards.next() {
            Some(Event::Settled { outcome, .. }) => return Ok(LastWord::Ended(outcome)),
            Some(_) => return Ok(LastWord::Open),
            None => {}
        }
    }
    Ok(LastWord::Open)
}

fn last_bytes(file: &mut File, most: u64) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(most)))?;
    let mut text = Vec::new();
    file.take(most).read_to_end(&mut text)?;
    Ok(text)
}

//! Reading a journal, leniently: what is known is returned along with the damage, since an undo may
//! depend on it. A torn last line is what a crash leaves; everything else is named with its line.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::disk;
use super::finding::{Break, Flaw, JournalEnd, MOST_BREAKS, Recorded, Torn, Verification};
use super::line::{FORMAT, Header, HeaderLine, LONGEST_LINE, MAGIC, Probe, ReadLine, SealLine};
use crate::model::event::{Event, Record};
use crate::model::ids::Digest;
use crate::model::problem::{Problem, ProblemKind};

/// One thing that reading comes upon.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// The first line.
    Header(Header),
    /// A record; damage of its line came just before it.
    Record(Box<Record>),
    /// Damage.
    Broken(Break),
    /// The last line was not written to its end; nothing follows.
    Torn(Torn),
}

/// Reads a journal whole.
///
/// # Errors
/// The file cannot be read, is not a journal, or is of a newer format.
pub fn read(path: &Path) -> Result<Recorded, Problem> {
    gather(Entries::open(path)?, path)
}

/// The same from anywhere; the path is for messages.
///
/// # Errors
/// As `read`.
pub fn read_from(input: impl BufRead, path: &Path) -> Result<Recorded, Problem> {
    gather(Entries::new(input, path), path)
}

fn gather<R: BufRead>(entries: Entries<R>, path: &Path) -> Result<Recorded, Problem> {
    let mut header = None;
    let mut records = Vec::new();
    let mut breaks = Vec::new();
    let mut torn = None;
    for entry in entries {
        match entry? {
            Entry::Header(found) => header = Some(found),
            Entry::Record(record) => records.push(*record),
            Entry::Broken(found) => breaks.push(found),
            Entry::Torn(found) => torn = Some(found),
        }
    }
    let settled = records
        .iter()
        .any(|record| matches!(record.event, Event::Settled { .. }));
    let end = match torn {
        Some(torn) => JournalEnd::Torn(torn),
        None if settled => JournalEnd::Settled,
        None => JournalEnd::Open,
    };
    match header.or_else(|| records.iter().find_map(header_of)) {
        Some(header) => Ok(Recorded {
            header,
            records,
            end,
            breaks,
        }),
        None => Err(unreadable(path, breaks.first())),
    }
}

/// Checks every line.
///
/// # Errors
/// The file cannot be read; what is wrong inside it is a finding, no error.
pub fn verify(path: &Path) -> Result<Verification, Problem> {
    let mut verification = Verification::default();
    for entry in Entries::open(path)? {
        match entry? {
            Entry::Header(_) => {}
            Entry::Record(_) => verification.records += 1,
            Entry::Broken(found) => verification.breaks.push(found),
            Entry::Torn(found) => verification.torn = Some(found),
        }
    }
    Ok(verification)
}

fn header_of(record: &Record) -> Option<Header> {
    let Event::RunStarted {
        run,
        plan,
        digest,
        tool,
        ..
    } = &record.event
    else {
        return None;
    };
    Some(Header {
        tool: tool.clone(),
        run: run.clone(),
        plan: plan.clone(),
        digest: digest.clone(),
        started: record.time,
    })
}

fn unreadable(path: &Path, damage: Option<&Break>) -> Problem {
    let why = damage.map_or(&Flaw::NotAJournal, |found| &found.why);
    let problem = Problem::new(
        ProblemKind::Evidence,
        format!("cannot read {}: {why}", path.display()),
    );
    problem.hint(match why {
        Flaw::NewerFormat(_) => "update chaos",
        Flaw::Empty => "its run died before its first word, or its journal was lost; `chaos recover` looks for what is in place",
        Flaw::NotAJournal
        | Flaw::Header(_)
        | Flaw::Garbage(_)
        | Flaw::TooLong
        | Flaw::Chain
        | Flaw::Sequence { .. }
        | Flaw::ClockBack
        | Flaw::GivenUp => "`chaos runs` lists the runs that there are",
    })
}

/// The entries of a journal, one at a time: for files that need not fit into memory.
#[derive(Debug)]
pub struct Entries<R> {
    input: R,
    path: PathBuf,
    buffer: Vec<u8>,
    pending: VecDeque<Entry>,
    line: u64,
    /// Hash of the line before; `None`: unknown, so that the next line cannot be checked.
    before: Option<Digest>,
    seq: u64,
    elapsed_ms: u64,
    breaks: usize,
    stage: Stage,
    close: Close,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The first line is due.
    Header,
    /// The first line was none; if the second is no record either, this is no journal.
    Doubtful,
    Records,
    Over,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Close {
    /// The run goes on.
    Running,
    /// It ended, and the seal is due.
    SealDue,
    Sealed,
}

/// How a line ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    Newline,
    EndOfFile,
    TooLong,
}

impl Entries<BufReader<File>> {
    /// Opens a journal.
    ///
    /// # Errors
    /// The file cannot be opened or is no regular file.
    pub fn open(path: &Path) -> Result<Self, Problem> {
        Ok(Self::new(BufReader::new(disk::open_file(path)?), path))
    }
}

impl<R: BufRead> Entries<R> {
    /// The entries of a journal that is read from anywhere; the path is for messages.
    pub fn new(input: R, path: &Path) -> Self {
        Self {
            input,
            path: path.to_owned(),
            buffer: Vec::new(),
            pending: VecDeque::new(),
            line: 0,
            before: None,
            seq: 0,
            elapsed_ms: 0,
            breaks: 0,
            stage: Stage::Header,
            close: Close::Running,
        }
    }

    fn advance(&mut self) -> io::Result<()> {
        match self.next_line()? {
            None => self.end_of_file(),
            Some(ending) => {
                self.line += 1;
                match self.stage {
                    Stage::Header => self.header(ending),
                    Stage::Doubtful | Stage::Records => self.record(ending),
                    Stage::Over => {}
                }
                self.before = (ending != Ending::TooLong).then(|| Digest::of(&self.buffer));
            }
        }
        Ok(())
    }

    /// The next line into the buffer, without its line end; `None` at the end of the file.
    fn next_line(&mut self) -> io::Result<Option<Ending>> {
        self.buffer.clear();
        let limit = LONGEST_LINE as u64 + 1;
        let read = (&mut self.input)
            .take(limit)
            .read_until(b'\n', &mut self.buffer)?;
        if self.buffer.last() == Some(&b'\n') {
            self.buffer.pop();
            return Ok(Some(Ending::Newline));
        }
        if read as u64 == limit {
            self.skip_line()?;
            return Ok(Some(Ending::TooLong));
        }
        Ok((read > 0).then_some(Ending::EndOfFile))
    }

    fn skip_line(&mut self) -> io::Result<()> {
        loop {
            let chunk = self.input.fill_buf()?;
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(chunk.len(), |place| place + 1);
            self.input.consume(used);
            if used == 0 || end.is_some() {
                return Ok(());
            }
        }
    }

    fn end_of_file(&mut self) {
        if self.stage == Stage::Header {
            self.broken_at(1, Flaw::Empty);
        } else if self.close == Close::SealDue && self.stage != Stage::Over {
            self.torn(self.line + 1, "the seal after the run's end is missing");
        }
        self.stage = Stage::Over;
    }

    fn header(&mut self, ending: Ending) {
        self.stage = Stage::Records;
        let flaw = match parse_header(&self.buffer) {
            Ok(header) => {
                self.pending.push_back(Entry::Header(header));
                if ending == Ending::EndOfFile {
                    self.torn(1, "it has no line end");
                }
                return;
            }
            Err(flaw) => flaw,
        };
        self.stage = match flaw {
            Flaw::NewerFormat(_) => Stage::Over,
            Flaw::Empty
            | Flaw::NotAJournal
            | Flaw::Header(_)
            | Flaw::Garbage(_)
            | Flaw::TooLong
            | Flaw::Chain
            | Flaw::Sequence { .. }
            | Flaw::ClockBack
            | Flaw::GivenUp => Stage::Doubtful,
        };
        self.broken(flaw);
    }

    fn record(&mut self, ending: Ending) {
        if ending == Ending::TooLong {
            self.broken(Flaw::TooLong);
            return;
        }
        match serde_json::from_slice::<ReadLine>(&self.buffer) {
            Ok(line) => {
                let (record, before) = line.split();
                self.stage = Stage::Records;
                self.check(&record, &before);
                self.close = match (&record.event, self.close) {
                    (Event::Settled { .. }, _) | (_, Close::SealDue | Close::Sealed) => {
                        Close::SealDue
                    }
                    (_, Close::Running) => Close::Running,
                };
                self.pending.push_back(Entry::Record(Box::new(record)));
                if ending == Ending::EndOfFile {
                    self.torn(self.line, "it is whole but has no line end");
                }
            }
            Err(why) => self.no_record(ending, &why),
        }
    }

    fn check(&mut self, record: &Record, before: &Digest) {
        self.check_chain(before);
        let due = self.seq + 1;
        if record.seq != due {
            self.broken(Flaw::Sequence {
                due,
                found: record.seq,
            });
        }
        if record.elapsed_ms < self.elapsed_ms {
            self.broken(Flaw::ClockBack);
        }
        self.seq = record.seq.min(u64::MAX - 1);
        self.elapsed_ms = record.elapsed_ms;
    }

    fn check_chain(&mut self, before: &Digest) {
        if self.before.as_ref().is_some_and(|hash| hash != before) {
            self.broken(Flaw::Chain);
        }
    }

    fn no_record(&mut self, ending: Ending, why: &serde_json::Error) {
        if let Ok(line) = serde_json::from_slice::<SealLine>(&self.buffer) {
            self.check_chain(&line.seal);
            self.close = Close::Sealed;
            if ending == Ending::EndOfFile {
                self.torn(self.line, "it is whole but has no line end");
            }
        } else if self.stage == Stage::Doubtful {
            // The first line was broken, this one is foreign too: one finding says it all.
            self.stage = Stage::Over;
        } else if ending == Ending::EndOfFile {
            self.torn(self.line, "it breaks off");
        } else if why.is_eof() && self.at_end() {
            self.torn(self.line, "it breaks off before its line end");
        } else {
            self.broken(Flaw::Garbage(why.to_string()));
        }
    }

    /// Whether nothing follows; an error shows itself at the next line.
    fn at_end(&mut self) -> bool {
        self.input.fill_buf().is_ok_and(<[u8]>::is_empty)
    }

    fn torn(&mut self, line: u64, why: &str) {
        self.pending.push_back(Entry::Torn(Torn {
            line,
            why: why.to_owned(),
        }));
        self.stage = Stage::Over;
    }

    fn broken(&mut self, why: Flaw) {
        self.broken_at(self.line, why);
    }

    fn broken_at(&mut self, line: u64, why: Flaw) {
        if self.breaks == MOST_BREAKS {
            self.stage = Stage::Over;
        }
        let why = match self.breaks {
            MOST_BREAKS => Flaw::GivenUp,
            _ => why,
        };
        if self.breaks <= MOST_BREAKS {
            self.pending.push_back(Entry::Broken(Break { line, why }));
        }
        self.breaks += 1;
    }
}

pub(super) fn parse_header(line: &[u8]) -> Result<Header, Flaw> {
    let probe: Probe = serde_json::from_slice(line).map_err(|_| Flaw::NotAJournal)?;
    if probe.journal != MAGIC {
        return Err(Flaw::NotAJournal);
    }
    if probe.format > FORMAT {
        return Err(Flaw::NewerFormat(probe.format));
    }
    serde_json::from_slice::<HeaderLine>(line)
        .map(Header::from)
        .map_err(|why| Flaw::Header(why.to_string()))
}

impl<R: BufRead> Iterator for Entries<R> {
    type Item = Result<Entry, Problem>;

    fn next(&mut self) -> Option<Self::Item> {
        while self.pending.is_empty() && self.stage != Stage::Over {
            if let Err(why) = self.advance() {
                self.stage = Stage::Over;
                return Some(Err(disk::cannot("read", &self.path, &why)));
            }
        }
        self.pending.pop_front().map(Ok)
    }
}

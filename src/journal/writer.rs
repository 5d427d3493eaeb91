//! Appending to a journal: one line a record, handed to the operating system at once, synced to the
//! disk where the record says that the run must not go on without it.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::disk;
use super::finding::Recorded;
use super::line::{Header, HeaderLine, LONGEST_LINE, RecordLine, SealLine};
use super::medium::{FileMedium, Medium};
use super::reader;
use super::tail::{End, Tail};
use crate::model::event::{Durability, Event, Record};
use crate::model::ids::Digest;
use crate::model::problem::{Problem, ProblemKind};

/// An open journal; there is one writer for each.
///
/// # Guarantees
/// * A line is on disk whole or not at all: what a failed write left behind is cut off again.
/// * After a failed sync no later record is called synced, since the kernel forgets what it lost.
#[derive(Debug)]
pub struct Journal {
    medium: Box<dyn Medium>,
    path: PathBuf,
    /// Bytes that are known to be whole lines.
    length: u64,
    last: Digest,
    /// `seq` of the last record that was written here.
    last_seq: Option<u64>,
    sealing: Sealing,
    health: Health,
}

/// Whether a seal follows each record from now on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Sealing {
    NotYet,
    Ended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    /// Half a line stands at the end and could not be cut off.
    Torn,
}

impl Journal {
    /// Makes a new journal with its header, synced, and its folder entry, synced.
    ///
    /// # Errors
    /// The file exists, or the disk says no; nothing must be injected then.
    pub fn create(path: &Path, header: &Header) -> Result<Self, Problem> {
        let medium = disk::create_new(path)
            .and_then(FileMedium::of)
            .map_err(|why| disk::cannot("make the journal", path, &why))?;
        let journal = Self::begin(Box::new(medium), path, header)?;
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            disk::sync_folder(folder)?;
        }
        Ok(journal)
    }

    /// The same on any medium, which is empty; the path is for messages.
    ///
    /// # Errors
    /// The medium says no.
    pub fn begin(medium: Box<dyn Medium>, path: &Path, header: &Header) -> Result<Self, Problem> {
        let mut journal = Self {
            medium,
            path: path.to_owned(),
            length: 0,
            last: Digest::of(b""),
            last_seq: None,
            sealing: Sealing::NotYet,
            health: Health::Good,
        };
        let line = journal.encode(&HeaderLine::from(header))?;
        journal.last = Digest::of(&line[..line.len() - 1]);
        journal.write(&line)?;
        journal.sync()?;
        Ok(journal)
    }

    /// Goes on with a journal whose writer is no more, and returns all that stands in it. Only whoever
    /// holds the run's own lock may: there is one writer.
    ///
    /// # Errors
    /// The file cannot be read or written, is not a journal, or is of a newer format.
    pub fn resume(path: &Path) -> Result<(Self, Recorded), Problem> {
        let recorded = reader::read(path)?;
        Ok((Self::reopen(path)?, recorded))
    }

    /// The same for whoever holds the run's own lock and has read the journal under it.
    ///
    /// # Errors
    /// The file cannot be read or written.
    pub fn reopen(path: &Path) -> Result<Self, Problem> {
        let cannot = |why: io::Error| disk::cannot("go on with the journal", path, &why);
        let tail = Tail::of(&mut io::BufReader::new(disk::open_file(path)?)).map_err(cannot)?;
        let medium = disk::open_journal(path)
            .and_then(FileMedium::of)
            .map_err(cannot)?;
        Self::go_on(Box::new(medium), path, &tail)
    }

    /// The same on any medium, after its last whole line. What stands behind that is cut off, or ended
    /// where only the line's end is missing.
    ///
    /// # Errors
    /// The medium says no.
    pub fn go_on(medium: Box<dyn Medium>, path: &Path, tail: &Tail) -> Result<Self, Problem> {
        let mut journal = Self {
            medium,
            path: path.to_owned(),
            length: tail.length + tail.unfinished.len() as u64,
            last: tail.last.clone(),
            last_seq: None,
            sealing: match tail.end {
                End::Written => Sealing::Ended,
                End::ToCome => Sealing::NotYet,
            },
            health: Health::Good,
        };
        let cannot = |why: io::Error| disk::cannot("go on with the journal", path, &why);
        journal.medium.cut(journal.length).map_err(cannot)?;
        if !tail.unfinished.is_empty() {
            // What is there stays there: a record that was cut off and written again could be lost.
            journal.last = Digest::of(&tail.unfinished);
            journal.write(b"\n")?;
        }
        Ok(journal)
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `seq` of the last record that was written through this, synced or not; `None`: none was.
    pub fn last_seq(&self) -> Option<u64> {
        self.last_seq
    }

    /// Appends one record. On return it is with the operating system, or on the disk.
    ///
    /// # Errors
    /// The disk says no. The journal stays whole and another attempt may be made, unless the record
    /// stands there by now and only could not be synced: `last_seq` tells.
    pub fn append(&mut self, record: &Record, durability: Durability) -> Result<(), Problem> {
        let mut lines = self.encode(&RecordLine::new(record, &self.last))?;
        let mut last = Digest::of(&lines[..lines.len() - 1]);
        let ends = matches!(record.event, Event::Settled { .. });
        if ends || self.sealing == Sealing::Ended {
            let seal = self.encode(&SealLine { seal: last })?;
            last = Digest::of(&seal[..seal.len() - 1]);
            lines.extend(seal);
        }
        self.write(&lines)?;
        self.last = last;
        self.last_seq = Some(record.seq);
        if ends {
            self.sealing = Sealing::Ended;
        }
        match durability {
            Durability::Flushed => Ok(()),
            Durability::SyncBegun => {
                let begun = self.medium.begin_sync();
                begun.map_err(|why| disk::cannot("sync the journal", &self.path, &why))
            }
            Durability::Synced => self.sync(),
        }
    }

    fn encode(&self, line: &impl Serialize) -> Result<Vec<u8>, Problem> {
        let mut bytes = serde_json::to_vec(line).map_err(|why| {
            Problem::new(
                ProblemKind::Evidence,
                format!("cannot write {}: {why}", self.path.display()),
            )
            .hint("this is a bug; please report it with the experiment")
        })?;
        if bytes.len() > LONGEST_LINE {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!(
                    "cannot write {}: a record of {} bytes is longer than the {LONGEST_LINE} that \
                     a journal may have in a line",
                    self.path.display(),
                    bytes.len()
                ),
            )
            .hint("split the step into smaller ones"));
        }
        bytes.push(b'\n');
        Ok(bytes)
    }

    fn write(&mut self, lines: &[u8]) -> Result<(), Problem> {
        if self.health == Health::Torn {
            let why = io::Error::other("an earlier write left half a line behind");
            return Err(disk::cannot("append to the journal", &self.path, &why));
        }
        if let Err(why) = self.medium.append(lines) {
            if self.medium.cut(self.length).is_err() {
                self.health = Health::Torn;
            }
            return Err(disk::cannot("append to the journal", &self.path, &why));
        }
        self.length += lines.len() as u64;
        Ok(())
    }

    fn sync(&mut self) -> Result<(), Problem> {
        let synced = match self.health {
            Health::Good => self.medium.sync(),
            Health::Torn => Err(io::Error::other("an earlier write left half a line behind")),
        };
        synced.map_err(|why| disk::cannot("sync the journal", &self.path, &why))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_named_and_a_line_that_cannot_be_cut_off_stops_the_journal() {
        let path = Path::new("/dev/full");
        let file = std::fs::File::options().append(true).open(path);
        let medium = FileMedium::of(file.expect("every Linux has it"));
        let mut journal = Journal {
            medium: Box::new(medium.expect("a thread")),
            path: path.to_owned(),
            length: 0,
            last: Digest::of(b""),
            last_seq: None,
            sealing: Sealing::NotYet,
            health: Health::Good,
        };
        let record = Record {
            seq: 1,
            time: jiff::Timestamp::UNIX_EPOCH,
            elapsed_ms: 0,
            event: Event::Noted {
                text: "words".to_owned(),
                by: None,
            },
        };
        let full = journal.append(&record, Durability::Flushed);
        let expected = Problem::new(
            ProblemKind::Evidence,
            "cannot append to the journal /dev/full: No space left on device (os error 28)",
        )
        .hint("free some space on that disk, or choose another folder with `--state-dir`");
        assert_eq!(full, Err(expected));
        let after = journal.append(&record, Durability::Flushed);
        assert_eq!(
            after.map_err(|problem| problem.message),
            Err(
                "cannot append to the journal /dev/full: an earlier write left half a line behind"
                    .to_owned()
            )
        );
    }
}

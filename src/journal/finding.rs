//! What reading a journal can come upon besides records: damage with its place, and how it ends.

use std::fmt;

use super::line::{Header, LONGEST_LINE};
use crate::model::event::Record;

/// After so many damaged lines a file is given up.
pub(super) const MOST_BREAKS: usize = 1_000;

/// What is wrong with a line that is not the torn last one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Flaw {
    /// The file has no first line.
    Empty,
    /// The first line is not that of a journal.
    NotAJournal,
    /// The first line names a format that this tool does not know.
    NewerFormat(u32),
    /// The first line is that of a journal and cannot be read.
    Header(String),
    /// The line is no record.
    Garbage(String),
    /// The line is longer than any that is written.
    TooLong,
    /// The hash of the line before does not fit.
    Chain,
    /// The number of the record is not the next one.
    Sequence {
        /// The number that is due.
        due: u64,
        /// The number that stands there.
        found: u64,
    },
    /// The run's clock goes back.
    ClockBack,
    /// So many lines are damaged that the rest is not looked at.
    GivenUp,
}

impl fmt::Display for Flaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => formatter.write_str("the file is empty"),
            Self::NotAJournal => formatter.write_str("this is not a journal of chaos"),
            Self::NewerFormat(format) => {
                write!(formatter, "written by a newer chaos (format {format})")
            }
            Self::Header(why) => write!(formatter, "the header cannot be read: {why}"),
            Self::Garbage(why) => write!(formatter, "no record: {why}"),
            Self::TooLong => write!(formatter, "longer than {LONGEST_LINE} bytes"),
            Self::Chain => formatter.write_str(
                "does not carry the hash of the line before: one of the two was changed, or a \
                 line between them is missing",
            ),
            Self::Sequence { due, found } => {
                write!(formatter, "record {due} is due, this is record {found}")
            }
            Self::ClockBack => formatter.write_str("the clock of the run goes back"),
            Self::GivenUp => write!(
                formatter,
                "more than {MOST_BREAKS} faults; the rest is not looked at"
            ),
        }
    }
}

/// Damage, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Break {
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong with it.
    pub why: Flaw,
}

impl fmt::Display for Break {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.why)
    }
}

/// A last line that was not written to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The line, counted from 1.
    pub line: u64,
    /// What is missing.
    pub why: String,
}

/// How a journal ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JournalEnd {
    /// With the end of the run, sealed.
    Settled,
    /// With a whole line, and without the end of the run: it goes on, or it died.
    Open,
    /// With a line that was not written to its end.
    Torn(Torn),
}

/// A journal as far as it can be read.
#[derive(Debug, Clone, PartialEq)]
pub struct Recorded {
    /// The first line; made from the first record where it cannot be read.
    pub header: Header,
    /// The records, in file order.
    pub records: Vec<Record>,
    /// How it ends.
    pub end: JournalEnd,
    /// The damage; empty in an honest journal.
    pub breaks: Vec<Break>,
}

/// What `verify` found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Verification {
    /// Records that could be read.
    pub records: u64,
    /// A last line that was not written to its end: what a crash leaves, no sign of tampering.
    pub torn: Option<Torn>,
    /// Damage; empty: every line is as it was written.
    pub breaks: Vec<Break>,
}

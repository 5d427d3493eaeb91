//! The lines of a journal as they stand on disk: a header, then records, then a seal.
//!
//! Each line carries the hash of the one before, as its bytes are without the line end. The seal
//! follows the record that ended the run, since nothing else would vouch for that last record.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::model::event::{Event, Record};
use crate::model::ids::{Digest, PlanId, RunId};

/// The format of journals that this tool writes; it reads the older ones too. 2: guardians and takeovers.
pub const FORMAT: u32 = 2;
/// The longest line that is written or read, in bytes.
pub const LONGEST_LINE: usize = 16 * 1024 * 1024;
/// What the first line says it is.
pub(super) const MAGIC: &str = "chaos";

/// The first line: what the journal belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// Version of the tool that wrote it.
    pub tool: String,
    /// The run.
    pub run: RunId,
    /// Its plan.
    pub plan: PlanId,
    /// The plan's digest.
    pub digest: Digest,
    /// When the run began.
    pub started: Timestamp,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct HeaderLine {
    journal: String,
    format: u32,
    tool: String,
    run: RunId,
    plan: PlanId,
    digest: Digest,
    started: Timestamp,
}

impl From<&Header> for HeaderLine {
    fn from(header: &Header) -> Self {
        Self {
            journal: MAGIC.to_owned(),
            format: FORMAT,
            tool: header.tool.clone(),
            run: header.run.clone(),
            plan: header.plan.clone(),
            digest: header.digest.clone(),
            started: header.started,
        }
    }
}

impl From<HeaderLine> for Header {
    fn from(line: HeaderLine) -> Self {
        Self {
            tool: line.tool,
            run: line.run,
            plan: line.plan,
            digest: line.digest,
            started: line.started,
        }
    }
}

/// The two fields of the first line that every format has.
#[derive(Deserialize)]
pub(super) struct Probe {
    pub(super) journal: String,
    pub(super) format: u32,
}

/// A record as it is written: borrowed, so that nothing is copied.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RecordLine<'a> {
    pub(super) seq: u64,
    pub(super) time: Timestamp,
    pub(super) elapsed_ms: u64,
    pub(super) event: &'a Event,
    pub(super) prev: &'a Digest,
}

impl<'a> RecordLine<'a> {
    pub(super) fn new(record: &'a Record, prev: &'a Digest) -> Self {
        Self {
            seq: record.seq,
            time: record.time,
            elapsed_ms: record.elapsed_ms,
            event: &record.event,
            prev,
        }
    }
}

/// A record as it is read.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadLine {
    seq: u64,
    time: Timestamp,
    elapsed_ms: u64,
    event: Event,
    prev: Digest,
}

impl ReadLine {
    pub(super) fn split(self) -> (Record, Digest) {
        let record = Record {
            seq: self.seq,
            time: self.time,
            elapsed_ms: self.elapsed_ms,
            event: self.event,
        };
        (record, self.prev)
    }
}

/// The last line of a run that ended.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SealLine {
    pub(super) seal: Digest,
}

//! The wish that a run should end, left in its folder by another process: the first one stays.

use std::io::Read;
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::disk;
use super::store::RunFolder;
use crate::model::approval::Person;
use crate::model::problem::Problem;

/// Nobody writes a longer one.
const LONGEST: u64 = 4 * 1024;

/// Who wants a run to end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AbortRequest {
    /// Who.
    pub by: Person,
    /// Since when, UTC.
    pub at: Timestamp,
}

/// What stands where such a wish is left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Asked {
    /// Nothing.
    Nothing,
    /// A wish.
    Abort(AbortRequest),
    /// Something that is none: why.
    Unreadable(String),
}

impl AbortRequest {
    /// Leaves it, whole or not at all. Where somebody was quicker, his stays; what no run can read does
    /// not.
    ///
    /// # Errors
    /// The disk says no.
    pub fn leave(&self, folder: &RunFolder) -> Result<(), Problem> {
        let text = serde_json::to_vec(self).unwrap_or_default();
        let path = folder.abort_request();
        if matches!(Asked::look(&path), Asked::Unreadable(_)) {
            // One that cannot be removed stays in the way: whoever waits ends the run without it.
            let _ = std::fs::remove_file(&path);
        }
        disk::place(&path, &text).map(|_| ())
    }
}

impl Asked {
    /// Looks, and waits for nothing.
    pub fn look(path: &Path) -> Self {
        if !path.exists() {
            return Self::Nothing;
        }
        let mut bytes = Vec::new();
        let read = disk::open_file(path).and_then(|file| {
            let read = file.take(LONGEST).read_to_end(&mut bytes);
            read.map_err(|why| disk::cannot("read", path, &why))
        });
        if let Err(problem) = read {
            return Self::Unreadable(problem.message);
        }
        match serde_json::from_slice(&bytes) {
            Ok(request) => Self::Abort(request),
            Err(why) => Self::Unreadable(format!("{}: {why}", path.display())),
        }
    }
}

//! What a guardian is told before anything else, in one line of JSON: all that it takes to end the run
//! without the process that made it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::clients::KubeconfigFiles;
use crate::model::holder::Holder;
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// One run, to watch over.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Charge {
    /// The run.
    pub run: RunId,
    /// Its folder, absolute.
    pub folder: PathBuf,
    /// Its journal, absolute.
    pub journal: PathBuf,
    /// Its process, whose child the guardian is.
    pub pid: u32,
    /// How long an undo may take before it is stuck.
    pub undo_within: Span,
    /// Where what the run touches is locked.
    pub lock_folder: PathBuf,
    /// The names of its locks.
    pub locks: Vec<String>,
    /// Who the run says that it is in them.
    pub holder: Holder,
    /// Which clusters its contexts are of.
    pub kubeconfigs: KubeconfigFiles,
}

impl Charge {
    /// The line, with its end.
    ///
    /// # Errors
    /// A path that is no UTF-8.
    pub fn to_line(&self) -> Result<Vec<u8>, Problem> {
        let line = serde_json::to_vec(self).map_err(|why| {
            let message = format!(
                "the guardian of {} cannot be told what it needs: {why}",
                self.run
            );
            Problem::new(ProblemKind::Invalid, message)
                .hint("give state, locks and kubeconfigs paths in UTF-8")
        });
        line.map(|mut line| {
            line.push(b'\n');
            line
        })
    }

    /// Reads it back.
    ///
    /// # Errors
    /// It is none.
    pub fn of_line(line: &str) -> Result<Self, Problem> {
        serde_json::from_str(line).map_err(|why| {
            let message = format!("what was to be watched over cannot be read: {why}");
            Problem::new(ProblemKind::Invalid, message)
        })
    }
}

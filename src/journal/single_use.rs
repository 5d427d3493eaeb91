//! Which single-use approval which run of this state folder rested on: `used/<nonce>`, one file each.
//!
//! A file appears whole or not at all and is never overwritten, so of two runs that want one approval
//! one gets it. Another state folder knows nothing of it.

use super::disk::{self, Placed};
use super::store::Store;
use crate::model::approval::Nonce;
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};

/// Whether an approval was still there to be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Use {
    /// It is this run's now.
    Taken,
    /// Another run was quicker.
    Gone {
        /// That run, as its file tells.
        by: RunId,
    },
}

impl Store {
    /// The single-use approvals that runs rested on.
    ///
    /// # Errors
    /// The folder or a file in it cannot be read, or a file does not name a run.
    pub fn used(&self) -> Result<Vec<(Nonce, RunId)>, Problem> {
        let folder = self.root().join("used");
        let nonces = disk::names_in(&folder)?;
        let nonces = nonces.iter().filter_map(|name| name.parse().ok());
        nonces
            .map(|nonce: Nonce| {
                let run = self.user_of(&nonce)?;
                Ok((nonce, run))
            })
            .collect()
    }

    /// Uses an approval up for a run, if no other has.
    ///
    /// # Errors
    /// The disk says no.
    pub fn use_up(&self, nonce: &Nonce, run: &RunId) -> Result<Use, Problem> {
        let path = self.root().join("used").join(nonce.as_str());
        match disk::place(&path, format!("{run}\n").as_bytes())? {
            Placed::New => Ok(Use::Taken),
            Placed::Taken => Ok(Use::Gone {
                by: self.user_of(nonce)?,
            }),
        }
    }

    fn user_of(&self, nonce: &Nonce) -> Result<RunId, Problem> {
        let path = self.root().join("used").join(nonce.as_str());
        let text = disk::read_text(&path)?;
        text.trim_end().parse().map_err(|_| {
            let message = format!("{} was changed: it names no run", path.display());
            Problem::new(ProblemKind::Evidence, message).hint(
                "an approval counts once and was used by a run of `chaos runs`: write its id there",
            )
        })
    }
}

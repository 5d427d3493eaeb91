//! Posts a guardian over a run: tells it what to watch over, and what to do without the run.

use std::path::{Path, PathBuf};

use super::Desk;
use super::locking::Locked;
use crate::clients::Clients;
use crate::guardian::{Charge, Post};
use crate::journal::RunFolder;
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::session::Posting;

/// A run that is to be guarded.
pub(super) struct Charged<'a> {
    pub(super) run: &'a RunId,
    pub(super) folder: &'a RunFolder,
    pub(super) locked: &'a Locked,
    pub(super) clients: &'a Clients,
    pub(super) undo_within: Span,
}

/// What makes the run's end of its guardian once there is a queue for its news.
pub(super) fn posting(desk: &Desk, charged: &Charged<'_>) -> Result<Posting, Problem> {
    let folder = charged.folder.clone();
    let charge = Charge {
        run: charged.run.clone(),
        folder: absolute(folder.path())?,
        journal: absolute(&folder.journal())?,
        pid: std::process::id(),
        undo_within: charged.undo_within,
        lock_folder: absolute(&desk.settings.lock_dir.value)?,
        locks: charged.locked.names().to_vec(),
        holder: charged.locked.holder().clone(),
        kubeconfigs: charged.clients.kubeconfig().clone(),
    };
    let open_log = Box::new(move || folder.open_guardian_log());
    Ok(Box::new(move |news| {
        Box::new(Post::new(charge, open_log, news))
    }))
}

fn absolute(path: &Path) -> Result<PathBuf, Problem> {
    std::path::absolute(path).map_err(|why| {
        let message = format!("cannot tell where {} is: {why}", path.display());
        Problem::new(ProblemKind::Evidence, message)
    })
}

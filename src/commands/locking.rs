//! Two runs whose targets overlap cannot start.

use std::collections::BTreeMap;

use super::Desk;
use crate::error::Failure;
use crate::journal::{Lock, Locks};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::Plan;

/// Two runs on one world cannot start, by whatever name they reach it and wherever their state is.
pub(super) fn lock(desk: &Desk, plan: &Plan) -> Result<Vec<Lock>, Failure> {
    let folder = &desk.settings.lock_dir;
    desk.printer.detail(&format!(
        "locks are kept in {} ({})",
        folder.value.display(),
        folder.origin
    ));
    let locks = Locks::open(folder.value.clone())?;
    let mut held: BTreeMap<String, Lock> = BTreeMap::new();
    for world in plan.worlds() {
        for name in world.lock_names() {
            if held.contains_key(&name) {
                continue;
            }
            let Some(lock) = locks.take(&name)? else {
                return Err(Failure::Problem(
                    Problem::new(
                        ProblemKind::Conflict,
                        format!("another run is under way on {}", world.endpoint),
                    )
                    .hint("wait for its end, or end it with Ctrl-C where it runs; `chaos runs` shows it, with `--state-dir` if it keeps its state elsewhere"),
                ));
            };
            held.insert(name, lock);
        }
    }
    Ok(held.into_values().collect())
}

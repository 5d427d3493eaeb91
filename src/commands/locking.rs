//! Two runs whose targets overlap cannot start.

use std::collections::BTreeMap;

use super::Desk;
use crate::clients::Clients;
use crate::error::Failure;
use crate::journal::{Lock, Locks};
use crate::kubernetes::lease::{self, HeldLease, Holder, LeaseTiming};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Plan, StoredPlan};

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

/// No other run begins in the namespace that the plan names, from whatever machine. `None`: it names
/// no cluster.
pub(super) async fn lease(
    desk: &Desk,
    stored: &StoredPlan,
    clients: &Clients,
) -> Result<Option<HeldLease>, Failure> {
    let Some(cluster) = &stored.plan.cluster else {
        return Ok(None);
    };
    let holder = Holder::new(&desk.settings.person, &stored.id);
    let held = lease::take(clients, cluster, &holder, LeaseTiming::default()).await?;
    desk.printer.detail(&format!(
        "namespace {} is locked by its Lease {}",
        cluster.namespace,
        lease::NAME
    ));
    Ok(Some(held))
}

/// Gives it back. That it cannot be is no word on the run.
pub(super) async fn release(desk: &Desk, held: Option<HeldLease>) {
    let Some(held) = held else { return };
    if let Err(problem) = held.release().await {
        let hint = problem
            .hint
            .map_or(String::new(), |hint| format!("; {hint}"));
        desk.printer.warn(&format!("{}{hint}", problem.message));
    }
}

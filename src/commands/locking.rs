//! Two runs whose targets overlap cannot start.

use std::collections::BTreeMap;

use super::Desk;
use crate::clients::Clients;
use crate::error::Failure;
use crate::journal::{Attempt, Held, Lock, Locks, Store};
use crate::kubernetes::lease::{self, HeldLease, LeaseTiming};
use crate::model::holder::Holder;
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Plan, StoredPlan};
use crate::run::Clock;

/// The locks of a run; they end with it.
pub(super) struct Locked {
    locks: Vec<Lock>,
    names: Vec<String>,
    holder: Holder,
}

/// Two runs on one world cannot start, by whatever name they reach it and wherever their state is.
pub(super) fn lock(desk: &Desk, store: &Store, stored: &StoredPlan) -> Result<Locked, Failure> {
    let folder = &desk.settings.lock_dir;
    desk.printer.detail(&format!(
        "locks are kept in {} ({})",
        folder.value.display(),
        folder.origin
    ));
    let locks = Locks::open(folder.value.clone())?;
    let holder = Holder {
        person: desk.settings.person.clone(),
        since: Clock::wall(),
        plan: stored.id.clone(),
        experiment: stored.plan.name().clone(),
        run: None,
        state: std::path::absolute(store.root()).unwrap_or_else(|_| store.root().to_owned()),
        pid: std::process::id(),
    };
    let mut held = Vec::new();
    let mut taken = Vec::new();
    // In the order of the names: two runs that meet at several of them meet at the same one first, and
    // one of them gets it.
    for (name, place) in names(&stored.plan) {
        match locks.take(&name, &holder)? {
            Attempt::Taken(lock) => {
                held.push(lock);
                taken.push(name);
            }
            Attempt::Held(other) => return Err(Failure::Problem(busy(&place, &other, &holder))),
        }
    }
    Ok(Locked {
        locks: held,
        names: taken,
        holder,
    })
}

/// What is locked, each with where it is. A cluster is locked by its namespace.
fn names(plan: &Plan) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    if let Some(cluster) = &plan.cluster {
        let place = format!("namespace {} of {}", cluster.namespace, cluster.api_server);
        names.insert(cluster.lock_name(), place);
    }
    let cluster = plan.cluster.as_ref().map(|cluster| cluster.world());
    for world in plan.worlds() {
        if cluster.as_ref() == Some(&world) {
            continue;
        }
        for name in world.lock_names() {
            names.insert(name, world.endpoint.clone());
        }
    }
    names
}

fn busy(place: &str, held: &Held, ours: &Holder) -> Problem {
    let under_way = format!("another run is under way on {place}");
    let (message, next) = match &held.holder {
        None => (
            format!("{under_way}; who holds it does not stand in its lock file"),
            "end it with Ctrl-C where it runs; `chaos runs` shows it, with `--state-dir` if it keeps its state elsewhere".to_owned(),
        ),
        Some(holder) => {
            let elsewhere = holder.other_state(&ours.state);
            let elsewhere = elsewhere.map(|state| format!(" --state-dir {state}"));
            let elsewhere = elsewhere.unwrap_or_default();
            let next = match &holder.run {
                Some(run) => format!(
                    "end it with `chaos abort {run}{elsewhere}`; `chaos show {run}{elsewhere}` shows it"
                ),
                None => format!(
                    "end it with Ctrl-C where it runs; `chaos show {}{elsewhere}` shows its plan",
                    holder.plan
                ),
            };
            (format!("{under_way}: {holder}"), next)
        }
    };
    Problem::new(ProblemKind::Conflict, message).hint(format!("wait for its end, or {next}"))
}

impl Locked {
    /// That nobody else can have started meanwhile.
    ///
    /// # Errors
    /// A lock file was removed.
    pub(super) fn check(&self) -> Result<(), Problem> {
        self.locks.iter().try_for_each(Lock::check)
    }

    /// What is locked, for whoever takes it over.
    pub(super) fn names(&self) -> &[String] {
        &self.names
    }

    /// Who says that he holds it.
    pub(super) fn holder(&self) -> &Holder {
        &self.holder
    }

    /// Tells whoever meets the locks from now on which run it is.
    pub(super) fn begin(&mut self, run: &RunId) {
        self.holder.run = Some(run.clone());
        for lock in &self.locks {
            lock.tell(&self.holder);
        }
    }
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
    let holder = lease::Holder::new(&desk.settings.person, &stored.id);
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

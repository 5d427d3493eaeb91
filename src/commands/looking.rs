//! Whether the faults of a plan could go in now: asked before a person is, and again when he took his
//! time. The engine asks once more before each fault.

use std::sync::Arc;

use crate::error::Failure;
use crate::faults::{FaultDriver, Owner};
use crate::journal::{self, Entry, Store};
use crate::model::event::{Event, Record};
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::Plan;

/// Looks only. `run` names who asks; nothing of its own is in place yet.
///
/// # Errors
/// The first step that the world says no to, or that is another one now than was planned.
pub(super) async fn look(
    store: &Store,
    plan: &Plan,
    drivers: &[Arc<dyn FaultDriver>],
    run: &RunId,
) -> Result<(), Failure> {
    let owner = Owner::Run(run.clone());
    for (index, (step, driver)) in plan.experiment.steps.iter().zip(drivers).enumerate() {
        let prepared = driver.prepare(&step.fault, &owner).await;
        let admitted = prepared.and_then(|prepared| plan.admits(index, &prepared));
        admitted.map_err(|problem| named(store, &step.name, problem))?;
    }
    Ok(())
}

fn named(store: &Store, step: &str, mut problem: Problem) -> Problem {
    if problem.kind == ProblemKind::Conflict
        && let Some(who) = owner(store, &problem)
    {
        let hint = problem.hint.unwrap_or_default();
        problem.hint = Some(format!("{who}; {hint}"));
    }
    problem.message = format!("step `{step}`: {}", problem.message);
    problem
}

/// Who began the run that stands in the way, when it, and its journal, are known here.
fn owner(store: &Store, problem: &Problem) -> Option<String> {
    let runs = store.runs().ok()?;
    let run = runs
        .into_iter()
        .find(|run| problem.message.contains(run.id.as_str()))?;
    let mut entries = journal::Entries::open(&run.journal).ok()?.flatten();
    entries.find_map(|entry| match entry {
        Entry::Record(record) => who_began(&record),
        Entry::Header(_) | Entry::Broken(_) | Entry::Torn(_) => None,
    })
}

fn who_began(record: &Record) -> Option<String> {
    let Event::RunStarted {
        run,
        requester,
        brief,
        plan,
        ..
    } = &record.event
    else {
        return None;
    };
    let when = record.time.strftime("%Y-%m-%d %H:%M:%SZ");
    let experiment = &brief.experiment;
    Some(format!(
        "{requester} began {run} at {when} for plan {plan} ({experiment})"
    ))
}

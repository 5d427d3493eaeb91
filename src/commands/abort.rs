//! `chaos abort`: ends a run from another terminal, by its own engine if that answers.

use super::attending::Attending;
use super::{Desk, cleaning, conduct, planning, unfinished};
use crate::cli::AbortArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{RunEntry, Store};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::takeover::Rescuer;
use crate::report::Cleaning;
use crate::session::Signals;

pub(super) async fn abort(desk: &Desk, args: &AbortArgs) -> Result<Exit, Failure> {
    conduct::refuse_short_undo(args.cleaning.undo_timeout)?;
    let store = desk.store()?;
    let runs = meant(&store, args)?;
    if runs.is_empty() {
        desk.printer.talk("no run is under way here");
    }
    let clients = planning::own_clients(desk)?;
    let mut attending = Attending {
        desk,
        clients: &clients,
        undo_within: args.cleaning.undo_timeout.as_duration(),
        by: Rescuer::Abort,
        signals: Signals::hear()?,
        evidence: None,
    };
    // All are asked before the first is waited for.
    for run in &runs {
        if let Err(problem) = attending.ask(run) {
            // A run that was not asked does not answer either, and is ended like one that hangs.
            desk.printer.error(&problem);
        }
    }
    let mut done = Cleaning::default();
    let mut failed = None;
    for run in &runs {
        match attending.end(run).await {
            Ok(end) => {
                cleaning::show_run(desk, &end, args.cleaning.output);
                done.runs.push(end);
            }
            // What is the matter with one run is no reason to leave the others as they are.
            Err(Failure::Problem(problem)) => {
                if let Some(earlier) = failed.replace(problem) {
                    desk.printer.error(&earlier);
                }
            }
            Err(failure) => return Err(failure),
        }
    }
    let exit = cleaning::close(desk, &done, attending.evidence, args.cleaning.output)?;
    match failed {
        None => Ok(exit),
        Some(problem) => Err(problem.into()),
    }
}

/// The runs to end: the one that was named, or the only one, or all.
fn meant(store: &Store, args: &AbortArgs) -> Result<Vec<RunEntry>, Failure> {
    if let Some(wanted) = &args.run {
        return Ok(vec![store.find_run(wanted)?]);
    }
    let mut open = unfinished::open_runs(store)?;
    // Whoever names none means one that is at work, if there is one.
    let is_live = |run: &RunEntry| run.attendance().is_ok_and(|at| at.is_somebody());
    if !args.all && open.iter().any(is_live) {
        open.retain(is_live);
    }
    if args.all || open.len() <= 1 {
        return Ok(open);
    }
    let names: Vec<String> = open.iter().map(|run| run.id.to_string()).collect();
    let message = format!("{} runs have no end", names.len());
    let hint = format!("name one, or give `--all`: {}", names.join(", "));
    Err(Problem::new(ProblemKind::Invalid, message)
        .hint(hint)
        .into())
}

//! `chaos recover`: ends the runs that have no end, then looks for rules of this tool that nobody owns.

use std::collections::BTreeMap;

use super::attending::Attending;
use super::{Desk, cleaning, conduct, leftovers, planning, unfinished};
use crate::cli::RecoverArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::faults;
use crate::guardian::Leftover;
use crate::journal::{RunEntry, Store};
use crate::model::attendance::Attendance;
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::model::takeover::Rescuer;
use crate::report::{Cleaning, Deed, RunEnd, in_place};
use crate::session::Signals;
use crate::view::sanitise;

/// What was named, or is to be looked at.
pub(super) struct Meant {
    /// Runs that are known here.
    pub(super) runs: Vec<RunEntry>,
    /// Ids that were typed and are known here to nobody, but perhaps to a LocalStack.
    pub(super) unknown: Vec<RunId>,
}

pub(super) async fn recover(desk: &Desk, args: &RecoverArgs) -> Result<Exit, Failure> {
    conduct::refuse_short_undo(args.cleaning.undo_timeout)?;
    for endpoint in &args.endpoints {
        faults::check_endpoint(endpoint)?;
    }
    let store = desk.store()?;
    let meant = meant(&store, args)?;
    let clients = planning::own_clients(desk)?;
    let mut attending = Attending {
        desk,
        clients: &clients,
        undo_within: args.cleaning.undo_timeout.as_duration(),
        by: Rescuer::Recover,
        signals: Signals::hear()?,
        evidence: None,
    };
    let mut done = Cleaning::default();
    for run in &meant.runs {
        let end = match one(&mut attending, run).await {
            // What is the matter with one run is no reason to leave the others as they are.
            Err(Failure::Problem(problem)) => unreadable(desk, run, problem),
            other => other?,
        };
        cleaning::show_run(desk, &end, args.cleaning.output);
        done.runs.push(end);
    }
    leftovers::clean(&mut attending, &store, (args, &meant), &mut done).await?;
    if done == Cleaning::default() {
        desk.printer
            .talk("nothing to recover: every run has its end");
    }
    cleaning::close(desk, &done, attending.evidence, args.cleaning.output)
}

fn meant(store: &Store, args: &RecoverArgs) -> Result<Meant, Failure> {
    if args.runs.is_empty() {
        return Ok(Meant {
            runs: unfinished::open_runs(store)?,
            unknown: Vec::new(),
        });
    }
    let mut runs: BTreeMap<RunId, RunEntry> = BTreeMap::new();
    let mut unknown = Vec::new();
    for wanted in &args.runs {
        match (store.find_run(wanted), wanted.parse()) {
            (Ok(run), _) => {
                runs.insert(run.id.clone(), run);
            }
            (Err(problem), Ok(id)) if problem.kind == ProblemKind::Invalid => unknown.push(id),
            (Err(problem), _) => return Err(problem.into()),
        }
    }
    Ok(Meant {
        runs: runs.into_values().collect(),
        unknown,
    })
}

/// A run that is under way is left alone; whoever ends one already is waited for.
async fn one(attending: &mut Attending<'_>, run: &RunEntry) -> Result<RunEnd, Failure> {
    let attendance = run.attendance()?;
    let is_rescued = matches!(&attendance, Attendance::Writer(writer) if writer.rescuer.is_some());
    if run.never_began() && !attendance.is_somebody() {
        let state = RunState::default();
        return Ok(RunEnd::of(run.id.clone(), Deed::NeverBegan, &state));
    }
    let left = match Leftover::read(&run.journal) {
        Ok(left) => left,
        Err(problem) => return Ok(unreadable(attending.desk, run, problem)),
    };
    if attendance.is_somebody() && !is_rescued {
        let words = format!("`chaos abort {}` ends it", run.id);
        attending.desk.printer.talk(&words);
        return Ok(RunEnd {
            attendance: Some(attendance),
            ..RunEnd::of(run.id.clone(), Deed::LeftAlone, &left.state)
        });
    }
    if !left.is_settled() {
        found(attending, run, &attendance, &left);
    }
    attending.end(run).await
}

fn unreadable(desk: &Desk, run: &RunEntry, problem: Problem) -> RunEnd {
    desk.printer.error(&problem);
    RunEnd {
        trouble: Some(problem.message),
        ..RunEnd::of(run.id.clone(), Deed::Unreadable, &RunState::default())
    }
}

/// What was found, before anything is done.
fn found(attending: &Attending<'_>, run: &RunEntry, attendance: &Attendance, left: &Leftover) {
    let fate = match (attendance, left.state.outcome) {
        (Attendance::Nobody, Some(outcome)) => format!("it is {outcome}"),
        (_, _) => attendance.sentence(),
    };
    let in_place = match in_place(&left.state).as_slice() {
        [] => "nothing is known to be in place".to_owned(),
        parts => format!("in place, or perhaps: {}", parts.join(", ")),
    };
    let words = format!("found {}: {fate}; {in_place}", run.id);
    attending.desk.printer.talk(&sanitise(&words));
}

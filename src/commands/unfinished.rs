//! Runs without an end. None starts while there is one: what it left is undone first.

use super::Desk;
use crate::guardian::Leftover;
use crate::journal::{LastWord, RunEntry, Store, last_word};
use crate::model::attendance::Attendance;
use crate::model::outcome::Outcome;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::undo::Undo;
use crate::report::in_place;

/// Refuses while a run has no end and nobody that runs it, or something in place by its own record.
///
/// # Errors
/// There is one: the problem names it, what may be in place, and the command that ends it.
pub(super) fn refuse(desk: &Desk, store: &Store) -> Result<(), Problem> {
    let open = open_runs(store)?;
    let mut blocking = open.iter().filter_map(|run| blocks(run).transpose());
    let Some(first) = blocking.next() else {
        return Ok(());
    };
    let mut problem = first?;
    let others = blocking.count();
    if others > 0 {
        problem.message.push_str(&format!("; and {others} more"));
        let hint = problem.hint.unwrap_or_default();
        problem.hint = Some(format!("{hint}; `chaos recover` ends them all"));
    }
    desk.printer
        .detail(&format!("{} runs have no end", open.len()));
    Err(problem)
}

/// The runs of which the last words are no end, or that say that something is in place; newest first.
/// Looks at the end of each journal only: there may be thousands.
///
/// # Errors
/// The folder of the runs cannot be read.
pub(super) fn open_runs(store: &Store) -> Result<Vec<RunEntry>, Problem> {
    let mut runs = store.runs()?;
    runs.retain(|run| match last_word(&run.journal) {
        Ok(LastWord::Ended(outcome)) => outcome == Outcome::Stuck,
        Ok(LastWord::Open) | Err(_) => !run.never_began(),
    });
    Ok(runs)
}

/// Why no other run may start beside this one; `None`: it is no reason.
fn blocks(run: &RunEntry) -> Result<Option<Problem>, Problem> {
    // Before the journal is read: whoever has let go since has written its end.
    let attendance = run.attendance()?;
    let rescued = match &attendance {
        Attendance::Writer(writer) => writer.rescuer.is_some(),
        Attendance::Nobody => false,
        // A run says who it is before it writes a word; this may be somebody who ends one.
        Attendance::Unknown => true,
    };
    // It runs; what both touch is locked.
    if matches!(attendance, Attendance::Writer(_)) && !rescued {
        return Ok(None);
    }
    let left = Leftover::read(&run.journal)?;
    if left.is_settled() || (!rescued && ended_with_its_world(&left)) {
        return Ok(None);
    }
    Ok(Some(refusal(run, &attendance, &left)))
}

/// Whatever it had in place was in a sandbox of its own, which died with it.
fn ended_with_its_world(left: &Leftover) -> bool {
    let brief = left.state.brief();
    let Some(own) = brief.and_then(|brief| brief.own_sandbox.as_deref()) else {
        return false;
    };
    let mut undos = left.state.in_place().map(|(_, step)| step.undo.as_ref());
    undos.all(|undo| undo.and_then(Undo::endpoint) == Some(own))
}

fn refusal(run: &RunEntry, attendance: &Attendance, left: &Leftover) -> Problem {
    let id = &run.id;
    let experiment = left.state.brief().map(|brief| &brief.experiment);
    let experiment = experiment.map_or_else(String::new, |name| format!(" ({name})"));
    let fate = match (attendance, left.state.outcome) {
        (Attendance::Nobody, Some(outcome)) => format!("is {outcome}"),
        (Attendance::Unknown, _) => format!("has no end: {}", attendance.sentence()),
        (Attendance::Nobody | Attendance::Writer(_), _) => {
            attendance.sentence().replacen("it ", "", 1)
        }
    };
    let in_place = match in_place(&left.state).as_slice() {
        [] => "nothing is known to be in place".to_owned(),
        parts => format!("in place, or perhaps: {}", parts.join(", ")),
    };
    let hint = match attendance {
        Attendance::Nobody => {
            format!("`chaos recover {id}` takes out what is in place and ends it; then start again")
        }
        Attendance::Unknown | Attendance::Writer(_) => {
            format!("wait for that: `chaos abort {id}` waits with you; then start again")
        }
    };
    let message = format!("run {id}{experiment} {fate}; {in_place}");
    Problem::new(ProblemKind::Conflict, message).hint(hint)
}

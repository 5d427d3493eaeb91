//! How `abort` and `recover` show what they found and did, and the exit code that goes with it.

use super::Desk;
use crate::cli::Form;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::outcome::Outcome;
use crate::model::problem::{Problem, ProblemKind};
use crate::report::{Cleaning, Leftover, RunEnd};

/// One run, as soon as it is known how it ended.
pub(super) fn show_run(desk: &Desk, end: &RunEnd, form: Form) {
    match form {
        Form::Text => desk.printer.data(&end.line()),
        Form::Json => {}
    }
}

/// The rules of one run in one place.
pub(super) fn show_leftover(desk: &Desk, leftover: &Leftover, form: Form) {
    match form {
        Form::Text => desk.printer.data(&leftover.line()),
        Form::Json => {}
    }
}

/// The whole document for programs, the last words for people, and the code: what is still in place
/// before lost evidence before all else.
pub(super) fn close(
    desk: &Desk,
    done: &Cleaning,
    evidence: Option<Problem>,
    form: Form,
) -> Result<Exit, Failure> {
    match form {
        Form::Text => {}
        Form::Json => {
            let text = serde_json::to_string_pretty(done)
                .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))?;
            desk.printer.data(&text);
        }
    }
    for end in done.runs.iter().filter(|end| end.is_stuck()) {
        let left = end.in_place.join(", ");
        let message = format!("{} is, or may be, still in place: {left}", end.run);
        let hint = format!(
            "`chaos recover {}` tries again; `chaos show {}` has the commands to finish by hand",
            end.run, end.run
        );
        let problem = Problem::new(ProblemKind::Unexpected, message);
        desk.printer.error(&problem.hint(hint));
    }
    if let Some(problem) = &evidence {
        desk.printer.error(problem);
    }
    if done.leaves_something() {
        return Ok(Exit::Run(Outcome::Stuck.code()));
    }
    let unreadable = done.runs.iter().any(|end| end.trouble.is_some());
    Ok(match evidence.is_some() || unreadable {
        true => Exit::Run(8),
        false => Exit::Done,
    })
}

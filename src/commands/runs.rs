//! `chaos runs`: what was run here.

use super::Desk;
use crate::cli::{Form, ListArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::report::RunRow;
use crate::view::runs as shown;

pub(super) fn runs(desk: &Desk, args: &ListArgs) -> Result<Exit, Failure> {
    let rows: Vec<RunRow> = desk.store()?.runs()?.into_iter().map(row).collect();
    match args.output {
        Form::Text => shown::show(&desk.printer, &rows),
        Form::Json => {
            let text = serde_json::to_string_pretty(&rows)
                .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))?;
            desk.printer.data(&text);
        }
    }
    Ok(Exit::Done)
}

fn row(entry: RunEntry) -> RunRow {
    match journal::read(&entry.journal) {
        Ok(recorded) => RunRow::of(entry.id, &RunState::of(&recorded.records)),
        Err(problem) => RunRow::unreadable(entry.id, problem.message),
    }
}

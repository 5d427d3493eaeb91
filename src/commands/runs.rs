//! `chaos runs`: what was run here.

use super::Desk;
use crate::cli::{Form, ListArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::report::RunRow;
use crate::view::{clock_time, length, list};

pub(super) fn runs(desk: &Desk, args: &ListArgs) -> Result<Exit, Failure> {
    let rows: Vec<RunRow> = desk.store()?.runs()?.into_iter().map(row).collect();
    match args.output {
        Form::Text => show(desk, &rows),
        Form::Json => {
            let text = serde_json::to_string_pretty(&rows)
                .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))?;
            desk.printer.data(&text);
        }
    }
    Ok(Exit::Done)
}

fn row(entry: RunEntry) -> RunRow {
    let attendance = entry.attendance();
    let row = match journal::read(&entry.journal) {
        Ok(recorded) => RunRow::of(entry.id, &RunState::of(&recorded.records)),
        Err(problem) => return RunRow::unreadable(entry.id, problem.message),
    };
    // Looked at before the journal was read: whoever has let go since has written its end.
    match (row.outcome, attendance) {
        (None, Ok(attendance)) => row.attended(attendance),
        (Some(_), _) | (None, Err(_)) => row,
    }
}

fn show(desk: &Desk, rows: &[RunRow]) {
    if rows.is_empty() {
        desk.printer
            .talk("no runs yet; `chaos run --sandbox examples/stream-down.yaml` makes the first");
        return;
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let headings = ["run", "started", "experiment", "ended", "took"];
    desk.printer.data(&list(&desk.printer, &headings, &cells));
}

fn cells(row: &RunRow) -> Vec<String> {
    let unknown = || "unknown".to_owned();
    vec![
        row.id.to_string(),
        row.started.map_or_else(unknown, clock_time),
        row.experiment
            .as_ref()
            .map_or_else(unknown, ToString::to_string),
        row.ending(),
        length(row.took_ms),
    ]
}

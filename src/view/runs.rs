//! The list of runs.

use super::printer::Printer;
use super::table::list;
use super::text::length;
use crate::report::RunRow;

/// The rows as data; a word where there are none.
pub fn show(printer: &Printer, rows: &[RunRow]) {
    if rows.is_empty() {
        printer.talk("no runs yet; `chaos run --sandbox examples/stream-down.yaml` makes the first");
        return;
    }
    let cells: Vec<Vec<String>> = rows.iter().map(cells).collect();
    printer.data(&list(printer, &["run", "started", "experiment", "ended", "took"], &cells));
}

fn cells(row: &RunRow) -> Vec<String> {
    let started = row.started.map(super::plan::clock_time);
    vec![
        row.id.to_string(),
        started.unwrap_or_else(|| "unknown".to_owned()),
        row.experiment.as_ref().map_or_else(|| "unknown".to_owned(), ToString::to_string),
        row.ending().to_owned(),
        length(row.took_ms),
    ]
}

//! `chaos report`: a run as a document, several as a comparison.

use super::Desk;
use crate::cli::{Form, ReportArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal;
use crate::report::{Comparison, Report, ReportFormat};

pub(super) fn report(desk: &Desk, args: &ReportArgs) -> Result<Exit, Failure> {
    let store = desk.store()?;
    let mut reports = Vec::with_capacity(args.runs.len());
    for wanted in &args.runs {
        let entry = store.find_run(wanted)?;
        let recorded = journal::read(&entry.journal)?;
        for finding in &recorded.breaks {
            desk.printer
                .warn(&format!("the journal of {}: {finding}", entry.id));
        }
        reports.push(Report::from_events(&recorded.records));
    }
    match reports.as_slice() {
        [only] => desk
            .printer
            .data(format(args.output).format().render(only).trim_end()),
        several => {
            for pair in several.windows(2) {
                compare(desk, &Comparison::between(&pair[0], &pair[1]), args.output);
            }
        }
    }
    Ok(Exit::Done)
}

/// Shows a comparison as data.
pub(super) fn compare(desk: &Desk, comparison: &Comparison, form: Form) {
    desk.printer.data(
        format(form)
            .format()
            .render_comparison(comparison)
            .trim_end(),
    );
}

fn format(form: Form) -> ReportFormat {
    match form {
        Form::Text => ReportFormat::Text,
        Form::Json => ReportFormat::Json,
    }
}

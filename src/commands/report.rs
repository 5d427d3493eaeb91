//! `chaos report`: a run as a document, several as a comparison.

use super::Desk;
use crate::cli::{Form, ReportArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, JournalEnd, RunEntry};
use crate::report::{Comparison, Report, ReportFormat};

pub(super) fn report(desk: &Desk, args: &ReportArgs) -> Result<Exit, Failure> {
    let store = desk.store()?;
    let mut reports = Vec::with_capacity(args.runs.len());
    for wanted in &args.runs {
        reports.push(of(&store.find_run(wanted)?)?);
    }
    match reports.as_slice() {
        [only] => show(desk, only, args.output),
        several => {
            for pair in several.windows(2) {
                compare(desk, &Comparison::between(&pair[0], &pair[1]), args.output);
            }
        }
    }
    Ok(Exit::Done)
}

/// A run as a report; damage of its journal is part of it.
pub(super) fn of(entry: &RunEntry) -> Result<Report, Failure> {
    let recorded = journal::read(&entry.journal)?;
    let mut report = Report::from_events(&recorded.records);
    let damage = recorded.breaks.iter().map(ToString::to_string);
    report.evidence.extend(damage);
    if let JournalEnd::Torn(torn) = &recorded.end {
        report
            .evidence
            .push(format!("line {}: {}", torn.line, torn.why));
    }
    Ok(report)
}

/// Shows a report as data.
pub(super) fn show(desk: &Desk, report: &Report, form: Form) {
    desk.printer
        .data(format(form).format().render(report).trim_end());
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

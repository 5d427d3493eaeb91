//! `chaos report`: a run as a document, several as a comparison.

use super::Desk;
use crate::cli::{Form, ReportArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::journal::{self, JournalEnd, RunEntry};
use crate::model::problem::{Problem, ProblemKind};
use crate::report::{Comparison, Report, ReportFormat};

pub(super) fn report(desk: &Desk, args: &ReportArgs) -> Result<Exit, Failure> {
    let store = desk.store()?;
    let mut reports = Vec::with_capacity(args.runs.len());
    for wanted in &args.runs {
        reports.push(of(&store.find_run(wanted)?)?);
    }
    match reports.as_slice() {
        [only] => show(desk, only, args.output),
        several => compare_in_turn(desk, several, args.output)?,
    }
    Ok(Exit::Done)
}

/// Each run with the one before it: as text one after the other, as JSON one document.
fn compare_in_turn(desk: &Desk, reports: &[Report], form: Form) -> Result<(), Failure> {
    let pairs = reports.windows(2);
    let all: Vec<Comparison> = pairs
        .map(|pair| Comparison::between(&pair[0], &pair[1]))
        .collect();
    if form == Form::Json && all.len() > 1 {
        let text = serde_json::to_string_pretty(&all)
            .map_err(|why| Problem::new(ProblemKind::Evidence, why.to_string()))?;
        desk.printer.data(&text);
        return Ok(());
    }
    for one in &all {
        let text = format(form).format().render_comparison(one);
        desk.printer.data(text.trim_end());
    }
    Ok(())
}

/// A run as a report; damage of its journal is part of it.
pub(super) fn of(entry: &RunEntry) -> Result<Report, Failure> {
    // Before the journal is read: whoever has let go since has written its end.
    let attendance = entry.attendance();
    let recorded = journal::read(&entry.journal)?;
    let mut report = Report::from_events(&recorded.records);
    let damage = recorded.breaks.iter().map(ToString::to_string);
    report.evidence.extend(damage);
    if let JournalEnd::Torn(torn) = &recorded.end {
        report
            .evidence
            .push(format!("line {}: {}", torn.line, torn.why));
    }
    if let Some(guardian) = &mut report.guardian {
        let log = entry.folder().guardian_log();
        guardian.log = log.exists().then(|| log.display().to_string());
    }
    Ok(match attendance {
        Ok(attendance) => report.attended(attendance),
        Err(_) => report,
    })
}

/// Shows a report as data.
pub(super) fn show(desk: &Desk, report: &Report, form: Form) {
    desk.printer
        .data(format(form).format().render(report).trim_end());
}

/// Shows a comparison after a run: one more line where every event was one.
pub(super) fn compare(desk: &Desk, comparison: &Comparison, form: Form) {
    let text = format(form).format().render_comparison(comparison);
    let one_line = match form {
        Form::Text => None,
        Form::Json => serde_json::to_string(comparison).ok(),
    };
    desk.printer
        .data(one_line.as_deref().unwrap_or(&text).trim_end());
}

fn format(form: Form) -> ReportFormat {
    match form {
        Form::Text => ReportFormat::Text,
        Form::Json => ReportFormat::Json,
    }
}

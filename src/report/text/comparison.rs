//! A comparison for a person: a table of both runs, then what the plans did not have in common.

use super::super::compare::{Change, Comparison, Figure, Measure, Row, Side};
use super::super::page::Page;
use super::super::wording::{date_time, length};
use super::endings;
use crate::model::units::Unit;

pub(super) fn render(comparison: &Comparison) -> String {
    let mut page = Page::default();
    page.banner("BEFORE AND AFTER", &summary(comparison));
    side(&mut page, "Before", &comparison.before);
    side(&mut page, "After", &comparison.after);
    page.gap();
    let titles = ["", "", "before", "after", ""];
    let mut rows = vec![titles.map(str::to_owned).to_vec()];
    rows.extend(comparison.rows.iter().map(row));
    page.table(&rows);
    page.gap();
    page.sentence(
        "Better and worse: beyond the larger spread of the two baselines; for times, beyond the \
         time between two readings.",
    );
    if comparison.differences.is_empty() {
        page.sentence("Both runs had the same plan: same faults, same SLOs, same variables.");
    } else {
        page.heading("THE PLANS DIFFER");
        for difference in &comparison.differences {
            page.item("-", difference);
        }
    }
    page.finish()
}

fn summary(comparison: &Comparison) -> String {
    let count = |change: Change| {
        let rows = comparison.rows.iter();
        rows.filter(|row| row.change == change).count()
    };
    format!(
        "{} better, {} same, {} worse",
        count(Change::Better),
        count(Change::Same),
        count(Change::Worse)
    )
}

fn side(page: &mut Page, label: &str, side: &Side) {
    let run = side.run.as_ref().map_or("unknown run", |run| run.as_str());
    let started = side
        .started
        .map_or_else(String::new, |time| format!(", {}", date_time(time)));
    let outcome = side.outcome.map_or("incomplete", |outcome| outcome.word());
    let cause = side
        .cause
        .as_ref()
        .map_or_else(String::new, |cause| format!(": {cause}"));
    page.entry(label, &format!("{run}{started}"));
    page.entry("", &format!("{outcome}{cause}"));
    for taken in &side.takeovers {
        page.entry("", &endings::words(taken));
    }
}

fn row(row: &Row) -> Vec<String> {
    vec![
        row.subject.clone(),
        measure_word(row.measure).to_owned(),
        shown(row.before),
        shown(row.after),
        change_word(row.change).to_owned(),
    ]
}

fn measure_word(measure: Measure) -> &'static str {
    match measure {
        Measure::Outcome => "outcome",
        Measure::WorstWithFault => "worst, fault in",
        Measure::TimeInBreach => "time in breach",
        Measure::Detect => "time to detect",
        Measure::React => "time to react",
        Measure::Gone => "time to gone",
        Measure::Recovery => "recovery",
    }
}

fn change_word(change: Change) -> &'static str {
    match change {
        Change::Better => "better",
        Change::Same => "same",
        Change::Worse => "WORSE",
        Change::Unknown => "",
    }
}

fn shown(figure: Option<Figure>) -> String {
    match figure {
        None => "-".to_owned(),
        Some(Figure::Outcome(outcome)) => outcome.word().to_owned(),
        Some(Figure::Number(value)) => Unit::Number.show(value),
        Some(Figure::Ratio(value)) => Unit::Percent.show(value),
        Some(Figure::Seconds(value)) => Unit::Duration.show(value),
        Some(Figure::Millis(milliseconds)) => length(milliseconds),
    }
}

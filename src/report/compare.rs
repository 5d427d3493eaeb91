//! Two runs of the same faults, side by side: what became better, what worse, and whether the plans
//! were the same to begin with.
//!
//! Better and worse mean beyond noise. The noise of a reading is the larger of the two baseline
//! spreads (worst less best); the noise of a time is one reading of the slowest SLO, since nothing
//! finer was seen.

use jiff::Timestamp;
use serde::Serialize;

use super::FORMAT;
use super::content::{Report, SloReport, StepReport, TakenOver};
use crate::model::ids::RunId;
use crate::model::outcome::Outcome;
use crate::model::units::Unit;

/// Two reports, compared.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Comparison {
    /// Format of this document.
    pub format: u32,
    /// The earlier run.
    pub before: Side,
    /// The later run.
    pub after: Side,
    /// What was measured in both.
    pub rows: Vec<Row>,
    /// Where the plans differ, one sentence each; empty: the same faults under the same conditions.
    pub differences: Vec<String>,
}

/// One of the two runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Side {
    /// The run.
    pub run: Option<RunId>,
    /// When it began.
    pub started: Option<Timestamp>,
    /// How it ended; `None`: its journal has no end.
    pub outcome: Option<Outcome>,
    /// Why.
    pub cause: Option<String>,
    /// Who ended it, or tried to, where its own engine did not.
    pub takeovers: Vec<TakenOver>,
}

/// One measure of both runs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Row {
    /// The SLO or step that it is about; empty: the whole run.
    pub subject: String,
    /// What was measured.
    pub measure: Measure,
    /// In the earlier run; `None`: it was not measured there.
    pub before: Option<Figure>,
    /// In the later run.
    pub after: Option<Figure>,
    /// Differences up to this are none.
    pub noise: Option<Figure>,
    /// What became of it.
    pub change: Change,
}

/// What was measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// How the run ended.
    Outcome,
    /// Worst reading while a fault was in.
    WorstWithFault,
    /// Time spent breaching.
    TimeInBreach,
    /// From the fault seen in to the trip.
    Detect,
    /// From the trip to the undo.
    React,
    /// From the undo to the fault seen gone.
    Gone,
    /// From the last fault seen gone to the SLOs back.
    Recovery,
}

/// A measured value.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Figure {
    /// How a run ended.
    Outcome(Outcome),
    /// A bare number.
    Number(f64),
    /// A ratio.
    Ratio(f64),
    /// Seconds.
    Seconds(f64),
    /// Milliseconds of the run's clock.
    Millis(u64),
}

/// What became of a measure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Change {
    /// Better, beyond noise.
    Better,
    /// No difference beyond noise.
    Same,
    /// Worse, beyond noise.
    Worse,
    /// One of the two was not measured, or they cannot be ranked.
    Unknown,
}

impl Comparison {
    /// Compares two runs; the first is the earlier one.
    pub fn between(before: &Report, after: &Report) -> Self {
        let mut rows = vec![outcome_row(before, after)];
        for (earlier, later) in pairs(&before.slos, &after.slos, |slo| &slo.name) {
            rows.extend(slo_rows(earlier, later));
        }
        let noise_ms = slowest_reading(before).max(slowest_reading(after));
        for (earlier, later) in pairs(&before.steps, &after.steps, |step| &step.name) {
            rows.extend(step_rows(earlier, later, noise_ms));
        }
        let took = |report: &Report| report.recovery.and_then(|recovery| recovery.took_ms);
        rows.push(time_row(
            "",
            Measure::Recovery,
            (took(before), took(after)),
            noise_ms,
        ));
        Self {
            format: FORMAT,
            before: Side::of(before),
            after: Side::of(after),
            rows,
            differences: super::differences::between(before, after),
        }
    }
}

impl Side {
    fn of(report: &Report) -> Self {
        Self {
            run: report.run.as_ref().map(|run| run.id.clone()),
            started: report.run.as_ref().map(|run| run.started),
            outcome: report.verdict.outcome,
            cause: report.verdict.cause.clone(),
            takeovers: report.takeovers.clone(),
        }
    }
}

/// Those that both sides have, by name, in the order of the later one.
fn pairs<'a, T>(
    before: &'a [T],
    after: &'a [T],
    name: impl Fn(&T) -> &String,
) -> Vec<(&'a T, &'a T)> {
    let former = |later: &T| before.iter().find(|earlier| name(earlier) == name(later));
    after
        .iter()
        .filter_map(|later| Some((former(later)?, later)))
        .collect()
}

fn outcome_row(before: &Report, after: &Report) -> Row {
    let outcomes = (before.verdict.outcome, after.verdict.outcome);
    Row {
        subject: String::new(),
        measure: Measure::Outcome,
        before: outcomes.0.map(Figure::Outcome),
        after: outcomes.1.map(Figure::Outcome),
        noise: None,
        change: match outcomes {
            (Some(former), Some(latter)) => outcome_change(former, latter),
            (None, _) | (_, None) => Change::Unknown,
        },
    }
}

/// Only what judges the hypothesis can be ranked; a stuck run is worse than either.
fn outcome_change(before: Outcome, after: Outcome) -> Change {
    let rank = |outcome: Outcome| match outcome {
        Outcome::Held => Some(0),
        Outcome::Deviated => Some(1),
        Outcome::Stuck => Some(2),
        Outcome::Refused | Outcome::Aborted | Outcome::Inconclusive => None,
    };
    if before == after {
        return Change::Same;
    }
    match (rank(before), rank(after)) {
        (Some(former), Some(latter)) if latter < former => Change::Better,
        (Some(_), Some(_)) => Change::Worse,
        (None, _) | (_, None) => Change::Unknown,
    }
}

fn slo_rows(before: &SloReport, after: &SloReport) -> [Row; 2] {
    let figure = |value: f64| match after.unit {
        Unit::Number => Figure::Number(value),
        Unit::Percent => Figure::Ratio(value),
        Unit::Duration => Figure::Seconds(value),
    };
    let comparable = before.unit == after.unit;
    let noise = spread(before).max(spread(after));
    let worst = Row {
        subject: after.name.clone(),
        measure: Measure::WorstWithFault,
        before: before.fault_worst.filter(|_| comparable).map(figure),
        after: after.fault_worst.map(figure),
        noise: Some(figure(noise)),
        change: match (before.fault_worst, after.fault_worst) {
            (Some(former), Some(latter)) if comparable => {
                reading_change(after, former, latter, noise)
            }
            (Some(_) | None, _) => Change::Unknown,
        },
    };
    let every_ms = before.every_ms.max(after.every_ms);
    let breaching = (Some(before.breaching_ms), Some(after.breaching_ms));
    let breach = time_row(&after.name, Measure::TimeInBreach, breaching, every_ms);
    [worst, breach]
}

fn spread(slo: &SloReport) -> f64 {
    match (slo.baseline_worst, slo.baseline_best) {
        (Some(worst), Some(best)) => (worst - best).abs(),
        (None, _) | (_, None) => 0.0,
    }
}

fn reading_change(slo: &SloReport, before: f64, after: f64, noise: f64) -> Change {
    if (after - before).abs() <= noise {
        Change::Same
    } else if slo.objective.is_worse(after, before) {
        Change::Worse
    } else if slo.objective.is_worse(before, after) {
        Change::Better
    } else {
        Change::Same
    }
}

fn step_rows(before: &StepReport, after: &StepReport, noise_ms: u64) -> [Row; 3] {
    let (former, latter) = (&before.times, &after.times);
    [
        (Measure::Detect, (former.detect_ms, latter.detect_ms)),
        (Measure::React, (former.react_ms, latter.react_ms)),
        (Measure::Gone, (former.gone_ms, latter.gone_ms)),
    ]
    .map(|(measure, times)| time_row(&after.name, measure, times, noise_ms))
}

/// Less time is better, whatever is timed.
fn time_row(
    subject: &str,
    measure: Measure,
    (before, after): (Option<u64>, Option<u64>),
    noise_ms: u64,
) -> Row {
    Row {
        subject: subject.to_owned(),
        measure,
        before: before.map(Figure::Millis),
        after: after.map(Figure::Millis),
        noise: Some(Figure::Millis(noise_ms)),
        change: match (before, after) {
            (Some(former), Some(latter)) if former.abs_diff(latter) <= noise_ms => Change::Same,
            (Some(former), Some(latter)) if latter < former => Change::Better,
            (Some(_), Some(_)) => Change::Worse,
            (None, _) | (_, None) => Change::Unknown,
        },
    }
}

fn slowest_reading(report: &Report) -> u64 {
    let every = report.slos.iter().map(|slo| slo.every_ms);
    every.max().unwrap_or(0)
}

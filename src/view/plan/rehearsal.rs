//! What the SLOs of a plan read when it was made, and over the past before that: a table, and below
//! each row its past as a sparkline, with how late its data is and why there is none.

use comfy_table::presets::NOTHING;
use comfy_table::{ContentArrangement, Table};

use super::super::gauges::{short_value, value_words};
use super::super::sanitise::sanitise;
use super::super::spark::drawn;
use super::super::text::{clock_time, columns, fit, length};
use super::super::theme::{Tone, state_word};
use super::Page;
use crate::model::rehearsal::{Freshness, Now, Past, Rehearsal};
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::units::{Objective, Span, Unit};
use crate::plan::StoredPlan;

/// Between two columns.
const GAP: usize = 2;
/// A name is not cut shorter.
const NARROWEST_NAME: usize = 8;

/// The columns in their order; the first to be left out where there is little room is told already
/// where the SLO is described.
const HEADINGS: [&str; 6] = [
    "SLO",
    "OBJECTIVE",
    "VALUE",
    "TRIPS",
    "BREACHING",
    "LOWEST–HIGHEST",
];
const NAME: usize = 0;
const OF_THE_PAST: [usize; 3] = [3, 4, 5];
const LEFT_OUT_IN_TURN: [usize; 3] = [1, 5, 4];
const NOTHING_TOLD: &str = "–";

impl Page {
    /// Nothing where nobody looked.
    pub(super) fn rehearsals(&self, stored: &StoredPlan) -> Vec<String> {
        let plan = &stored.plan;
        let slos = plan.experiment.slos.iter().map(|gauged| &gauged.slo);
        let told: Vec<(&Slo, &Rehearsal)> = slos
            .filter_map(|slo| Some((slo, plan.rehearsal(&slo.name)?)))
            .collect();
        if told.is_empty() {
            return Vec::new();
        }
        if told.iter().all(|(_, rehearsal)| waits(rehearsal)) {
            return self.wrapped(2, "none of them can be read before the run");
        }
        let mut lines = vec![String::new()];
        lines.extend(self.wrapped(2, &when(stored, &told)));
        let rows: Vec<_> = told.iter().map(|(slo, one)| row(slo, one)).collect();
        let mut table = self.table(&rows).into_iter();
        let heading = table.next().unwrap_or_default();
        lines.push(Tone::Strong.paint(&heading, self.colour));
        for ((slo, rehearsal), line) in told.iter().zip(table) {
            lines.push(line);
            lines.extend(self.below(slo, rehearsal));
        }
        lines
            .into_iter()
            .map(|line| self.glyphs.adapt(line))
            .collect()
    }

    /// One line for the headings and one for each row, as wide as the page where that can be had.
    fn table(&self, rows: &[[String; 6]]) -> Vec<String> {
        let width_of = |column: usize| {
            let cells = rows.iter().map(|row| columns(&row[column]));
            cells.max().unwrap_or(0).max(columns(HEADINGS[column]))
        };
        let is_empty = |column: usize| rows.iter().all(|row| row[column] == NOTHING_TOLD);
        let mut shown: Vec<usize> = (0..HEADINGS.len())
            .filter(|column| !(OF_THE_PAST.contains(column) && is_empty(*column)))
            .collect();
        let others = |shown: &[usize]| -> usize {
            let widths = shown.iter().skip(1).map(|column| GAP + width_of(*column));
            widths.sum()
        };
        let room = self.width.saturating_sub(GAP);
        for column in LEFT_OUT_IN_TURN {
            if others(&shown) + NARROWEST_NAME > room {
                shown.retain(|one| *one != column);
            }
        }
        let widest_name = room.saturating_sub(others(&shown)).max(NARROWEST_NAME);
        let mut table = Table::new();
        table.load_style(NOTHING).force_no_tty();
        table.set_content_arrangement(ContentArrangement::Disabled);
        table.set_header(shown.iter().map(|column| HEADINGS[*column]));
        for row in rows {
            table.add_row(shown.iter().map(|column| match *column {
                NAME => fit(&row[NAME], widest_name),
                other => row[other].clone(),
            }));
        }
        for column in table.column_iter_mut() {
            column.set_padding((0, GAP as u16));
        }
        let indent = " ".repeat(GAP);
        let lines = table.lines();
        lines
            .map(|line| format!("{indent}{}", line.trim_end()))
            .collect()
    }

    /// What stands below a row.
    fn below(&self, slo: &Slo, rehearsal: &Rehearsal) -> Vec<String> {
        let indent = 2 * GAP;
        let mut lines = Vec::new();
        if let Some(why) = why(rehearsal) {
            lines.extend(self.wrapped(indent, &why));
        }
        let warnings = rehearsal.warnings.iter();
        lines.extend(warnings.flat_map(|warning| {
            let warning = format!("warning: {warning}");
            self.wrapped(indent, &warning)
        }));
        let note = note(slo, rehearsal);
        let past = rehearsal.past.as_ref().filter(|past| past.range.is_some());
        let Some(past) = past else {
            lines.extend(note.iter().flat_map(|note| self.wrapped(indent, note)));
            return lines;
        };
        let room = self.width.saturating_sub(indent);
        let parts = condensed(&past.history, slo.objective, room);
        let taken = |note: &str| GAP + columns(note) + parts.len();
        let spark = drawn(&parts, slo.objective);
        let tone = if past.trips > 0 {
            Tone::Bad
        } else {
            Tone::Good
        };
        let spark = format!("{}{}", " ".repeat(indent), tone.paint(&spark, self.colour));
        match note {
            Some(note) if taken(&note) <= room => {
                lines.push(format!("{spark}{}{note}", " ".repeat(GAP)));
            }
            Some(note) => {
                lines.push(spark);
                lines.extend(self.wrapped(indent, &note));
            }
            None => lines.push(spark),
        }
        lines
    }
}

/// Whether it can be read only while a run lasts.
fn waits(rehearsal: &Rehearsal) -> bool {
    match rehearsal.now {
        Now::NotYet { .. } => true,
        Now::Read { .. } | Now::Flawed { .. } => false,
    }
}

fn when(stored: &StoredPlan, told: &[(&Slo, &Rehearsal)]) -> String {
    let planned = clock_time(stored.plan.created);
    let past = told.iter().find_map(|(_, one)| one.past.as_ref());
    match past {
        None => format!("as read when it was planned, at {planned}:"),
        Some(past) => format!(
            "as read when it was planned, at {planned}, and over the {} before that:",
            past.over
        ),
    }
}

fn row(slo: &Slo, rehearsal: &Rehearsal) -> [String; 6] {
    let unit = slo.objective.unit();
    let value = match &rehearsal.now {
        Now::Read { reading, state } => {
            let value = value_words(unit, Some(reading));
            format!("{value} {}", state_word(Some(*state)))
        }
        Now::NotYet { .. } => "– not yet".to_owned(),
        Now::Flawed { .. } => "– flawed".to_owned(),
    };
    let past = rehearsal.past.as_ref();
    let [trips, breaching, range] = past
        .and_then(|past| Some(past_words(past, past.range?, unit)))
        .unwrap_or_else(|| [NOTHING_TOLD; 3].map(str::to_owned));
    let name = sanitise(&slo.name);
    let objective = slo.objective.to_string();
    [name, objective, value, trips, breaching, range]
}

fn past_words(past: &Past, range: (f64, f64), unit: Unit) -> [String; 3] {
    let trips = match past.trips {
        0 => "none".to_owned(),
        trips => format!("{trips} ({})", length(past.tripped.as_millis())),
    };
    let breaching = match past.breaching {
        Span::ZERO => "never".to_owned(),
        breaching => length(breaching.as_millis()),
    };
    let lowest = short_value(unit, range.0);
    let range = if past.moved() {
        format!("{lowest}–{}", short_value(unit, range.1))
    } else {
        format!("always {lowest}")
    };
    [trips, breaching, range]
}

/// Why there is no value.
fn why(rehearsal: &Rehearsal) -> Option<String> {
    match &rehearsal.now {
        Now::Read { reading, .. } => match reading {
            Reading::Value(_) => None,
            Reading::NoData { why } | Reading::SourceDown { why } => Some(why.clone()),
        },
        Now::NotYet { why } | Now::Flawed { why, .. } => Some(why.clone()),
    }
}

/// How late its data is, for how long there was none, and whether it was looked at less often than a
/// run reads it: then shorter breaches are not in the figures.
fn note(slo: &Slo, rehearsal: &Rehearsal) -> Option<String> {
    let past = rehearsal.past.as_ref();
    let late = rehearsal.freshness.as_ref().and_then(lateness);
    let step = past.map(|past| past.step).filter(|step| *step > slo.every);
    let step = step.map(|step| format!("looked at every {step} only"));
    let blind = past.map(|past| past.blind);
    let blind = blind.filter(|blind| *blind > Span::ZERO);
    let blind = blind.map(|blind| format!("no value for {}", length(blind.as_millis())));
    let told: Vec<String> = late.into_iter().chain(blind).chain(step).collect();
    (!told.is_empty()).then(|| told.join("; "))
}

/// `up to 45s late (scraped every 15s, over 30s)`.
fn lateness(freshness: &Freshness) -> Option<String> {
    let late = length(freshness.lateness()?.as_millis());
    let told = |words: &str, span: Option<Span>| {
        span.map(|span| format!("{words} {}", length(span.as_millis())))
    };
    let old = freshness.newest > freshness.interval;
    let parts = [
        told("scraped every", freshness.interval),
        told("newest", freshness.newest.filter(|_| old)).map(|newest| format!("{newest} old")),
        told("over", freshness.window),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    Some(format!("up to {late} late ({})", parts.join(", ")))
}

/// A past in at most so many columns: the worst value of each stretch of parts.
fn condensed(history: &[Option<f64>], objective: Objective, width: usize) -> Vec<Option<f64>> {
    let stretch = history.len().div_ceil(width.max(1)).max(1);
    let worst = |parts: &[Option<f64>]| {
        let values = parts.iter().flatten().copied();
        values.reduce(|worst, value| {
            if objective.is_worse(value, worst) {
                value
            } else {
                worst
            }
        })
    };
    history.chunks(stretch).map(worst).collect()
}

//! The SLOs: a table of what they read, then a line for each.

use super::super::content::{SloFate, SloReport, TripMoment};
use super::super::page::Page;
use super::super::wording::{counted, length, offset};
use crate::model::judgement::Trip;
use crate::model::sample::Reading;
use crate::model::slo::Reaction;

/// Trips told for each SLO; the JSON report has them all.
const MOST_TRIPS: usize = 3;

pub(super) fn slos(page: &mut Page, slos: &[SloReport]) {
    if slos.is_empty() {
        return;
    }
    page.heading("SLOS");
    let titles = [
        "",
        "objective",
        "baseline",
        "fault in",
        "worst",
        "in breach",
        "",
    ];
    let table = |objective: fn(&SloReport) -> String| {
        let mut rows = vec![titles.map(str::to_owned).to_vec()];
        rows.extend(slos.iter().map(|slo| slo_row(slo, objective(slo))));
        rows
    };
    let with_patience = table(|slo| format!("{} for {}", slo.objective, length(slo.patience_ms)));
    // A name says more than a patience, which finds room below the table.
    if Page::has_room_for(&with_patience) {
        page.table(&with_patience);
        for slo in slos {
            page.item("-", &details(slo, ""));
        }
    } else {
        page.table(&table(|slo| slo.objective.to_string()));
        for slo in slos {
            let patience = format!(", patience {}", length(slo.patience_ms));
            page.item("-", &details(slo, &patience));
        }
    }
}

fn slo_row(slo: &SloReport, objective: String) -> Vec<String> {
    let shown = |value: Option<f64>| value.map_or("-".to_owned(), |value| slo.unit.show(value));
    vec![
        slo.name.clone(),
        objective,
        shown(slo.baseline_worst),
        shown(slo.fault_worst),
        shown(slo.worst),
        length(slo.breaching_ms),
        fate_word(slo.fate).to_owned(),
    ]
}

fn fate_word(fate: SloFate) -> &'static str {
    match fate {
        SloFate::Ok => "ok",
        SloFate::Dipped => "dipped",
        SloFate::Breached => "BREACHED",
        SloFate::Blind => "BLIND",
        SloFate::NotRead => "not read",
    }
}

fn details(slo: &SloReport, patience: &str) -> String {
    let mut words = format!(
        "{} is the {}{patience}: {}, {} blind",
        slo.name,
        slo.reads,
        counted(slo.samples, "reading"),
        slo.blind_samples
    );
    if slo.missed > 0 {
        words.push_str(&format!(
            ", {} missed since the source was slow",
            slo.missed
        ));
    }
    if slo.on_breach == Reaction::Record {
        words.push_str("; a breach is only recorded");
    }
    let told: Vec<String> = slo
        .trips
        .iter()
        .take(MOST_TRIPS)
        .map(|trip| trip_words(slo, trip))
        .collect();
    if !told.is_empty() {
        words.push_str(&format!("; {}", told.join(", ")));
    }
    if slo.trips.len() > MOST_TRIPS {
        words.push_str(&format!(" and {} times more", slo.trips.len() - MOST_TRIPS));
    }
    words
}

fn trip_words(slo: &SloReport, trip: &TripMoment) -> String {
    let how = match trip.trip {
        Trip::Breach => "patience with the breach over at",
        Trip::Blind => "patience with the blindness over at",
    };
    let read = match &trip.reading {
        Reading::Value(value) => slo.unit.show(*value),
        Reading::NoData { why } | Reading::SourceDown { why } => why.clone(),
    };
    format!("{how} {} ({read})", offset(trip.at_ms))
}

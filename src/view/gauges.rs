//! The lines of a frame that show SLOs: mark, name, value, objective, state in words with the
//! streak of its patience, sparkline.

use std::cmp::Reverse;

use crate::model::sample::{Reading, SloState};
use crate::model::state::{RunState, SloRecord};
use crate::model::units::{Span, Unit};

use super::render::{Canvas, cell};
use super::sanitise::sanitise;
use super::spark::sparkline;
use super::text::{columns, counted, right, whole_seconds};
use super::theme::{Tone, state_mark, state_tone, state_word};

/// More lines than this nobody reads while a fault is in.
pub const MOST: usize = 20;

/// A narrower sparkline says nothing.
const NARROWEST_SPARKLINE: usize = 6;

/// A value wider than this is written with an exponent.
const WIDEST_VALUE: usize = 9;

/// From this width on there is room to say which SLOs only record.
const ROOMY: usize = 72;

/// From this width on there is room for the worst value so far.
const WIDE: usize = 110;

/// From this width on there is room for what is read, behind the sparkline.
const WIDEST: usize = 150;

/// More of what is read is cut.
const WIDEST_SOURCE: usize = 48;

/// The words of one line.
struct Gauge<'a> {
    record: &'a SloRecord,
    name: String,
    value: String,
    objective: String,
    state: String,
    worst: String,
    source: String,
}

/// The lines of all SLOs, or of the worst if there are more than rows.
pub fn lines(state: &RunState, canvas: Canvas, rows: usize) -> Vec<String> {
    let most = rows.min(MOST);
    let shown = worst(&state.slos, most);
    let gauges = |words: fn(&SloRecord) -> String| -> Vec<Gauge<'_>> {
        let gauges = shown.iter().map(|record| gauge(record, canvas, words));
        gauges.collect()
    };
    let mut told = gauges(state_words);
    let mut widths = Widths::of(&told, canvas);
    if widths.taken() + NARROWEST_SPARKLINE > canvas.width {
        told = gauges(short_state_words);
        widths = Widths::of(&told, canvas);
    }
    let mut lines: Vec<String> = told
        .iter()
        .map(|gauge| line(gauge, &widths, canvas))
        .collect();
    if state.slos.len() > shown.len() {
        lines.push(Tone::Quiet.paint(&rest(&state.slos, &shown), canvas.colour));
    }
    lines
}

/// An SLO's state in words, with how long it lasts of its patience: `breaching 4s of 30s`, and
/// `breaching for 31s, patience 30s over`.
pub fn state_words(record: &SloRecord) -> String {
    match (over(record), patience(record)) {
        (Some(streak), Some(patience)) => {
            let word = state_word(record.state);
            format!("{word} for {streak}, patience {patience} over")
        }
        (None, _) | (_, None) => short_state_words(record),
    }
}

/// The same where there is less room: `breaching for 31s, over`.
fn short_state_words(record: &SloRecord) -> String {
    let word = state_word(record.state);
    let Some(patience) = patience(record) else {
        return word.to_owned();
    };
    match over(record) {
        Some(streak) => format!("{word} for {streak}, over"),
        None if patience.as_millis() == 0 => {
            format!("{word} {}", whole_seconds(record.streak_ms))
        }
        None => format!("{word} {} of {patience}", whole_seconds(record.streak_ms)),
    }
}

/// How long an SLO's state may last; `None`: as long as it likes.
fn patience(record: &SloRecord) -> Option<Span> {
    match record.state {
        None | Some(SloState::Ok) => None,
        Some(SloState::Breaching) => Some(record.slo.patience),
        Some(SloState::NoData | SloState::SourceDown) => Some(record.slo.blind_patience),
    }
}

/// How long a state lasts that has outlasted its patience, if there was any.
fn over(record: &SloRecord) -> Option<String> {
    let patience_ms = patience(record)?.as_millis();
    let is_over = patience_ms > 0 && record.streak_ms >= patience_ms;
    is_over.then(|| whole_seconds(record.streak_ms))
}

/// A reading as a person reads it; `–` where there is none.
pub fn value_words(unit: Unit, reading: Option<&Reading>) -> String {
    match reading.and_then(Reading::value) {
        None => "–".to_owned(),
        Some(value) => short_value(unit, value),
    }
}

/// A value with its unit, however large it is.
pub fn short_value(unit: Unit, value: f64) -> String {
    let shown = unit.show(value);
    if shown.len() <= WIDEST_VALUE {
        return shown;
    }
    match unit {
        Unit::Number => format!("{value:.1e}"),
        Unit::Percent => format!("{:.1e}%", value * 100.0),
        Unit::Duration => format!("{value:.1e}s"),
    }
}

/// The worst SLOs first; all of them in document order where they fit.
pub fn worst(slos: &[SloRecord], most: usize) -> Vec<&SloRecord> {
    let mut shown: Vec<&SloRecord> = slos.iter().collect();
    if shown.len() > most {
        shown.sort_by_key(|record| Reverse(badness(record)));
        shown.truncate(most);
    }
    shown
}

/// Trouble first; in it gates before those that only record, breaching before blind, longest first.
fn badness(record: &SloRecord) -> (bool, bool, u8, u64) {
    let state = match record.state {
        Some(SloState::Breaching) => 3,
        Some(SloState::NoData | SloState::SourceDown) => 2,
        None => 1,
        Some(SloState::Ok) => 0,
    };
    (state > 1, record.slo.is_gate(), state, record.streak_ms)
}

struct Widths {
    name: usize,
    value: usize,
    objective: usize,
    state: usize,
    worst: usize,
    source: usize,
}

impl Widths {
    fn of(gauges: &[Gauge<'_>], canvas: Canvas) -> Self {
        let widest = |part: for<'g> fn(&'g Gauge<'_>) -> &'g str| {
            let widths = gauges.iter().map(|gauge| columns(part(gauge)));
            widths.max().unwrap_or(0)
        };
        Self {
            name: widest(|gauge| &gauge.name).min((canvas.width / 4).clamp(4, 48)),
            value: widest(|gauge| &gauge.value),
            objective: widest(|gauge| &gauge.objective).min(14),
            state: widest(|gauge| &gauge.state),
            worst: widest(|gauge| &gauge.worst),
            source: widest(|gauge| &gauge.source).min(WIDEST_SOURCE),
        }
    }

    /// Everything but the sparkline: the mark, the columns and the gaps between them.
    fn taken(&self) -> usize {
        let gap = |width: usize| if width > 0 { width + 1 } else { 0 };
        let extra = gap(self.worst) + gap(self.source);
        2 + self.name + self.value + self.objective + self.state + 4 + extra
    }
}

fn gauge<'a>(record: &'a SloRecord, canvas: Canvas, words: fn(&SloRecord) -> String) -> Gauge<'a> {
    let mut state = words(record);
    if canvas.width >= ROOMY && !record.slo.is_gate() {
        state.push_str(" · only recorded");
    }
    if record.missed > 0 {
        state.push_str(&format!(" · {} late", record.missed));
    }
    let worst = record.worst.filter(|_| canvas.width >= WIDE);
    let unit = record.slo.objective.unit();
    Gauge {
        record,
        name: sanitise(&record.slo.name),
        value: value_words(unit, record.reading.as_ref()),
        objective: record.slo.objective.to_string(),
        state,
        worst: worst.map_or_else(String::new, |worst| {
            format!("worst {}", short_value(unit, worst))
        }),
        source: if canvas.width >= WIDEST {
            sanitise(&record.slo.reads)
        } else {
            String::new()
        },
    }
}

fn line(gauge: &Gauge, widths: &Widths, canvas: Canvas) -> String {
    let tone = state_tone(gauge.record.state);
    let colour = canvas.colour;
    let room = canvas.width.saturating_sub(widths.taken());
    let spark = if room >= NARROWEST_SPARKLINE {
        sparkline(gauge.record, room)
    } else {
        String::new()
    };
    let mut parts = vec![
        tone.paint(state_mark(gauge.record.state), colour),
        cell(&gauge.name, widths.name, Tone::Plain, colour),
        tone.paint(&right(&gauge.value, widths.value), colour),
        cell(&gauge.objective, widths.objective, Tone::Quiet, colour),
        cell(&gauge.state, widths.state, tone, colour),
    ];
    if widths.worst > 0 {
        parts.push(cell(&gauge.worst, widths.worst, Tone::Plain, colour));
    }
    if widths.source > 0 {
        parts.push(cell(&gauge.source, widths.source, Tone::Quiet, colour));
    }
    parts.push(tone.paint(&spark, colour));
    parts.join(" ").trim_end().to_owned()
}

/// What the SLOs that are not shown are doing.
fn rest(slos: &[SloRecord], shown: &[&SloRecord]) -> String {
    let hidden = slos.len() - shown.len();
    let count = |records: &mut dyn Iterator<Item = &SloRecord>| {
        records
            .filter(|record| record.state == Some(SloState::Ok))
            .count()
    };
    let ok = count(&mut slos.iter()) - count(&mut shown.iter().copied());
    format!(
        "  the worst {} of {}; {hidden} more, {ok} of them ok",
        shown.len(),
        counted(slos.len(), "SLO", "SLOs")
    )
}

//! The view without a terminal: one plain line an event on stderr, with colours only where they are
//! asked for, and a status line at most every ten seconds.

use crate::model::event::Record;
use crate::model::phase::Phase;
use crate::model::state::RunState;

use super::View;
use super::closing;
use super::gauges::{MOST, state_words, value_words, worst};
use super::narrator::Narrator;
use super::printer::Printer;
use super::render::{planned, spent, unplanned};
use super::sanitise::sanitise;
use super::setup::{Loudness, Stream};
use super::text::{columns, fine_clock, length, whole_seconds};
use super::theme::Tone;
use super::words::slos;

/// Time between two status lines.
const STATUS_EVERY_MS: u64 = 10_000;

/// Plain lines.
#[derive(Debug)]
pub struct LineView {
    printer: Printer,
    narrator: Narrator,
    status: Status,
}

/// Remembers when it was last said how things stand.
#[derive(Debug, Default)]
pub(super) struct Status {
    said_at_ms: u64,
}

impl Status {
    /// How things stand, if it is time to say so.
    pub(super) fn due(&mut self, elapsed_ms: u64, state: &RunState) -> Option<String> {
        let due = elapsed_ms.saturating_sub(self.said_at_ms) >= STATUS_EVERY_MS;
        let running = state.phase.is_some_and(|phase| !phase.is_end());
        (due && running).then(|| {
            self.said_at_ms = elapsed_ms;
            status(elapsed_ms, state)
        })
    }
}

/// That some events are not shown.
pub(super) fn passed_over(events: u64) -> String {
    format!("{events} events are not shown here, where they came too fast; the journal has them")
}

impl LineView {
    /// Lines through this printer.
    pub fn new(printer: Printer) -> Self {
        Self {
            printer,
            narrator: Narrator::default(),
            status: Status::default(),
        }
    }

    fn line(&self, elapsed_ms: u64, text: &str, tone: Tone) {
        let time = fine_clock(elapsed_ms);
        let line = self
            .printer
            .setup()
            .glyphs()
            .adapt(format!("{time} {text}"));
        let lines = self.printer.folded(&line, columns(&time) + 1);
        let colour = self.printer.setup().colour(Stream::Stderr);
        let painted = lines.iter().map(|line| tone.paint(line, colour));
        self.printer.insist(&painted.collect::<Vec<_>>().join("\n"));
    }

    fn status(&mut self, elapsed_ms: u64, state: &RunState) {
        if self.printer.setup().loudness > Loudness::Quiet
            && let Some(status) = self.status.due(elapsed_ms, state)
        {
            self.line(elapsed_ms, &status, Tone::Plain);
        }
    }
}

impl View for LineView {
    fn show(&mut self, record: &Record, state: &RunState) {
        let loudness = self.printer.setup().loudness;
        if let Some(telling) = self.narrator.tell(record, state, loudness) {
            self.line(record.elapsed_ms, &telling.text, telling.tone);
        }
        self.status(record.elapsed_ms, state);
    }

    fn tick(&mut self, elapsed_ms: u64, state: &RunState) {
        self.status(elapsed_ms, state);
    }

    fn passed_over(&mut self, events: u64, state: &RunState) {
        if self.printer.setup().loudness > Loudness::Quiet {
            self.line(state.elapsed_ms, &passed_over(events), Tone::Caution);
        }
    }

    fn finish(&mut self, state: &RunState) {
        closing::say(&self.printer, state);
    }
}

/// Phase, how long of what was planned, every SLO.
fn status(elapsed_ms: u64, state: &RunState) -> String {
    let phase = state.phase.unwrap_or(Phase::Preflight);
    let spent_ms = spent(state, elapsed_ms);
    let spent = match planned(state) {
        Some((_, planned_ms)) => format!("{} of {}", whole_seconds(spent_ms), length(planned_ms)),
        None => unplanned(state, spent_ms),
    };
    let mut parts = vec![format!("{} {spent}", phase.word())];
    let shown = worst(&state.slos, MOST);
    parts.extend(shown.iter().map(|record| {
        format!(
            "{} {} {}",
            sanitise(&record.slo.name),
            value_words(record.slo.objective.unit(), record.reading.as_ref()),
            state_words(record)
        )
    }));
    if state.slos.len() > shown.len() {
        parts.push(format!("and {} more", slos(state.slos.len() - shown.len())));
    }
    parts.join(" · ")
}

//! One frame of the live view, as lines: pure, so that the terminal, a played-back run and a
//! snapshot show the same. No line is wider than the canvas.

use crate::model::phase::Phase;
use crate::model::state::{RunState, StepRecord};

use super::footing;
use super::gauges;
use super::panel::Panel;
use super::sanitise::sanitise;
use super::text::{clock, columns, counted, fit, left, length, whole_seconds};
use super::theme::{Colour, Glyphs, Tone, phase_tone};

/// What there is to draw on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Canvas {
    /// Columns.
    pub width: usize,
    /// Rows; SLOs that do not fit are counted, the worst are shown.
    pub height: usize,
    /// The letters that may be used.
    pub glyphs: Glyphs,
    /// Whether colours may be used.
    pub colour: Colour,
}

/// Rows around the SLOs: header, bar, the line that counts those left out, and one for the cursor.
const OTHER_ROWS: usize = 4;

/// A wider bar would not say more.
const WIDEST_BAR: usize = 100;

/// The frame of a run at this time of it, with what a person at the keyboard has open.
pub fn frame(state: &RunState, elapsed_ms: u64, canvas: Canvas, panel: &Panel) -> Vec<String> {
    let mut lines = Vec::new();
    if state.header.is_none() {
        lines.push("waiting for the run to begin".to_owned());
    } else {
        let mut below = in_place(state, canvas);
        below.extend(footing::lines(state, canvas, panel));
        lines.push(header(state, elapsed_ms, canvas));
        lines.push(progress(state, elapsed_ms, canvas));
        let rows = canvas.height.saturating_sub(OTHER_ROWS + below.len());
        lines.extend(gauges::lines(state, canvas, rows.max(1)));
        lines.extend(below);
        // The cursor needs a row; what is open at the bottom must stay in sight.
        let most = canvas.height.saturating_sub(1).max(1);
        lines.drain(..lines.len().saturating_sub(most));
    }
    let finish = |line: String| canvas.glyphs.adapt(fit(&line, canvas.width));
    lines.into_iter().map(finish).collect()
}

/// `step 1/2`, once a step is due.
pub fn step_place(state: &RunState) -> Option<String> {
    let step = state.step.filter(|step| *step < state.steps.len())?;
    Some(format!("step {}/{}", step + 1, state.steps.len()))
}

/// The name of the step that is due.
pub fn step_name(state: &RunState) -> Option<String> {
    let step = state.brief()?.steps.get(state.step?)?;
    Some(sanitise(&step.name))
}

/// The time that the phase has planned, and what that time is called.
pub fn planned(state: &RunState) -> Option<(&'static str, u64)> {
    let brief = state.brief()?;
    match state.phase? {
        Phase::Baseline => Some(("baseline", brief.baseline.as_millis())),
        Phase::Observing => {
            let step = brief.steps.get(state.step?)?;
            Some(("hold", step.hold.as_millis()))
        }
        Phase::Recovering => Some(("recovery", brief.recovery_within.as_millis())),
        Phase::Preflight
        | Phase::Between
        | Phase::AwaitingGo
        | Phase::Preparing
        | Phase::Injecting
        | Phase::Confirming
        | Phase::Undoing
        | Phase::Verifying
        | Phase::Settled
        | Phase::Stuck => None,
    }
}

fn header(state: &RunState, elapsed_ms: u64, canvas: Canvas) -> String {
    let time = times(state, elapsed_ms);
    let room = canvas.width.saturating_sub(columns(&time) + 2);
    let experiment = state
        .brief()
        .map_or_else(String::new, |brief| brief.experiment.to_string());
    let phase = state.phase.unwrap_or(Phase::Preflight);
    let tail = format!(" · {}", phase.word());
    let place = step_place(state).map_or_else(String::new, |place| format!(" · {place}"));
    let spare = room.saturating_sub(columns(&experiment) + columns(&place) + columns(&tail) + 1);
    let name = match step_name(state) {
        Some(name) if spare >= 6 && !place.is_empty() => format!(" {}", fit(&name, spare)),
        Some(_) | None => String::new(),
    };
    // The phase must stay readable, so it is the names that give way.
    let names_room = room.saturating_sub(columns(&tail));
    let names = left_of(&format!("{experiment}{place}{name}"), names_room);
    let filler = room.saturating_sub(columns(&names) + columns(&tail)) + 2;
    format!(
        "{}{}{}{}",
        Tone::Strong.paint(&names, canvas.colour),
        phase_tone(phase).paint(&tail, canvas.colour),
        " ".repeat(filler),
        Tone::Quiet.paint(&time, canvas.colour),
    )
}

fn left_of(text: &str, width: usize) -> String {
    if columns(text) <= width {
        text.to_owned()
    } else {
        fit(text, width)
    }
}

fn times(state: &RunState, elapsed_ms: u64) -> String {
    let since = jiff::SignedDuration::from_millis(elapsed_ms.min(i64::MAX as u64) as i64);
    let started = state.header.as_ref().map(|header| header.started);
    match started.and_then(|started| started.checked_add(since).ok()) {
        Some(now) => format!("{}  {}", clock(elapsed_ms), now.strftime("%H:%M:%SZ")),
        None => clock(elapsed_ms),
    }
}

fn progress(state: &RunState, elapsed_ms: u64, canvas: Canvas) -> String {
    let phase = state.phase.unwrap_or(Phase::Preflight);
    let spent_ms = spent(state, elapsed_ms);
    let Some((label, planned_ms)) = planned(state) else {
        return format!("{} {}", phase.word(), unplanned(state, spent_ms));
    };
    let counted = format!(
        "{} of {}",
        whole_seconds(spent_ms.min(planned_ms)),
        length(planned_ms)
    );
    let room = canvas
        .width
        .saturating_sub(columns(label) + columns(&counted) + 2)
        .min(WIDEST_BAR);
    let filled = match planned_ms {
        0 => room,
        _ => {
            (u128::from(spent_ms.min(planned_ms)) * room as u128 / u128::from(planned_ms)) as usize
        }
    };
    let done = phase_tone(phase).paint(&"━".repeat(filled), canvas.colour);
    let open = Tone::Quiet.paint(&"─".repeat(room - filled), canvas.colour);
    format!("{label} {done}{open} {counted}")
}

/// Milliseconds spent in the phase; an undo that is tried again lasts since its first attempt.
pub fn spent(state: &RunState, elapsed_ms: u64) -> u64 {
    let undo = state
        .step
        .and_then(|step| state.steps.get(step))
        .filter(|step| {
            state.phase == Some(Phase::Undoing)
                || (state.phase == Some(Phase::Verifying) && step.undo_failures > 0)
        });
    let since_ms = undo
        .and_then(|step| step.undoing_at_ms)
        .unwrap_or(state.phase_since_ms);
    elapsed_ms.saturating_sub(since_ms)
}

/// What is known of a phase whose length nobody planned.
pub(super) fn unplanned(state: &RunState, spent_ms: u64) -> String {
    let failures = state
        .step
        .and_then(|step| state.steps.get(step))
        .map_or(0, |step| step.undo_failures);
    match (state.phase, failures) {
        (Some(Phase::Stuck), _) => "· somebody must look now".to_owned(),
        (Some(Phase::Settled), _) => state
            .outcome
            .map_or_else(String::new, |outcome| format!("· {}", outcome.word())),
        (_, 0) => format!("for {}", length(spent_ms)),
        (phase, failures) => format!(
            "{} {} · {}",
            match phase {
                Some(Phase::Verifying) => "· undoing for",
                Some(_) | None => "for",
            },
            length(spent_ms),
            counted(failures as usize, "failed attempt", "failed attempts")
        ),
    }
}

fn in_place(state: &RunState, canvas: Canvas) -> Vec<String> {
    let lines: Vec<String> = state
        .in_place()
        .map(|(index, step)| {
            let what = step
                .undo
                .as_ref()
                .map_or_else(|| "unknown".to_owned(), |undo| sanitise(&undo.summary()));
            let (certainty, end) = fate(state, index, step);
            // How it ends must stay readable, so it is the place that gives way.
            let fixed = columns(certainty) + columns(&end) + 5;
            let what = fit(&what, canvas.width.saturating_sub(fixed).max(8));
            Tone::Caution.paint(&format!("{certainty}: {what} · {end}"), canvas.colour)
        })
        .collect();
    if lines.is_empty() {
        return vec![Tone::Quiet.paint("in place: nothing", canvas.colour)];
    }
    lines
}

/// How sure it is that the step's fault is in, and how it ends.
fn fate(state: &RunState, index: usize, step: &StepRecord) -> (&'static str, String) {
    let hold = state
        .brief()
        .and_then(|brief| brief.steps.get(index))
        .map(|step| step.hold.as_millis());
    if state.phase.is_some_and(Phase::is_end) {
        return ("STILL in place, or unknown", "chaos recover".to_owned());
    }
    if step.undoing_at_ms.is_some() {
        return ("in place until seen gone", "being undone now".to_owned());
    }
    match (step.confirmed_at_ms, hold) {
        (Some(at), Some(hold)) => {
            let end = clock(at.saturating_add(hold));
            ("in place", format!("ends by undo at {end}"))
        }
        (Some(_), None) => ("in place", "ends by undo".to_owned()),
        (None, _) => ("perhaps in place", "not seen in yet".to_owned()),
    }
}

/// A table column of the frame: kept here so that every part pads alike.
pub(super) fn cell(text: &str, width: usize, tone: Tone, colour: Colour) -> String {
    tone.paint(&left(text, width), colour)
}

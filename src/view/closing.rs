//! The last words of a run: how it ended, what was measured, and, where something may still be in
//! place, the commands that take it out.

use crate::model::decision::Cause;
use crate::model::judgement::Trip;
use crate::model::state::{RunState, SloRecord, StepRecord};

use super::footing::marked;
use super::gauges::{MOST, short_value, worst};
use super::printer::Printer;
use super::render::Canvas;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::text::{clock, columns, counted, fit, hung, left, length, right};
use super::theme::{Colour, Tone, outcome_tone};
use super::words::{commands_by_hand, slos};

/// Longer names are cut.
const WIDEST_NAME: usize = 32;

/// The canvas that a printer's talk goes to.
pub fn canvas_of(printer: &Printer) -> Canvas {
    let (width, height) = printer.size();
    Canvas {
        width,
        height,
        glyphs: printer.setup().glyphs(),
        colour: printer.setup().colour(Stream::Stderr),
    }
}

/// Says the last words: all of them as talk, the commands by hand even when quiet.
pub fn say(printer: &Printer, state: &RunState) {
    let canvas = canvas_of(printer);
    for line in summary(state, canvas) {
        printer.talk(&line);
    }
    for line in by_hand(state, canvas) {
        printer.insist(&line);
    }
}

/// Outcome and cause, times of each step, recovery, what was marked, worst value of each SLO.
pub fn summary(state: &RunState, canvas: Canvas) -> Vec<String> {
    if state.header.is_none() {
        return Vec::new();
    }
    let mut lines = vec![String::new()];
    lines.extend(ending(state, canvas.colour));
    lines.extend(state.steps.iter().enumerate().filter_map(|(index, step)| {
        step.injecting_at_ms?;
        Some(format!("  {}", step_times(state, index, step)))
    }));
    lines.extend(recovery(state));
    lines.extend(state.marks.iter().map(|mark| format!("  {}", marked(mark))));
    lines.extend(slo_lines(state, canvas.colour));
    let finish = |line: String| canvas.glyphs.adapt(fit(&line, canvas.width));
    lines
        .into_iter()
        // The last words are not cut short.
        .flat_map(|line| {
            let margin = line.len() - line.trim_start().len();
            hung(&line, canvas.width, margin + 2)
        })
        .map(finish)
        .collect()
}

/// What is, or may be, still in place and how a person takes it out; empty where nothing is.
pub fn by_hand(state: &RunState, canvas: Canvas) -> Vec<String> {
    let commands = commands_by_hand(state);
    if commands.is_empty() {
        return Vec::new();
    }
    let mut lines = vec![
        String::new(),
        Tone::Bad.paint(
            "THE FAULT IS, OR MAY BE, STILL IN PLACE. Have it taken out, now:",
            canvas.colour,
        ),
    ];
    let run = state.header.as_ref().map(|header| &header.run);
    lines.extend(run.map(|run| format!("    chaos recover {run}")));
    lines.push("or by hand:".to_owned());
    // Never cut and never coloured: they are there to be copied.
    lines.extend(commands.into_iter().map(|command| format!("    {command}")));
    lines
}

fn ending(state: &RunState, colour: Colour) -> Vec<String> {
    let cause = state
        .cause
        .as_ref()
        .map(|cause| sanitise(&cause.sentence()));
    let Some(outcome) = state.outcome else {
        return vec![Tone::Caution.paint(&no_end(state), colour)];
    };
    let code = state
        .cause
        .as_ref()
        .map_or(outcome.code(), Cause::exit_code);
    let head = format!("{} · exit {code}", outcome.word());
    let mut lines = vec![outcome_tone(outcome).paint(&head, colour)];
    lines.extend(cause.map(|cause| format!("  {cause}")));
    lines.extend(state.meaning().map(|meaning| format!("  {meaning}")));
    lines.extend(history(state));
    lines
}

fn no_end(state: &RunState) -> String {
    match &state.header {
        None => "no end".to_owned(),
        Some(header) => format!(
            "no end; `chaos show {}` tells who is at work on it",
            header.run
        ),
    }
}

/// Who ended it if not its own engine, and how it had ended before.
fn history(state: &RunState) -> Vec<String> {
    let former = state
        .ends
        .split_last()
        .map_or(&[][..], |(_, former)| former);
    let former = former.iter().map(|end| {
        let cause = sanitise(&end.cause.sentence());
        let line = format!("  {} before, at {}: {cause}", end.outcome, clock(end.at_ms));
        (end.at_ms, line)
    });
    let taken = state.takeovers.iter().map(|taken| {
        let why = sanitise(&taken.takeover.sentence());
        (taken.at_ms, format!("  at {}, {why}", clock(taken.at_ms)))
    });
    let mut lines: Vec<(u64, String)> = former.chain(taken).collect();
    lines.sort_by_key(|(at_ms, _)| *at_ms);
    lines.into_iter().map(|(_, line)| line).collect()
}

fn step_times(state: &RunState, index: usize, step: &StepRecord) -> String {
    let name = state
        .brief()
        .and_then(|brief| brief.steps.get(index))
        .map_or_else(String::new, |brief| sanitise(&brief.name));
    let mut parts = Vec::new();
    match (step.confirmed_at_ms, step.held_ms()) {
        (None, _) => parts.push("never seen in".to_owned()),
        (Some(_), None) => parts.push("in".to_owned()),
        (Some(_), Some(held)) => parts.push(format!("in for {}", length(held))),
    }
    let noticed = match &step.tripped {
        Some(tripped) if tripped.trip == Trip::Blind => "called blind after",
        Some(_) | None => "detected after",
    };
    let times = [
        (noticed, step.detect_ms()),
        ("undo began after", step.react_ms()),
        ("gone after", step.gone_ms()),
    ];
    for (what, milliseconds) in times {
        parts.extend(milliseconds.map(|milliseconds| format!("{what} {}", length(milliseconds))));
    }
    if step.may_be_in_place() {
        parts.push("not seen gone".to_owned());
    }
    if step.undo_failures > 0 {
        let failures = counted(
            step.undo_failures as usize,
            "failed attempt",
            "failed attempts",
        );
        parts.push(format!("after {failures} to undo"));
    }
    format!("step {} {name}: {}", index + 1, parts.join(", "))
}

fn recovery(state: &RunState) -> Option<String> {
    let within = state.brief()?.recovery_within;
    match state.recovery_ms {
        Some(after) => Some(format!(
            "  recovery: SLOs back after {}, within {within} was asked",
            length(after)
        )),
        None if state.steps.iter().all(|step| step.gone_at_ms.is_none()) => None,
        None if matches!(
            state.cause,
            Some(Cause::Aborted { .. } | Cause::Rescued { .. })
        ) =>
        {
            Some("  recovery: not waited for".to_owned())
        }
        None => Some(format!(
            "  recovery: SLOs not seen back, within {within} was asked"
        )),
    }
}

fn slo_lines(state: &RunState, colour: Colour) -> Vec<String> {
    let read: Vec<SloRecord> = state
        .slos
        .iter()
        .filter(|record| record.samples > 0)
        .cloned()
        .collect();
    let shown = worst(&read, MOST);
    let name_width = shown
        .iter()
        .map(|record| columns(&sanitise(&record.slo.name)))
        .max()
        .unwrap_or(0)
        .min(WIDEST_NAME);
    let mut lines: Vec<String> = shown
        .iter()
        .map(|record| slo_line(record, name_width, colour))
        .collect();
    if read.len() > shown.len() {
        lines.push(format!("  and {} more", slos(read.len() - shown.len())));
    }
    lines
}

fn slo_line(record: &SloRecord, name_width: usize, colour: Colour) -> String {
    let unit = record.slo.objective.unit();
    let (worst, tone) = match record.worst {
        None => ("no value".to_owned(), Tone::Caution),
        Some(value) if record.slo.objective.holds(value) => (short_value(unit, value), Tone::Good),
        Some(value) => (short_value(unit, value), Tone::Bad),
    };
    let mut remarks = Vec::new();
    if record.breaching_ms > 0 {
        remarks.push(format!("breaching for {}", length(record.breaching_ms)));
    }
    if record.blind_samples > 0 {
        remarks.push(format!(
            "{} of {} readings blind",
            record.blind_samples, record.samples
        ));
    }
    if !record.slo.is_gate() {
        remarks.push("only recorded".to_owned());
    }
    let dot = if remarks.is_empty() { "" } else { "· " };
    format!(
        "  {} worst {} ({}) {dot}{}",
        left(&sanitise(&record.slo.name), name_width),
        tone.paint(&right(&worst, 9), colour),
        record.slo.objective,
        remarks.join(", "),
    )
    .trim_end()
    .to_owned()
}

//! The lines of a frame that belong to a person: what was marked, what is waited for, the keys, and
//! what is open at the bottom. What is typed is the last line, where the cursor stands.

use crate::model::phase::Phase;
use crate::model::remark::{Mark, Pause};
use crate::model::state::RunState;

use super::panel::{Form, Keyboard, Open, Panel};
use super::render::Canvas;
use super::sanitise::sanitise;
use super::text::{clock, columns, fit, length};
use super::theme::{Glyphs, Tone};

/// From this width on the help has room for sentences.
const ROOMY: usize = 72;

/// The lines, of which none is wider than the canvas.
pub fn lines(state: &RunState, canvas: Canvas, panel: &Panel) -> Vec<String> {
    let mut lines = Vec::new();
    lines.extend(state.marks.last().map(|mark| (Tone::Quiet, marked(mark))));
    lines.extend(pause(state, panel).map(|text| (Tone::Strong, text)));
    let lines = lines.into_iter();
    let mut lines: Vec<String> = lines
        .map(|(tone, text)| tone.paint(&fit(&text, canvas.width), canvas.colour))
        .collect();
    lines.extend(bottom(state, canvas, panel));
    lines
}

/// Only what is open, for a view without bars.
pub fn bottom(state: &RunState, canvas: Canvas, panel: &Panel) -> Vec<String> {
    let paint = |tone: Tone, text: &str| tone.paint(&fit(text, canvas.width), canvas.colour);
    match (panel.keyboard(), panel.open()) {
        (Keyboard::Absent, _) => Vec::new(),
        (Keyboard::Live, Open::Nothing) if !names_keys(state, panel) => Vec::new(),
        (Keyboard::Live, Open::Nothing) => {
            vec![paint(Tone::Quiet, &keys(state, canvas.width))]
        }
        (Keyboard::Live, Open::Help) => {
            let help = help(canvas.width);
            help.iter().map(|line| paint(Tone::Plain, line)).collect()
        }
        (Keyboard::Live, Open::Abort) => vec![paint(Tone::Strong, abort(canvas.width))],
        (Keyboard::Live, Open::Leave) => {
            let question = match panel.form() {
                Form::Bars => "leave this view? a abort · l plain lines · Esc stay ",
                Form::Lines => "plain lines? a abort · b back to the bars · Esc stay ",
            };
            vec![paint(Tone::Strong, question)]
        }
        (Keyboard::Live, Open::Note(text)) => vec![
            paint(
                Tone::Quiet,
                "Enter keeps the note · Esc drops it · Ctrl-U clears it",
            ),
            note(text, canvas),
        ],
    }
}

/// A run that is over takes no wishes, and among plain lines nothing is redrawn.
fn names_keys(state: &RunState, panel: &Panel) -> bool {
    let over = state.phase.is_some_and(Phase::is_end);
    panel.form() == Form::Bars && !over
}

fn abort(width: usize) -> &'static str {
    if width >= ROOMY {
        "abort? y/n · what is in place is undone first, and proven gone "
    } else {
        "abort? y/n "
    }
}

/// The end of a note, where the cursor is, stays in sight.
fn note(text: &str, canvas: Canvas) -> String {
    let label = "note: ";
    let text = sanitise(text);
    // One column for the cursor.
    let room = canvas.width.saturating_sub(columns(label) + 1);
    if columns(&text) <= room {
        let line = format!("{}{text}", Tone::Strong.paint(label, canvas.colour));
        return fit(&line, canvas.width);
    }
    let more = match canvas.glyphs {
        Glyphs::Unicode => "…",
        Glyphs::Ascii => "~",
    };
    let tail = tail(&text, room.saturating_sub(columns(more)));
    let line = format!("{}{more}{tail}", Tone::Strong.paint(label, canvas.colour));
    fit(&line, canvas.width)
}

/// The longest end of a text that is no wider than this.
fn tail(text: &str, width: usize) -> &str {
    let starts = text.char_indices().map(|(start, _)| &text[start..]);
    let mut tails = starts.chain(std::iter::once(""));
    tails.find(|tail| columns(tail) <= width).unwrap_or("")
}

fn keys(state: &RunState, width: usize) -> String {
    let pause = match (state.phase, state.pause) {
        (Some(Phase::AwaitingGo), _) => "p go",
        (_, Pause::BeforeNextStep) => "p no pause",
        (_, Pause::No) => "p pause",
    };
    let long = format!("a abort · n note · m alert fired · {pause} · q quit view · ? keys");
    let short = format!("a abort · n note · m alert · {pause} · q quit · ? keys");
    let shortest = "a n m p q · ? keys".to_owned();
    let fitting = [long, short]
        .into_iter()
        .find(|line| columns(line) <= width);
    fitting.unwrap_or(shortest)
}

fn help(width: usize) -> [&'static str; 6] {
    if width >= ROOMY {
        [
            "a  abort: undo what is in place and end the run; asks first",
            "n  write a note into the journal: Enter keeps it, Esc drops it",
            "m  mark \"alert fired\": the report tells how long after the fault",
            "p  pause before the next step; again: do not; at the pause: go on",
            "q  leave this view: abort, or go on with plain lines, and back",
            "?  this list; Esc closes it · Ctrl-C ends the run without a question",
        ]
    } else {
        [
            "a  abort, asks first",
            "n  note into the journal",
            "m  mark: alert fired",
            "p  pause before the next step, or go",
            "q  abort, or plain lines",
            "?  this list; Esc closes it",
        ]
    }
}

/// What was marked, when, and how long after the fault.
pub fn marked(mark: &Mark) -> String {
    let since = mark.since_fault.map_or_else(String::new, |since| {
        format!(", {} after the fault", length(since.after_ms))
    });
    let at = clock(mark.at_ms);
    format!("marked: {} {at}{since}", sanitise(&mark.label))
}

/// What the run waits for, or will.
fn pause(state: &RunState, panel: &Panel) -> Option<String> {
    let key = |what: &str| match panel.keyboard() {
        Keyboard::Live => format!(" · p {what}"),
        Keyboard::Absent => String::new(),
    };
    match (state.phase, state.pause) {
        (Some(Phase::AwaitingGo), _) => {
            Some(format!("paused before the next step{}", key("goes on")))
        }
        (Some(phase), Pause::BeforeNextStep) if !phase.is_end() => Some(format!(
            "will pause before the next step{}",
            key("takes it back")
        )),
        (_, _) => None,
    }
}

//! The view on a terminal: a block of lines that is redrawn at the bottom, and above it, in the
//! scrollback, one line for every event worth keeping. No alternate screen.
//!
//! A frame is built when time has passed, not when an event comes: a run may bring a thousand readings
//! a second.

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::model::event::Record;
use crate::model::state::RunState;

use super::View;
use super::closing::{self, canvas_of};
use super::footing;
use super::line::{Status, passed_over};
use super::narrator::Narrator;
use super::panel::{Form, Keyboard, Open, Panel};
use super::printer::Printer;
use super::render::frame;
use super::screen::Screen;
use super::text::{columns, fine_clock};
use super::theme::Tone;

/// Events that are told within so many milliseconds of a redraw wait for the next one.
const SHORTEST_MS: u64 = 50;

/// A terminal whose size changed is left alone for so many milliseconds. While a window is being drawn
/// narrower, its lines are folded anew before we hear of it (tmux tells it a quarter of a second later),
/// and each redraw into that leaves a piece of the block in the scrollback.
const SETTLED_MS: u64 = 300;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// The block and its scrollback.
#[derive(Debug)]
pub struct LiveView {
    printer: Printer,
    bars: MultiProgress,
    block: ProgressBar,
    narrator: Narrator,
    status: Status,
    panel: Panel,
    /// Lines for the scrollback that are not there yet.
    pending: Vec<String>,
    drawn_at_ms: Option<u64>,
    /// Columns and rows, and when they were last seen to change.
    size: (usize, usize),
    resized_at_ms: Option<u64>,
    cursor: Cursor,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cursor {
    Shown,
    Hidden,
}

impl LiveView {
    /// Draws through this printer, or nowhere if it cannot redraw.
    pub fn new(printer: Printer) -> Self {
        let target = if printer.can_redraw() {
            let screen = Screen::new(printer.clone());
            // How often it is drawn is decided here, and by who calls `tick`.
            ProgressDrawTarget::term_like(Box::new(screen))
        } else {
            ProgressDrawTarget::hidden()
        };
        let bars = MultiProgress::with_draw_target(target);
        let block = ProgressBar::no_length()
            .with_style(ProgressStyle::with_template("{msg}").expect("the template is a constant"));
        Self {
            block: bars.add(block),
            bars,
            size: printer.size(),
            resized_at_ms: None,
            printer,
            narrator: Narrator::default(),
            status: Status::default(),
            panel: Panel::default(),
            pending: Vec::new(),
            drawn_at_ms: None,
            cursor: Cursor::Shown,
        }
    }

    fn redraw(&mut self, elapsed_ms: u64, state: &RunState) {
        self.drawn_at_ms = Some(elapsed_ms);
        if self.is_being_resized(elapsed_ms) {
            return;
        }
        self.scroll();
        if self.bars.is_hidden() {
            return;
        }
        let canvas = canvas_of(&self.printer);
        let lines = match self.panel.form() {
            Form::Bars => frame(state, elapsed_ms, canvas, &self.panel),
            Form::Lines => footing::bottom(state, canvas, &self.panel),
        };
        let cursor = match (self.panel.form(), self.panel.open()) {
            (_, Open::Abort | Open::Leave | Open::Note(_)) | (Form::Lines, _) => Cursor::Shown,
            (Form::Bars, Open::Nothing | Open::Help) => Cursor::Hidden,
        };
        self.set_cursor(cursor);
        self.block.set_message(lines.join("\n"));
    }

    fn is_being_resized(&mut self, elapsed_ms: u64) -> bool {
        let size = self.printer.size();
        if size != self.size {
            self.size = size;
            self.resized_at_ms = Some(elapsed_ms);
        }
        let since = |at: u64| elapsed_ms.saturating_sub(at);
        self.resized_at_ms.is_some_and(|at| since(at) < SETTLED_MS)
    }

    /// Brings what was told into the scrollback.
    fn scroll(&mut self) {
        let lines = std::mem::take(&mut self.pending);
        if !lines.is_empty() {
            // indicatif's own way to print pads each line to the width, which a scrollback would keep.
            self.bars.suspend(|| self.printer.insist(&lines.join("\n")));
        }
    }

    fn set_cursor(&mut self, cursor: Cursor) {
        if self.cursor != cursor {
            self.printer.draw(match cursor {
                Cursor::Shown => SHOW_CURSOR,
                Cursor::Hidden => HIDE_CURSOR,
            });
            self.cursor = cursor;
        }
    }

    fn tell(&mut self, elapsed_ms: u64, text: &str, tone: Tone) {
        let canvas = canvas_of(&self.printer);
        let time = fine_clock(elapsed_ms);
        let line = canvas.glyphs.adapt(format!("{time} {text}"));
        let lines = self.printer.folded(&line, columns(&time) + 1);
        let painted = lines.iter().map(|line| tone.paint(line, canvas.colour));
        self.pending.extend(painted);
    }

    /// Where there is no frame, it is said now and then how things stand.
    fn tell_status(&mut self, elapsed_ms: u64, state: &RunState) {
        if self.panel.form() == Form::Lines
            && let Some(status) = self.status.due(elapsed_ms, state)
        {
            self.tell(elapsed_ms, &status, Tone::Plain);
        }
    }

    /// Takes the block away and gives the cursor back; the scrollback stays.
    fn leave(&mut self) {
        self.scroll();
        self.block.finish_and_clear();
        self.set_cursor(Cursor::Shown);
    }
}

impl View for LiveView {
    fn show(&mut self, record: &Record, state: &RunState) {
        let loudness = self.printer.setup().loudness;
        let telling = self.narrator.tell(record, state, loudness);
        let Some(telling) = telling else {
            return;
        };
        self.tell(record.elapsed_ms, &telling.text, telling.tone);
        let since = |drawn: u64| record.elapsed_ms.saturating_sub(drawn);
        if self
            .drawn_at_ms
            .is_none_or(|drawn| since(drawn) >= SHORTEST_MS)
        {
            self.redraw(record.elapsed_ms, state);
        }
    }

    fn tick(&mut self, elapsed_ms: u64, state: &RunState) {
        self.tell_status(elapsed_ms, state);
        self.redraw(elapsed_ms, state);
    }

    fn panel(&mut self, panel: &Panel) {
        let goes_on_in_lines = (self.panel.form(), panel.form()) == (Form::Bars, Form::Lines);
        if goes_on_in_lines && panel.keyboard() == Keyboard::Live {
            // From now on no line names them.
            let text = "plain lines from here; the keys go on working, ? lists them, q leads back";
            self.pending.push(text.to_owned());
        }
        self.panel.clone_from(panel);
    }

    fn passed_over(&mut self, events: u64, state: &RunState) {
        self.tell(state.elapsed_ms, &passed_over(events), Tone::Caution);
    }

    fn finish(&mut self, state: &RunState) {
        self.leave();
        closing::say(&self.printer, state);
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.leave();
    }
}

//! The view on a terminal: a block of lines that is redrawn at the bottom, and above it, in the
//! scrollback, one line for every event worth keeping. No alternate screen.
//!
//! indicatif moves the cursor and keeps the block whole when lines scroll above it; what it draws
//! goes through the printer like everything else.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::{MultiProgress, ProgressBar, ProgressDrawTarget, ProgressStyle, TermLike};

use crate::model::event::Record;
use crate::model::state::RunState;

use super::View;
use super::closing::{self, canvas_of};
use super::narrator::Narrator;
use super::printer::Printer;
use super::render::frame;
use super::text::{columns, fine_clock};

/// Redraws a second at most: calm over ssh, and quick enough for a person.
const REDRAWS_PER_SECOND: u8 = 10;

const HIDE_CURSOR: &str = "\u{1b}[?25l";
const SHOW_CURSOR: &str = "\u{1b}[?25h";

/// The block and its scrollback.
#[derive(Debug)]
pub struct LiveView {
    printer: Printer,
    bars: MultiProgress,
    block: ProgressBar,
    narrator: Narrator,
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
            let screen = Screen {
                printer: printer.clone(),
                redraw: Mutex::default(),
            };
            ProgressDrawTarget::term_like_with_hz(Box::new(screen), REDRAWS_PER_SECOND)
        } else {
            ProgressDrawTarget::hidden()
        };
        let bars = MultiProgress::with_draw_target(target);
        let block = ProgressBar::no_length()
            .with_style(ProgressStyle::with_template("{msg}").expect("the template is a constant"));
        Self {
            block: bars.add(block),
            bars,
            printer,
            narrator: Narrator::default(),
            cursor: Cursor::Shown,
        }
    }

    fn redraw(&mut self, elapsed_ms: u64, state: &RunState) {
        if self.bars.is_hidden() {
            return;
        }
        if self.cursor == Cursor::Shown {
            self.printer.draw(HIDE_CURSOR);
            self.cursor = Cursor::Hidden;
        }
        let lines = frame(state, elapsed_ms, canvas_of(&self.printer));
        self.block.set_message(lines.join("\n"));
    }

    /// Takes the block away and gives the cursor back; the scrollback stays.
    fn leave(&mut self) {
        self.block.finish_and_clear();
        if self.cursor == Cursor::Hidden {
            self.printer.draw(SHOW_CURSOR);
            self.cursor = Cursor::Shown;
        }
    }
}

impl View for LiveView {
    fn show(&mut self, record: &Record, state: &RunState) {
        let canvas = canvas_of(&self.printer);
        let loudness = self.printer.setup().loudness;
        if let Some(telling) = self.narrator.tell(record, state, loudness) {
            let time = fine_clock(record.elapsed_ms);
            let line = canvas.glyphs.adapt(format!("{time} {}", telling.text));
            let lines = self.printer.folded(&line, columns(&time) + 1);
            let painted = lines
                .iter()
                .map(|line| telling.tone.paint(line, canvas.colour));
            let line = painted.collect::<Vec<_>>().join("\n");
            // indicatif's own way to print pads each line to the width, which a scrollback would
            // keep.
            self.bars.suspend(|| self.printer.insist(&line));
        }
        self.redraw(record.elapsed_ms, state);
    }

    fn tick(&mut self, elapsed_ms: u64, state: &RunState) {
        self.redraw(elapsed_ms, state);
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

/// The printer as indicatif's terminal. A redraw is gathered and written at once, so that it does
/// not flicker over a slow line.
struct Screen {
    printer: Printer,
    redraw: Mutex<Redraw>,
}

#[derive(Default)]
struct Redraw {
    sequence: String,
    lines: usize,
}

impl fmt::Debug for Screen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Screen")
    }
}

impl Screen {
    fn send(&self, sequence: &str) -> io::Result<()> {
        self.lock().sequence.push_str(sequence);
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Redraw> {
        self.redraw.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A movement by nothing must send nothing: terminals read a zero as a one.
    fn travel(&self, steps: usize, letter: char) -> io::Result<()> {
        match steps {
            0 => Ok(()),
            _ => self.send(&format!("\u{1b}[{steps}{letter}")),
        }
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        u16::try_from(self.printer.size().0).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        u16::try_from(self.printer.size().1).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, n: usize) -> io::Result<()> {
        self.travel(n, 'A')
    }

    fn move_cursor_down(&self, n: usize) -> io::Result<()> {
        self.travel(n, 'B')
    }

    fn move_cursor_right(&self, n: usize) -> io::Result<()> {
        self.travel(n, 'C')
    }

    fn move_cursor_left(&self, n: usize) -> io::Result<()> {
        self.travel(n, 'D')
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.send(&format!("{s}\r\n"))
    }

    /// indicatif fills each line with blanks up to the edge and lets the terminal wrap. A terminal
    /// that is resized then takes the whole block for one long line and folds it anew, and the next
    /// redraw eats what stands above. So the blanks are dropped and lines are ended for real.
    fn write_str(&self, s: &str) -> io::Result<()> {
        if s.trim_matches(' ').is_empty() {
            return Ok(());
        }
        let mut redraw = self.lock();
        if redraw.lines > 0 {
            redraw.sequence.push_str("\r\n");
        }
        redraw.lines += 1;
        redraw.sequence.push_str(s);
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        self.send("\r\u{1b}[2K")
    }

    fn flush(&self) -> io::Result<()> {
        let redraw = std::mem::take(&mut *self.lock());
        self.printer.draw(&redraw.sequence);
        Ok(())
    }
}

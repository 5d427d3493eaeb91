//! The printer as indicatif's terminal. A redraw is gathered and written at once, so that it does not
//! flicker over a slow line.
//!
//! How the old block is taken away is decided here and not by indicatif, which remembers the rows that
//! it took when it was drawn: a terminal that was made narrower since has folded its lines anew, and
//! what does not go back to the first of them leaves the rest in the scrollback.

use std::fmt;
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};

use indicatif::TermLike;

use super::printer::Printer;
use super::text::columns;

/// The terminal and the block at its bottom.
pub(super) struct Screen {
    printer: Printer,
    block: Mutex<Block>,
}

#[derive(Default)]
struct Block {
    /// The lines of the redraw that is under way.
    next: Vec<String>,
    /// How wide the lines are that stand there; the cursor is at the end of the last one.
    drawn: Vec<usize>,
}

impl fmt::Debug for Screen {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Screen")
    }
}

impl Screen {
    pub(super) fn new(printer: Printer) -> Self {
        Self {
            printer,
            block: Mutex::default(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Block> {
        self.block.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Block {
    /// What takes the old block away and puts the next one there, on a terminal so many columns wide.
    fn redraw(&mut self, width: usize) -> String {
        let width = width.max(1);
        // A terminal that folds its lines anew takes a line of no letters for a row too.
        let rows = self.drawn.iter().map(|drawn| drawn.div_ceil(width).max(1));
        let rows: usize = rows.sum();
        let mut sequence = String::new();
        if rows > 0 {
            sequence.push('\r');
        }
        // Terminals read a movement by nothing as one by one.
        if rows > 1 {
            sequence.push_str(&format!("\u{1b}[{}A", rows - 1));
        }
        let next = std::mem::take(&mut self.next);
        // Cleared before it is written: behind a line that fills its row, clearing would eat its last
        // letter.
        for (place, line) in next.iter().enumerate() {
            let clear = if place + 1 == next.len() { 'J' } else { 'K' };
            let end = if place > 0 { "\r\n" } else { "" };
            sequence.push_str(&format!("{end}\u{1b}[{clear}{line}"));
        }
        if next.is_empty() && rows > 0 {
            sequence.push_str("\u{1b}[J");
        }
        self.drawn = next.iter().map(|line| columns(line)).collect();
        sequence
    }
}

impl TermLike for Screen {
    fn width(&self) -> u16 {
        u16::try_from(self.printer.size().0).unwrap_or(u16::MAX)
    }

    fn height(&self) -> u16 {
        u16::try_from(self.printer.size().1).unwrap_or(u16::MAX)
    }

    fn move_cursor_up(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_down(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_right(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn move_cursor_left(&self, _: usize) -> io::Result<()> {
        Ok(())
    }

    fn write_line(&self, s: &str) -> io::Result<()> {
        self.write_str(s)
    }

    /// indicatif fills each line with blanks up to the edge and lets the terminal wrap. A terminal
    /// that is resized then takes the whole block for one long line. So the blanks are dropped and
    /// lines are ended for real.
    fn write_str(&self, s: &str) -> io::Result<()> {
        if !s.trim_matches(' ').is_empty() {
            self.lock().next.push(s.to_owned());
        }
        Ok(())
    }

    fn clear_line(&self) -> io::Result<()> {
        Ok(())
    }

    fn flush(&self) -> io::Result<()> {
        let sequence = self.lock().redraw(self.printer.size().0);
        if !sequence.is_empty() {
            self.printer.draw(&sequence);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redrawn(drawn: &[usize], next: &[&str], width: usize) -> String {
        let mut block = Block {
            next: next.iter().map(|line| (*line).to_owned()).collect(),
            drawn: drawn.to_vec(),
        };
        block.redraw(width)
    }

    #[test]
    fn a_block_is_taken_away_by_the_rows_that_it_takes_now() {
        for (drawn, next, width, sequence) in [
            (&[][..], &[][..], 80, ""),
            (&[], &["a", "b"], 80, "\u{1b}[Ka\r\n\u{1b}[Jb"),
            (&[80], &["a"], 80, "\r\u{1b}[Ja"),
            (
                &[10, 80],
                &["a", "b"],
                80,
                "\r\u{1b}[1A\u{1b}[Ka\r\n\u{1b}[Jb",
            ),
            // Narrowed from 80 to 40: 80 columns are two rows, 41 are two, none are one.
            (&[80, 41, 0], &[], 40, "\r\u{1b}[4A\u{1b}[J"),
            (&[3], &[], 0, "\r\u{1b}[2A\u{1b}[J"),
        ] {
            assert_eq!(redrawn(drawn, next, width), sequence, "{drawn:?} {next:?}");
        }
    }
}

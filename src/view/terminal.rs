//! The mode of the terminal that keys are read from: no lines, no echo, and nothing else. Ctrl-C stays
//! a signal and line ends stay line ends, which a raw mode would take away.
//!
//! A process in the background neither changes the mode nor reads: either would stop it, with its
//! fault in.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::process::getpgrp;
use rustix::termios::{
    LocalModes, OptionalActions, QueueSelector, SpecialCodeIndex, Termios, tcflush, tcgetattr,
    tcgetpgrp, tcsetattr,
};

/// A terminal whose keys are read one by one; dropping it gives the terminal back as it was found.
#[derive(Debug)]
pub struct KeyMode {
    terminal: OwnedFd,
    found: Option<Termios>,
}

/// Whether this process may read the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// It is in front.
    Foreground,
    /// Another one is.
    Background,
}

impl KeyMode {
    /// Of this terminal, whose mode is left alone until `take`.
    pub fn of(terminal: OwnedFd) -> Self {
        Self {
            terminal,
            found: None,
        }
    }

    /// Sets the mode, unless it is set or another process is in front. To be asked again and again: a
    /// shell that brings a job back to the front gives it a mode of its own.
    ///
    /// # Errors
    /// The terminal is gone, or none.
    pub fn take(&mut self) -> io::Result<Standing> {
        if !self.is_in_front() {
            return Ok(Standing::Background);
        }
        let found = tcgetattr(&self.terminal)?;
        let lines = LocalModes::ICANON | LocalModes::ECHO;
        if found.local_modes.intersects(lines) {
            let mut ours = found.clone();
            ours.local_modes -= lines;
            // A read never waits: another process may have taken the key that there was.
            ours.special_codes[SpecialCodeIndex::VMIN] = 0;
            ours.special_codes[SpecialCodeIndex::VTIME] = 0;
            if self.found.replace(found).is_none() {
                // What was typed before was no answer to what is shown from now on.
                tcflush(&self.terminal, QueueSelector::IFlush)?;
            }
            // At once: a terminal that nobody reads from never drains.
            tcsetattr(&self.terminal, OptionalActions::Now, &ours)?;
        }
        Ok(Standing::Foreground)
    }

    /// Where there is no job control, nobody is in front of anybody.
    fn is_in_front(&self) -> bool {
        tcgetpgrp(&self.terminal).map_or(true, |front| front == getpgrp())
    }
}

impl AsFd for KeyMode {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.terminal.as_fd()
    }
}

impl Drop for KeyMode {
    fn drop(&mut self) {
        let Some(found) = self.found.take().filter(|_| self.is_in_front()) else {
            return;
        };
        // Keys that were meant for the run are none for the shell. A terminal that is gone needs
        // neither.
        let _ = tcflush(&self.terminal, QueueSelector::IFlush);
        let _ = tcsetattr(&self.terminal, OptionalActions::Now, &found);
    }
}

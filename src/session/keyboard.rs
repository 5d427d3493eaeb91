//! The thread that reads keys while a run goes on, and turns them into wishes of the run. It depends on
//! no view: an abort gets through while the screen hangs.

use std::io::{PipeReader, PipeWriter, pipe};
use std::os::fd::{AsFd as _, OwnedFd};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::model::approval::Person;
use crate::model::phase::Phase;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::remark::Pause;
use crate::model::state::RunState;
use crate::run::{Clock, Input, Operator};
use crate::view::{Decoder, Key, KeyMode, Panel, Standing, Wish};

use super::showing::{Board, Showing};

/// Between two looks whether the terminal is still ours to read from.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What follows an escape later than this is no part of it.
const ESCAPE_ALONE: Duration = Duration::from_millis(50);

const DEAD_KEYS: &str = "the reading of keys panicked, which is a bug in chaos: keys do nothing now, Ctrl-C ends the run";

/// What `m` marks.
const ALERT: &str = "alert fired";

/// Somebody who may press keys.
#[derive(Debug)]
pub struct Keyboard {
    /// Who; notes and marks are theirs.
    pub person: Person,
    /// Where the keys come from.
    pub terminal: OwnedFd,
}

/// The thread; dropping this ends it, with the terminal as it was found.
pub(super) struct Reading {
    /// Its end tells the thread to end.
    end: Option<PipeWriter>,
    thread: Option<JoinHandle<()>>,
}

impl Reading {
    /// Reads keys from now on.
    ///
    /// # Errors
    /// There is no thread or no pipe to be had.
    pub(super) fn begin(
        keyboard: Keyboard,
        operator: &Operator,
        showing: &Showing,
        board: &Arc<Board>,
        clock: Clock,
    ) -> Result<Self, Problem> {
        let cannot = |why: std::io::Error| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("keys cannot be read: {why}"),
            )
        };
        let (ended, end) = pipe().map_err(cannot)?;
        let mut reader = Reader {
            mode: KeyMode::of(keyboard.terminal),
            person: keyboard.person,
            ended,
            operator: operator.clone(),
            showing: showing.clone(),
            board: Arc::clone(board),
            clock,
        };
        let thread = std::thread::Builder::new().name("keys".to_owned());
        let (told, board) = (operator.clone(), Arc::clone(board));
        let thread = thread.spawn(move || or_say(move || reader.read(), &told, &board));
        let thread = thread.map_err(cannot)?;
        Ok(Self {
            end: Some(end),
            thread: Some(thread),
        })
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.end = None;
        if let Some(thread) = self.thread.take() {
            // It waits for nothing but us. If it panicked, it has given the terminal back by that.
            let _ = thread.join();
        }
    }
}

/// Without its keys a run still has its signals: it goes on, and says what works.
fn or_say(read: impl FnOnce(), operator: &Operator, board: &Board) {
    if catch_unwind(AssertUnwindSafe(read)).is_err() {
        *board.panel() = Panel::default();
        // A run that is over needs no word.
        let _ = operator.send(Input::Warning(DEAD_KEYS));
    }
}

struct Reader {
    mode: KeyMode,
    person: Person,
    ended: PipeReader,
    operator: Operator,
    showing: Showing,
    board: Arc<Board>,
    clock: Clock,
}

/// What the thread waited for.
enum Came {
    /// Bytes.
    Bytes,
    /// Nothing, for a while.
    Nothing,
    /// The end of the run.
    End,
}

impl Reader {
    fn read(&mut self) {
        let mut decoder = Decoder::default();
        let mut bytes = [0; 1024];
        while let Ok(standing) = self.mode.take() {
            self.show_whether_keys_work(standing);
            let wait = match decoder.is_waiting() {
                true => ESCAPE_ALONE,
                false => LOOK_EVERY,
            };
            let keys = match self.wait(standing, wait) {
                Came::End => break,
                Came::Nothing => decoder.idle().into_iter().collect(),
                Came::Bytes => match rustix::io::read(&self.mode, &mut bytes) {
                    // None are there where another process that reads here was faster.
                    Ok(count) => decoder.feed(&bytes[..count]),
                    Err(rustix::io::Errno::INTR | rustix::io::Errno::AGAIN) => Vec::new(),
                    // Another process has come to the front in this very moment.
                    Err(rustix::io::Errno::IO) => Vec::new(),
                    // The terminal hung up; the run hears of that as a signal.
                    Err(_) => break,
                },
            };
            self.press(&keys);
        }
        *self.board.panel() = Panel::default();
    }

    /// In the background there is nothing to wait for: what is typed is another process's.
    fn wait(&self, standing: Standing, at_most: Duration) -> Came {
        let at_most = Timespec::try_from(at_most).ok();
        let mut all = [
            PollFd::from_borrowed_fd(self.ended.as_fd(), PollFlags::IN),
            PollFd::from_borrowed_fd(self.mode.as_fd(), PollFlags::IN),
        ];
        let watched = match standing {
            Standing::Foreground => &mut all[..],
            Standing::Background => &mut all[..1],
        };
        match poll(watched, at_most.as_ref()) {
            Ok(0) | Err(rustix::io::Errno::INTR) => Came::Nothing,
            // Asked again, it would say so again at once.
            Err(_) => Came::End,
            Ok(_) if !all[0].revents().is_empty() => Came::End,
            // The terminal hung up; the run hears of that as a signal.
            Ok(_) if !all[1].revents().contains(PollFlags::IN) => Came::End,
            Ok(_) => Came::Bytes,
        }
    }

    fn show_whether_keys_work(&self, standing: Standing) {
        let panel = self.board.panel().seen_from(standing);
        if let Some(panel) = panel {
            *self.board.panel() = panel;
            self.showing.pressed();
        }
    }

    fn press(&mut self, keys: &[Key]) {
        if keys.is_empty() {
            return;
        }
        let wishes = self.board.panel().press(keys, self.clock.elapsed_ms());
        for wish in wishes {
            let input = input(wish, &self.person, &self.board.known().state);
            // A run that is over wants nothing more.
            let _ = self.operator.send(input);
        }
        self.showing.pressed();
    }
}

/// The wish as the run takes it; the pause key means what it says on the screen.
fn input(wish: Wish, person: &Person, state: &RunState) -> Input {
    match wish {
        Wish::Abort => Input::Abort {
            by: person.to_string(),
        },
        Wish::Note(text) => Input::Note {
            text,
            by: person.clone(),
        },
        Wish::Mark => Input::Mark {
            label: ALERT.to_owned(),
            by: person.clone(),
        },
        Wish::Pause => match (state.phase, state.pause) {
            (Some(Phase::AwaitingGo), _) | (_, Pause::BeforeNextStep) => Input::Go,
            (_, Pause::No) => Input::Pause,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::operator;

    #[test]
    fn keys_that_nobody_reads_any_more_are_no_longer_offered_and_the_run_goes_on() {
        let (own, mut inputs) = operator();
        let board = Board::default();
        *board.panel() = Panel::live();
        or_say(|| panic!("scripted"), &own, &board);
        assert_eq!(*board.panel(), Panel::default());
        assert_eq!(inputs.try_recv(), Ok(Input::Warning(DEAD_KEYS)));
        or_say(|| {}, &own, &board);
        assert!(inputs.try_recv().is_err());
    }
}

//! The thread of the views: it takes events as they come, tells the view the time at a steady pace, and
//! never makes the engine wait.
//!
//! A reader that stops reading must not fill the memory either: beyond a limit events are passed over,
//! and the view goes on from where the run is then. The journal has them all.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::oneshot;

use crate::model::event::Record;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::run::{Clock, Input, Operator, said};
use crate::view::{Backlog, Panel, View};

/// Between two redraws.
const TICK_MS: u64 = 100;

/// Events that a view may be behind: some seconds of a thousand SLOs, a few megabytes.
const LONGEST_BACKLOG: usize = 16_384;

/// What the engine has recorded so far.
#[derive(Debug, Default, Clone)]
pub(super) struct Known {
    /// The fold of it.
    pub(super) state: RunState,
    /// How many events that were.
    events: u64,
}

/// What everybody around a run may look at.
#[derive(Debug, Default)]
pub(super) struct Board {
    known: Mutex<Known>,
    panel: Mutex<Panel>,
    backlog: AtomicUsize,
}

impl Board {
    pub(super) fn known(&self) -> MutexGuard<'_, Known> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn panel(&self) -> MutexGuard<'_, Panel> {
        self.panel.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What the thread is woken by.
enum Message {
    /// An event, the how manieth of the run it is.
    Recorded(u64, Box<Record>),
    /// Somebody pressed keys; what they led to is on the board.
    Pressed,
}

/// Where events go to be shown. The thread ends once all of these are gone.
#[derive(Clone)]
pub(super) struct Showing {
    messages: Sender<Message>,
    board: Arc<Board>,
    backlog: Backlog,
}

impl Showing {
    /// Takes an event into what is known, and hands it to the view unless that is too far behind.
    pub(super) fn record(&self, record: &Record) {
        let place = {
            let mut known = self.board.known();
            known.state.apply(record);
            known.events += 1;
            known.events
        };
        let behind = self.board.backlog.load(Ordering::Relaxed);
        if self.backlog == Backlog::Latest && behind >= LONGEST_BACKLOG {
            return;
        }
        self.board.backlog.fetch_add(1, Ordering::Relaxed);
        let message = Message::Recorded(place, Box::new(record.clone()));
        // A view that is gone loses its view; the evidence doesn't depend on it.
        let _ = self.messages.send(message);
    }

    /// Says that the panel on the board has changed.
    pub(super) fn pressed(&self) {
        // As above.
        let _ = self.messages.send(Message::Pressed);
    }
}

/// Starts the thread; what comes back second resolves when it has shown the last of it, with an error
/// where it died before. A person before a screen that stands still must not be left with a fault in:
/// that it died is told to the run.
pub(super) fn on_a_thread(
    view: Box<dyn View>,
    clock: Clock,
    board: &Arc<Board>,
    operator: &Operator,
) -> Result<(Showing, oneshot::Receiver<()>), Problem> {
    let (messages, received) = channel();
    let (done, shown) = oneshot::channel();
    let showing = Showing {
        messages,
        board: Arc::clone(board),
        backlog: view.backlog(),
    };
    let operator = operator.clone();
    let mut shower = Shower {
        view,
        clock,
        board: Arc::clone(board),
        known: Known::default(),
    };
    std::thread::Builder::new()
        .name("view".to_owned())
        .spawn(move || {
            let shown = catch_unwind(AssertUnwindSafe(|| shower.show(&received)));
            // The terminal is given back in any case; what broke the view may break that too.
            let _ = catch_unwind(AssertUnwindSafe(|| drop(shower)));
            let told = match shown {
                Ok(()) => done.send(()).ok(),
                Err(panic) => {
                    let why = said(&*panic);
                    let what = "the view";
                    operator.send(Input::Died { what, why }).ok()
                }
            };
            // Whoever no longer waits for it has left already.
            let _ = told;
        })
        .map_err(|why| {
            Problem::new(
                ProblemKind::Unexpected,
                format!("no thread for the view: {why}"),
            )
        })?;
    Ok((showing, shown))
}

struct Shower {
    view: Box<dyn View>,
    clock: Clock,
    board: Arc<Board>,
    /// What the view has been told.
    known: Known,
}

impl Shower {
    fn show(&mut self, messages: &Receiver<Message>) {
        let mut due_ms = self.clock.elapsed_ms() + TICK_MS;
        loop {
            let left_ms = due_ms.saturating_sub(self.clock.elapsed_ms());
            match messages.recv_timeout(Duration::from_millis(left_ms.min(TICK_MS))) {
                Ok(Message::Recorded(place, record)) => {
                    self.board.backlog.fetch_sub(1, Ordering::Relaxed);
                    self.recorded(place, &record);
                }
                // What a person does is shown at once.
                Ok(Message::Pressed) => due_ms = 0,
                Err(RecvTimeoutError::Timeout) => due_ms = 0,
                Err(RecvTimeoutError::Disconnected) => break,
            }
            let now_ms = self.clock.elapsed_ms();
            if now_ms >= due_ms {
                self.view.panel(&self.board.panel().clone());
                self.view.tick(now_ms, &self.known.state);
                due_ms = now_ms + TICK_MS;
            }
        }
        // The last events of all may be among those that were passed over.
        self.catch_up();
        self.view.finish(&self.known.state);
    }

    fn recorded(&mut self, place: u64, record: &Record) {
        if place <= self.known.events {
            return;
        }
        if place > self.known.events + 1 {
            self.catch_up();
            return;
        }
        self.known.events = place;
        self.known.state.apply(record);
        self.view.show(record, &self.known.state);
    }

    /// Goes on from where the run is now.
    fn catch_up(&mut self) {
        let now = self.board.known().clone();
        let missed = now.events.saturating_sub(self.known.events);
        if missed > 0 {
            self.known = now;
            self.view.passed_over(missed, &self.known.state);
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::model::event::Event;
    use crate::run::operator;

    /// What a view was told, for whoever waits for its end.
    #[derive(Default)]
    struct Told {
        shown: u64,
        passed_over: u64,
        finished: Option<RunState>,
    }

    /// Reads nothing until it is released.
    struct Stalled {
        released: Receiver<()>,
        backlog: Backlog,
        told: Arc<Mutex<Told>>,
    }

    impl View for Stalled {
        fn show(&mut self, _: &Record, _: &RunState) {
            // An error is a release too: nobody is left who could say it.
            let _ = self.released.recv();
            self.told.lock().unwrap().shown += 1;
        }

        fn tick(&mut self, _: u64, _: &RunState) {}

        fn passed_over(&mut self, events: u64, _: &RunState) {
            self.told.lock().unwrap().passed_over += events;
        }

        fn backlog(&self) -> Backlog {
            self.backlog
        }

        fn finish(&mut self, state: &RunState) {
            self.told.lock().unwrap().finished = Some(state.clone());
        }
    }

    fn warned(seq: u64) -> Record {
        Record {
            seq,
            time: Timestamp::UNIX_EPOCH,
            elapsed_ms: seq,
            event: Event::TicksMissed {
                slo: "slow".to_owned(),
                missed: seq,
            },
        }
    }

    /// So many events come while the view hangs, and a few after it went on.
    fn shown(events: u64, backlog: Backlog) -> (u64, u64, RunState) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .build()
            .unwrap();
        runtime.block_on(async {
            let (release, released) = channel();
            let told = Arc::new(Mutex::new(Told::default()));
            let view = Box::new(Stalled {
                released,
                backlog,
                told: Arc::clone(&told),
            });
            let board = Arc::new(Board::default());
            let (showing, ended) =
                on_a_thread(view, Clock::start(), &board, &operator().0).unwrap();
            for seq in 1..=events {
                showing.record(&warned(seq));
            }
            drop((release, showing));
            ended.await.unwrap();
            let told = std::mem::take(&mut *told.lock().unwrap());
            (told.shown, told.passed_over, told.finished.unwrap())
        })
    }

    #[test]
    fn a_view_that_hangs_is_passed_over_and_ends_where_the_run_ends() {
        let events = 3 * LONGEST_BACKLOG as u64;
        let (shown, passed_over, state) = shown(events, Backlog::Latest);
        assert_eq!((shown + passed_over, state.seq), (events, events));
        // The one that it hangs in has left the queue.
        assert!(shown <= LONGEST_BACKLOG as u64 + 1, "{shown}");
    }

    #[test]
    fn a_view_of_data_gets_every_event() {
        let events = 3 * LONGEST_BACKLOG as u64;
        let (shown, passed_over, state) = shown(events, Backlog::Every);
        assert_eq!((shown, passed_over, state.seq), (events, 0, events));
    }
}

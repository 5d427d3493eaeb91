//! Taking one fault out until it is seen gone: shared by the engine and by whoever goes on where an
//! engine stopped.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::task::{JoinError, JoinHandle};
use tokio::time::Instant;

use crate::faults::{FaultDriver, Injection};
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::phase::{Phase, Trigger};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Continuity, Purpose};
use crate::model::undo::Undo;

/// The first and the longest pause between two attempts to undo.
const UNDO_PAUSES: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(5));

/// What one step works with.
pub(super) struct Work {
    pub(super) step: usize,
    pub(super) driver: Arc<dyn FaultDriver>,
    pub(super) undo: Undo,
    /// Until when a write whose answer was lost may still land.
    pub(super) late_until: Option<Instant>,
}

/// What the world showed after one attempt, and whether the undo itself was answered well.
pub(super) struct Seen {
    absence: Absence,
    /// When the world was asked: an answer that took its time says nothing about what landed meanwhile.
    asked: Instant,
    sent: Result<(), Problem>,
}

/// A task whose end is waited for. Where that is cut off, which only a panic does, the task is cut off
/// too: whoever undoes then must not meet a fault that is still going in.
pub(super) struct Spawned<T>(JoinHandle<T>);

impl<T: Send + 'static> Spawned<T> {
    pub(super) fn new(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self(tokio::spawn(work))
    }
}

impl<T> Future for Spawned<T> {
    type Output = Result<T, JoinError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        Pin::new(&mut self.0).poll(context)
    }
}

impl<T> Drop for Spawned<T> {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Somebody who can undo.
pub(super) trait Undoing: Send {
    /// Spawns work on the world and waits for its end; never cut short.
    fn finish<T, F>(&mut self, work: F) -> impl Future<Output = Result<T, Problem>> + Send
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static;

    /// Lets so much time pass, whatever happens.
    fn wait_out(&mut self, pause: Duration) -> impl Future<Output = ()> + Send;

    /// How long an undo may take before it is stuck.
    fn undo_within(&self) -> Duration;

    /// Where the run is.
    fn phase(&self) -> Phase;

    /// Moves on by the table.
    fn enter(&mut self, trigger: Trigger);

    /// Records an event.
    fn record(&mut self, event: Event);

    /// Notes a reason to end the run.
    fn end(&mut self, cause: Cause);

    /// The fault is gone because its platform restarted.
    fn restarted(&mut self);

    /// Undoes until the fault is seen gone, or the undo's own deadline passes. Nothing cuts it short.
    fn undo(&mut self, work: &Work) -> impl Future<Output = ()> + Send {
        async move {
            let deadline = Instant::now() + self.undo_within();
            // What may still land is waited for, also beyond the deadline.
            let deadline = work
                .late_until
                .map_or(deadline, |landed| landed.max(deadline));
            let mut pause = UNDO_PAUSES.0;
            let mut remaining = vec![work.undo.summary()];
            for attempt in 1.. {
                match self.undo_once(work).await {
                    Ok(Seen { absence, asked, .. })
                        if absence.remaining.is_empty()
                            && work.late_until.is_none_or(|landed| landed <= asked) =>
                    {
                        self.gone(work, absence);
                        return;
                    }
                    Ok(Seen { absence, .. }) if absence.remaining.is_empty() => {
                        // Seen gone, but a write whose answer was lost may still land: look again later.
                        self.enter(Trigger::NotGone);
                    }
                    Ok(Seen { absence, sent, .. }) => {
                        remaining.clone_from(&absence.remaining);
                        let problem = sent.err().unwrap_or_else(|| still_there(&absence));
                        self.record(Event::GoneChecked {
                            step: work.step,
                            absence,
                        });
                        self.not_gone(work.step, attempt, problem);
                    }
                    Err(problem) => {
                        // Nobody saw: what was seen before may be less than what is there by now.
                        remaining = vec![work.undo.summary()];
                        self.not_gone(work.step, attempt, problem);
                    }
                }
                if Instant::now() >= deadline {
                    self.end(Cause::UndoUnproven { remaining });
                    self.enter(Trigger::UndoDeadline);
                    return;
                }
                let left = deadline.saturating_duration_since(Instant::now());
                self.wait_out(pause.min(left)).await;
                pause = (pause * 2).min(UNDO_PAUSES.1);
            }
        }
    }

    /// One attempt: undo, then ask the world. A failed undo may have worked all the same, so the
    /// world is asked in any case.
    fn undo_once(&mut self, work: &Work) -> impl Future<Output = Result<Seen, Problem>> + Send {
        async move {
            let (driver, undo) = (Arc::clone(&work.driver), work.undo.clone());
            let reverted = self
                .finish(async move { driver.revert(&undo).await })
                .await?;
            let sent = self.exchanged(work.step, Purpose::Undo, reverted);
            let (driver, undo) = (Arc::clone(&work.driver), work.undo.clone());
            self.enter(Trigger::UndoSent);
            let asked = Instant::now();
            let absence = self
                .finish(async move { driver.verify_gone(&undo).await })
                .await
                .and_then(|answer| answer)?;
            Ok(Seen {
                absence,
                asked,
                sent,
            })
        }
    }

    /// Records what was sent; whether it went well is returned.
    fn exchanged(
        &mut self,
        step: usize,
        purpose: Purpose,
        injection: Injection,
    ) -> Result<(), Problem> {
        for exchange in injection.exchanges {
            self.record(Event::Exchanged {
                step,
                purpose,
                exchange: Box::new(exchange),
            });
        }
        injection.result
    }

    /// The fault was seen gone.
    fn gone(&mut self, work: &Work, absence: Absence) {
        let continuity = absence.continuity;
        self.record(Event::GoneChecked {
            step: work.step,
            absence,
        });
        self.enter(Trigger::Gone);
        match continuity {
            Continuity::Restarted => self.restarted(),
            Continuity::Same | Continuity::Unknown => {}
        }
    }

    /// An attempt failed; another follows.
    fn not_gone(&mut self, step: usize, attempt: u32, problem: Problem) {
        self.record(Event::UndoFailed {
            step,
            attempt,
            problem,
        });
        if self.phase() == Phase::Verifying {
            self.enter(Trigger::NotGone);
        }
    }
}

fn still_there(absence: &Absence) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!(
            "still in place after the undo: {}",
            absence.remaining.join(", ")
        ),
    )
}

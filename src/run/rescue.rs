//! When the engine itself is no more: undo what its events say is, or may be, in place, prove it gone,
//! and write the end of the run.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::clock::Clock;
use super::engine::Settlement;
use super::panicking::last_words;
use super::recorder::{Recorder, Sink};
use super::undoing::{Spawned, Undoing, Work};
use crate::faults::{self, FaultDriver};
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::outcome::Outcome;
use crate::model::phase::{Phase, Trigger};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::state::RunState;
use crate::model::takeover::{Rescuer, Takeover};
use crate::model::undo::Undo;

/// Says which driver takes an undo back.
pub type Drivers<'a> = &'a (dyn Fn(usize, &Undo) -> Result<Arc<dyn FaultDriver>, Problem> + Sync);

/// A run whose engine is no more. Whoever makes one holds the run's own lock: there is one writer.
pub struct Rescue<'a> {
    /// Where the record goes on.
    pub sink: Box<dyn Sink>,
    /// The fold of what stands there.
    pub state: RunState,
    /// Goes on with the run's clock.
    pub clock: Clock,
    /// The driver of each step's undo.
    pub drivers: Drivers<'a>,
    /// How long an undo may take before it is stuck.
    pub undo_within: Duration,
    /// Who takes over, and why.
    pub takeover: Takeover,
}

/// The rescue under way.
struct Rescuing {
    recorder: Recorder,
    undo_within: Duration,
    takeover: Takeover,
    /// What could not be proven gone.
    remaining: Vec<String>,
}

/// Ends a run in the place of its engine. Idempotent: what is gone is seen gone, and nothing is sent.
pub async fn rescue(rescue: Rescue<'_>) -> Settlement {
    let in_place: Vec<(usize, Option<Undo>, Writes)> = rescue
        .state
        .in_place()
        .map(|(step, record)| {
            let writes = match record.confirmed_at_ms {
                Some(_) => Writes::Answered,
                None => Writes::MayBeUnderWay,
            };
            (step, record.undo.clone(), writes)
        })
        .collect();
    let mut rescuing = Rescuing {
        recorder: Recorder::going_on(rescue.clock, rescue.sink, rescue.state),
        undo_within: rescue.undo_within,
        takeover: rescue.takeover,
        remaining: Vec::new(),
    };
    rescuing.record(Event::TakenOver(rescuing.takeover.clone()));
    if !in_place.is_empty() {
        rescuing.enter(Trigger::TakenOver);
    }
    for (step, undo, writes) in in_place {
        rescuing.take_out(step, undo, writes, rescue.drivers).await;
    }
    rescuing.settle()
}

/// Whether a write of the dead engine may still land.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// The fault was seen in, so every write had been answered.
    Answered,
    /// One may be on its way.
    MayBeUnderWay,
}

impl Rescuing {
    async fn take_out(
        &mut self,
        step: usize,
        undo: Option<Undo>,
        writes: Writes,
        drivers: Drivers<'_>,
    ) {
        let Some(undo) = undo else {
            let what = format!("step {}, of which no undo is known", step + 1);
            self.end(Cause::UndoUnproven {
                remaining: vec![what],
            });
            self.enter(Trigger::UndoDeadline);
            return;
        };
        let driver = match drivers(step, &undo) {
            Ok(driver) => driver,
            Err(problem) => {
                self.not_gone(step, 1, problem);
                self.end(Cause::UndoUnproven {
                    remaining: vec![undo.summary()],
                });
                self.enter(Trigger::UndoDeadline);
                return;
            }
        };
        let late_until = match writes {
            Writes::Answered => None,
            // Counted from now: when exactly the process died, and what it sent last, nobody wrote down.
            Writes::MayBeUnderWay => {
                Some(Instant::now() + faults::write_limit(&undo).as_duration())
            }
        };
        let work = Work {
            step,
            driver,
            undo,
            late_until,
        };
        self.undo(&work).await;
    }

    fn settle(mut self) -> Settlement {
        if self.remaining.is_empty() {
            self.move_to_the_end();
        }
        let cause = self.cause();
        let outcome = cause.outcome();
        self.record(Event::Settled {
            outcome,
            cause: cause.clone(),
        });
        Settlement {
            outcome,
            cause,
            evidence: self.recorder.failure().cloned(),
            state: self.recorder.state().clone(),
        }
    }

    /// Whoever had seen the fault gone may have had no time to move on.
    fn move_to_the_end(&mut self) {
        for _ in Phase::ALL {
            let trigger = match self.phase() {
                Phase::Undoing => Trigger::UndoSent,
                Phase::Verifying => Trigger::Gone,
                Phase::Settled => return,
                Phase::Preflight
                | Phase::Baseline
                | Phase::Between
                | Phase::AwaitingGo
                | Phase::Preparing
                | Phase::Injecting
                | Phase::Confirming
                | Phase::Observing
                | Phase::Recovering
                | Phase::Stuck => Trigger::TakenOver,
            };
            self.enter(trigger);
        }
    }

    /// What the run itself had found out counts; it never says that a hypothesis held.
    fn cause(&self) -> Cause {
        if !self.remaining.is_empty() {
            return Cause::UndoUnproven {
                remaining: self.remaining.clone(),
            };
        }
        let endings = &self.recorder.state().endings;
        let found = endings
            .iter()
            .find(|cause| cause.outcome() != Outcome::Stuck);
        found.cloned().unwrap_or_else(|| self.own_cause())
    }

    fn own_cause(&self) -> Cause {
        let Takeover { by, person, why } = &self.takeover;
        match by {
            Rescuer::Session => Cause::Bug { why: why.clone() },
            Rescuer::Abort => Cause::Aborted {
                by: format!("{person} ({by})"),
            },
            Rescuer::Guardian | Rescuer::Recover => Cause::Rescued {
                by: *by,
                why: why.clone(),
            },
        }
    }
}

impl Undoing for Rescuing {
    async fn finish<T, F>(&mut self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let joined = Spawned::new(work).await;
        joined.map_err(|died| {
            let why = last_words(died);
            Problem::new(ProblemKind::Unexpected, format!("a driver panicked: {why}"))
        })
    }

    async fn wait_out(&mut self, pause: Duration) {
        tokio::time::sleep(pause).await;
    }

    fn undo_within(&self) -> Duration {
        self.undo_within
    }

    /// A journal that lost lines may not say it.
    fn phase(&self) -> Phase {
        self.recorder.state().phase.unwrap_or(Phase::Preflight)
    }

    /// Where a journal lost lines the table may have no such way; what is undone does not depend on it.
    fn enter(&mut self, trigger: Trigger) {
        if let Ok(phase) = self.phase().next(trigger) {
            let step = self.recorder.state().step;
            self.record(Event::PhaseEntered {
                phase,
                trigger,
                step,
            });
        }
    }

    fn record(&mut self, event: Event) {
        // The first failure is kept for whoever reads the settlement; an undo goes on without.
        let _ = self.recorder.record(event);
    }

    fn end(&mut self, cause: Cause) {
        if let Cause::UndoUnproven { remaining } = &cause {
            self.remaining.extend(remaining.iter().cloned());
        }
        self.record(Event::Ending { cause });
    }

    /// The absence says so; why the run ends, it does not explain.
    fn restarted(&mut self) {}
}

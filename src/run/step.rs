//! One step: prepare, arm, inject, confirm, observe, undo, verify gone.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::beside::beside;
use super::engine::{Engine, Timing};
use super::input::Input;
use super::undoing::{Undoing as _, Work};
use crate::faults::{self, FaultDriver, Owner};
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::phase::{Phase, Trigger};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Continuity, Proof, Purpose};
use crate::model::undo::Undo;
use crate::model::units::Span;

/// Between two attempts to see a fault in.
const CONFIRM_PAUSE: Duration = Duration::from_millis(250);
/// How long an undo may still wait for a look at the fault that is under way.
const LAST_LOOK: Duration = Duration::from_millis(20);
impl Engine {
    /// Runs one step to its proven end. A reason to end the run is left in `ending`.
    pub(super) async fn run_step(&mut self, step: usize, own: &mpsc::UnboundedSender<Input>) {
        if self.phase == Phase::Between {
            self.enter(Trigger::NextStep);
        }
        let Some(mut work) = self.prepare(step).await else {
            return;
        };
        self.watch.rearm(self.recorder.elapsed_ms());
        self.inject(&mut work).await;
        if self.phase == Phase::Confirming {
            self.confirm(&work).await;
        }
        if self.phase == Phase::Observing {
            self.observe(&work, own).await;
        }
        self.undo(&work).await;
        self.hold_ends = None;
    }

    /// Reads the world once more and puts the undo on disk: nothing is injected before that.
    async fn prepare(&mut self, step: usize) -> Option<Work> {
        let driver = Arc::clone(&self.runner.kit.drivers[step]);
        let fault = self.runner.plan.plan().experiment.steps[step].fault.clone();
        let owner = Owner::Run(self.runner.id().clone());
        let asked = Arc::clone(&driver);
        let prepared = self
            .finish(async move { asked.prepare(&fault, &owner).await })
            .await
            .and_then(|answer| answer)
            .and_then(|prepared| {
                self.runner
                    .plan
                    .plan()
                    .admits(step, &prepared)
                    .map(|()| prepared)
            });
        let undo = match prepared.and_then(|prepared| self.still_healthy().map(|()| prepared)) {
            Ok(prepared) => {
                for message in prepared.warnings {
                    self.record(Event::Warned { message });
                }
                prepared.undo
            }
            Err(problem) => {
                self.end(Cause::NotPrepared {
                    why: problem.message,
                });
                self.enter(Trigger::NotPrepared);
                return None;
            }
        };
        let armed = self.recorder.record(Event::UndoRecorded {
            step,
            undo: Box::new(undo.clone()),
        });
        if let Err(problem) = armed {
            self.end(Cause::EvidenceLost {
                why: problem.message,
            });
        }
        if self.ending.is_some() {
            self.enter(Trigger::Abort);
            return None;
        }
        self.enter(Trigger::UndoRecorded);
        if self.ending.is_some() {
            self.enter(Trigger::Abort);
            self.recall_unsent(step, &driver, &undo).await;
            return None;
        }
        Some(Work {
            step,
            driver,
            undo,
            late_until: None,
        })
    }

    /// No fault goes into a service that does not hold already: it would be blamed for it.
    fn still_healthy(&self) -> Result<(), Problem> {
        let why = self.unhealthy_now();
        if why.is_empty() {
            return Ok(());
        }
        Err(Problem::new(
            ProblemKind::Conflict,
            format!("the SLOs do not hold any more: {}", why.join("; ")),
        ))
    }

    /// The journal failed in the very moment of arming: nothing was sent, and that is proven.
    async fn recall_unsent(&mut self, step: usize, driver: &Arc<dyn FaultDriver>, undo: &Undo) {
        let work = Work {
            step,
            driver: Arc::clone(driver),
            undo: undo.clone(),
            late_until: None,
        };
        self.undo(&work).await;
    }

    async fn inject(&mut self, work: &mut Work) {
        let (driver, undo) = (Arc::clone(&work.driver), work.undo.clone());
        let injection = self.finish(async move { driver.inject(&undo).await }).await;
        // A driver that panicked may have had a write under way.
        let panicked = injection.is_err();
        let result = injection.and_then(|done| self.exchanged(work.step, Purpose::Inject, done));
        match result {
            Ok(()) if self.ending.is_none() => self.enter(Trigger::Injected),
            Ok(()) => self.enter(self.way_out()),
            Err(problem) => {
                if panicked || problem.kind == ProblemKind::Unreachable {
                    // Counted from the end: the driver asks the world before it writes.
                    let limit = faults::write_limit(&work.undo).as_duration();
                    work.late_until = Some(Instant::now() + limit);
                }
                self.record(Event::InjectFailed {
                    step: work.step,
                    problem: problem.clone(),
                });
                if let Some(seen) = self.look_unless_ended(work).await {
                    self.end(cause_of_failed_injection(&problem, seen));
                }
                self.enter(Trigger::InjectFailed);
            }
        }
    }

    /// The trigger that leaves a phase with a fault in, for the reason that was found.
    fn way_out(&self) -> Trigger {
        match self.ending {
            Some(Cause::Breach { .. } | Cause::Blind { .. }) => Trigger::Tripped,
            _ => Trigger::Abort,
        }
    }

    /// Asks the world whether the fault is in, and records what it says. Once something has ended the
    /// run, the undo does not wait for a platform that is slow to answer. `None`: it was cut off.
    async fn look_unless_ended(&mut self, work: &Work) -> Option<Result<Proof, Problem>> {
        let (driver, undo) = (Arc::clone(&work.driver), work.undo.clone());
        let within = self.runner.kit.timing.unseen_for;
        // Only a reader may be cut off like this.
        let seen = self
            .finish_unless_ended(async move { look(&driver, &undo, within).await }, LAST_LOOK)
            .await?
            .and_then(|answer| answer);
        self.note_sight(work, &seen);
        Some(seen)
    }

    fn note_sight(&mut self, work: &Work, seen: &Result<Proof, Problem>) {
        if let Ok(proof) = seen {
            self.record(Event::Confirmed {
                step: work.step,
                proof: proof.clone(),
            });
        }
    }

    async fn confirm(&mut self, work: &Work) {
        let limit = faults::confirm_limit(&work.undo).as_duration();
        let deadline = Instant::now() + self.runner.kit.timing.confirm_within.max(limit);
        loop {
            let seen = self.look_unless_ended(work).await;
            let Some(seen) = seen.filter(|_| self.ending.is_none()) else {
                self.enter(self.way_out());
                return;
            };
            if seen.as_ref().is_ok_and(Proof::is_complete) {
                self.enter(Trigger::Confirmed);
                return;
            }
            if Instant::now() + CONFIRM_PAUSE >= deadline {
                self.end(cause_of_missing_proof(seen));
                self.enter(Trigger::NotConfirmed);
                return;
            }
            self.wait_until(Instant::now() + CONFIRM_PAUSE).await;
            if self.ending.is_some() {
                self.enter(self.way_out());
                return;
            }
        }
    }

    /// Holds the fault; the SLOs, a person, or the world itself may end it at any moment.
    async fn observe(&mut self, work: &Work, own: &mpsc::UnboundedSender<Input>) {
        let hold = self.runner.plan.plan().experiment.steps[work.step]
            .hold
            .as_duration();
        let timing = self.runner.kit.timing;
        let deadline = Instant::now() + hold;
        self.hold_ends = Some(deadline);
        let mut heard = Instant::now();
        let mut lost = None;
        self.seen = None;
        let looking = look_repeatedly(
            Arc::clone(&work.driver),
            work.undo.clone(),
            timing,
            own.clone(),
        );
        let lookout = tokio::spawn(beside("the look at the fault", own.clone(), looking));
        while self.ending.is_none() && Instant::now() < deadline {
            match self.wait_for_sight(deadline).await {
                None => {}
                Some(Ok(proof)) => {
                    heard = Instant::now();
                    lost = self.judge_proof(work.step, proof);
                }
                Some(Err(problem)) if heard.elapsed() >= timing.unseen_for => {
                    lost = Some(Cause::Unconfirmed {
                        why: problem.message,
                    });
                }
                Some(Err(_)) => {}
            }
            if lost.is_some() {
                break;
            }
        }
        // Only a reader is cut off here; nothing that writes to the world runs in this task.
        lookout.abort();
        match (lost, self.ending.is_some()) {
            (_, true) => self.enter(self.way_out()),
            (Some(cause), false) => {
                self.end(cause);
                self.enter(Trigger::FaultLost);
            }
            (None, false) => self.leave_whole(work).await,
        }
    }

    /// A hold counts only if the fault is still whole at its end.
    async fn leave_whole(&mut self, work: &Work) {
        let lost = match self.look_unless_ended(work).await {
            None => None,
            Some(Ok(proof)) => self.judge_proof(work.step, proof),
            Some(Err(problem)) => Some(Cause::Unconfirmed {
                why: problem.message,
            }),
        };
        let lost = lost.or_else(|| self.never_seen(work.step));
        match (lost, self.ending.is_some()) {
            (_, true) => self.enter(self.way_out()),
            (Some(cause), false) => {
                self.end(cause);
                self.enter(Trigger::FaultLost);
            }
            (None, false) => self.enter(Trigger::HoldOver),
        }
    }

    /// A hold in which a gate had not one value says nothing, whatever its patience.
    fn never_seen(&self, step: usize) -> Option<Cause> {
        let since_ms = self.recorder.state().steps.get(step)?.confirmed_at_ms?;
        let slo = self.watch.unseen_after(since_ms)?;
        Some(Cause::Blind {
            slo: slo.to_owned(),
            why: "not one reading of it while the fault was in".to_owned(),
        })
    }

    fn judge_proof(&mut self, step: usize, proof: Proof) -> Option<Cause> {
        if proof.is_complete() {
            return None;
        }
        let why = proof.evidence.join("; ");
        let cause = match proof.continuity {
            Continuity::Restarted => Cause::Restarted { why },
            Continuity::Same | Continuity::Unknown => Cause::FaultLost { why },
        };
        self.record(Event::Confirmed { step, proof });
        Some(cause)
    }
}

/// Looks at the fault again and again; reads only.
async fn look_repeatedly(
    driver: Arc<dyn FaultDriver>,
    undo: Undo,
    timing: Timing,
    inputs: mpsc::UnboundedSender<Input>,
) {
    loop {
        tokio::time::sleep(timing.look_every).await;
        let seen = look(&driver, &undo, timing.unseen_for).await;
        if inputs.send(Input::FaultSeen(seen)).is_err() {
            return;
        }
    }
}

/// One look, which never comes back later than that: a look that hangs sees nothing either.
async fn look(
    driver: &Arc<dyn FaultDriver>,
    undo: &Undo,
    within: Duration,
) -> Result<Proof, Problem> {
    let seen = tokio::time::timeout(within, driver.confirm(undo)).await;
    seen.unwrap_or_else(|_| {
        let message = format!(
            "whether the fault is in was not answered within {}",
            Span::of(within)
        );
        Err(Problem::new(ProblemKind::Unreachable, message))
    })
}

fn cause_of_failed_injection(problem: &Problem, seen: Result<Proof, Problem>) -> Cause {
    match seen {
        Ok(proof)
            if proof.injected == 0
                && proof.continuity != Continuity::Restarted
                && problem.kind != ProblemKind::Unreachable =>
        {
            Cause::NeverInjected {
                why: problem.message.clone(),
            }
        }
        Ok(proof) if proof.continuity == Continuity::Restarted => Cause::Restarted {
            why: problem.message.clone(),
        },
        Ok(proof) if proof.injected > 0 && !proof.is_complete() => Cause::PartlyInjected {
            injected: proof.injected,
            planned: proof.planned,
        },
        // A write whose answer was lost may have landed, or land yet.
        Ok(_) | Err(_) => Cause::Unconfirmed {
            why: problem.message.clone(),
        },
    }
}

fn cause_of_missing_proof(seen: Result<Proof, Problem>) -> Cause {
    match seen {
        Err(problem) => Cause::Unconfirmed {
            why: problem.message,
        },
        Ok(proof) if proof.continuity == Continuity::Restarted => Cause::Restarted {
            why: proof.evidence.join("; "),
        },
        Ok(proof) if proof.injected == 0 => Cause::NeverInjected {
            why: proof.evidence.join("; "),
        },
        Ok(proof) => Cause::PartlyInjected {
            injected: proof.injected,
            planned: proof.planned,
        },
    }
}

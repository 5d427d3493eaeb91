//! What the engine tells its guardian, and when.

use std::future::Future;
use std::time::Duration;

use tokio::time::Instant;

use super::engine::Engine;
use super::input::Input;
use crate::faults;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::phase::Phase;
use crate::model::takeover::Standing;
use crate::model::units::Span;

/// How long after the end of a hold its undo begins at the latest: a last look at the fault comes first.
const UNDO_BEGINS_WITHIN: Duration = Duration::from_secs(60);

/// Requests that it may take at most to put a fault in and to see it there, each up to its own time-out.
const REQUESTS_TO_GO_IN: u32 = 10;

impl Engine {
    /// No fault goes in without somebody who takes it out if this process dies.
    pub(super) async fn post_guardian(&mut self) {
        match self.runner.guard.start().await {
            Ok(None) => {}
            Ok(Some(pid)) => self.record(Event::GuardianStarted { pid }),
            Err(problem) => self.end(Cause::NotPrepared {
                why: format!("no guardian could be posted: {}", problem.message),
            }),
        }
    }

    /// Tells the guardian where the run stands; that it is gone is told by whoever watches over it.
    pub(super) fn beat(&mut self) {
        let _ = self.runner.guard.tell(self.standing());
    }

    fn standing(&self) -> Standing {
        match self.phase {
            Phase::Preflight
            | Phase::Baseline
            | Phase::Between
            | Phase::AwaitingGo
            | Phase::Preparing
            | Phase::Recovering
            | Phase::Settled => Standing::Clear,
            Phase::Injecting | Phase::Confirming | Phase::Observing => {
                let left = match self.hold_ends {
                    Some(ends) => ends.saturating_duration_since(Instant::now()),
                    None => self.hold() + self.going_in(),
                };
                let at_most_ms = Span::of(left + UNDO_BEGINS_WITHIN).as_millis();
                Standing::In { at_most_ms }
            }
            Phase::Undoing | Phase::Verifying | Phase::Stuck => Standing::Undoing,
        }
    }

    fn hold(&self) -> Duration {
        let steps = &self.runner.plan.plan().experiment.steps;
        let step = self.step.and_then(|step| steps.get(step));
        step.map_or(Duration::ZERO, |step| step.hold.as_duration())
    }

    /// How long it may take until the hold begins.
    fn going_in(&self) -> Duration {
        let steps = &self.recorder.state().steps;
        let step = self.step.and_then(|step| steps.get(step));
        let undo = step.and_then(|step| step.undo.as_ref());
        let limit = undo.map_or(Duration::ZERO, |undo| {
            faults::write_limit(undo).as_duration()
        });
        limit * REQUESTS_TO_GO_IN + self.runner.kit.timing.confirm_within
    }

    /// Waits for work that takes no part in the run any more, and goes on giving signs of life: of a
    /// run that is stuck the guardian still hears.
    pub(super) async fn beating_while<T>(&mut self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                Some(input) = self.inputs.recv() => match input {
                    Input::Beat => self.beat(),
                    // The run has ended; nothing that comes now changes how.
                    Input::Sampled { .. }
                    | Input::Waiting { .. }
                    | Input::FaultSeen(_)
                    | Input::Signal(_)
                    | Input::Abort { .. }
                    | Input::Pause
                    | Input::Go
                    | Input::Warning(_)
                    | Input::Lock(_)
                    | Input::Guardian(_)
                    | Input::Died { .. }
                    | Input::StoodStill { .. }
                    | Input::Slept { .. }
                    | Input::Note { .. }
                    | Input::Mark { .. } => {}
                },
            }
        }
    }

    /// What is about to go in must be known to somebody else.
    pub(super) fn tell_guardian(&mut self) {
        let told = self.runner.guard.tell(self.standing());
        if let (Err(problem), Phase::Injecting) = (told, self.phase) {
            self.end(Cause::GuardianLost {
                why: problem.message,
            });
        }
    }
}

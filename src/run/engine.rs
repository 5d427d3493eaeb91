//! The run from its first event to its last.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::time::Instant;

use super::clock::Clock;
use super::gauges::{self, Gauge};
use super::guard::{Guard, Unguarded};
use super::input::Input;
use super::recorder::{Recorder, Sink};
use super::watch::{Health, Watch};
use crate::faults::FaultDriver;
use crate::metrics::Sources;
use crate::model::approval::Person;
use crate::model::brief::Brief;
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::ids::RunId;
use crate::model::outcome::Outcome;
use crate::model::phase::{Phase, Trigger};
use crate::model::problem::Problem;
use crate::model::remark::Pause;
use crate::model::request::Proof;
use crate::model::state::RunState;
use crate::policy::AdmittedPlan;

/// How long the engine waits for what; all of it can be shortened in tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Until a fault must be seen in, after its requests were answered.
    pub confirm_within: Duration,
    /// Until an undo must be proven, before the run is stuck.
    pub undo_within: Duration,
    /// Between two looks whether the fault is still in.
    pub look_every: Duration,
    /// How long the platform may be deaf to those looks.
    pub unseen_for: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Self {
            confirm_within: Duration::from_secs(5),
            undo_within: Duration::from_secs(120),
            look_every: Duration::from_secs(2),
            unseen_for: Duration::from_secs(10),
        }
    }
}

/// The world, as handed to a run.
#[derive(Clone)]
pub struct Kit {
    /// One driver for each step, in order.
    pub drivers: Vec<Arc<dyn FaultDriver>>,
    /// One gauge for each SLO, in order.
    pub gauges: Vec<Gauge>,
    /// The sources behind the gauges.
    pub sources: Sources,
    /// How long to wait for what.
    pub timing: Timing,
    /// The run's clock.
    pub clock: Clock,
}

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub struct Settlement {
    /// The outcome.
    pub outcome: Outcome,
    /// Why.
    pub cause: Cause,
    /// The first failure to write evidence, if there was one.
    pub evidence: Option<Problem>,
    /// The fold of everything recorded.
    pub state: RunState,
}

/// One execution of an admitted plan.
pub struct Runner {
    pub(super) plan: AdmittedPlan,
    run: RunId,
    requester: Person,
    brief: Brief,
    warnings: Vec<String>,
    pub(super) guard: Box<dyn Guard>,
    pub(super) kit: Kit,
}

/// The engine while it runs.
pub(super) struct Engine {
    pub(super) runner: Runner,
    pub(super) recorder: Recorder,
    pub(super) watch: Watch,
    pub(super) inputs: mpsc::UnboundedReceiver<Input>,
    pub(super) phase: Phase,
    pub(super) ending: Option<Cause>,
    /// The step that is due or under way.
    pub(super) step: Option<usize>,
    pub(super) pause: Pause,
    /// What a person or a signal wants, whatever else ends the run.
    pub(super) wish: Wish,
    /// What was wrong with the SLOs during the baseline.
    pub(super) baseline_trips: Vec<String>,
    /// The latest look at the fault, for the observing loop.
    pub(super) seen: Option<Result<Proof, Problem>>,
    /// When the hold of the step that is observed is over.
    pub(super) hold_ends: Option<Instant>,
}

/// Whether somebody wants the run to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wish {
    /// Nobody said so.
    GoOn,
    /// Somebody did.
    Leave,
}

impl Runner {
    /// A run of this plan; nothing happens before `execute`.
    pub fn new(plan: AdmittedPlan, run: RunId, requester: Person, kit: Kit) -> Self {
        let brief = plan.plan().brief();
        Self {
            plan,
            run,
            requester,
            brief,
            warnings: Vec::new(),
            guard: Box::new(Unguarded),
            kit,
        }
    }

    /// The same run, whose record begins with what was found amiss before it.
    #[must_use]
    pub fn warned(self, warnings: Vec<String>) -> Self {
        Self { warnings, ..self }
    }

    /// The same run, whose process carries the practice environment at this address.
    #[must_use]
    pub fn on_own_sandbox(mut self, address: String) -> Self {
        self.brief.own_sandbox = Some(address);
        self
    }

    /// The same run under the eyes of a guardian.
    #[must_use]
    pub fn guarded(self, guard: Box<dyn Guard>) -> Self {
        Self { guard, ..self }
    }

    /// The run's id.
    pub fn id(&self) -> &RunId {
        &self.run
    }

    /// Runs to the end. `inputs` is the queue whose other end signals and persons hold; `own` is a
    /// sender of the same queue for the gauges.
    pub async fn execute(
        self,
        sink: Box<dyn Sink>,
        own: mpsc::UnboundedSender<Input>,
        inputs: mpsc::UnboundedReceiver<Input>,
    ) -> Settlement {
        let recorder = Recorder::new(self.kit.clock, sink);
        let watch = Watch::new(&self.kit.gauges);
        let engine = Engine {
            runner: self,
            recorder,
            watch,
            inputs,
            phase: Phase::Preflight,
            ending: None,
            step: None,
            pause: Pause::No,
            wish: Wish::GoOn,
            baseline_trips: Vec::new(),
            seen: None,
            hold_ends: None,
        };
        engine.execute(own).await
    }
}

impl Engine {
    async fn execute(mut self, own: mpsc::UnboundedSender<Input>) -> Settlement {
        self.begin();
        let mut gauges = None;
        if self.ending.is_none() {
            self.start_sources().await;
        }
        if self.ending.is_none() {
            self.post_guardian().await;
        }
        if self.ending.is_none() {
            // In the first half of the baseline, so that a slow answer still belongs to it.
            let settle = self.runner.brief.baseline.as_duration() / 2;
            gauges = Some(gauges::watch_all(&self.runner.kit.gauges, settle, &own));
            self.enter(Trigger::Begin);
            self.baseline().await;
            self.steps(&own).await;
        } else {
            self.enter(Trigger::Abort);
        }
        self.stop_sources().await;
        drop(gauges);
        self.settle().await
    }

    fn begin(&mut self) {
        let runner = &self.runner;
        let started = Event::RunStarted {
            run: runner.run.clone(),
            plan: runner.plan.id().clone(),
            digest: runner.plan.digest().clone(),
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            requester: runner.requester.clone(),
            brief: Box::new(runner.brief.clone()),
        };
        let granted = runner.plan.granted().iter();
        let approvals = granted.map(|granted| Event::Approved {
            approval: Box::new(granted.approval.clone()),
            signature: granted.signature.clone().map(Box::new),
        });
        let warnings = runner.warnings.iter().cloned();
        let warnings = warnings.map(|message| Event::Warned { message });
        let found: Vec<Event> = approvals.chain(warnings).collect();
        self.record(started);
        for event in found {
            self.record(event);
        }
    }

    async fn start_sources(&mut self) {
        let sources = self.runner.kit.sources.clone();
        for source in sources.all() {
            if let Err(problem) = source.start().await {
                self.end(Cause::BaselineBroken {
                    why: vec![problem.message],
                });
            }
        }
    }

    async fn stop_sources(&mut self) {
        let sources = self.runner.kit.sources.clone();
        for source in sources.all() {
            if let Some(summary) = self.beating_while(source.stop()).await {
                self.record(Event::TrafficStopped { summary });
            }
        }
    }

    async fn baseline(&mut self) {
        let length = self.runner.brief.baseline.as_duration();
        self.wait_until(Instant::now() + length).await;
        self.absorb_arrived();
        if self.ending.is_some() {
            self.enter(Trigger::Abort);
            return;
        }
        let mut why = std::mem::take(&mut self.baseline_trips);
        if why.is_empty() {
            why = self.unhealthy_now();
        }
        if why.is_empty() {
            self.enter(Trigger::BaselineHeld);
        } else {
            self.end(Cause::BaselineBroken { why });
            self.enter(Trigger::BaselineBroken);
        }
    }

    /// A sentence for each gate that does not hold now.
    pub(super) fn unhealthy_now(&self) -> Vec<String> {
        match self.watch.health_now(self.recorder.elapsed_ms()) {
            Health::AllOk => Vec::new(),
            Health::Not { breaching, blind } => {
                let all = breaching.into_iter().chain(blind);
                all.map(|(_, says)| says).collect()
            }
        }
    }

    async fn steps(&mut self, own: &mpsc::UnboundedSender<Input>) {
        if self.phase != Phase::Between {
            return;
        }
        for step in 0..self.runner.plan.plan().steps.len() {
            self.step = Some(step);
            if step > 0 {
                self.await_health_between().await;
            }
            self.await_go().await;
            if self.ending.is_some() {
                break;
            }
            self.run_step(step, own).await;
            if self.ending.is_some() {
                break;
            }
        }
        self.after_steps().await;
    }

    async fn await_go(&mut self) {
        if self.pause == Pause::No || self.ending.is_some() {
            return;
        }
        self.enter(Trigger::PauseAsked);
        self.record(Event::Asked {
            question: "go on with the next step?".to_owned(),
        });
        while self.pause != Pause::No && self.ending.is_none() {
            match self.inputs.recv().await {
                Some(input) => self.absorb(input),
                None => self.end(Cause::Bug {
                    why: "the queue of inputs closed".to_owned(),
                }),
            }
        }
    }

    /// After the last step, or after an end was decided, with nothing in place any more.
    async fn after_steps(&mut self) {
        match (self.phase, &self.ending) {
            (Phase::Stuck, _) => {}
            (Phase::AwaitingGo, Some(Cause::BaselineBroken { .. })) => {
                self.enter(Trigger::BaselineBroken);
            }
            (Phase::AwaitingGo, Some(Cause::Breach { .. } | Cause::Blind { .. })) => {
                self.enter(Trigger::Tripped);
                self.recover().await;
            }
            (Phase::AwaitingGo, _) | (Phase::Between, Some(Cause::Aborted { .. })) => {
                self.enter(Trigger::Abort);
            }
            (Phase::Between, Some(Cause::RecoveryLate { .. } | Cause::RecoveryUnseen { .. })) => {
                // Its time is over already; nobody waits twice.
                self.enter(Trigger::StepsOver);
                self.enter(Trigger::RecoveryOver);
            }
            (Phase::Between, Some(_)) if !self.was_anything_injected() => {
                self.enter(Trigger::NotPrepared);
            }
            _ => {
                self.enter(Trigger::StepsOver);
                self.recover().await;
            }
        }
    }

    /// Nothing has to come back where nothing went in.
    pub(super) fn was_anything_injected(&self) -> bool {
        let steps = &self.recorder.state().steps;
        steps.iter().any(|step| step.injecting_at_ms.is_some())
    }

    async fn settle(mut self) -> Settlement {
        let cause = self.ending.clone().unwrap_or(Cause::StepsDone);
        let outcome = cause.outcome();
        self.record(Event::Settled {
            outcome,
            cause: cause.clone(),
        });
        self.runner.guard.dismiss().await;
        Settlement {
            outcome,
            cause,
            evidence: self.recorder.failure().cloned(),
            state: self.recorder.state().clone(),
        }
    }

    /// Moves on by the table. A pair that it lacks is a bug: the run is ended, whatever is in place
    /// is still undone, since the order of the code does not depend on it.
    pub(super) fn enter(&mut self, trigger: Trigger) {
        match self.phase.next(trigger) {
            Ok(phase) => {
                self.phase = phase;
                self.record(Event::PhaseEntered {
                    phase,
                    trigger,
                    step: self.step,
                });
                self.tell_guardian();
            }
            Err(illegal) => self.end(Cause::Bug {
                why: illegal.to_string(),
            }),
        }
    }

    /// Replaces a reason that another one explains.
    pub(super) fn explain(&mut self, cause: Cause) {
        self.record(Event::Ending {
            cause: cause.clone(),
        });
        self.ending = Some(cause);
    }

    /// Records an event; a failure to do so ends the run.
    pub(super) fn record(&mut self, event: Event) {
        if let Err(problem) = self.recorder.record(event) {
            self.ending.get_or_insert(Cause::EvidenceLost {
                why: problem.message,
            });
        }
    }

    /// Notes a reason to end the run. The first one counts, except that stuck beats all.
    pub(super) fn end(&mut self, cause: Cause) {
        self.record(Event::Ending {
            cause: cause.clone(),
        });
        if cause.outcome() == Outcome::Stuck {
            self.ending = Some(cause);
        } else {
            self.ending.get_or_insert(cause);
        }
    }
}

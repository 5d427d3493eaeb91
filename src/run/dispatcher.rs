//! The one place where inputs are taken in, in order: while the run waits, and while work on the world
//! is under way.

use std::future::Future;
use std::time::Duration;

use tokio::task::JoinError;
use tokio::time::Instant;

use super::engine::{Engine, Wish};
use super::input::{Input, ReadingTimes};
use super::panicking::last_words;
use super::undoing::{Spawned, Undoing};
use super::watch::{Judged, Times};
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::lock::LockNews;
use crate::model::phase::{Phase, Trigger};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::remark::Pause;
use crate::model::request::Proof;
use crate::model::sample::Reading;
use crate::model::takeover::GuardianNews;
use crate::model::units::Span;

impl Engine {
    /// Takes inputs until the time has come or there is a reason to end.
    pub(super) async fn wait_until(&mut self, deadline: Instant) {
        while self.ending.is_none() && Instant::now() < deadline {
            self.wait_for_input(deadline).await;
        }
    }

    /// Takes one input, or none if the time comes first.
    pub(super) async fn wait_for_input(&mut self, deadline: Instant) {
        match tokio::time::timeout_at(deadline, self.inputs.recv()).await {
            Ok(Some(input)) => self.absorb(input),
            Ok(None) => tokio::time::sleep_until(deadline).await,
            Err(_) => {}
        }
    }

    /// Takes what has arrived by now: a reading that stands in the queue is no missing one.
    pub(super) fn absorb_arrived(&mut self) {
        for _ in 0..self.inputs.len() {
            if let Ok(input) = self.inputs.try_recv() {
                self.absorb(input);
            }
        }
    }

    /// Takes inputs until the time has come, there is a reason to end, or the fault was looked at.
    pub(super) async fn wait_for_sight(
        &mut self,
        deadline: Instant,
    ) -> Option<Result<Proof, Problem>> {
        while self.ending.is_none() && self.seen.is_none() && Instant::now() < deadline {
            self.wait_for_input(deadline).await;
        }
        self.seen.take()
    }

    /// Spawns a question to the world and waits for its answer, taking inputs meanwhile. Once there is
    /// a reason to end the run it gets so much more time and is then cut off: `None`. Nothing that
    /// writes may be asked for like this.
    pub(super) async fn finish_unless_ended<T, F>(
        &mut self,
        question: F,
        grace: Duration,
    ) -> Option<Result<T, Problem>>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut task = Spawned::new(question);
        let joined = loop {
            if self.ending.is_some() {
                break tokio::time::timeout(grace, &mut task).await.ok();
            }
            tokio::select! {
                biased;
                joined = &mut task => break Some(joined),
                Some(input) = self.inputs.recv() => self.absorb(input),
            }
        };
        Some(joined?.map_err(|why| self.panicked(why)))
    }

    /// Ends the run for a bug of a driver.
    fn panicked(&mut self, died: JoinError) -> Problem {
        let why = last_words(died);
        let problem = Problem::new(ProblemKind::Unexpected, format!("a driver panicked: {why}"));
        self.end(Cause::Bug {
            why: problem.message.clone(),
        });
        problem
    }

    pub(super) fn absorb(&mut self, input: Input) {
        match input {
            Input::Sampled {
                gauge,
                reading,
                times,
                missed,
            } => self.sampled(gauge, reading, times, missed),
            Input::Waiting { gauge, times } => {
                let times = Times::by(self.recorder.clock(), times);
                let judged = self.watch.waiting(gauge, times);
                self.judged(judged);
            }
            Input::FaultSeen(seen) => self.seen = Some(seen),
            Input::Signal(signal) => {
                self.record(Event::SignalReceived {
                    signal: signal.to_owned(),
                });
                self.abort(signal.to_owned());
            }
            Input::Abort { by } => {
                if self.ending.is_some() {
                    // The first reason counts; that somebody wanted it too is told all the same.
                    self.record(Event::Ending {
                        cause: Cause::Aborted { by: by.clone() },
                    });
                }
                self.abort(by);
            }
            Input::Pause => self.choose(Pause::BeforeNextStep),
            Input::Go if self.phase == Phase::AwaitingGo => {
                self.pause = Pause::No;
                self.record(Event::Answered {
                    answer: "go".to_owned(),
                });
                self.enter(Trigger::Go);
            }
            Input::Go => self.choose(Pause::No),
            Input::Warning(message) => self.record(Event::Warned {
                message: message.to_owned(),
            }),
            Input::Lock(LockNews::Warned { message }) => self.record(Event::Warned { message }),
            Input::Lock(LockNews::Lost { why }) => self.end(Cause::LockLost { why }),
            Input::Guardian(GuardianNews::Replaced { pid, why }) => {
                self.record(Event::Warned {
                    message: format!("{why}; another guardian took its place"),
                });
                self.record(Event::GuardianStarted { pid });
            }
            Input::Guardian(GuardianNews::Lost { why }) => self.end(Cause::GuardianLost { why }),
            Input::Died { what, why } => self.end(Cause::Bug {
                why: format!("{what} panicked: {why}"),
            }),
            Input::StoodStill { ms } => {
                let long = Span::from_millis(ms);
                self.record(Event::Warned {
                    message: format!(
                        "this process stood still for {long}: nobody watched meanwhile"
                    ),
                });
            }
            Input::Beat => self.beat(),
            Input::Slept { ms } => self.slept(ms),
            Input::Note { text, by } => self.record(Event::Noted { text, by: Some(by) }),
            Input::Mark { label, by } => self.record(Event::Marked { label, by }),
        }
    }

    /// What was measured across a sleep is neither the hold nor the recovery that was planned.
    fn slept(&mut self, ms: u64) {
        self.recorder.slept(ms);
        self.record(Event::Slept { ms });
        self.end(Cause::Slept { ms });
    }

    /// Takes a wish about the pause before the next step, if one comes.
    fn choose(&mut self, pause: Pause) {
        if pause == self.pause {
            return;
        }
        if pause == Pause::BeforeNextStep && !self.is_a_step_to_come() {
            self.record(Event::Warned {
                message: "there is no next step to wait before".to_owned(),
            });
            return;
        }
        self.pause = pause;
        self.record(Event::PauseChosen { pause });
    }

    fn is_a_step_to_come(&self) -> bool {
        let begun = match self.phase {
            Phase::Preflight | Phase::Baseline | Phase::Between | Phase::AwaitingGo => self.step,
            Phase::Preparing
            | Phase::Injecting
            | Phase::Confirming
            | Phase::Observing
            | Phase::Undoing
            | Phase::Verifying => self.step.map(|step| step + 1),
            Phase::Recovering | Phase::Settled | Phase::Stuck => return false,
        };
        self.ending.is_none() && begun.unwrap_or(0) < self.runner.plan.plan().steps.len()
    }

    fn abort(&mut self, by: String) {
        self.wish = Wish::Leave;
        if self.ending.is_none() {
            self.end(Cause::Aborted { by });
        }
    }

    fn sampled(&mut self, gauge: usize, reading: Reading, times: ReadingTimes, missed: u64) {
        if missed > 0
            && let Some(gauge) = self.runner.kit.gauges.get(gauge)
        {
            let slo = gauge.slo.name.clone();
            self.record(Event::TicksMissed { slo, missed });
        }
        let times = Times::by(self.recorder.clock(), times);
        let judged = self.watch.take(gauge, times, reading);
        self.judged(judged);
    }

    fn judged(&mut self, judged: Judged) {
        for event in judged.events {
            self.record(event);
        }
        let Some(trip) = judged.trip.filter(|_| self.ending.is_none()) else {
            return;
        };
        match self.phase {
            Phase::Baseline => self.baseline_trips.push(trip.cause.sentence()),
            Phase::AwaitingGo if !self.was_anything_injected() => {
                let why = vec![trip.cause.sentence()];
                self.end(Cause::BaselineBroken { why });
            }
            Phase::AwaitingGo | Phase::Injecting | Phase::Confirming | Phase::Observing => {
                self.end(trip.cause);
            }
            // The fault is out, or on its way out; a breach that it began counts all the same.
            Phase::Between | Phase::Undoing | Phase::Verifying | Phase::Recovering => {
                let breach = matches!(trip.cause, Cause::Breach { .. });
                if breach && self.was_in_place_at(trip.began_ms) {
                    self.end(trip.cause);
                }
            }
            Phase::Preflight | Phase::Preparing | Phase::Settled | Phase::Stuck => {}
        }
    }

    fn was_in_place_at(&self, at_ms: u64) -> bool {
        self.recorder.state().steps.iter().any(|step| {
            step.injecting_at_ms.is_some_and(|from| from <= at_ms)
                && step.gone_at_ms.is_none_or(|to| at_ms <= to)
        })
    }
}

impl Undoing for Engine {
    /// Takes inputs until the time has come, whatever happens.
    async fn wait_out(&mut self, pause: Duration) {
        let deadline = Instant::now() + pause;
        while let Ok(Some(input)) = tokio::time::timeout_at(deadline, self.inputs.recv()).await {
            self.absorb(input);
        }
        tokio::time::sleep_until(deadline).await;
    }

    /// Spawns work on the world and waits for its end, taking inputs meanwhile. Never cut short: a
    /// half-done undo is the one thing that must not happen.
    async fn finish<T, F>(&mut self, work: F) -> Result<T, Problem>
    where
        T: Send + 'static,
        F: Future<Output = T> + Send + 'static,
    {
        let mut task = Spawned::new(work);
        let joined = loop {
            tokio::select! {
                biased;
                joined = &mut task => break joined,
                Some(input) = self.inputs.recv() => self.absorb(input),
            }
        };
        joined.map_err(|why| self.panicked(why))
    }

    fn undo_within(&self) -> Duration {
        self.runner.kit.timing.undo_within
    }

    fn phase(&self) -> Phase {
        self.phase
    }

    fn enter(&mut self, trigger: Trigger) {
        self.enter(trigger);
    }

    fn record(&mut self, event: Event) {
        self.record(event);
    }

    fn end(&mut self, cause: Cause) {
        self.end(cause);
    }

    fn restarted(&mut self) {
        let explained = matches!(
            self.ending,
            None | Some(Cause::Breach { .. } | Cause::Blind { .. } | Cause::FaultLost { .. })
        );
        if explained {
            self.explain(Cause::Restarted {
                why: "it was another instance by the time of the undo".to_owned(),
            });
        }
    }
}

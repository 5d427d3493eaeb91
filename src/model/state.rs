//! `RunState::apply`: the one fold that live view, replay, report, guardian and recovery share.

mod end;
mod slo;
mod step;

use jiff::Timestamp;

use super::approval::{Person, RestsOn};
use super::brief::Brief;
use super::decision::Cause;
use super::event::{Event, Record};
use super::ids::{Digest, PlanId, RunId};
use super::judgement::Trip;
use super::outcome::Outcome;
use super::phase::Phase;
use super::remark::{Mark, Note, Pause, SinceFault};
use super::slo::Reaction;
use super::traffic::TrafficSummary;

pub use end::{EndRecord, TakeoverRecord};
use slo::Seen;
pub use slo::{HISTORY, SloRecord};
pub use step::{StepRecord, StepTrip};

/// Everything that is known about a run after some of its events.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunState {
    /// Set by the first event.
    pub header: Option<RunHeader>,
    /// The approvals that the run rests on, in order.
    pub approvals: Vec<RestsOn>,
    /// Where the run is.
    pub phase: Option<Phase>,
    /// When that phase was entered, in milliseconds of the run.
    pub phase_since_ms: u64,
    /// The step that is due or under way.
    pub step: Option<usize>,
    /// One record for each SLO, in document order.
    pub slos: Vec<SloRecord>,
    /// One record for each step, in document order.
    pub steps: Vec<StepRecord>,
    /// When the baseline, and so the watching, began.
    pub baseline_at_ms: Option<u64>,
    /// When the SLOs were seen back after the last undo.
    pub recovered_at_ms: Option<u64>,
    /// Milliseconds from the last fault seen gone to the SLOs back.
    pub recovery_ms: Option<u64>,
    /// Every reason to end that was found, in order.
    pub endings: Vec<Cause>,
    /// Why the run ends or ended; the first reason that counts.
    pub cause: Option<Cause>,
    /// How it ended; `None`: it has not, or nobody wrote it down.
    pub outcome: Option<Outcome>,
    /// Warnings, in order.
    pub warnings: Vec<String>,
    /// What persons wrote down.
    pub notes: Vec<Note>,
    /// The moments that persons marked.
    pub marks: Vec<Mark>,
    /// Whether the run will wait for a person before its next step.
    pub pause: Pause,
    /// Who went on where the run's own engine stopped, in order.
    pub takeovers: Vec<TakeoverRecord>,
    /// Every end that was written down: a run that was stuck may end once more.
    pub ends: Vec<EndRecord>,
    /// The guardian's process, while the run is under its eyes.
    pub guardian: Option<u32>,
    /// What the traffic generator counted.
    pub traffic: Option<TrafficSummary>,
    /// Milliseconds of the latest event.
    pub elapsed_ms: u64,
    /// UTC of the latest event.
    pub latest: Option<Timestamp>,
    /// `seq` of the latest event.
    pub seq: u64,
}

/// What the first event says.
#[derive(Debug, Clone, PartialEq)]
pub struct RunHeader {
    /// The run's id.
    pub run: RunId,
    /// The plan's id.
    pub plan: PlanId,
    /// The plan's digest.
    pub digest: Digest,
    /// Version of the tool that ran it.
    pub tool: String,
    /// Who started it.
    pub requester: Person,
    /// When it began.
    pub started: Timestamp,
    /// The plan in short.
    pub brief: Box<Brief>,
}

impl RunState {
    /// The state after all these events.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a Record>) -> Self {
        let mut state = Self::default();
        for record in records {
            state.apply(record);
        }
        state
    }

    /// The brief, once the run has started.
    pub fn brief(&self) -> Option<&Brief> {
        Some(self.header.as_ref()?.brief.as_ref())
    }

    /// The steps whose fault is, or may be, in place.
    pub fn in_place(&self) -> impl Iterator<Item = (usize, &StepRecord)> {
        let steps = self.steps.iter().enumerate();
        steps.filter(|(_, step)| step.may_be_in_place())
    }

    /// What its outcome means for this run, one sentence; `None`: it has none yet.
    pub fn meaning(&self) -> Option<&'static str> {
        let was_begun = |step: &StepRecord| step.injecting_at_ms.is_some();
        let outcome = self.outcome?;
        Some(if self.steps.iter().any(was_begun) {
            outcome.meaning()
        } else {
            outcome.meaning_without_fault()
        })
    }

    /// How long ago the latest fault was seen in; `None`: none was.
    pub fn since_fault(&self, at_ms: u64) -> Option<SinceFault> {
        let seen_in = self.steps.iter().enumerate().filter_map(|(step, found)| {
            let confirmed_at_ms = found.confirmed_at_ms?;
            Some((confirmed_at_ms, step))
        });
        let (confirmed_at_ms, step) = seen_in.max()?;
        Some(SinceFault {
            step,
            after_ms: at_ms.saturating_sub(confirmed_at_ms),
        })
    }

    /// Takes one more event in.
    pub fn apply(&mut self, record: &Record) {
        let at_ms = record.elapsed_ms;
        self.elapsed_ms = at_ms;
        self.latest = Some(record.time);
        self.seq = record.seq;
        match &record.event {
            Event::RunStarted {
                run,
                plan,
                digest,
                tool,
                requester,
                brief,
            } => {
                self.slos = brief.slos.iter().cloned().map(SloRecord::new).collect();
                self.steps = vec![StepRecord::default(); brief.steps.len()];
                self.phase = Some(Phase::Preflight);
                self.header = Some(RunHeader {
                    run: run.clone(),
                    plan: plan.clone(),
                    digest: digest.clone(),
                    tool: tool.clone(),
                    requester: requester.clone(),
                    started: record.time,
                    brief: brief.clone(),
                });
            }
            Event::Approved {
                approval: of,
                signature: by,
            } => self.approvals.push(RestsOn::of(of, by.as_deref())),
            Event::PhaseEntered { phase, step, .. } => self.enter(*phase, *step, at_ms),
            Event::Sampled {
                slo,
                reading,
                state,
                streak_ms,
                took_ms: _,
            } => {
                let seen = Seen {
                    at_ms,
                    reading,
                    state: *state,
                    streak_ms: *streak_ms,
                };
                self.sampled(slo, &seen);
            }
            Event::TicksMissed { slo, missed } => {
                if let Some(found) = self.slo_mut(slo) {
                    found.missed += missed;
                }
            }
            Event::Tripped {
                slo,
                trip,
                reaction,
                ..
            } => self.tripped(at_ms, slo, *trip, *reaction),
            Event::UndoRecorded { step, undo } => {
                self.with_step(*step, |found| found.undo = Some((**undo).clone()));
            }
            Event::Confirmed { step, proof } => self.with_step(*step, |found| {
                if proof.is_complete() {
                    found.confirmed_at_ms.get_or_insert(at_ms);
                }
                found.proof = Some(proof.clone());
            }),
            Event::UndoFailed { step, .. } => {
                self.with_step(*step, |found| found.undo_failures += 1);
            }
            Event::GoneChecked { step, absence } => self.with_step(*step, |found| {
                // What was gone and is there once more is in place.
                found.gone_at_ms = absence.remaining.is_empty().then_some(at_ms);
                found.absence = Some(absence.clone());
            }),
            Event::Recovered { after_ms } => {
                self.recovered_at_ms = Some(at_ms);
                self.recovery_ms = Some(*after_ms);
            }
            Event::Ending { cause } => {
                if let Cause::Breach { slo } = cause {
                    self.step_tripped(slo, Trip::Breach, at_ms);
                }
                self.endings.push(cause.clone());
                self.cause.get_or_insert_with(|| cause.clone());
            }
            Event::Settled { outcome, cause } => {
                self.outcome = Some(*outcome);
                self.cause = Some(cause.clone());
                self.ends.push(EndRecord::of(record, *outcome, cause));
            }
            Event::Noted { text, by } => self.notes.push(Note {
                at_ms,
                text: text.clone(),
                by: by.clone(),
            }),
            Event::Marked { label, by } => self.marks.push(Mark {
                at_ms,
                label: label.clone(),
                by: by.clone(),
                since_fault: self.since_fault(at_ms),
            }),
            Event::GuardianStarted { pid } => self.guardian = Some(*pid),
            Event::TakenOver(takeover) => {
                self.takeovers.push(TakeoverRecord::of(record, takeover));
                self.open_again();
            }
            Event::PauseChosen { pause } => self.pause = *pause,
            Event::Warned { message } => self.warnings.push(message.clone()),
            Event::TrafficStopped { summary } => self.traffic = Some(summary.clone()),
            Event::Exchanged { .. }
            | Event::InjectFailed { .. }
            | Event::SignalReceived { .. }
            | Event::Slept { .. }
            | Event::Asked { .. }
            | Event::Answered { .. } => {}
        }
    }

    /// Whoever takes a run over owes it an end, also where it had one: if he dies too, it has none.
    fn open_again(&mut self) {
        self.outcome = None;
        self.cause = self.endings.first().cloned();
    }

    fn enter(&mut self, phase: Phase, step: Option<usize>, at_ms: u64) {
        self.phase = Some(phase);
        self.phase_since_ms = at_ms;
        self.step = step;
        match phase {
            Phase::Baseline => self.baseline_at_ms = Some(at_ms),
            Phase::Injecting => {
                if let Some(step) = step {
                    self.with_step(step, |found| {
                        found.injecting_at_ms.get_or_insert(at_ms);
                    });
                }
            }
            Phase::Undoing => {
                if let Some(step) = step {
                    self.with_step(step, |found| {
                        found.undoing_at_ms.get_or_insert(at_ms);
                    });
                }
            }
            // What was wished for has come; the next pause needs a wish of its own.
            Phase::AwaitingGo => self.pause = Pause::No,
            Phase::Preflight
            | Phase::Between
            | Phase::Preparing
            | Phase::Confirming
            | Phase::Observing
            | Phase::Verifying
            | Phase::Recovering
            | Phase::Settled
            | Phase::Stuck => {}
        }
    }

    fn sampled(&mut self, slo: &str, seen: &Seen<'_>) {
        let phase = self.phase;
        if let Some(found) = self.slo_mut(slo) {
            found.take(phase, seen);
        }
    }

    fn tripped(&mut self, at_ms: u64, slo: &str, trip: Trip, reaction: Reaction) {
        let under_way = self
            .step
            .and_then(|step| self.steps.get(step))
            .is_some_and(|step| step.undoing_at_ms.is_none());
        // After that only an end that is put down to it shows that the fault had begun it.
        if under_way && reaction == Reaction::Rollback {
            self.step_tripped(slo, trip, at_ms);
        }
    }

    fn step_tripped(&mut self, slo: &str, trip: Trip, at_ms: u64) {
        let Some(step) = self.step else {
            return;
        };
        self.with_step(step, |found| {
            if found.injecting_at_ms.is_some() {
                found.tripped.get_or_insert_with(|| StepTrip {
                    slo: slo.to_owned(),
                    trip,
                    at_ms,
                });
            }
        });
    }

    fn slo_mut(&mut self, name: &str) -> Option<&mut SloRecord> {
        self.slos.iter_mut().find(|found| found.slo.name == name)
    }

    /// A journal from outside may name a step that its brief lacks; it is passed over.
    fn with_step(&mut self, step: usize, change: impl FnOnce(&mut StepRecord)) {
        if let Some(found) = self.steps.get_mut(step) {
            change(found);
        }
    }
}

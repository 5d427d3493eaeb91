//! The one vocabulary of a run: emitted by the engine, appended to the journal, shown by the views,
//! folded by report, replay and recovery.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::approval::{Approval, Person, Signature};
use super::brief::Brief;
use super::decision::Cause;
use super::ids::{Digest, PlanId, RunId};
use super::judgement::Trip;
use super::outcome::Outcome;
use super::phase::{Phase, Trigger};
use super::problem::Problem;
use super::remark::Pause;
use super::request::{Absence, Exchange, Proof, Purpose};
use super::sample::{Reading, SloState};
use super::slo::Reaction;
use super::takeover::Takeover;
use super::traffic::TrafficSummary;
use super::undo::Undo;

/// An event with its place and time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Record {
    /// 1 for the first event of a run, then without a gap.
    pub seq: u64,
    /// UTC.
    pub time: Timestamp,
    /// Milliseconds since the run began, on a clock that never goes back.
    pub elapsed_ms: u64,
    /// What happened.
    pub event: Event,
}

/// What can happen in a run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Event {
    /// The run began.
    RunStarted {
        /// Its id.
        run: RunId,
        /// The plan that it executes.
        plan: PlanId,
        /// The plan's digest.
        digest: Digest,
        /// Version of this tool.
        tool: String,
        /// Who started it.
        requester: Person,
        /// The plan in short.
        brief: Box<Brief>,
    },
    /// An approval that the run rests on.
    Approved {
        /// It.
        approval: Box<Approval>,
        /// The signature over it, and whose it is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        signature: Option<Box<Signature>>,
    },
    /// The run moved on.
    PhaseEntered {
        /// Where it is now.
        phase: Phase,
        /// What moved it.
        trigger: Trigger,
        /// The step that is due or under way, counted from 0.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        step: Option<usize>,
    },
    /// A guardian watches over the run from here on.
    GuardianStarted {
        /// Its process.
        pid: u32,
    },
    /// The machine slept while the run was under way.
    Slept {
        /// For how long, in milliseconds; UTC has gone on by as much.
        ms: u64,
    },
    /// Another process, or another part of this one, goes on where the engine stopped.
    TakenOver(Takeover),
    /// An SLO was read.
    Sampled {
        /// The SLO's name.
        slo: String,
        /// What came back.
        reading: Reading,
        /// The state that it is judged to be in.
        state: SloState,
        /// How long the breach, or the blindness, has lasted; 0 while ok.
        streak_ms: u64,
        /// How long the reading took.
        took_ms: u64,
    },
    /// Readings of an SLO were due while an earlier one was still under way.
    TicksMissed {
        /// The SLO's name.
        slo: String,
        /// How many.
        missed: u64,
    },
    /// An SLO lost its patience.
    Tripped {
        /// The SLO's name.
        slo: String,
        /// Breach or blindness.
        trip: Trip,
        /// The reading that completed it.
        reading: Reading,
        /// What follows.
        reaction: Reaction,
    },
    /// The undo of a step is on disk; only now may its fault go in.
    UndoRecorded {
        /// The step.
        step: usize,
        /// Its undo.
        undo: Box<Undo>,
    },
    /// A request to the platform, with its answer.
    Exchanged {
        /// The step.
        step: usize,
        /// Why it was sent.
        purpose: Purpose,
        /// The request and the answer.
        exchange: Box<Exchange>,
    },
    /// Putting the fault in failed; an undo follows all the same.
    InjectFailed {
        /// The step.
        step: usize,
        /// Why.
        problem: Problem,
    },
    /// The world was asked whether the fault is in.
    Confirmed {
        /// The step.
        step: usize,
        /// What it said.
        proof: Proof,
    },
    /// An attempt to undo, or to see the fault gone, failed; another follows.
    UndoFailed {
        /// The step.
        step: usize,
        /// Counted from 1.
        attempt: u32,
        /// Why.
        problem: Problem,
    },
    /// The world was asked whether the fault is out.
    GoneChecked {
        /// The step.
        step: usize,
        /// What it said.
        absence: Absence,
    },
    /// The SLOs are back.
    Recovered {
        /// Milliseconds since the last fault was seen gone.
        after_ms: u64,
    },
    /// A reason to end the run was found; the first one counts.
    Ending {
        /// The reason.
        cause: Cause,
    },
    /// A signal arrived.
    SignalReceived {
        /// Its name: `SIGINT`, `SIGTERM`, …
        signal: String,
    },
    /// A person was asked something.
    Asked {
        /// The question.
        question: String,
    },
    /// A person answered.
    Answered {
        /// The answer.
        answer: String,
    },
    /// A person wrote something down.
    Noted {
        /// The words.
        text: String,
        /// Who; `None`: an older journal, which does not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<Person>,
    },
    /// A person marked this very moment, so that what lies between it and the fault can be measured.
    Marked {
        /// What happened: `alert fired`.
        label: String,
        /// Who saw it.
        by: Person,
    },
    /// A person wants the run to wait before the next step, or no longer does.
    PauseChosen {
        /// Which of the two.
        pause: Pause,
    },
    /// Something that a reader should know and that ends nothing.
    Warned {
        /// One sentence.
        message: String,
    },
    /// The traffic generator stopped.
    TrafficStopped {
        /// What it counted.
        summary: TrafficSummary,
    },
    /// The run ended.
    Settled {
        /// How.
        outcome: Outcome,
        /// Why.
        cause: Cause,
    },
}

/// How an event must reach the disk before the run may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Durability {
    /// Written to the operating system.
    Flushed,
    /// Written to the operating system, and on its way to the disk.
    SyncBegun,
    /// Synced to the disk.
    Synced,
}

impl Event {
    /// Arming, injecting, undoing and ending are synced; the rest is flushed. While a fault may be in,
    /// nothing waits for the disk, which may hang: a sync begins with the event, takes what was flushed
    /// before it along, and is over before the fault is called gone.
    pub fn durability(&self) -> Durability {
        match self {
            Self::RunStarted { .. } | Self::UndoRecorded { .. } | Self::Settled { .. } => {
                Durability::Synced
            }
            Self::GoneChecked { absence, .. } if absence.remaining.is_empty() => Durability::Synced,
            Self::InjectFailed { .. }
            | Self::Confirmed { .. }
            | Self::GoneChecked { .. }
            | Self::TakenOver(_) => Durability::SyncBegun,
            Self::PhaseEntered { phase, .. } => match phase {
                Phase::Undoing => Durability::SyncBegun,
                Phase::Injecting | Phase::Settled | Phase::Stuck => Durability::Synced,
                Phase::Preflight
                | Phase::Baseline
                | Phase::Between
                | Phase::AwaitingGo
                | Phase::Preparing
                | Phase::Confirming
                | Phase::Observing
                | Phase::Verifying
                | Phase::Recovering => Durability::Flushed,
            },
            Self::Approved { .. }
            | Self::GuardianStarted { .. }
            | Self::Slept { .. }
            | Self::Sampled { .. }
            | Self::TicksMissed { .. }
            | Self::Tripped { .. }
            | Self::Exchanged { .. }
            | Self::UndoFailed { .. }
            | Self::Recovered { .. }
            | Self::Ending { .. }
            | Self::SignalReceived { .. }
            | Self::Asked { .. }
            | Self::Answered { .. }
            | Self::Noted { .. }
            | Self::Marked { .. }
            | Self::PauseChosen { .. }
            | Self::Warned { .. }
            | Self::TrafficStopped { .. } => Durability::Flushed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::request::Continuity;

    fn checked(remaining: &[&str]) -> Durability {
        let absence = Absence {
            remaining: remaining.iter().map(|part| (*part).to_owned()).collect(),
            foreign_changes: Vec::new(),
            continuity: Continuity::Same,
        };
        Event::GoneChecked { step: 0, absence }.durability()
    }

    #[test]
    fn no_undo_waits_for_the_disk_before_the_fault_is_gone() {
        assert_eq!(checked(&["a rule"]), Durability::SyncBegun);
        assert_eq!(checked(&[]), Durability::Synced);
        let entered = |phase| Event::PhaseEntered {
            phase,
            trigger: Trigger::Abort,
            step: Some(0),
        };
        assert_eq!(entered(Phase::Undoing).durability(), Durability::SyncBegun);
        assert_eq!(entered(Phase::Injecting).durability(), Durability::Synced);
    }
}

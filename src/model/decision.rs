//! Why a run ends.

use serde::{Deserialize, Serialize};

use super::outcome::Outcome;
use super::takeover::Rescuer;
use super::units::Span;

/// The reason for the end of a run; the first one counts, except that stuck beats all.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Cause {
    /// Every step was held and undone.
    StepsDone,
    /// A rollback SLO missed its objective for as long as its patience.
    Breach {
        /// The SLO's name.
        slo: String,
    },
    /// A rollback SLO could not be read for as long as its patience.
    Blind {
        /// The SLO's name.
        slo: String,
        /// What was wrong with the reading.
        why: String,
    },
    /// SLOs were not back in time after the undo.
    RecoveryLate {
        /// Those that were not.
        slos: Vec<String>,
    },
    /// Recovery could not be seen: SLOs were blind until the deadline.
    RecoveryUnseen {
        /// Those that were blind.
        slos: Vec<String>,
    },
    /// The SLOs did not hold before any fault was in.
    BaselineBroken {
        /// One sentence for each of them.
        why: Vec<String>,
    },
    /// The world said no before anything was injected.
    NotPrepared {
        /// Why.
        why: String,
    },
    /// No part of the fault got in.
    NeverInjected {
        /// Why.
        why: String,
    },
    /// Only a part of the fault got in.
    PartlyInjected {
        /// Parts seen in place.
        injected: usize,
        /// Parts planned.
        planned: usize,
    },
    /// Whether the fault is in could not be seen.
    Unconfirmed {
        /// Why.
        why: String,
    },
    /// The fault was in and then no longer, by no act of ours.
    FaultLost {
        /// What was seen.
        why: String,
    },
    /// The platform restarted under the run.
    Restarted {
        /// What was seen.
        why: String,
    },
    /// The lock that kept other runs off the targets was lost, so what is measured may be theirs.
    LockLost {
        /// How.
        why: String,
    },
    /// The guardian was lost and could not be replaced; no fault stays in without one.
    GuardianLost {
        /// How.
        why: String,
    },
    /// The machine slept, so that what was measured is not what was planned.
    Slept {
        /// For how long, in milliseconds.
        ms: u64,
    },
    /// The run's own process did not end it; another one undid what was in place and saw it gone.
    Rescued {
        /// Who.
        by: Rescuer,
        /// What became of the run's own.
        why: String,
    },
    /// A person or a signal.
    Aborted {
        /// Who or what: `Ctrl-C`, `SIGTERM`, a name.
        by: String,
    },
    /// The undo could not be proven before its deadline.
    UndoUnproven {
        /// What is, or may be, still in place.
        remaining: Vec<String>,
    },
    /// The journal could not be written.
    EvidenceLost {
        /// Why.
        why: String,
    },
    /// A task of ours panicked; a bug in this program.
    Bug {
        /// What it said.
        why: String,
    },
}

impl Cause {
    /// The outcome that this cause leads to.
    pub fn outcome(&self) -> Outcome {
        match self {
            Self::StepsDone => Outcome::Held,
            Self::Breach { .. } | Self::RecoveryLate { .. } => Outcome::Deviated,
            Self::BaselineBroken { .. } | Self::NotPrepared { .. } | Self::NeverInjected { .. } => {
                Outcome::Refused
            }
            Self::Aborted { .. } => Outcome::Aborted,
            Self::Blind { .. }
            | Self::RecoveryUnseen { .. }
            | Self::PartlyInjected { .. }
            | Self::Unconfirmed { .. }
            | Self::FaultLost { .. }
            | Self::Restarted { .. }
            | Self::LockLost { .. }
            | Self::GuardianLost { .. }
            | Self::Slept { .. }
            | Self::Rescued { .. }
            | Self::EvidenceLost { .. }
            | Self::Bug { .. } => Outcome::Inconclusive,
            Self::UndoUnproven { .. } => Outcome::Stuck,
        }
    }

    /// The frozen exit code: the outcome's, except where the evidence or this program failed.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::EvidenceLost { .. } => 8,
            Self::Bug { .. } => 70,
            Self::StepsDone
            | Self::Breach { .. }
            | Self::Blind { .. }
            | Self::RecoveryLate { .. }
            | Self::RecoveryUnseen { .. }
            | Self::BaselineBroken { .. }
            | Self::NotPrepared { .. }
            | Self::NeverInjected { .. }
            | Self::PartlyInjected { .. }
            | Self::Unconfirmed { .. }
            | Self::FaultLost { .. }
            | Self::Restarted { .. }
            | Self::LockLost { .. }
            | Self::GuardianLost { .. }
            | Self::Slept { .. }
            | Self::Rescued { .. }
            | Self::Aborted { .. }
            | Self::UndoUnproven { .. } => self.outcome().code(),
        }
    }

    /// One sentence for a person.
    pub fn sentence(&self) -> String {
        match self {
            Self::StepsDone => "every step was held to its end".to_owned(),
            Self::Breach { slo } => format!("SLO `{slo}` breached for longer than its patience"),
            Self::Blind { slo, why } => format!("SLO `{slo}` could not be read: {why}"),
            Self::RecoveryLate { slos } => {
                format!("not back in time after the undo: {}", slos.join(", "))
            }
            Self::RecoveryUnseen { slos } => {
                format!(
                    "recovery could not be seen, no reading of {}",
                    slos.join(", ")
                )
            }
            Self::BaselineBroken { why } => {
                format!(
                    "the baseline is broken, before any fault: {}",
                    why.join("; ")
                )
            }
            Self::NotPrepared { why } => format!("refused before anything was injected: {why}"),
            Self::NeverInjected { why } => format!("the fault never got in: {why}"),
            Self::PartlyInjected { injected, planned } if injected > planned => {
                format!("{injected} parts of the fault got in where {planned} were planned")
            }
            Self::PartlyInjected { injected, planned } => {
                format!("only {injected} of {planned} parts of the fault got in")
            }
            Self::Unconfirmed { why } => {
                format!("whether the fault is in could not be seen: {why}")
            }
            Self::FaultLost { why } => format!("the fault went away by no act of ours: {why}"),
            Self::Restarted { why } => format!("the platform restarted under the run: {why}"),
            Self::LockLost { why } => format!("the run lock was lost: {why}"),
            Self::GuardianLost { why } => format!("the guardian was lost: {why}"),
            Self::Slept { ms } => {
                let span = Span::from_millis(*ms);
                format!("the machine slept for {span} meanwhile")
            }
            Self::Rescued { by, why } => format!("{why}; {by} ended the run"),
            Self::Aborted { by } => format!("aborted by {by}"),
            Self::UndoUnproven { remaining } => {
                format!(
                    "the undo is unproven; still in place or unknown: {}",
                    remaining.join(", ")
                )
            }
            Self::EvidenceLost { why } => format!("the journal could not be written: {why}"),
            Self::Bug { why } => format!("a bug in this program: {why}"),
        }
    }
}

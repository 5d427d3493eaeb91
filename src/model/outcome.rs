//! How a run ended and the exit code that says so.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The outcomes of product contract section 5; the exit codes are frozen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// Hypothesis held, fault proven in, undone, proven gone, SLOs back.
    Held,
    /// A rollback SLO breached or recovery was late; undone and proven gone.
    Deviated,
    /// Policy, drift, lock, missing permission, broken baseline, or the fault never got in.
    Refused,
    /// Ended by a person or a signal; undone and proven gone.
    Aborted,
    /// The run cannot judge; undone and proven gone.
    Inconclusive,
    /// An undo failed or is unproven: somebody must look now.
    Stuck,
}

impl Outcome {
    /// Every outcome, in the order of the exit codes.
    pub const ALL: [Self; 6] = [
        Self::Held,
        Self::Deviated,
        Self::Refused,
        Self::Aborted,
        Self::Inconclusive,
        Self::Stuck,
    ];

    /// The frozen exit code.
    pub fn code(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Deviated => 1,
            Self::Refused => 3,
            Self::Aborted => 5,
            Self::Inconclusive => 6,
            Self::Stuck => 7,
        }
    }

    /// The word, as shown everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Held => "held",
            Self::Deviated => "deviated",
            Self::Refused => "refused",
            Self::Aborted => "aborted",
            Self::Inconclusive => "inconclusive",
            Self::Stuck => "stuck",
        }
    }

    /// What the word means, one sentence.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Held => {
                "the hypothesis held: the fault was proven in, undone, proven gone, and the SLOs are back"
            }
            Self::Deviated => {
                "an SLO breached or recovery was late; the fault is undone and proven gone"
            }
            Self::Refused => "the run was refused or the fault never got in; nothing is in place",
            Self::Aborted => "ended by a person or a signal; the fault is undone and proven gone",
            Self::Inconclusive => "the run cannot judge; the fault is undone and proven gone",
            Self::Stuck => "an undo failed or is unproven: somebody must look now",
        }
    }

    /// What the word means for a run that ended before any fault was in, one sentence.
    pub fn meaning_without_fault(self) -> &'static str {
        match self {
            Self::Deviated => "an SLO breached; no fault was in",
            Self::Refused => "the run was refused; no fault was in",
            Self::Aborted => "ended by a person or a signal; no fault was in",
            Self::Inconclusive => "the run cannot judge; no fault was in",
            // Neither can be without a fault; a journal from outside may say so.
            Self::Held | Self::Stuck => self.meaning(),
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

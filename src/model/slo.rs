//! A named reading with an objective, a patience and a say in the run.

use serde::{Deserialize, Serialize};

use super::units::{Objective, Span};

/// What an SLO may do when it trips.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "camelCase")]
pub enum Reaction {
    /// End the run: undo at once.
    #[default]
    Rollback,
    /// Write it down and go on.
    Record,
}

impl Reaction {
    /// The word of the document.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rollback => "rollback",
            Self::Record => "record",
        }
    }
}

/// An SLO as judged during a run; what it reads is the metric's business.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Slo {
    /// Unique within the experiment.
    pub name: String,
    /// What is read, in words: `traffic error rate`, `command: queue-depth`.
    pub reads: String,
    /// What a value has to satisfy.
    pub objective: Objective,
    /// How long a breach must last before it trips (`for`); zero: the first breaching sample.
    pub patience: Span,
    /// How long the reading may be blind before it trips (`noDataFor`).
    pub blind_patience: Span,
    /// What a breach does.
    pub on_breach: Reaction,
    /// What blindness does.
    pub on_no_data: Reaction,
    /// Time between two readings (`every`).
    pub every: Span,
}

impl Slo {
    /// Whether a breach of it ends the run.
    pub fn is_gate(&self) -> bool {
        self.on_breach == Reaction::Rollback
    }
}

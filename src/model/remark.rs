//! What a person adds to a run while it goes on: notes, marks, and the wish to be asked before the
//! next step.

use serde::{Deserialize, Serialize};

use super::approval::Person;

/// Whether the run waits for a person before its next step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pause {
    /// It goes on by itself.
    #[default]
    No,
    /// It waits for a person's word.
    BeforeNextStep,
}

/// Words that a person wrote down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Note {
    /// When, in milliseconds of the run.
    pub at_ms: u64,
    /// The words.
    pub text: String,
    /// Who; `None`: an older journal, which does not say.
    pub by: Option<Person>,
}

/// A moment that a person marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mark {
    /// When, in milliseconds of the run.
    pub at_ms: u64,
    /// What happened: `alert fired`.
    pub label: String,
    /// Who saw it.
    pub by: Person,
    /// How long after the latest fault went in; `None`: none had been seen in yet.
    pub since_fault: Option<SinceFault>,
}

/// How long after a fault something happened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SinceFault {
    /// The step whose fault it is, counted from 0.
    pub step: usize,
    /// Milliseconds since it was seen in.
    pub after_ms: u64,
}

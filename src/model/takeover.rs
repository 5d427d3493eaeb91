//! Another process goes on where the run's own stopped.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::approval::Person;

/// Who ends a run in the place of its own engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rescuer {
    /// The same process, after its engine died.
    Session,
    /// The detached process that watched over the run.
    Guardian,
    /// `chaos abort`, of a run that did not answer.
    Abort,
    /// `chaos recover`.
    Recover,
}

impl Rescuer {
    /// The word for it, as shown everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Session => "chaos run",
            Self::Guardian => "the guardian",
            Self::Abort => "chaos abort",
            Self::Recover => "chaos recover",
        }
    }

    /// The same where there is little room.
    pub fn short(self) -> &'static str {
        match self {
            Self::Session => "run",
            Self::Guardian => "guardian",
            Self::Abort => "abort",
            Self::Recover => "recover",
        }
    }
}

impl fmt::Display for Rescuer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.word())
    }
}

/// Who took a run over, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Takeover {
    /// Which part of this program.
    pub by: Rescuer,
    /// The user whose process it is; for `abort` and `recover` whoever typed it.
    pub person: Person,
    /// What was found: `its process died`, `it gave no sign for 10s`.
    pub why: String,
}

impl Takeover {
    /// One sentence for a person: why, who, and whose.
    pub fn sentence(&self) -> String {
        let Self { by, person, why } = self;
        match by {
            Rescuer::Session | Rescuer::Guardian => format!("{why}: {by} takes the run over"),
            Rescuer::Abort | Rescuer::Recover => {
                format!("{why}: {by} of {person} takes the run over")
            }
        }
    }
}

/// What a run is to its guardian at one moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// Nothing of this run can be in place.
    Clear,
    /// A fault is, or may be, in place, and may stay for so many milliseconds from now at most, also
    /// by the clock that goes on while the machine sleeps.
    In {
        /// Milliseconds.
        at_most_ms: u64,
    },
    /// It is being taken out.
    Undoing,
}

/// What becomes of the guardian while the run goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GuardianNews {
    /// The one before died or gave no sign; another one took its place.
    Replaced {
        /// Its process.
        pid: u32,
        /// What became of the one before.
        why: String,
    },
    /// There is none any more.
    Lost {
        /// Why.
        why: String,
    },
}

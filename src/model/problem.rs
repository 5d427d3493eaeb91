//! One shape for everything that can go wrong with something from outside.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What sort of trouble it is; decides the exit code and whether another attempt makes sense.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProblemKind {
    /// Nobody answered in time, or the connection failed: worth another attempt.
    Unreachable,
    /// The other side answered, but the thing that we need does not exist there.
    Absent,
    /// The other side understood and said no.
    Refused,
    /// Something of somebody else's stands in the way.
    Conflict,
    /// The answer makes no sense for what we take the other side to be.
    Unexpected,
    /// What the user wrote cannot be used.
    Invalid,
    /// Our own evidence (journal, plan, approval) cannot be written or read.
    Evidence,
}

/// A problem: the thing, the place, the next move.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Problem {
    /// What sort of trouble it is.
    pub kind: ProblemKind,
    /// The thing and the place, one sentence without a full stop.
    pub message: String,
    /// The next move for the reader, when there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem without a hint.
    pub fn new(kind: ProblemKind, message: impl Into<String>) -> Self {
        Self {
            kind,
            message: message.into(),
            hint: None,
        }
    }

    /// The same problem with the next move.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for Problem {}

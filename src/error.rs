//! Everything that ends a command early, and the one match from it to message, hint and exit code.

use crate::model::approval::ApprovalFlaw;
use crate::model::outcome::Outcome;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Difference, DocumentError};
use crate::policy::{Finding, Refusal};

/// Why a command ended without doing what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// A document with errors; each is underlined in its source.
    Document(Box<DocumentError>),
    /// A single problem.
    Problem(Problem),
    /// The policy says no.
    Denied(Vec<Finding>),
    /// The world is not what was planned.
    Drift(Vec<Difference>),
    /// No valid approval.
    Unapproved(Problem),
    /// A run ended, and everything about it was said already.
    Ended(Outcome),
    /// This program has a bug.
    Bug(String),
}

impl Failure {
    /// The frozen exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Document(_) => 2,
            Self::Problem(problem) => match problem.kind {
                ProblemKind::Invalid => 2,
                ProblemKind::Evidence => 8,
                ProblemKind::Unreachable
                | ProblemKind::Absent
                | ProblemKind::Refused
                | ProblemKind::Conflict
                | ProblemKind::Unexpected => 3,
            },
            Self::Denied(_) | Self::Drift(_) => 3,
            Self::Unapproved(_) => 4,
            Self::Ended(outcome) => outcome.code(),
            Self::Bug(_) => 70,
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Self::Document(Box::new(error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let unapproved = |message: &str| {
            let problem = Problem::new(ProblemKind::Refused, message)
                .hint("a person approves it at a terminal: `chaos approve PLAN`");
            Self::Unapproved(problem)
        };
        match refusal {
            Refusal::Denied(findings) => Self::Denied(findings),
            Refusal::OtherPolicy { now } => Self::Problem(
                Problem::new(
                    ProblemKind::Refused,
                    format!("the plan was made under another policy than `{now}`, which applies now"),
                )
                .hint("make a new plan with `chaos plan`"),
            ),
            Refusal::Unapproved => unapproved("nobody has approved this plan"),
            Refusal::VoidApproval(ApprovalFlaw::Expired) => unapproved("the approval has expired"),
            Refusal::VoidApproval(ApprovalFlaw::OtherDigest) => {
                unapproved("the approval is for another version of this plan")
            }
            Refusal::VoidApproval(ApprovalFlaw::FromTheFuture) => {
                unapproved("the approval was given in the future: a clock was set back")
            }
        }
    }
}

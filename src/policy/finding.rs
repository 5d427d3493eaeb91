//! What a rule says about a plan.

use serde::{Deserialize, Serialize};

use crate::model::approval::Exception;

/// How much a finding weighs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Severity {
    /// The plan cannot run.
    Deny,
    /// The plan runs only with a person's approval.
    Require,
    /// A reader should know.
    Warn,
}

impl Severity {
    /// The word, as shown everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Deny => "deny",
            Self::Require => "require",
            Self::Warn => "warn",
        }
    }
}

/// A rule's word on a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// The rule's name.
    pub rule: String,
    /// How much it weighs.
    pub severity: Severity,
    /// Where in the document: `steps[0].hold`.
    pub place: String,
    /// What is the matter, one sentence without a full stop.
    pub message: String,
    /// The way out.
    pub way_out: String,
    /// What an approval has to allow by name, where it is no plain yes that is required.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<Exception>,
}

impl Finding {
    /// The thing that it is about: what its message puts between backticks first.
    pub fn subject(&self) -> Option<&str> {
        self.message
            .split('`')
            .nth(1)
            .filter(|name| !name.is_empty())
    }
}

//! A person's recorded yes to one plan digest.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{Digest, PlanId};

/// Who somebody is, as far as this machine knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// Login name.
    pub user: String,
    /// Host name.
    pub host: String,
}

impl std::fmt::Display for Person {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}@{}", self.user, self.host)
    }
}

/// How the yes came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// The policy asks for none: only the sandbox that the same process started.
    NotNeeded,
    /// A person typed the experiment's name at a terminal.
    Typed,
}

/// An approval, bound to one digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// Format of this document.
    pub format: u32,
    /// The plan.
    pub plan: PlanId,
    /// The plan's digest; one changed byte voids the approval.
    pub digest: Digest,
    /// Who said yes.
    pub approver: Person,
    /// How.
    pub mode: ApprovalMode,
    /// When.
    pub approved_at: Timestamp,
    /// Until when it counts.
    pub expires_at: Timestamp,
    /// What the approver wants remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why an approval does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ApprovalFlaw {
    /// It is for another plan or an older version of this one.
    OtherDigest,
    /// Its time is over.
    Expired,
    /// It was given in the future: a clock was set back.
    FromTheFuture,
    /// It counts for longer than the policy lets one count.
    TooLong,
}

/// Clocks of two machines may differ by so much.
const CLOCK_TOLERANCE_S: i64 = 60;

impl Approval {
    /// Whether it counts for this digest at this time.
    pub fn check(&self, digest: &Digest, now: Timestamp) -> Result<(), ApprovalFlaw> {
        if self.digest != *digest {
            return Err(ApprovalFlaw::OtherDigest);
        }
        if now >= self.expires_at {
            return Err(ApprovalFlaw::Expired);
        }
        if self.approved_at.as_second() > now.as_second() + CLOCK_TOLERANCE_S {
            return Err(ApprovalFlaw::FromTheFuture);
        }
        Ok(())
    }
}

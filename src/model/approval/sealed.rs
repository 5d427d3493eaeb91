//! An approval as it is kept and as it travels: sealed by a digest, and signed where a key did so.

use serde::{Deserialize, Serialize};

use super::{Approval, Signature};
use crate::model::ids::Digest;
use crate::model::problem::{Problem, ProblemKind};

/// The namespace of our signatures (`ssh-keygen -Y sign -n`): one made for something else counts for
/// nothing here.
pub const SIGNATURE_NAMESPACE: &str = "chaos-approval@v1";

/// An approval with its seal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct SealedApproval {
    /// What was said.
    pub approval: Approval,
    /// SHA-256 over the canonical form of `approval`. It tells an edited file, not an honest writer.
    pub digest: Digest,
    /// The signature over the canonical form of `approval`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl SealedApproval {
    /// Seals an approval.
    pub fn seal(approval: Approval, signature: Option<Signature>) -> Self {
        Self {
            digest: Digest::of(approval.canonical().as_bytes()),
            approval,
            signature,
        }
    }

    /// The text of the file.
    pub fn to_text(&self) -> String {
        // Through a `Value`, whose maps are sorted.
        let value = serde_json::to_value(self).unwrap_or_default();
        format!("{value:#}\n")
    }

    /// Reads a file back and checks that not a byte of it has changed.
    ///
    /// # Errors
    /// It is no approval, a newer one, or it was changed.
    pub fn from_text(text: &str) -> Result<Self, Problem> {
        if !text.starts_with('{') {
            return Err(not_an_approval("it opens like no JSON object"));
        }
        let value: serde_json::Value =
            serde_json::from_str(text).map_err(|why| not_an_approval(&why.to_string()))?;
        let format = value
            .pointer("/approval/format")
            .and_then(serde_json::Value::as_u64);
        if format.is_some_and(|format| format > u64::from(super::FORMAT)) {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!(
                    "the approval has format {}, this version reads up to {}",
                    format.unwrap_or_default(),
                    super::FORMAT
                ),
            )
            .hint("update chaos, or approve once more with this version"));
        }
        let found: Self =
            serde_json::from_value(value).map_err(|why| not_an_approval(&why.to_string()))?;
        let claimed = found.signature.as_ref();
        if claimed.is_some_and(|signature| signature.signer.is_some()) {
            // Whose a signature is, is found out here, never read.
            return Err(not_an_approval("it says itself who signed it"));
        }
        let sealed = Self::seal(found.approval.clone(), found.signature.clone());
        if sealed != found || sealed.to_text() != text {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!(
                    "the approval of {} was changed after it was given",
                    found.approval.plan
                ),
            )
            .hint("a changed approval is void; approve once more"));
        }
        Ok(found)
    }
}

fn not_an_approval(why: &str) -> Problem {
    Problem::new(ProblemKind::Evidence, format!("this is no approval: {why}"))
        .hint("`chaos approve PLAN` makes one")
}

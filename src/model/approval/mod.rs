//! A person's recorded yes, or no, to one plan digest.

mod flaw;
mod sealed;

pub use flaw::{ApprovalFlaw, SignatureFlaw};
pub use sealed::{SIGNATURE_NAMESPACE, SealedApproval};

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{Digest, PlanId};
use super::problem::{Problem, ProblemKind};
use super::request::WorldIdentity;

/// Format of an approval.
pub const FORMAT: u32 = 2;

/// Who somebody is, as far as this machine knows.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Person {
    /// Login name.
    pub user: String,
    /// Host name.
    pub host: String,
}

impl fmt::Display for Person {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}@{}", self.user, self.host)
    }
}

/// How the answer came about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalMode {
    /// The policy asks for none.
    NotNeeded,
    /// A person typed the experiment's name at a terminal.
    Typed,
    /// The same, and an SSH key signed it.
    Signed,
}

/// What was said.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Run it.
    #[default]
    Yes,
    /// Do not.
    No,
}

impl Verdict {
    fn is_yes(&self) -> bool {
        *self == Self::Yes
    }
}

/// What the answer is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stage {
    /// The whole of one run.
    Run,
}

/// Something that a policy lets happen only where an approval says so by name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exception {
    /// A rung of the ladder is skipped.
    SkippedRung,
    /// One more run at a dose that held often enough.
    SameDose,
    /// Something that smells of production and that the policy names is touched.
    Production,
}

impl fmt::Display for Exception {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::SkippedRung => "a rung of the blast-radius ladder is skipped",
            Self::SameDose => "one more run at a dose that held often enough",
            Self::Production => "something that smells of production is touched",
        })
    }
}

impl Exception {
    /// Every one.
    pub const ALL: [Self; 3] = [Self::SkippedRung, Self::SameDose, Self::Production];

    /// The word, as typed and as written.
    pub fn word(self) -> &'static str {
        match self {
            Self::SkippedRung => "skipped-rung",
            Self::SameDose => "same-dose",
            Self::Production => "production",
        }
    }
}

/// 128 random bits in hexadecimal digits: no two approvals are the same.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Nonce(String);

impl Nonce {
    /// The nonce of these bits.
    pub fn of(bits: u128) -> Self {
        Self(format!("{bits:032x}"))
    }

    /// Its digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Nonce {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let digits = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if text.len() == 32 && text.chars().all(digits) {
            return Ok(Self(text.to_owned()));
        }
        Err(Problem::new(
            ProblemKind::Invalid,
            format!("`{}` is no nonce", text.escape_debug()),
        )
        .hint("a nonce is 32 hexadecimal digits"))
    }
}

impl TryFrom<String> for Nonce {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Nonce> for String {
    fn from(nonce: Nonce) -> String {
        nonce.0
    }
}

/// What a person said about one plan: the payload that a signature is made over.
///
/// Fields that came later are absent in the approvals of older journals.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Approval {
    /// Format of this document.
    pub format: u32,
    /// The plan.
    pub plan: PlanId,
    /// The plan's digest; one changed byte voids the approval.
    pub digest: Digest,
    /// Digest of the policy that the plan was judged by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<Digest>,
    /// The platforms that the plan touches, as they said who they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub worlds: Vec<WorldIdentity>,
    /// What it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stage: Option<Stage>,
    /// What tells it from every other.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nonce: Option<Nonce>,
    /// Who made the plan.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requester: Option<Person>,
    /// Who said it.
    pub approver: Person,
    /// How.
    pub mode: ApprovalMode,
    /// What was said.
    #[serde(default, skip_serializing_if = "Verdict::is_yes")]
    pub verdict: Verdict,
    /// When.
    pub approved_at: Timestamp,
    /// Until when it counts.
    pub expires_at: Timestamp,
    /// What the approver wants remembered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it allows by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<Exception>,
}

/// An SSH signature over an approval, and whose it was found to be.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Signature {
    /// The signature as `ssh-keygen -Y sign` writes it.
    pub armored: String,
    /// Who signed; `None` until it is checked against the policy's signers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signer: Option<Signer>,
}

/// An approval that a run rests on, with the signature over it if there is one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RestsOn {
    /// What was said.
    #[serde(flatten)]
    pub approval: Approval,
    /// The signature over it, with whose it was found to be.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<Signature>,
}

impl fmt::Display for Signer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            principal,
            fingerprint,
            key_type,
            presence,
        } = self;
        let presence = match presence {
            Presence::Unknown => "",
            Presence::Absent => ", not touched",
            Presence::Touched => ", touched",
            Presence::Verified => ", touched and verified",
        };
        write!(formatter, "{principal}, {key_type} {fingerprint}{presence}")
    }
}

impl Approval {
    /// What it allows by name, separated by commas; `None`: nothing.
    pub fn allowed(&self) -> Option<String> {
        let words: Vec<&str> = self.exceptions.iter().map(|one| one.word()).collect();
        (!words.is_empty()).then(|| words.join(", "))
    }
}

impl RestsOn {
    /// An approval and the signature over it.
    pub fn of(approval: &Approval, signature: Option<&Signature>) -> Self {
        Self {
            approval: approval.clone(),
            signature: signature.cloned(),
        }
    }

    /// Who signed it; `None`: nobody did, or the journal does not say.
    pub fn signer(&self) -> Option<&Signer> {
        self.signature.as_ref()?.signer.as_ref()
    }
}

/// Who made a signature.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Signer {
    /// The name that the file of allowed signers gives the key.
    pub principal: String,
    /// `SHA256:` and the fingerprint of the key, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// Type of the key: `ssh-ed25519`, `sk-ssh-ed25519@openssh.com`, …
    pub key_type: String,
    /// What the key itself says about the person at it.
    pub presence: Presence,
}

/// What a key says about the person at it (FIDO: flags byte of the signature).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Presence {
    /// It is no FIDO key and says nothing.
    Unknown,
    /// A FIDO key that nobody touched.
    Absent,
    /// A FIDO key that somebody touched.
    Touched,
    /// A FIDO key that somebody touched and that knew who: by a PIN or a finger.
    Verified,
}

impl Approval {
    /// The canonical form, which digest and signature are made over: JSON with sorted keys and no white
    /// space.
    pub fn canonical(&self) -> String {
        serde_json::to_value(self).unwrap_or_default().to_string()
    }
}

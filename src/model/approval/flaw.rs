//! Why an approval does not count, in words that go on from "the approval of ann@desk …".

use std::fmt;

use jiff::Timestamp;

use super::Exception;
use crate::model::ids::RunId;

/// Why an approval does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ApprovalFlaw {
    /// It is for another plan or an older version of this one.
    OtherDigest,
    /// It was given under another policy.
    OtherPolicy,
    /// It is for other platforms than the plan touches.
    OtherWorlds,
    /// It is about something else than a whole run.
    OtherStage,
    /// No person said it.
    NobodysAnswer,
    /// Its time is over.
    Expired {
        /// Since when.
        at: Timestamp,
    },
    /// It was given in the future: a clock was set back.
    FromTheFuture,
    /// It counts for longer than the policy lets one count.
    TooLong,
    /// It counts once, and a run rested on it.
    Used {
        /// That run.
        by: RunId,
    },
    /// It counts once, and nothing tells it from another.
    NoNonce,
    /// The policy wants it signed.
    Unsigned,
    /// It is signed, and the signature does not count.
    Signature(SignatureFlaw),
    /// Whoever made the plan gave it.
    ByRequester,
    /// The policy does not let this name approve.
    NotAnApprover {
        /// The name: a user's, or a principal's where it is signed.
        name: String,
    },
    /// The key says nothing of a touch.
    Untouched,
    /// The key does not say that it knew who touched it.
    Unverified,
    /// It does not allow by name what the plan needs.
    Lacks(Exception),
    /// It allows something by name and does not say why.
    NoReason,
    /// Another of the same person, or made with the same key, counts already.
    SamePerson,
}

/// Why a signature does not count.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignatureFlaw {
    /// The policy names no file of allowed signers that can be read.
    NoSigners,
    /// It is no SSH signature.
    Unreadable,
    /// It was made for something else.
    OtherNamespace(String),
    /// Its key or the way it was made is too weak, or unknown here: why.
    Unfit(String),
    /// It is not over these very bytes.
    Wrong,
    /// The file of allowed signers does not have its key.
    UnknownKey {
        /// Fingerprint of the key.
        fingerprint: String,
    },
    /// The key is not allowed for approvals.
    KeyForSomethingElse,
    /// The key is not allowed yet.
    KeyTooEarly {
        /// From then on it is.
        from: Timestamp,
    },
    /// The key is no longer allowed.
    KeyTooLate {
        /// Until then it was.
        until: Timestamp,
    },
    /// The key is allowed for names that the approver's is not among.
    OtherNames {
        /// The names, as the file has them.
        names: String,
    },
}

impl fmt::Display for ApprovalFlaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let words = match self {
            Self::OtherDigest => "is for another version of this plan",
            Self::OtherPolicy => "was given under another policy",
            Self::OtherWorlds => "is for other platforms than this plan touches",
            Self::OtherStage => "is not about a whole run",
            Self::NobodysAnswer => "is no person's answer",
            Self::Expired { at } => return write!(formatter, "expired at {}", utc(*at)),
            Self::FromTheFuture => "was given in the future: a clock was set back",
            Self::TooLong => "counts for longer than the policy lets it",
            Self::Used { by } => return write!(formatter, "counts once and was used by {by}"),
            Self::NoNonce => "counts once and has no nonce that tells it from another",
            Self::Unsigned => "is not signed, and the policy wants a signature",
            Self::Signature(flaw) => return flaw.fmt(formatter),
            Self::ByRequester => "was given by whoever made the plan, who may not approve it",
            Self::NotAnApprover { name } => {
                return write!(
                    formatter,
                    "was given by `{name}`, who is no approver of this environment"
                );
            }
            Self::Untouched => {
                "was signed by a key that nobody touched, and the policy wants a touch"
            }
            Self::Unverified => {
                "was signed by a key that did not ask who touched it, and the policy wants a PIN or a finger"
            }
            Self::Lacks(exception) => {
                return write!(
                    formatter,
                    "does not allow `{}`, which this plan needs",
                    exception.word()
                );
            }
            Self::NoReason => "allows an exception and gives no reason",
            Self::SamePerson => "is the second of one person or one key, which count once",
        };
        formatter.write_str(words)
    }
}

impl fmt::Display for SignatureFlaw {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSigners => formatter
                .write_str("is signed, and the policy names no signers to check it against"),
            Self::Unreadable => formatter.write_str("has a signature that is no SSH signature"),
            Self::OtherNamespace(name) => {
                write!(formatter, "has a signature that was made for `{name}`")
            }
            Self::Unfit(why) => write!(formatter, "has a signature that counts for nothing: {why}"),
            Self::Wrong => formatter.write_str("has a signature that is not over what it says"),
            Self::UnknownKey { fingerprint } => {
                write!(
                    formatter,
                    "is signed by {fingerprint}, which is no allowed signer"
                )
            }
            Self::KeyForSomethingElse => {
                formatter.write_str("is signed by a key that is not allowed for approvals")
            }
            Self::KeyTooEarly { from } => {
                write!(
                    formatter,
                    "is signed by a key that is allowed from {} on",
                    utc(*from)
                )
            }
            Self::KeyTooLate { until } => {
                write!(
                    formatter,
                    "is signed by a key that was allowed until {}",
                    utc(*until)
                )
            }
            Self::OtherNames { names } => {
                write!(
                    formatter,
                    "is signed by a key that is allowed for `{names}` only"
                )
            }
        }
    }
}

fn utc(at: Timestamp) -> impl fmt::Display {
    at.strftime("%Y-%m-%d %H:%M:%SZ")
}

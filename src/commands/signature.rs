//! Which SSH key signs an approval, and having it do so.

use std::path::{Path, PathBuf};

use super::Desk;
use crate::error::Failure;
use crate::model::approval::Approval;
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::Scales;
use crate::signing;

/// The keys that OpenSSH makes unless told otherwise, those that want a touch first.
const USUAL: [&str; 5] = [
    "id_ed25519_sk",
    "id_ecdsa_sk",
    "id_ed25519",
    "id_ecdsa",
    "id_rsa",
];

/// The key that was named, else the first of the usual ones that the policy lets sign. Looked at before
/// anybody is asked anything.
pub(super) fn key(
    desk: &Desk,
    named: Option<&Path>,
    scales: &Scales<'_>,
) -> Result<PathBuf, Failure> {
    let knows = |fingerprint: &str| {
        let signers = scales.signers();
        signers.is_some_and(|signers| signers.knows(fingerprint))
    };
    if let Some(key) = named {
        let fingerprint = signing::fingerprint_of(key);
        // A key whose public half cannot be read is judged by what it signs.
        return match fingerprint.filter(|fingerprint| !knows(fingerprint)) {
            None => Ok(key.to_owned()),
            Some(fingerprint) => Err(no_signer(&format!(
                "{} is no allowed signer of this policy ({fingerprint})",
                key.display()
            ))),
        };
    }
    let folder = desk.settings.home.as_ref().map(|home| home.join(".ssh"));
    let usual = folder.iter().flat_map(|folder| {
        let usual = USUAL.iter().map(|name| folder.join(name));
        usual.collect::<Vec<_>>()
    });
    for key in usual {
        if signing::fingerprint_of(&key).is_some_and(|fingerprint| knows(&fingerprint)) {
            // Without its private half beside it, an agent has it.
            let public = key.with_extension("pub");
            return Ok(if key.is_file() { key } else { public });
        }
    }
    Err(no_signer(
        "none of the keys in ~/.ssh is an allowed signer of this policy",
    ))
}

fn no_signer(message: &str) -> Failure {
    Failure::Unapproved(Problem::new(ProblemKind::Refused, message).hint(
        "name another with `--key` or CHAOS_SIGNING_KEY, or have yours added to the policy's signers and plan again",
    ))
}

/// Has it signed; waits for a passphrase or a touch.
pub(super) fn make(key: &Path, approval: &Approval) -> Result<String, Failure> {
    let message = approval.canonical();
    signing::sign(key, message.as_bytes()).map_err(|problem| match problem.kind {
        ProblemKind::Refused => Failure::Unapproved(problem),
        ProblemKind::Unreachable
        | ProblemKind::Absent
        | ProblemKind::Conflict
        | ProblemKind::Unexpected
        | ProblemKind::Invalid
        | ProblemKind::Evidence => Failure::Problem(problem),
    })
}

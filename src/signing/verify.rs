//! Whether a signature is over these bytes, made for approvals, and whose it is.

use jiff::Timestamp;
use ssh_key::public::KeyData;
use ssh_key::{Algorithm, HashAlg, PublicKey, SshSig};

use super::envelope;
use super::options::KeyWish;
use super::signers::{AllowedKey, AllowedSigners, fitness, kind_of};
use crate::model::approval::{Person, Presence, SIGNATURE_NAMESPACE, SignatureFlaw, Signer};

/// Something that was signed.
#[derive(Debug, Clone, Copy)]
pub struct Signed<'a> {
    /// The bytes.
    pub message: &'a [u8],
    /// The signature as `ssh-keygen -Y sign` writes it.
    pub armored: &'a str,
    /// When it is looked at: keys have their time.
    pub at: Timestamp,
    /// Who says to have signed: decides between the names of a line that has several.
    pub by: &'a Person,
}

/// Whose a signature was found to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recognised {
    /// Who, and what the key says about the person at it.
    pub signer: Signer,
    /// What its line in the file wants.
    pub wish: KeyWish,
}

/// FIDO: bits of the flags byte (CTAP2, authenticator data).
const USER_PRESENT: u8 = 0x01;
const USER_VERIFIED: u8 = 0x04;
/// Flags and counter behind the signature of a FIDO key.
const TRAILER: usize = 5;

/// Whose signature it is.
///
/// # Errors
/// Why it counts for nothing.
pub fn verify(signers: &AllowedSigners, signed: &Signed<'_>) -> Result<Recognised, SignatureFlaw> {
    let signature = envelope::open(signed.armored).ok_or(SignatureFlaw::Unreadable)?;
    if signature.namespace() != SIGNATURE_NAMESPACE {
        return Err(SignatureFlaw::OtherNamespace(
            signature.namespace().to_owned(),
        ));
    }
    let key = signature.public_key();
    fitness(key).map_err(SignatureFlaw::Unfit)?;
    fits_its_key(&signature)?;
    PublicKey::from(key.clone())
        .verify(SIGNATURE_NAMESPACE, signed.message, &signature)
        .map_err(|_| SignatureFlaw::Wrong)?;
    let fingerprint = key.fingerprint(HashAlg::Sha256).to_string();
    let (line, principal) = find(signers, key, &fingerprint, signed)?;
    Ok(Recognised {
        signer: Signer {
            principal,
            fingerprint,
            key_type: kind_of(key),
            presence: presence(&signature),
        },
        wish: line.options.wish,
    })
}

/// The way of signing belongs to the key, and SHA-1 to the past.
fn fits_its_key(signature: &SshSig) -> Result<(), SignatureFlaw> {
    match (signature.public_key().algorithm(), signature.algorithm()) {
        (Algorithm::Rsa { .. }, Algorithm::Rsa { hash: Some(_) }) => Ok(()),
        (Algorithm::Rsa { .. }, Algorithm::Rsa { hash: None }) => Err(SignatureFlaw::Unfit(
            "RSA with SHA-1 proves nothing any more".to_owned(),
        )),
        (key, way) if key == way => Ok(()),
        (key, way) => Err(SignatureFlaw::Unfit(format!(
            "a key of type `{key}` does not sign by `{way}`"
        ))),
    }
}

/// The first line that allows the key now, for this and for such a name; else why the last one of its
/// lines does not.
fn find<'a>(
    signers: &'a AllowedSigners,
    key: &KeyData,
    fingerprint: &str,
    signed: &Signed<'_>,
) -> Result<(&'a AllowedKey, String), SignatureFlaw> {
    let mut flaw = SignatureFlaw::UnknownKey {
        fingerprint: fingerprint.to_owned(),
    };
    let Person { user, .. } = signed.by;
    let claimed = [signed.by.to_string(), user.clone()];
    for line in signers.lines.iter().filter(|line| line.key == *key) {
        match allowed(line, signed.at) {
            Err(why) => flaw = why,
            Ok(()) => match line.principal(&claimed) {
                Some(principal) => return Ok((line, principal)),
                None => {
                    flaw = SignatureFlaw::OtherNames {
                        names: line.principals.clone(),
                    };
                }
            },
        }
    }
    Err(flaw)
}

fn allowed(line: &AllowedKey, at: Timestamp) -> Result<(), SignatureFlaw> {
    let options = &line.options;
    if !options.is_for_approvals() {
        return Err(SignatureFlaw::KeyForSomethingElse);
    }
    if let Some(from) = options.valid_after.filter(|from| at < *from) {
        return Err(SignatureFlaw::KeyTooEarly { from });
    }
    if let Some(until) = options.valid_before.filter(|until| at > *until) {
        return Err(SignatureFlaw::KeyTooLate { until });
    }
    Ok(())
}

/// What the flags byte says; the signature covers it.
fn presence(signature: &SshSig) -> Presence {
    let is_fido = matches!(
        signature.algorithm(),
        Algorithm::SkEd25519 | Algorithm::SkEcdsaSha2NistP256
    );
    let bytes = signature.signature_bytes();
    let flags = bytes.len().checked_sub(TRAILER).map(|at| bytes[at]);
    match flags.filter(|_| is_fido) {
        None => Presence::Unknown,
        Some(flags) if flags & USER_PRESENT == 0 => Presence::Absent,
        Some(flags) if flags & USER_VERIFIED == 0 => Presence::Touched,
        Some(_) => Presence::Verified,
    }
}

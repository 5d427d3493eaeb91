//! An armored SSH signature, taken apart; only the one way in which `ssh-keygen` writes it is read, so
//! that no byte of it can be another without making it another signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ssh_key::{PublicKey, SshSig};

const BEGIN: &str = "-----BEGIN SSH SIGNATURE-----\n";
const END: &str = "-----END SSH SIGNATURE-----\n";
/// Letters in a line of it.
const WIDTH: usize = 70;

/// The signature in it; `None`: it is none, or not written as `ssh-keygen` would.
pub(super) fn open(armored: &str) -> Option<SshSig> {
    let body = armored.strip_prefix(BEGIN)?.strip_suffix(END)?;
    let letters: String = body.split('\n').collect();
    let bytes = STANDARD.decode(&letters).ok()?;
    if armor(&bytes) != armored {
        return None;
    }
    let signature = SshSig::from_pem(armored).ok()?;
    let current = signature.version() == SshSig::VERSION;
    (current && is_written_as(&signature, &bytes)?).then_some(signature)
}

/// Whether these bytes are the one way to write this signature: the reader is lenient about lengths
/// that say the same twice.
fn is_written_as(signature: &SshSig, bytes: &[u8]) -> Option<bool> {
    let rest = bytes.strip_prefix(b"SSHSIG")?;
    let rest = rest.strip_prefix(&SshSig::VERSION.to_be_bytes())?;
    let (key, rest) = string(rest)?;
    let (namespace, rest) = string(rest)?;
    let (reserved, rest) = string(rest)?;
    let (hash, rest) = string(rest)?;
    let (inner, rest) = string(rest)?;
    let (way, answer) = string(inner)?;
    let (answer, trailer) = string(answer)?;
    let public = PublicKey::from(signature.public_key().clone());
    Some(
        rest.is_empty()
            && reserved.is_empty()
            && key == public.to_bytes().ok()?
            && namespace == signature.namespace().as_bytes()
            && hash == signature.hash_alg().as_str().as_bytes()
            && way == signature.algorithm().as_str().as_bytes()
            && [answer, trailer].concat() == signature.signature_bytes(),
    )
}

/// A length in four bytes, that many bytes, and what follows.
fn string(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = bytes.split_first_chunk::<4>()?;
    let length = usize::try_from(u32::from_be_bytes(*length)).ok()?;
    rest.split_at_checked(length)
}

/// These bytes as `ssh-keygen` writes them.
pub(super) fn armor(bytes: &[u8]) -> String {
    let letters = STANDARD.encode(bytes);
    let mut text = String::from(BEGIN);
    let mut rest = letters.as_str();
    while !rest.is_empty() {
        let (line, more) = rest.split_at(rest.len().min(WIDTH));
        text.push_str(line);
        text.push('\n');
        rest = more;
    }
    text + END
}

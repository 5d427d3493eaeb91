//! An armored SSH signature, taken apart; only the one way in which `ssh-keygen` writes it is read, so
//! that no byte of it can be another without making it another signature.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ssh_key::SshSig;

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
    (current && signature.reserved().is_empty()).then_some(signature)
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

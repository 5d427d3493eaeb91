//! Signing, by the real `ssh-keygen`: it knows agents, passphrases and keys that want a touch.
//!
//! The message goes in through a pipe and the signature comes out of one, so no file is left behind
//! whatever happens. Its questions reach the terminal, which it opens by itself.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write as _};
use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use ssh_key::{HashAlg, PublicKey};

use crate::model::approval::SIGNATURE_NAMESPACE;
use crate::model::problem::{Problem, ProblemKind};

/// The program, found on the path.
const PROGRAM: &str = "ssh-keygen";

/// Has a message signed by a private key, or by the private half of a public one that an agent holds;
/// returns the signature as `ssh-keygen -Y sign` writes it. Waits for whoever is asked.
///
/// # Errors
/// `Absent`: there is no `ssh-keygen`; `Invalid`: there is no such key; `Refused`: it did not sign.
pub fn sign(key: &Path, message: &[u8]) -> Result<String, Problem> {
    if !key.is_file() {
        return Err(Problem::new(
            ProblemKind::Invalid,
            format!("there is no key {}", key.display()),
        )
        .hint(
            "name a private key, or a public one whose private half an agent holds, with `--key`",
        ));
    }
    // Quiet, it still asks for a passphrase, a PIN and a touch.
    let mut child = Command::new(PROGRAM)
        .args(["-q", "-Y", "sign", "-n", SIGNATURE_NAMESPACE, "-f"])
        .arg(key)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|why| cannot_start(&why))?;
    let written = child.stdin.take().map(|mut pipe| pipe.write_all(message));
    let ended = child.wait_with_output().map_err(|why| cannot_start(&why))?;
    let whole = matches!(written, Some(Ok(())));
    if !ended.status.success() || !whole {
        return Err(did_not_sign(key, ended.status));
    }
    String::from_utf8(ended.stdout).map_err(|_| did_not_sign(key, ended.status))
}

fn cannot_start(why: &std::io::Error) -> Problem {
    if why.kind() == ErrorKind::NotFound {
        let message = format!("signing needs `{PROGRAM}`, which is not found here");
        return Problem::new(ProblemKind::Absent, message).hint(
            "install OpenSSH's client (package openssh-client), or sign on a machine that has it",
        );
    }
    let message = format!("`{PROGRAM}` cannot be started: {why}");
    Problem::new(ProblemKind::Absent, message).hint("signing needs OpenSSH's client")
}

fn did_not_sign(key: &Path, status: ExitStatus) -> Problem {
    let how = match (status.signal(), status.code()) {
        (Some(_), _) => "it was interrupted".to_owned(),
        (None, Some(code)) => format!("it ended with {code}, and says why above"),
        (None, None) => "it ended".to_owned(),
    };
    Problem::new(
        ProblemKind::Refused,
        format!("`{PROGRAM}` did not sign with {}: {how}", key.display()),
    )
    .hint("nothing was approved and nothing was written; try again, or another key with `--key`")
}

/// The fingerprint of a key whose public half can be read: the file itself, or the one beside it that
/// ends in `.pub`. `None`: neither can be.
pub fn fingerprint_of(key: &Path) -> Option<String> {
    let mut beside = key.as_os_str().to_owned();
    if key.extension() != Some(OsStr::new("pub")) {
        beside.push(".pub");
    }
    let text = std::fs::read_to_string(Path::new(&beside)).ok()?;
    let public = PublicKey::from_openssh(text.trim()).ok()?;
    Some(public.fingerprint(HashAlg::Sha256).to_string())
}

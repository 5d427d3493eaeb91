//! Approvals: who may sign, whose a signature is, what makes a yes count and what voids it. Signatures
//! are made and checked by the real `ssh-keygen`.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod counting;
mod edited;
mod fido;
mod keys;
mod red_team;
mod signers;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use chaos_gameday::model::approval::{Person, SIGNATURE_NAMESPACE};
use jiff::Timestamp;
use tempfile::TempDir;

/// Whether there is no `ssh-keygen` here. Says so, and what to install; where every test has to run
/// (`CHAOS_REQUIRE_E2E`), that is a failure.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that is skipped says so, and CI may forbid it"
)]
pub(crate) fn keygen_is_missing() -> bool {
    if Command::new("ssh-keygen").arg("-?").output().is_ok() {
        return false;
    }
    let required = std::env::var_os("CHAOS_REQUIRE_E2E").is_some();
    assert!(!required, "`ssh-keygen` of openssh-client is needed");
    eprintln!("skipped: no `ssh-keygen`, install openssh-client");
    true
}

/// A folder with keys.
pub(crate) struct Keys {
    folder: TempDir,
}

impl Keys {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Makes a key; `kind` as `ssh-keygen -t` and `-b` take it: `ed25519`, `rsa 2048`.
    pub(crate) fn make(&self, name: &str, kind: &str) -> PathBuf {
        let path = self.path(name);
        make_key(&path, kind, "");
        path
    }

    /// The line of allowed signers for a key.
    pub(crate) fn line(&self, name: &str, before: &str) -> String {
        let public = std::fs::read_to_string(self.path(name).with_extension("pub")).unwrap();
        format!("{before} {public}")
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> PathBuf {
        std::fs::write(self.path(name), text).unwrap();
        self.path(name)
    }
}

pub(crate) fn make_key(path: &Path, kind: &str, passphrase: &str) {
    let mut words = kind.split(' ');
    let mut command = Command::new("ssh-keygen");
    command
        .args([
            "-q",
            "-N",
            passphrase,
            "-C",
            "",
            "-t",
            words.next().unwrap(),
        ])
        .arg("-f")
        .arg(path);
    if let Some(bits) = words.next() {
        command.args(["-b", bits]);
    }
    let made = command.output().unwrap();
    assert!(made.status.success(), "{made:?}");
}

/// Signs as a person would at a shell.
pub(crate) fn signed_by_hand(key: &Path, namespace: &str, message: &[u8]) -> String {
    let key = key.to_str().unwrap();
    let ended = fed(&["-Y", "sign", "-n", namespace, "-f", key], message);
    String::from_utf8(ended.expect("it signs")).unwrap()
}

/// Whether `ssh-keygen -Y verify` lets a signature count.
pub(crate) fn verifies_by_hand(keys: &Keys, signers: &str, armored: &str, message: &[u8]) -> bool {
    let signers = keys.write("allowed_signers", signers);
    let signature = keys.write("signature", armored);
    let found = [signers.to_str().unwrap(), signature.to_str().unwrap()];
    let args = [
        "-Y",
        "verify",
        "-n",
        SIGNATURE_NAMESPACE,
        "-I",
        "ann@example.com",
        "-f",
        found[0],
        "-s",
        found[1],
    ];
    fed(&args, message).is_some()
}

/// What it prints, if it succeeds.
fn fed(args: &[&str], message: &[u8]) -> Option<Vec<u8>> {
    use std::io::Write as _;
    let mut child = Command::new("ssh-keygen")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // It may have ended without reading everything: it says no then.
    let _ = child.stdin.take().unwrap().write_all(message);
    let ended = child.wait_with_output().unwrap();
    ended.status.success().then_some(ended.stdout)
}

pub(crate) fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

pub(crate) fn person(user: &str, host: &str) -> Person {
    Person {
        user: user.to_owned(),
        host: host.to_owned(),
    }
}

//! How the process ends, with the real binary and a sandbox of its own.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot start a process has failed"
)]

use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use tempfile::TempDir;

/// A shell line in which `$0` is the binary and `"$@"` a run of a few seconds.
fn run_by(line: &str, state: &TempDir) -> Command {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/stream-down.yaml");
    let mut command = Command::new("/bin/sh");
    command
        .args(["-c", line, env!("CARGO_BIN_EXE_chaos")])
        .args(["run", "--sandbox", "--yes", "-o", "json"])
        .args(["--var", "BASELINE=2s", "--var", "HOLD=2s", example])
        .env("CHAOS_STATE_DIR", state.path())
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// How it ended within this time; a process that goes on is ended.
fn wait(mut child: Child, limit: Duration) -> Option<ExitStatus> {
    let pause = Duration::from_millis(50);
    for _ in 0..limit.as_millis() / pause.as_millis() {
        if let Some(status) = child.try_wait().unwrap() {
            return Some(status);
        }
        std::thread::sleep(pause);
    }
    child.kill().unwrap();
    child.wait().unwrap();
    None
}

#[test]
fn a_journal_at_its_size_limit_is_lost_evidence_and_no_death_with_the_fault_in() {
    let state = TempDir::new().unwrap();
    let child = run_by("ulimit -c 0; ulimit -f 16; exec \"$0\" \"$@\"", &state)
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let status = wait(child, Duration::from_secs(40)).unwrap();
    assert_eq!(status.code(), Some(8), "{status}");
}

#[test]
fn a_reader_that_does_not_read_cannot_keep_a_settled_run_from_ending() {
    let state = TempDir::new().unwrap();
    let (_unread, mut full) = std::io::pipe().unwrap();
    // As much as a pipe takes.
    full.write_all(&[b'\n'; 65_536]).unwrap();
    let child = run_by("exec \"$0\" \"$@\"", &state)
        .stdout(full)
        .spawn()
        .unwrap();
    let status = wait(child, Duration::from_secs(50));
    assert!(
        status.is_some(),
        "it goes on long after the run has settled"
    );
}

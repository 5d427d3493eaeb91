//! One guardian process, as the run that posted it sees it.

use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::time::timeout;

use super::charge::Charge;
use super::detached::NAME;
use super::words::READY;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// Until it must be ready; on a busy machine a process takes its time to start.
const READY_WITHIN: Duration = Duration::from_secs(10);

/// Until it must have left, once it was told to or killed.
const LEAVES_WITHIN: Duration = Duration::from_secs(2);

/// A guardian on its watch.
pub(super) struct Sentry {
    child: Child,
    pid: u32,
    answers: ChildStdout,
}

impl Sentry {
    /// Starts one, tells it its charge and waits until it is ready. Returns it with the pipe that it
    /// listens to, to which a write never waits.
    ///
    /// # Errors
    /// It cannot be started, does not understand, or is not ready in time; it is killed then.
    pub(super) async fn post(charge: &Charge, log: File) -> Result<(Self, OwnedFd), Problem> {
        let line = charge.to_line()?;
        let mut child = start(log).map_err(|why| unposted(charge, &why.to_string()))?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (Some(pid), Some((pipe, answers))) = (child.id(), pipes) else {
            return Err(unposted(charge, "it has no pipes"));
        };
        let mut sentry = Self {
            child,
            pid,
            answers,
        };
        let ready = timeout(READY_WITHIN, sentry.get_ready(pipe, &line)).await;
        let why = match ready {
            Ok(Ok(pipe)) => return Ok((sentry, pipe)),
            Ok(Err(why)) => why.to_string(),
            Err(_) => format!("it was not ready within {}", Span::of(READY_WITHIN)),
        };
        sentry.kill().await;
        Err(unposted(charge, &why))
    }

    /// A process that does what this program does, and knows no charge.
    #[cfg(test)]
    pub(super) fn that_is(program: &str) -> io::Result<(Self, OwnedFd)> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let pipes = child.stdin.take().zip(child.stdout.take());
        let (pipe, answers) = pipes.expect("they are piped");
        let pipe = pipe.into_owned_fd()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        let pid = child.id().expect("it was not waited for");
        let sentry = Self {
            child,
            pid,
            answers,
        };
        Ok((sentry, pipe))
    }

    async fn get_ready(&mut self, mut pipe: ChildStdin, charge: &[u8]) -> io::Result<OwnedFd> {
        pipe.write_all(charge).await?;
        let mut heard = [0; READY.len()];
        self.answers.read_exact(&mut heard).await?;
        if heard != READY.as_bytes() {
            return Err(io::Error::other(
                "it said something else than that it is ready",
            ));
        }
        let pipe = pipe.into_owned_fd()?;
        rustix::io::ioctl_fionbio(&pipe, true)?;
        Ok(pipe)
    }

    /// Its process.
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    /// How many letters it answered with since it was asked before; 0: it is no more.
    pub(super) async fn answers(&mut self) -> u64 {
        let mut letters = [0; 64];
        let read = self.answers.read(&mut letters).await;
        read.map_or(0, |count| count as u64)
    }

    /// Waits until it has left, as it was told to; one that does not is killed: the run has ended.
    pub(super) async fn leave(mut self) {
        if timeout(LEAVES_WITHIN, self.child.wait()).await.is_err() {
            self.kill().await;
        }
    }

    /// Ends it, whatever it does.
    pub(super) async fn kill(mut self) {
        // One that cannot be killed is no more; one that does not die is waited for no longer.
        let _ = self.child.start_kill();
        let _ = timeout(LEAVES_WITHIN, self.child.wait()).await;
    }
}

/// The pipes of the run's end are closed in whatever else it starts, as the standard library makes them.
fn start(log: File) -> io::Result<Child> {
    Command::new(this_program()?)
        .arg0("chaos")
        .arg(NAME)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(log)
        .spawn()
}

/// This very program, also where another version has been installed over it meanwhile.
fn this_program() -> io::Result<PathBuf> {
    let running = PathBuf::from("/proc/self/exe");
    match running.exists() {
        true => Ok(running),
        false => std::env::current_exe(),
    }
}

fn unposted(charge: &Charge, why: &str) -> Problem {
    let message = format!(
        "the guardian of {} did not begin its watch: {why}",
        charge.run
    );
    let hint = format!("its log is in {}", charge.folder.display());
    Problem::new(ProblemKind::Unexpected, message).hint(hint)
}

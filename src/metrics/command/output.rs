//! Runs a program to its end, within its time, and leaves nothing of it behind.

use std::collections::VecDeque;
use std::pin::pin;
use std::process::ExitStatus;
use std::time::Duration;

use futures_util::future::try_join;
use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, Command};
use tokio::time::timeout;

use super::number::plain;
use crate::model::units::Span;

/// A number needs no more room.
const LONGEST_OUTPUT: usize = 1024 * 1024;

/// Of the error output only its end is kept.
const KEPT_ERRORS: usize = 4 * 1024;

/// Of its last line only the beginning is shown.
const LONGEST_LINE: usize = 200;

/// How long a program's offspring may keep its output open once it has ended itself.
const LINGER: Duration = Duration::from_millis(200);

/// How long a killed program may take to be seen dead; one that waits for a disk may not hurry.
const BURIAL: Duration = Duration::from_secs(1);

/// What a program left.
pub(super) struct Output {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    /// The last line of its error output, fit for a terminal.
    pub(super) last_words: Option<String>,
}

/// Why there is no output.
pub(super) enum Trouble {
    NotStarted(std::io::Error),
    Lost(std::io::Error),
    TooSlow,
    TooMuch,
}

/// The process group of a program. However its reading ends (in time, too late, or dropped half
/// way), nobody of the group outlives it.
struct Group(Option<Pid>);

impl Group {
    fn of(child: &Child) -> Self {
        let pid = child.id().and_then(|pid| i32::try_from(pid).ok());
        Self(pid.and_then(Pid::from_raw))
    }

    fn kill(&self) {
        if let Some(group) = self.0 {
            // An error means that the group is empty: all that we want. A number whose group still
            // has members is given to nobody else.
            let _ = kill_process_group(group, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Runs the command and collects what it says. Its output must be piped and it must lead a process
/// group of its own.
pub(super) async fn collect(command: &mut Command, limit: Span) -> Result<Output, Trouble> {
    let mut child = command.spawn().map_err(Trouble::NotStarted)?;
    let group = Group::of(&child);
    let output = timeout(limit.as_duration(), follow(&mut child, &group))
        .await
        .unwrap_or(Err(Trouble::TooSlow));
    group.kill();
    if output.is_err() {
        // Seen dead or not, the reading is over; tokio buries whoever is left.
        let _ = timeout(BURIAL, child.wait()).await;
    }
    output
}

async fn follow(child: &mut Child, group: &Group) -> Result<Output, Trouble> {
    let stdout = child.stdout.take().expect("stdout is piped");
    let stderr = child.stderr.take().expect("stderr is piped");
    let errors = async { Ok(end_of(stderr).await) };
    let mut said = pin!(try_join(all_of(stdout), errors));
    let early = tokio::select! {
        ended = child.wait() => ended.map(|_| None).map_err(Trouble::Lost)?,
        early = &mut said => Some(early?),
    };
    let (stdout, errors) = match early {
        Some(all) => all,
        None => match timeout(LINGER, &mut said).await {
            Ok(all) => all?,
            Err(_) => {
                // Somebody whom it started still holds its output.
                group.kill();
                said.await?
            }
        },
    };
    Ok(Output {
        // A second wait answers what the first one did.
        status: child.wait().await.map_err(Trouble::Lost)?,
        stdout,
        last_words: last_line(&errors),
    })
}

async fn all_of(stdout: impl AsyncRead + Unpin) -> Result<Vec<u8>, Trouble> {
    let mut all = Vec::new();
    let bound = u64::try_from(LONGEST_OUTPUT + 1).expect("1 MiB fits into 64 bits");
    let mut stdout = stdout.take(bound);
    stdout.read_to_end(&mut all).await.map_err(Trouble::Lost)?;
    if all.len() > LONGEST_OUTPUT {
        return Err(Trouble::TooMuch);
    }
    Ok(all)
}

/// Reads all of it, so that the program never waits for room, and keeps the end.
async fn end_of(mut stderr: impl AsyncRead + Unpin) -> Vec<u8> {
    let mut end = VecDeque::new();
    let mut chunk = [0; 1024];
    // What cannot be read is no reason to doubt the number.
    while let Ok(read @ 1..) = stderr.read(&mut chunk).await {
        end.extend(&chunk[..read]);
        end.drain(..end.len().saturating_sub(KEPT_ERRORS));
    }
    end.into()
}

fn last_line(errors: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(errors);
    text.lines()
        .rev()
        .map(|line| plain(line, LONGEST_LINE).trim().to_owned())
        .find(|line| !line.is_empty())
}

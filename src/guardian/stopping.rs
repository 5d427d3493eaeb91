//! Ending the process that holds a run's lock and does nothing: only so can somebody else take over.

use std::path::Path;

use rustix::io::Errno;
use rustix::process::{Pid, Signal};

use crate::journal::Writing;
use crate::model::approval::Person;
use crate::model::attendance::{Attendance, Writer};
use crate::model::problem::{Problem, ProblemKind};

/// Kills the process of this writer, who holds the lock of the run in this folder. Its number may
/// belong to another process by the time that a signal is sent, so a handle of the process is taken
/// first, and then it is looked whether he still holds the lock.
///
/// # Errors
/// He is on another machine, or this user may not end him.
pub fn end_process(folder: &Path, writer: &Writer, here: &Person) -> Result<(), Problem> {
    if writer.person.host != here.host {
        return Err(cannot(writer, "it is on another machine")
            .hint(format!("type the same on {}", writer.person.host)));
    }
    let pid = i32::try_from(writer.pid).ok().and_then(Pid::from_raw);
    let Some(pid) = pid else {
        return Err(cannot(writer, "there is no such process"));
    };
    match kill(pid, || still_holds(folder, writer)) {
        Ok(()) | Err(Errno::SRCH) => Ok(()),
        Err(why) => Err(cannot(writer, &why.to_string())
            .hint("end it as the user whose process it is, then `chaos recover`")),
    }
}

/// Where it cannot be looked at, nobody is killed.
fn still_holds(folder: &Path, writer: &Writer) -> bool {
    let now = Writing::held_by(folder);
    now.is_ok_and(|now| now == Attendance::Writer(writer.clone()))
}

#[cfg(target_os = "linux")]
fn kill(pid: Pid, is_meant: impl Fn() -> bool) -> Result<(), Errno> {
    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
    let process = pidfd_open(pid, PidfdFlags::empty())?;
    match is_meant() {
        true => pidfd_send_signal(&process, Signal::KILL),
        false => Ok(()),
    }
}

#[cfg(not(target_os = "linux"))]
fn kill(pid: Pid, is_meant: impl Fn() -> bool) -> Result<(), Errno> {
    match is_meant() {
        true => rustix::process::kill_process(pid, Signal::KILL),
        false => Ok(()),
    }
}

fn cannot(writer: &Writer, why: &str) -> Problem {
    let message = format!("{writer} does not answer and cannot be ended: {why}");
    Problem::new(ProblemKind::Conflict, message)
}

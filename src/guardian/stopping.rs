//! Ending the process that holds a run's lock and does nothing: only so can somebody else take over.

use std::path::Path;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

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
    let process = match pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Ok(()),
        Err(why) => return Err(cannot(writer, &why.to_string())),
    };
    match Writing::held_by(folder)? {
        Attendance::Writer(still) if still == *writer => {}
        Attendance::Nobody | Attendance::Unknown | Attendance::Writer(_) => return Ok(()),
    }
    match pidfd_send_signal(&process, Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(why) => Err(cannot(writer, &why.to_string())
            .hint("end it as the user whose process it is, then `chaos recover`")),
    }
}

fn cannot(writer: &Writer, why: &str) -> Problem {
    let message = format!("{writer} does not answer and cannot be ended: {why}");
    Problem::new(ProblemKind::Conflict, message)
}

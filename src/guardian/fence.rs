//! The process of the run that is watched over: whether it is there, and its end. A run that hangs is
//! ended before anybody undoes in its place, so that it cannot go on with its own writes later.

use std::io;
#[cfg(target_os = "linux")]
use std::os::fd::OwnedFd;

use rustix::process::{Pid, Signal, getppid};

/// The guardian's hold on the process of its run. The guardian is its child: as long as it has that
/// parent the number means nobody else.
pub(super) struct Fence {
    pid: Option<Pid>,
    /// Means that very process, also in the moment in which another one could get its number.
    #[cfg(target_os = "linux")]
    handle: Option<OwnedFd>,
}

/// What ending it came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// It was there until now.
    Now,
    /// It was no more.
    Before,
}

impl Fence {
    /// Around the process with this number.
    pub(super) fn around(pid: u32) -> Self {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw);
        Self {
            pid,
            // An old kernel has none; then the number has to do.
            #[cfg(target_os = "linux")]
            handle: pid.and_then(|pid| {
                rustix::process::pidfd_open(pid, rustix::process::PidfdFlags::empty()).ok()
            }),
        }
    }

    /// Whether it lives.
    pub(super) fn is_there(&self) -> bool {
        self.pid.is_some() && getppid() == self.pid
    }

    /// Kills it with the one signal that a process which hangs, or is stopped, cannot put off.
    ///
    /// # Errors
    /// The system does not let us.
    pub(super) fn kill(&self) -> io::Result<Ended> {
        let Some(pid) = self.pid.filter(|_| self.is_there()) else {
            return Ok(Ended::Before);
        };
        #[cfg(target_os = "linux")]
        let sent = match &self.handle {
            Some(handle) => rustix::process::pidfd_send_signal(handle, Signal::KILL),
            None => rustix::process::kill_process(pid, Signal::KILL),
        };
        #[cfg(not(target_os = "linux"))]
        let sent = rustix::process::kill_process(pid, Signal::KILL);
        match sent {
            Ok(()) => Ok(Ended::Now),
            Err(rustix::io::Errno::SRCH) => Ok(Ended::Before),
            Err(why) => Err(why.into()),
        }
    }
}

//! The guardian's own process: `chaos guardian`, which `chaos run` starts and nobody types. It leaves
//! the session of its parent, obeys no signal but the one that cannot be refused, and waits in as little
//! memory as can be.

use std::ffi::OsStr;
use std::io::{self, IsTerminal as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::fd::RawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::charge::Charge;
use super::ears::{Ears, Heard};
use super::ending::end_run;
use super::fence::Fence;
use super::log::say;
use super::vigil::{PERIOD, Sign, Verdict, Vigil};
use super::words::{ANSWER, READY, Word};
use crate::model::takeover::Standing;
use crate::model::units::Span;
use crate::run::Clock;

/// What it is called with. No command of the command line: it comes before any of that is made.
pub(super) const NAME: &str = "guardian";

/// Its parent tells it at once what to watch over.
const CHARGED_WITHIN: Duration = Duration::from_secs(10);

/// Exit codes: its work is done; it was not told what to do.
const DONE: u8 = 0;
const MISUSED: u8 = 2;

/// What ends, or stops, another process. Each keeps its name for the log.
const SIGNALS: [(i32, &str); 16] = [
    (signal_hook::consts::SIGINT, "SIGINT"),
    (signal_hook::consts::SIGTERM, "SIGTERM"),
    (signal_hook::consts::SIGHUP, "SIGHUP"),
    (signal_hook::consts::SIGQUIT, "SIGQUIT"),
    (signal_hook::consts::SIGABRT, "SIGABRT"),
    (signal_hook::consts::SIGIO, "SIGIO"),
    (signal_hook::consts::SIGTSTP, "SIGTSTP"),
    (signal_hook::consts::SIGTTIN, "SIGTTIN"),
    (signal_hook::consts::SIGTTOU, "SIGTTOU"),
    (signal_hook::consts::SIGALRM, "SIGALRM"),
    (signal_hook::consts::SIGVTALRM, "SIGVTALRM"),
    (signal_hook::consts::SIGPROF, "SIGPROF"),
    (signal_hook::consts::SIGUSR1, "SIGUSR1"),
    (signal_hook::consts::SIGUSR2, "SIGUSR2"),
    (signal_hook::consts::SIGXCPU, "SIGXCPU"),
    (signal_hook::consts::SIGXFSZ, "SIGXFSZ"),
];

/// Whether this process is to be a guardian.
pub fn is_called() -> bool {
    let mut words = std::env::args_os().skip(1);
    words.next().as_deref() == Some(OsStr::new(NAME)) && words.next().is_none()
}

/// Is one, until it may go. Returns the exit code.
pub fn stand_guard() -> u8 {
    if io::stdin().is_terminal() {
        say("`chaos run` starts the guardian of a run; there is nothing to type");
        return MISUSED;
    }
    match watch() {
        Ok(()) => DONE,
        Err(why) => {
            say(&why.to_string());
            MISUSED
        }
    }
}

fn watch() -> io::Result<()> {
    close_what_was_inherited()?;
    leave_the_session();
    let refused = refuse_signals()?;
    let stdin = io::stdin();
    let mut ears = Ears::on(stdin.as_fd());
    let charge = match ears.next(CHARGED_WITHIN)? {
        Heard::Line(line) => Charge::of_line(&line).map_err(io::Error::other)?,
        Heard::Silence | Heard::Closed => {
            return Err(io::Error::other("nobody said what to watch over"));
        }
    };
    let fence = Fence::around(charge.pid);
    // A parent that reads no answers, because it is stopped, must not stop this one too.
    rustix::io::ioctl_fionbio(io::stdout(), true)?;
    answer(READY.as_bytes());
    say(&format!("watches over {}, pid {}", charge.run, charge.pid));
    match until_something_happens(&mut ears, &refused) {
        Verdict::Watch => {}
        Verdict::Leave => say("the run has ended"),
        Verdict::TakeOver { why, process } => {
            say(&why);
            end_run(&charge, &fence, why, process);
            tell_refused(&refused);
        }
    }
    say("leaves");
    Ok(())
}

/// Watches until there is another verdict than to watch on.
fn until_something_happens(ears: &mut Ears<'_>, refused: &[Refused]) -> Verdict {
    let mut vigil = Vigil::default();
    let mut last = None;
    loop {
        // A pipe that cannot be read tells no more than one that is closed.
        let heard = ears.next(PERIOD).unwrap_or(Heard::Closed);
        let sign = match heard {
            Heard::Silence => Some(Sign::Silence),
            Heard::Closed => Some(Sign::Closed),
            Heard::Line(line) => match Word::of_line(&line) {
                Some(Word::Parting) => Some(Sign::Dismissed),
                Some(Word::Standing(standing)) => {
                    answer(ANSWER);
                    note(standing, &mut last);
                    let now = Clock::since_boot();
                    Some(Sign::Standing { standing, now })
                }
                None => {
                    say(&format!("does not understand `{line}`"));
                    None
                }
            },
        };
        tell_refused(refused);
        let verdict = sign.map_or(Verdict::Watch, |sign| vigil.take(sign));
        if verdict != Verdict::Watch {
            return verdict;
        }
    }
}

fn answer(letters: &[u8]) {
    let mut stdout = io::stdout();
    // Whether anybody reads it is for the vigil to find out.
    let _ = stdout.write_all(letters).and_then(|()| stdout.flush());
}

/// Logs where the run stands where that is news.
fn note(standing: Standing, last: &mut Option<Standing>) {
    let before = last.replace(standing);
    let words = match (before, standing) {
        (Some(Standing::In { .. }), Standing::In { .. }) => return,
        (Some(before), now) if before == now => return,
        (_, Standing::Clear) => "nothing is in place".to_owned(),
        (_, Standing::Undoing) => "the run undoes its fault".to_owned(),
        (_, Standing::In { at_most_ms }) => format!(
            "a fault is, or may be, in place, for {} at most",
            Span::from_millis(at_most_ms)
        ),
    };
    say(&words);
}

/// The run's parent may have left files open in it, pipes that somebody reads to their end among them.
fn close_what_was_inherited() -> io::Result<()> {
    let folder = ["/proc/self/fd", "/dev/fd"];
    let found = folder.iter().find_map(|path| std::fs::read_dir(path).ok());
    let names: Vec<RawFd> = found
        .into_iter()
        .flatten()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    for number in names.into_iter().filter(|number| *number > 2) {
        match nix::unistd::close(number) {
            // The folder's own, which was closed with it.
            Ok(()) | Err(nix::errno::Errno::EBADF) => {}
            Err(why) => return Err(why.into()),
        }
    }
    Ok(())
}

/// What ends the run's terminal or its process group must not end this one.
fn leave_the_session() {
    // Only the leader of a group cannot, and then somebody has made it one.
    let _ = rustix::process::setsid();
    #[cfg(target_os = "linux")]
    {
        // `killall chaos` means the run. The name is for `ps`; without it nothing is lost.
        let _ = rustix::thread::set_name(c"chaos-guardian");
    }
}

/// A signal that is not obeyed.
struct Refused {
    name: &'static str,
    came: Arc<AtomicBool>,
}

fn tell_refused(refused: &[Refused]) {
    for signal in refused {
        if signal.came.swap(false, Ordering::Relaxed) {
            say(&format!("refused {}: its run was not over", signal.name));
        }
    }
}

fn refuse_signals() -> io::Result<Vec<Refused>> {
    let refuse = |(number, name)| {
        let came = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(number, Arc::clone(&came))?;
        Ok(Refused { name, came })
    };
    SIGNALS.into_iter().map(refuse).collect()
}

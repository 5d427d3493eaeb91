//! What a guardian does once its run has died or hangs: end the process, take the run's own lock, keep
//! others off what the run touches, and go on where it stopped.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread::sleep;
use std::time::Duration;

use tokio::time::Instant;

use super::charge::Charge;
use super::fence::{Ended, Fence};
use super::log::{self, say};
use super::takeover::{TakingOver, take_over};
use super::vigil::RunProcess;
use crate::clients::Clients;
use crate::journal::{Attempt, Lock, Locks, WantedWriting, Writer, Writing};
use crate::model::holder::Holder;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::takeover::{Rescuer, Takeover};
use crate::run::{Clock, Settlement};

/// Between two attempts at the run's lock: its process lets go of it and of its guardian at once, but
/// not in the same moment.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// Attempts after which whoever has the lock is asked for less often, and is named in the log.
const QUICK_ATTEMPTS: u32 = 50;
const LONG_LOCK_PAUSE: Duration = Duration::from_millis(500);

/// How much longer than an undo a run may take that has let go of its guardian and lives: it undoes
/// after a bug, and nobody hears whether it still does.
const ALONE_FOR: Duration = Duration::from_secs(120);

/// Between two attempts to read the journal, or to write what became of the run.
const AGAIN_AFTER: Duration = Duration::from_secs(5);

/// Ends the run. Returns when there is nothing left to do, or nothing more that can be done.
pub(super) fn end_run(charge: &Charge, fence: &Fence, why: String, process: RunProcess) {
    match process {
        RunProcess::Gone => {}
        RunProcess::Hangs => end_process(fence),
    }
    let Some(lock) = own_lock(charge, fence) else {
        return;
    };
    // Until the end of this: whoever starts meanwhile would meet the fault of a run that is no more.
    let _others = locked_targets(charge);
    finish(charge, &lock, why);
}

fn end_process(fence: &Fence) {
    say(&match fence.kill() {
        Ok(Ended::Now) => "killed the run's process, so that it writes nothing more".to_owned(),
        Ok(Ended::Before) => "the run's process is no more".to_owned(),
        Err(why) => format!("the run's process cannot be killed: {why}"),
    });
}

/// Waits for the run's own lock: whoever has it writes the journal and undoes. `None`: there is none to
/// be had.
fn own_lock(charge: &Charge, fence: &Fence) -> Option<Writing> {
    let until = Instant::now() + charge.undo_within.as_duration();
    let mut alone = ALONE_FOR.saturating_add(charge.undo_within.as_duration());
    for attempt in 0_u32.. {
        let writer = Writer {
            rescuer: Some(Rescuer::Guardian),
            person: charge.holder.person.clone(),
            pid: std::process::id(),
            since: Clock::wall(),
        };
        match Writing::take(&charge.folder, &writer) {
            Ok(WantedWriting::Taken(lock)) => return Some(lock),
            Ok(WantedWriting::Held(other)) if attempt == QUICK_ATTEMPTS => {
                say(&format!("waits: {} has the run's lock", named(other)));
            }
            Ok(WantedWriting::Held(_)) => {}
            Err(problem) if Instant::now() >= until || !charge.folder.exists() => {
                say(&format!("gives up: {}", problem.message));
                return None;
            }
            Err(problem) if attempt % QUICK_ATTEMPTS == 0 => say(&problem.message),
            Err(_) => {}
        }
        let pause = match attempt {
            0..QUICK_ATTEMPTS => LOCK_PAUSE,
            QUICK_ATTEMPTS.. => LONG_LOCK_PAUSE,
        };
        sleep(pause);
        // Counted in pauses, which a sleep of the machine does not make longer.
        alone = alone.saturating_sub(pause);
        if alone.is_zero() && fence.is_there() {
            say("the run has let go of its guardian, and does not end");
            end_process(fence);
            alone = ALONE_FOR;
        }
    }
    None
}

fn named(writer: Option<Writer>) -> String {
    let Some(writer) = writer else {
        return "somebody".to_owned();
    };
    let who = writer.rescuer.map_or("chaos run", Rescuer::word);
    format!("{who} of {}, pid {},", writer.person, writer.pid)
}

/// The locks that the run had, as far as nobody else has them by now.
fn locked_targets(charge: &Charge) -> Vec<Lock> {
    let holder = Holder {
        since: Clock::wall(),
        pid: std::process::id(),
        ..charge.holder.clone()
    };
    let locks = match Locks::open(charge.lock_folder.clone()) {
        Ok(locks) => locks,
        Err(problem) => {
            say(&format!("goes on without locks: {}", problem.message));
            return Vec::new();
        }
    };
    let mut held = Vec::new();
    for name in &charge.locks {
        match locks.take(name, &holder) {
            Ok(Attempt::Taken(lock)) => held.push(lock),
            // What it undoes is only what its own run put in.
            Ok(Attempt::Held(_)) => say(&format!("goes on beside another run on {name}")),
            Err(problem) => say(&format!("goes on without a lock: {}", problem.message)),
        }
    }
    held
}

/// Goes on with the run until its end stands in its journal, or the deadline of an undo has passed with
/// the journal out of reach.
fn finish(charge: &Charge, lock: &Writing, why: String) {
    let takeover = Takeover {
        by: Rescuer::Guardian,
        person: charge.holder.person.clone(),
        why,
    };
    let until = Instant::now() + charge.undo_within.as_duration();
    loop {
        match attempt(charge, lock, &takeover) {
            Ok(None) => {
                say("the run has ended, and nothing of it is in place");
                return;
            }
            Ok(Some(settlement)) => match settlement.evidence {
                None => return,
                Some(problem) => say(&format!("the journal lacks it: {}", problem.message)),
            },
            Err(problem) => say(&problem.message),
        }
        // Nobody knows any more what to undo where the folder was removed.
        if Instant::now() >= until || !charge.folder.exists() {
            say("gives up; `chaos recover` ends the run once its journal can be written");
            return;
        }
        sleep(AGAIN_AFTER.min(until.saturating_duration_since(Instant::now())));
    }
}

/// Only now is there anything that takes memory: clients, and a runtime for them.
fn attempt(
    charge: &Charge,
    lock: &Writing,
    takeover: &Takeover,
) -> Result<Option<Settlement>, Problem> {
    let clients = Clients::new()?.with_kubeconfig(charge.kubeconfigs.clone());
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(|why| unexpected(&format!("no asynchronous runtime here: {why}")))?;
    let over = TakingOver {
        journal: &charge.journal,
        clients: &clients,
        undo_within: charge.undo_within.as_duration(),
        takeover: takeover.clone(),
        audience: Box::new(log::tell),
    };
    let taken = catch_unwind(AssertUnwindSafe(|| runtime.block_on(take_over(lock, over))));
    taken.unwrap_or_else(|_| {
        Err(unexpected(
            "a bug cut the takeover short; its words stand above",
        ))
    })
}

fn unexpected(words: &str) -> Problem {
    Problem::new(ProblemKind::Unexpected, words)
}

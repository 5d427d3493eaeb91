//! The guardian of a run that a test started: who it is, and whether it is still there.
#![expect(clippy::unwrap_used, reason = "a test that cannot look has failed")]

use std::time::Duration;

use chaos_gameday::journal::{self, RunEntry};
use chaos_gameday::model::event::{Event, Record};
use rustix::process::{Pid, Signal, kill_process};
use tokio::time::{Instant, sleep};

use super::process::{PATIENCE, Place, Running};

const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The latest run of a place.
pub fn latest_run(place: &Place) -> RunEntry {
    place.store().find_run("last").unwrap()
}

/// What stands in its journal.
pub fn records(place: &Place) -> Vec<Record> {
    journal::read(&latest_run(place).journal).unwrap().records
}

/// What its guardians wrote down.
pub fn log(place: &Place) -> String {
    let path = latest_run(place).journal.with_file_name("guardian.log");
    std::fs::read_to_string(path).unwrap_or_default()
}

/// Its guardians so far, in order.
pub fn guardians(place: &Place) -> Vec<Pid> {
    let started = records(place).into_iter().filter_map(|record| {
        let Event::GuardianStarted { pid } = record.event else {
            return None;
        };
        Pid::from_raw(pid.cast_signed())
    });
    started.collect()
}

/// The one that is on its watch now.
pub fn guardian_of(place: &Place) -> Pid {
    *guardians(place).last().expect("a guardian was posted")
}

/// Whether a process is there. A zombie is none: only its parent has yet to notice.
pub fn is_there(pid: Pid) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.as_raw_nonzero()));
    stat.is_ok_and(|stat| {
        let (_, after) = stat.rsplit_once(") ").unwrap();
        !after.starts_with(['Z', 'X'])
    })
}

/// Waits until it is so.
pub async fn until(what: &str, is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "never: {what}");
        sleep(BETWEEN_LOOKS).await;
    }
}

/// Waits until it is no more.
pub async fn until_gone(pid: Pid) {
    until("the guardian is gone", || !is_there(pid)).await;
}

/// Kills both, so that neither can do anything about it.
pub async fn kill_both(run: Running, place: &Place) {
    // One that goes on would put another guardian in the place of the first.
    run.signal(Signal::STOP);
    let guardian = guardian_of(place);
    kill_process(guardian, Signal::KILL).unwrap();
    run.signal(Signal::KILL);
    run.ended().await;
    until_gone(guardian).await;
}

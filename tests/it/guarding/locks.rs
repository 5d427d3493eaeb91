//! One at a time: who may end a run, and who may begin another one meanwhile.

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::guardian::{TakingOver, take_over};
use chaos_gameday::journal::{WantedWriting, Writer, Writing};
use chaos_gameday::model::takeover::{Rescuer, Takeover};
use rustix::process::{Signal, kill_process};
use tokio::time::sleep;

use super::deaths::DIED;
use super::{SOON, Scene, assert_rescued, ending, takeovers, until_killed};
use crate::cli::{FAULT_IS_IN, approve, experiment};
use crate::support::engine::person_at_desk;
use crate::support::gate::{Gate, Way};
use crate::support::guardian::{guardian_of, latest_run, log, until};
use crate::support::process::Place;

/// Somebody who wants to end the latest run of a place as `chaos recover` does.
struct Other<'a> {
    place: &'a Place,
}

impl Other<'_> {
    fn wants(&self) -> WantedWriting {
        let writer = Writer {
            rescuer: Some(Rescuer::Recover),
            person: person_at_desk(),
            pid: std::process::id(),
            since: jiff::Timestamp::UNIX_EPOCH,
        };
        let journal = latest_run(self.place).journal;
        Writing::take(journal.parent().unwrap(), &writer).unwrap()
    }

    /// Tries until somebody has it; `Some`: that is us.
    async fn tries(&self) -> Option<Writing> {
        loop {
            match self.wants() {
                WantedWriting::Taken(lock) => return Some(lock),
                WantedWriting::Held(Some(writer)) if writer.rescuer.is_some() => return None,
                WantedWriting::Held(_) => sleep(Duration::from_millis(1)).await,
            }
        }
    }

    async fn ends_it(&self, lock: &Writing) {
        let over = TakingOver {
            journal: &latest_run(self.place).journal,
            clients: &Clients::new().unwrap(),
            undo_within: Duration::from_secs(30),
            takeover: Takeover {
                by: Rescuer::Recover,
                person: person_at_desk(),
                why: "a test".to_owned(),
            },
            audience: Box::new(|_, _| {}),
        };
        take_over(lock, over).await.unwrap();
    }
}

#[tokio::test]
async fn of_two_who_would_end_a_run_one_does() {
    let scene = Scene::new().await;
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    let other = Other {
        place: &scene.place,
    };
    run.signal(Signal::KILL);
    if let Some(lock) = other.tries().await {
        other.ends_it(&lock).await;
    }
    until_killed(run).await;
    scene.until_unguarded().await;
    assert!(scene.is_clean().await);
    assert_eq!(takeovers(&scene.place).len(), 1);
    ending(&scene.place);
}

/// A run that was killed, whose guardian is stopped until somebody else has the run's lock.
async fn overtaken(scene: &Scene) -> Writing {
    let mut run = scene.start(&["HOLD=1m"]).await;
    run.says(FAULT_IS_IN).await;
    let guardian = guardian_of(&scene.place);
    kill_process(guardian, Signal::STOP).unwrap();
    run.signal(Signal::KILL);
    until_killed(run).await;
    let other = Other {
        place: &scene.place,
    };
    let lock = other.tries().await.expect("nobody else wants it");
    kill_process(guardian, Signal::CONT).unwrap();
    let waits = "has the run's lock";
    until("it waits", || log(&scene.place).contains(waits)).await;
    lock
}

#[tokio::test]
async fn a_guardian_waits_for_whoever_is_at_it_and_leaves_once_he_has_ended_it() {
    let scene = Scene::new().await;
    let lock = overtaken(&scene).await;
    assert!(!scene.is_clean().await, "it keeps its hands off");
    let other = Other {
        place: &scene.place,
    };
    other.ends_it(&lock).await;
    drop(lock);
    scene.until_unguarded().await;
    assert!(scene.is_clean().await);
    let by = (Rescuer::Recover, "a test".to_owned());
    assert_eq!(takeovers(&scene.place), [by]);
    assert!(log(&scene.place).contains("nothing of it is in place"));
}

#[tokio::test]
async fn a_guardian_goes_on_where_whoever_was_at_it_gave_up() {
    let scene = Scene::new().await;
    let lock = overtaken(&scene).await;
    drop(lock);
    scene.until_clean(SOON).await;
    scene.until_unguarded().await;
    assert_rescued(&scene.place, DIED);
}

#[tokio::test]
async fn nobody_begins_on_a_world_in_which_a_guardian_is_at_work() {
    let scene = Scene::new().await;
    let gate = Gate::before(scene.bench.sandbox.aws_url()).await;
    let plan = scene.approved_at(&gate.url, &["HOLD=1m"]).await;
    // By another name, and with a state folder of its own.
    let elsewhere = Place::new();
    let endpoint = scene.bench.sandbox.aws_url();
    let rules = "{service: sqs, operation: SendMessage}";
    let text = experiment(endpoint, &scene.service.url("/orders"), rules);
    elsewhere.write("other.yaml", &text);
    let planned = elsewhere
        .chaos(&["plan", "-q", "other.yaml"])
        .await
        .exits(0);
    let other = planned.stdout.trim().to_owned();
    approve(&elsewhere, &other);

    let mut run = scene.place.start(&["run", &plan]);
    run.says(FAULT_IS_IN).await;
    gate.becomes(Way::Shut);
    run.signal(Signal::KILL);
    until_killed(run).await;
    let tried = "attempt 1 failed";
    until("it tries", || log(&scene.place).contains(tried)).await;
    let mut second = elsewhere.command(&["run", &other]);
    second.env("CHAOS_LOCK_DIR", scene.place.runtime());
    let second = crate::support::process::Running::of(second).ended().await;
    second.exits(3).tells("another run is under way on http://");
    gate.becomes(Way::Open);
    scene.until_unguarded().await;
    assert_rescued(&scene.place, DIED);
}

//! The guardian, with real processes and a real sandbox: whatever becomes of a run, the sandbox's own
//! list of rules is the judge, and the journal has to tell what happened.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod deaths;
mod engine;
mod guardians;
mod hangs;
mod locks;
mod outages;
mod process;

use std::time::Duration;

use chaos_gameday::journal::{self, JournalEnd};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::Event;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::takeover::Rescuer;
use chaos_gameday::sandbox::AppVersion;
use rustix::process::Signal;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use crate::cli::{approve, experiment};
use crate::support::guardian::{guardians, latest_run, log, records, until_gone};
use crate::support::process::{PATIENCE, Place, Running};
use crate::support::sandbox::{Answer, Bench};
use crate::support::target::{Behaviour, Target};

/// How long a fault may stay in after the death of its run: the period of the guardian, and what a busy
/// machine adds to it.
const SOON: Duration = Duration::from_secs(10);

/// A sandbox in this process, a service under traffic, and a place to start runs in.
struct Scene {
    bench: Bench,
    service: Target,
    place: Place,
    /// What stood in the sandbox before.
    before: Answer,
}

impl Scene {
    async fn new() -> Self {
        let bench = Bench::start(AppVersion::Fixed).await;
        let theirs = json!([{"region": "eu-west-1", "service": "sqs", "probability": 0.5}]);
        bench.faults("PATCH", theirs).await;
        Self {
            before: bench.faults("GET", Value::Null).await,
            bench,
            service: Target::start(Behaviour::Answer(vec![200])).await,
            place: Place::new(),
        }
    }

    /// Plans and approves an experiment on the sandbox at this address; returns the plan's id.
    async fn approved_at(&self, endpoint: &str, variables: &[&str]) -> String {
        let service = self.service.url("/orders");
        let rules = "{service: kinesis, operation: PutRecord}";
        let text = experiment(endpoint, &service, rules);
        self.place.write("stream-down.yaml", &text);
        let mut args = vec!["plan", "-q", "stream-down.yaml"];
        for variable in variables {
            args.extend(["--var", variable]);
        }
        let planned = self.place.chaos(&args).await.exits(0);
        let plan = planned.stdout.trim();
        approve(&self.place, plan);
        plan.to_owned()
    }

    async fn start(&self, variables: &[&str]) -> Running {
        let endpoint = self.bench.sandbox.aws_url();
        let plan = self.approved_at(endpoint, variables).await;
        self.place.start(&["run", &plan])
    }

    /// Whether the rules in the sandbox are those that stood there before.
    async fn is_clean(&self) -> bool {
        self.bench.faults("GET", Value::Null).await == self.before
    }

    /// Waits until they are; returns how long that took.
    async fn until_clean(&self, within: Duration) -> Duration {
        let begun = Instant::now();
        while !self.is_clean().await {
            assert!(begun.elapsed() < within, "{}", log(&self.place));
            sleep(Duration::from_millis(10)).await;
        }
        begun.elapsed()
    }

    /// Waits until no guardian of the latest run is left.
    async fn until_unguarded(&self) {
        for guardian in guardians(&self.place) {
            until_gone(guardian).await;
        }
    }
}

/// How the latest run ended by its journal, which has to be whole and to go by the table of phases.
#[track_caller]
fn ending(place: &Place) -> (Outcome, Cause) {
    let read = journal::read(&latest_run(place).journal).unwrap();
    assert_eq!(read.breaks, []);
    assert_eq!(read.end, JournalEnd::Settled, "{}", log(place));
    let mut phase = Phase::Preflight;
    for record in &read.records {
        if let Event::PhaseEntered {
            phase: to, trigger, ..
        } = record.event
        {
            assert_eq!(phase.next(trigger).ok(), Some(to), "{record:?}");
            phase = to;
        }
    }
    match read.records.last().map(|last| &last.event) {
        Some(Event::Settled { outcome, cause }) => (*outcome, cause.clone()),
        last => panic!("the end is not the last word: {last:?}"),
    }
}

/// Who took the latest run over, and why, in order.
fn takeovers(place: &Place) -> Vec<(Rescuer, String)> {
    let records = records(place).into_iter();
    let taken = records.filter_map(|record| {
        let Event::TakenOver(takeover) = record.event else {
            return None;
        };
        Some((takeover.by, takeover.why))
    });
    taken.collect()
}

/// That the guardian, and nobody else, ended the latest run, for this reason.
#[track_caller]
fn assert_rescued(place: &Place, why: &str) {
    let by = Rescuer::Guardian;
    assert_eq!(takeovers(place), [(by, why.to_owned())]);
    let why = why.to_owned();
    let expected = (Outcome::Inconclusive, Cause::Rescued { by, why });
    assert_eq!(ending(place), expected);
}

/// Waits until a run has been killed, by this or somebody else's signal.
async fn until_killed(run: Running) {
    use std::os::unix::process::ExitStatusExt as _;
    let ended = tokio::time::timeout(PATIENCE, run.ended()).await.unwrap();
    assert_eq!(ended.status.signal(), Some(Signal::KILL.as_raw()));
}

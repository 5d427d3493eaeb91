//! What is durable at the moment in which the first write to the world is sent: the journal itself on a
//! disk that tells, and a driver that looks at it then.
#![expect(clippy::unwrap_used, reason = "a test that cannot look has failed")]

use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use chaos_gameday::faults::{Fault, FaultDriver, Injection, Owner, Prepared};
use chaos_gameday::journal::{self, Header, Journal, Medium};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::request::{Absence, Proof};
use chaos_gameday::model::undo::Undo;
use chaos_gameday::run::Sink;
use futures_util::future::BoxFuture;

use crate::support::engine::Scene;

/// A disk that loses all that was not synced. A sync that nobody waits for makes nothing durable.
#[derive(Debug, Clone, Default)]
struct Disk(Arc<Mutex<Bytes>>);

#[derive(Debug, Default)]
struct Bytes {
    written: Vec<u8>,
    durable: usize,
}

impl Medium for Disk {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.lock().unwrap().written.extend(bytes);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let length = usize::try_from(length).unwrap();
        self.0.lock().unwrap().written.truncate(length);
        Ok(())
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let mut bytes = self.0.lock().unwrap();
        bytes.durable = bytes.written.len();
        Ok(())
    }
}

impl Disk {
    /// What a journal says after the power failed at this moment.
    fn survives(&self) -> Vec<Record> {
        let bytes = self.0.lock().unwrap();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes.written[..bytes.durable]).unwrap();
        journal::read(file.path()).unwrap().records
    }
}

/// The journal, as a run has it.
struct OnDisk(Journal);

impl Sink for OnDisk {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        self.0.append(record, record.event.durability())
    }

    fn last(&self) -> Option<u64> {
        self.0.last_seq()
    }
}

/// Looks at the disk before it writes to the world.
struct Looking {
    driver: Arc<dyn FaultDriver>,
    disk: Disk,
    seen: Arc<Mutex<Vec<Vec<Record>>>>,
}

impl FaultDriver for Looking {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        self.driver.prepare(fault, owner)
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.seen.lock().unwrap().push(self.disk.survives());
        self.driver.inject(undo)
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        self.driver.confirm(undo)
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.driver.revert(undo)
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        self.driver.verify_gone(undo)
    }
}

fn header() -> Header {
    Header {
        tool: "0.1.0".to_owned(),
        run: "r-20260101-000000-test".parse().unwrap(),
        plan: "p-3a1fd9bca3".parse().unwrap(),
        digest: Digest::of(b"plan"),
        started: "2026-01-01T00:00:00Z".parse().unwrap(),
    }
}

#[tokio::test(start_paused = true)]
async fn the_undo_and_the_word_that_it_goes_in_are_durable_before_anything_is_sent() {
    let disk = Disk::default();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let medium = Box::new(disk.clone());
    let journal = Journal::begin(medium, Path::new("journal.jsonl"), &header()).unwrap();
    let (looked_at, told) = (disk.clone(), Arc::clone(&seen));
    let scene = Scene {
        steps: vec!["slow stream", "lost stream"],
        through: Box::new(move |driver| {
            Arc::new(Looking {
                driver,
                disk: looked_at.clone(),
                seen: Arc::clone(&told),
            })
        }),
        ..Scene::healthy()
    };
    let nobody = |_, _| async {};
    let settlement = scene.run_into(Box::new(OnDisk(journal)), nobody).await;
    assert_eq!(settlement.outcome, Outcome::Held);

    let seen = seen.lock().unwrap().clone();
    assert_eq!(seen.len(), 2, "one inject for each step");
    for (step, records) in seen.iter().enumerate() {
        let has = |wanted: &dyn Fn(&Event) -> bool| {
            let mut events = records.iter().map(|record| &record.event);
            events.any(wanted)
        };
        assert!(
            has(&|event| matches!(event, Event::UndoRecorded { step: of, .. } if *of == step)),
            "step {step} goes in and its undo can be lost"
        );
        assert!(
            has(&|event| matches!(
                event,
                Event::PhaseEntered { phase: Phase::Injecting, step: Some(of), .. } if *of == step
            )),
            "step {step} goes in and nobody would know"
        );
    }
    let last = disk.survives().pop().unwrap();
    assert!(matches!(last.event, Event::Settled { .. }), "{last:?}");
}

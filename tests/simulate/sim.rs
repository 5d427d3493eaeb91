//! One schedule under way: the world, the disk, the processes, and what is seen of them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use chaos_gameday::faults::simulated::{Direction, Sent, SimulatedWorld};
use chaos_gameday::journal;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::undo::Undo;
use chaos_gameday::run::{Operator, Settlement};
use jiff::{SignedDuration, Timestamp};
use tokio::time::Instant;

use crate::dice::Dice;
use crate::disk::Disk;
use crate::life::{Life, Role, current};
use crate::localstack::{Stack, Wild};
use crate::plans::{self, Shape};
use crate::schedule::{Doom, How, Place, Schedule, behaviour, stormy};
use crate::world::{Kind, World};

/// Where the journal is said to lie.
pub const JOURNAL: &str = "journal.jsonl";

/// An event that a process wrote, or tried to.
#[derive(Debug, Clone)]
pub struct Told {
    pub life: u32,
    pub record: Record,
    /// When, by the world's own clock: a process that was stopped before it looked at its own is behind.
    pub at: Instant,
    /// Whether it stands in the journal; `None`: only the process knows.
    pub written: Option<bool>,
}

/// A process said that the run has ended.
#[derive(Debug, Clone)]
pub struct Settled {
    pub role: Role,
    pub at: Instant,
    pub in_place: Vec<String>,
    pub settlement: Settlement,
}

/// A reading that came back.
#[derive(Debug, Clone)]
pub struct Seen {
    pub slo: String,
    pub asked_ms: u64,
    pub answered_ms: u64,
    pub reading: Reading,
}

/// One schedule under way.
#[derive(Debug)]
pub struct Sim {
    pub schedule: Schedule,
    pub world: World,
    pub disk: Disk,
    pub began: Instant,
    tame: Arc<AtomicBool>,
    tracing: Tracing,
    inner: Mutex<Inner>,
}

/// Whether a person will read it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tracing {
    On,
    Off,
}

#[derive(Debug, Default)]
pub struct Inner {
    /// Who holds the run's own lock.
    lock: Option<u32>,
    pub lives: Vec<Arc<Life>>,
    /// Processes under way.
    pub busy: usize,
    pub violations: Vec<String>,
    pub trace: String,
    pub operator: Option<Operator>,
    pub slept_ms: u64,
    pub told: Vec<Told>,
    pub settled: Vec<Settled>,
    pub readings: Vec<Seen>,
    /// Somebody outside wanted the run to end.
    pub wished: bool,
    /// Milliseconds at which the run's process was stopped, or the machine slept.
    pub disturbed_ms: Vec<u64>,
    pub guardians: usize,
    pub power_lost: bool,
}

impl Sim {
    pub fn new(schedule: Schedule, tracing: Tracing) -> Arc<Self> {
        let seed = schedule.seed;
        let began = Instant::now();
        let shape = plans::shape(schedule.shape);
        let world = match shape.world {
            Kind::Scripted => World::Scripted(SimulatedWorld::new()),
            Kind::LocalStack => World::LocalStack(Box::new(Stack::new(
                Dice::of(seed, 2),
                Wild {
                    writes: schedule.wild_writes,
                    reads: schedule.wild_reads,
                    pace: Duration::from_millis(schedule.sluggish_ms),
                    storm: (
                        began + Duration::from_millis(schedule.storm.0),
                        began + Duration::from_millis(schedule.storm.1),
                    ),
                    until: began
                        .checked_add(Duration::from_millis(schedule.tame_from_ms.min(1 << 40))),
                },
            ))),
        };
        let sim = Arc::new(Self {
            world,
            disk: Disk::new(schedule.disk, Dice::of(seed, 1)),
            began,
            tame: Arc::default(),
            tracing,
            inner: Mutex::default(),
            schedule,
        });
        if let World::Scripted(world) = &sim.world {
            for (fault, parts) in &shape.parts {
                world.give_parts(fault, *parts);
            }
            sim.script_world(world, seed);
        }
        sim
    }

    fn script_world(self: &Arc<Self>, world: &SimulatedWorld, seed: u64) {
        let tame = Arc::clone(&self.tame);
        let began = self.began;
        let Schedule {
            wild_writes,
            wild_reads,
            tame_from_ms,
            storm,
            ..
        } = self.schedule;
        let mut dice = Dice::of(seed, 2);
        let watcher = Arc::downgrade(self);
        world.decides(move |operation, fault| {
            use chaos_gameday::faults::simulated::Operation;
            let wild = match operation {
                _ if tame.load(Ordering::Relaxed) => 0,
                _ if elapsed_ms(began) >= tame_from_ms => 0,
                Operation::Inject | Operation::Revert => wild_writes,
                Operation::Confirm | Operation::VerifyGone => wild_reads,
                Operation::Prepare => wild_reads / 3,
            };
            let now_ms = elapsed_ms(began);
            let in_storm = storm.0 <= now_ms && now_ms < storm.1;
            let behaviour = match in_storm && !tame.load(Ordering::Relaxed) {
                true => stormy(&mut dice),
                false => behaviour(&mut dice, wild, operation),
            };
            if let Some(sim) = watcher.upgrade() {
                sim.trace(|| format!("{} {fault}: {behaviour:?}", operation.word()));
            }
            behaviour
        });
        let watcher = Arc::downgrade(self);
        world.observes(move |sent| {
            if let Some(sim) = watcher.upgrade() {
                sim.scripted_write_sent(sent);
            }
        });
    }

    pub fn shape(&self) -> &'static Shape {
        plans::shape(self.schedule.shape)
    }

    pub fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Milliseconds since the schedule began.
    pub fn now_ms(&self) -> u64 {
        elapsed_ms(self.began)
    }

    pub fn ms_of(&self, moment: Instant) -> u64 {
        let since = moment.saturating_duration_since(self.began).as_millis();
        u64::try_from(since).unwrap_or(u64::MAX)
    }

    /// A clock that goes on while the machine sleeps.
    pub fn boot_time(&self) -> Duration {
        Duration::from_millis(self.now_ms() + self.inner().slept_ms)
    }

    /// UTC.
    pub fn utc(&self) -> Timestamp {
        let since = SignedDuration::try_from(self.boot_time()).unwrap_or_default();
        plans::beginning()
            .checked_add(since)
            .unwrap_or(Timestamp::MAX)
    }

    /// From now on the world does what it is told, and so does the disk.
    pub fn tame(&self) {
        self.tame.store(true, Ordering::Relaxed);
        if let World::LocalStack(stack) = &self.world {
            stack.tame();
        }
        self.disk.tame();
    }

    pub fn violate(&self, what: impl Into<String>) {
        let what = what.into();
        self.trace(|| format!("VIOLATED: {what}"));
        self.inner().violations.push(what);
    }

    pub fn trace(&self, line: impl FnOnce() -> String) {
        if self.tracing == Tracing::Off {
            return;
        }
        let who = current().map_or_else(|| "-".to_owned(), |id| self.name_of(id));
        let line = format!("{:>7} ms  {who:<12} {}\n", self.now_ms(), line());
        self.inner().trace.push_str(&line);
    }

    fn name_of(&self, id: u32) -> String {
        let role = self
            .inner()
            .lives
            .iter()
            .find(|life| life.id == id)
            .map(|life| life.role);
        role.map_or_else(|| id.to_string(), |role| format!("{role:?} {id}"))
    }

    /// Starts the life of a process.
    pub fn begin(self: &Arc<Self>, role: Role, dooms: Vec<Doom>) -> Arc<Life> {
        let life = {
            let mut inner = self.inner();
            let id = u32::try_from(inner.lives.len()).expect("few processes") + 1;
            let life = Life::new(id, role, dooms);
            inner.lives.push(Arc::clone(&life));
            inner.busy += 1;
            life
        };
        self.trace(|| format!("{role:?} {} begins", life.id));
        for (at_ms, how) in life.timed() {
            let (sim, life) = (Arc::clone(self), Arc::clone(&life));
            tokio::spawn(async move {
                tokio::time::sleep_until(sim.began + Duration::from_millis(at_ms)).await;
                sim.struck(&life, how);
            });
        }
        life
    }

    /// Its process has nothing more to do, or is dead.
    pub fn over(&self, life: &Life) {
        self.unlock(life);
        self.inner().busy -= 1;
        self.trace(|| format!("{:?} {} is over", life.role, life.id));
    }

    /// What is due when a process passes this place.
    pub fn strike(self: &Arc<Self>, life: &Arc<Life>, place: Place) {
        for how in life.pass(place) {
            self.trace(|| format!("{how:?} at {place:?}"));
            let catches = match place {
                // The session goes on where its engine panics; nobody does so for a rescuer.
                Place::Event | Place::Milestone => life.role == Role::Run,
                Place::Call | Place::Answer => true,
                Place::Append | Place::Torn | Place::Sync | Place::Synced => false,
            };
            if how == How::Panic && catches {
                std::panic::resume_unwind(Box::new("as scripted"));
            }
            self.struck(life, how);
        }
    }

    fn struck(self: &Arc<Self>, life: &Arc<Life>, how: How) {
        if life.is_dead() {
            return;
        }
        match how {
            How::Kill | How::Panic => self.kill(life),
            How::PowerLoss => self.lose_power(),
            How::Stop(ms) => self.stop(life, ms),
        }
    }

    /// kill -9
    pub fn kill(&self, life: &Life) {
        self.trace(|| format!("{:?} {} is killed", life.role, life.id));
        life.die();
        self.unlock(life);
        if life.role == Role::Run {
            self.inner().operator = None;
        }
    }

    fn lose_power(&self) {
        self.trace(|| "the power is lost".to_owned());
        let lives = {
            let mut inner = self.inner();
            inner.power_lost = true;
            inner.lives.clone()
        };
        for life in lives {
            if !life.is_dead() {
                self.kill(&life);
            }
        }
        self.disk.lose_power();
    }

    fn stop(self: &Arc<Self>, life: &Arc<Life>, ms: u64) {
        self.trace(|| format!("{:?} {} is stopped for {ms} ms", life.role, life.id));
        if life.role == Role::Run {
            let now_ms = self.now_ms();
            self.inner().disturbed_ms.extend([now_ms, now_ms + ms]);
        }
        life.stop();
        let (sim, life) = (Arc::clone(self), Arc::clone(life));
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(ms)).await;
            sim.trace(|| format!("{:?} {} goes on", life.role, life.id));
            life.go_on();
        });
    }

    /// Takes the run's own lock, if nobody has it.
    pub fn lock(&self, life: &Life) -> bool {
        let taken = {
            let mut inner = self.inner();
            if inner.lock.is_none() && !life.is_dead() {
                inner.lock = Some(life.id);
            }
            inner.lock == Some(life.id)
        };
        if taken {
            self.trace(|| "takes the lock".to_owned());
        }
        taken
    }

    pub fn unlock(&self, life: &Life) {
        let mut inner = self.inner();
        if inner.lock == Some(life.id) {
            inner.lock = None;
        }
    }

    /// The process that holds the run's own lock.
    pub fn writer(&self) -> Option<Arc<Life>> {
        let inner = self.inner();
        let id = inner.lock?;
        inner.lives.iter().find(|life| life.id == id).cloned()
    }

    /// Law: one writer at a time.
    pub fn expect_writer(&self, life: &Life, does: &str) {
        let holder = self.inner().lock;
        if holder != Some(life.id) {
            self.violate(format!(
                "{:?} {} {does} while {holder:?} holds the lock",
                life.role, life.id
            ));
        }
    }

    fn scripted_write_sent(&self, sent: &Sent) {
        let Some(id) = current() else {
            self.violate(format!("{sent:?} by nobody"));
            return;
        };
        let life = self
            .inner()
            .lives
            .iter()
            .find(|life| life.id == id)
            .cloned();
        let life = life.expect("a process that was begun");
        let goes_in = sent.direction == Direction::In;
        self.write_sent(&life, goes_in.then_some(&sent.fault));
    }

    /// Law: a write to the world is its writer's, and one that puts something in has a durable undo.
    pub fn write_sent(&self, life: &Life, goes_in: Option<&str>) {
        self.expect_writer(life, "writes to the world");
        if let Some(fault) = goes_in
            && !self.is_armed(fault)
        {
            self.violate(format!("`{fault}` goes in without a durable undo"));
        }
    }

    /// The LocalStack of a schedule that has one.
    pub fn stack(&self) -> &Stack {
        match &self.world {
            World::LocalStack(stack) => stack,
            World::Scripted(_) => unreachable!("only its own lines ask for it"),
        }
    }

    fn is_armed(&self, fault: &str) -> bool {
        let Ok(recorded) = journal::read_from(&self.disk.synced()[..], Path::new(JOURNAL)) else {
            return false;
        };
        let state = RunState::of(&recorded.records);
        state.in_place().any(|(_, step)| match &step.undo {
            Some(Undo::Simulated(undo)) => undo.fault == fault,
            Some(Undo::LocalStack(_)) => true,
            Some(Undo::ChaosMesh(_)) | None => false,
        })
    }

    /// Keeps an event that a process recorded.
    pub fn told(&self, life: &Life, record: &Record, written: Option<bool>) {
        self.trace(|| {
            let mut line = String::new();
            let lost = if written == Some(false) {
                "NOT WRITTEN "
            } else {
                ""
            };
            let _ = write!(line, "{lost}{} {}", record.seq, words(&record.event));
            line
        });
        let told = Told {
            life: life.id,
            record: record.clone(),
            at: Instant::now(),
            written,
        };
        self.inner().told.push(told);
    }

    /// Keeps what a process says of the end.
    pub fn settled(&self, life: &Life, settlement: Settlement) {
        let in_place = self.world.in_place();
        self.trace(|| {
            format!(
                "settled as {:?}: {:?}; in place: {in_place:?}",
                settlement.outcome, settlement.cause
            )
        });
        self.inner().settled.push(Settled {
            role: life.role,
            at: Instant::now(),
            in_place,
            settlement,
        });
    }
}

fn elapsed_ms(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// An event for a person's eyes.
fn words(event: &Event) -> String {
    match event {
        Event::RunStarted { .. } => "RunStarted".to_owned(),
        Event::Approved { .. } => "Approved".to_owned(),
        Event::UndoRecorded { step, .. } => format!("UndoRecorded step {step}"),
        Event::Exchanged {
            purpose, exchange, ..
        } => {
            format!("Exchanged {purpose:?} {:?}", exchange.status)
        }
        other => {
            let text = format!("{other:?}");
            text.chars().take(180).collect()
        }
    }
}

//! The process of `chaos run`: the engine, its sink, and what the session does where the engine panics.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaos_gameday::faults::FaultDriver;
use chaos_gameday::journal::{self, Header, Journal, Tail};
use chaos_gameday::metrics::{Metric, Sources};
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::ids::RunId;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::takeover::{Rescuer, Takeover};
use chaos_gameday::model::undo::Undo;
use chaos_gameday::run::{
    Clock, Gauge, Input, Kit, Operator, Rescue, Runner, Settlement, Sink, Timing, operator, rescue,
};

use crate::disk::Handle;
use crate::drive::{Driving, Metering};
use crate::guardian::Post;
use crate::life::{Gate, Life, Role};
use crate::plans;
use crate::schedule::{Place, Posted};
use crate::sim::{JOURNAL, Sim};

/// How long an undo may take in these worlds.
pub const UNDO_WITHIN: Duration = Duration::from_secs(20);

const TIMING: Timing = Timing {
    confirm_within: Duration::from_secs(2),
    undo_within: UNDO_WITHIN,
    look_every: Duration::from_secs(1),
    unseen_for: Duration::from_secs(3),
};

pub fn run_id() -> RunId {
    "r-20260101-000200-sim".parse().expect("a run id")
}

/// Begins the process; its end is told to the simulation.
pub fn begin(sim: &Arc<Sim>) {
    let life = sim.begin(Role::Run, sim.schedule.run_dooms.clone());
    let sim = Arc::clone(sim);
    tokio::spawn(async move {
        let process = tokio::spawn(Gate::new(
            &life,
            process(Arc::clone(&sim), Arc::clone(&life)),
        ));
        match process.await {
            Ok(Some(Some(settlement))) => sim.settled(&life, settlement),
            Ok(Some(None) | None) => {}
            // A panic that nobody catches ends the process.
            Err(_) => sim.kill(&life),
        }
        sim.inner().operator = None;
        sim.over(&life);
    });
}

/// `None`: no journal could be begun, and nothing was done.
async fn process(sim: Arc<Sim>, life: Arc<Life>) -> Option<Settlement> {
    if !sim.lock(&life) {
        return None;
    }
    let shape = sim.shape();
    let header = Header {
        tool: "0.1.0".to_owned(),
        run: run_id(),
        plan: shape.plan.id().clone(),
        digest: shape.plan.digest().clone(),
        started: plans::beginning(),
    };
    let journal = Journal::begin(Handle::new(&sim, &life), Path::new(JOURNAL), &header).ok()?;
    let drivers: Vec<_> = shape
        .parts
        .iter()
        .map(|_| Driving::driver(&sim, &life))
        .collect();
    let known = Arc::new(Mutex::new(RunState::default()));
    let pen = |journal| Pen {
        sim: Arc::clone(&sim),
        life: Arc::clone(&life),
        journal,
        known: Arc::clone(&known),
    };
    let (own, inputs) = operator();
    sim.inner().operator = Some(own.clone());
    let mut runner = Runner::new(
        shape.plan.clone(),
        run_id(),
        plans::person(),
        kit(&sim, &life, &drivers),
    );
    if sim.schedule.posted != Posted::None {
        runner = runner.guarded(Box::new(Post::new(&sim, &life, own.clone())));
    }
    let beating = tokio::spawn(Gate::new(&life, beat(Arc::clone(&sim), own.clone())));
    let execution = runner.execute(Box::new(pen(Ok(journal))), own, inputs);
    let settlement = match tokio::spawn(Gate::new(&life, execution)).await {
        Ok(settlement) => settlement,
        Err(_) => {
            sim.trace(|| "the engine panicked".to_owned());
            let state = known.lock().unwrap_or_else(PoisonError::into_inner).clone();
            Some(go_on(&sim, &life, &drivers, state, pen).await)
        }
    };
    beating.abort();
    settlement
}

fn kit(sim: &Arc<Sim>, life: &Arc<Life>, drivers: &[Arc<dyn FaultDriver>]) -> Kit {
    let source = Metering::source(sim, life);
    let slos = &sim.shape().plan.plan().experiment.slos;
    let gauges = slos.iter().map(|gauged| Gauge {
        slo: gauged.slo.clone(),
        metric: Metric::Simulated(gauged.slo.name.clone()),
        source: Arc::clone(&source),
    });
    Kit {
        drivers: drivers.to_vec(),
        gauges: gauges.collect(),
        sources: Sources::simulated(Arc::clone(&source)),
        timing: TIMING,
        clock: Clock::starting_at(sim.utc()),
    }
}

/// As the session does it.
async fn beat(sim: Arc<Sim>, operator: Operator) {
    let mut known_ms = 0;
    loop {
        tokio::time::sleep(Duration::from_millis(500)).await;
        let slept_ms = sim.inner().slept_ms;
        if slept_ms > known_ms {
            let ms = slept_ms - known_ms;
            known_ms = slept_ms;
            let _ = operator.send(Input::Slept { ms });
        }
        if operator.send(Input::Beat).is_err() {
            return;
        }
    }
}

/// What the session does where its engine died.
async fn go_on(
    sim: &Arc<Sim>,
    life: &Arc<Life>,
    drivers: &[Arc<dyn FaultDriver>],
    mut state: RunState,
    pen: impl Fn(Result<Journal, Problem>) -> Pen,
) -> Settlement {
    let path = Path::new(JOURNAL);
    let bytes = sim.disk.bytes();
    let journal = journal::read_from(&bytes[..], path).and_then(|recorded| {
        state.seq = recorded.records.last().map_or(0, |record| record.seq);
        let tail = Tail::of(&mut &bytes[..]).expect("bytes can be read");
        Journal::go_on(Handle::new(sim, life), path, &tail)
    });
    let driver_of = |step: usize, _: &Undo| {
        let none = || Problem::new(ProblemKind::Unexpected, "no driver");
        drivers.get(step).cloned().ok_or_else(none)
    };
    rescue(Rescue {
        sink: Box::new(pen(journal)),
        clock: Clock::going_on(sim.utc(), &state),
        state,
        drivers: &driver_of,
        undo_within: UNDO_WITHIN,
        takeover: Takeover {
            by: Rescuer::Session,
            person: plans::person(),
            why: "a task panicked".to_owned(),
        },
    })
    .await
}

/// The journal first, then what everybody around the run knows.
struct Pen {
    sim: Arc<Sim>,
    life: Arc<Life>,
    journal: Result<Journal, Problem>,
    known: Arc<Mutex<RunState>>,
}

impl Sink for Pen {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        // Whoever is dead only seems to go on until the next time that it waits.
        if self.life.is_dead() {
            return Ok(());
        }
        self.sim.strike(&self.life, Place::Event);
        if self.life.is_dead() {
            return Ok(());
        }
        let written = match &mut self.journal {
            Ok(journal) => journal.append(record, record.event.durability()),
            Err(problem) => Err(problem.clone()),
        };
        if self.life.is_dead() {
            return Ok(());
        }
        let stands = written.is_ok() || self.last() == Some(record.seq);
        self.sim.told(&self.life, record, Some(stands));
        self.known
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .apply(record);
        if !matches!(record.event, Event::Sampled { .. }) {
            self.sim.strike(&self.life, Place::Milestone);
        }
        written
    }

    fn last(&self) -> Option<u64> {
        self.journal.as_ref().ok().and_then(Journal::last_seq)
    }
}

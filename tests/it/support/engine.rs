//! A run in a scripted world under paused time: one builder, one `Ended` to look at.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use chaos_gameday::faults::simulated::SimulatedWorld;
use chaos_gameday::faults::{Fault, FaultDriver, Owner};
use chaos_gameday::metrics::simulated::SimulatedSeries;
use chaos_gameday::metrics::{Metric, MetricSpecs, Sources};
use chaos_gameday::model::approval::{ApprovalMode, Person, SealedApproval};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::history::History;
use chaos_gameday::model::ids::{Digest, RunId};
use chaos_gameday::model::phase::{Phase, Trigger};
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::{Reaction, Slo};
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::takeover::{Rescuer, Takeover};
use chaos_gameday::model::undo::Undo;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::document::{Experiment, GaugedSlo, Step, Worlds};
use chaos_gameday::plan::{DocumentSource, Plan, PlannedStep, StoredPlan};
use chaos_gameday::policy::{self, Admission, AdmittedPlan};
use chaos_gameday::run::{
    Clock, Gauge, Guard, Input, Kit, Operator, Rescue, Runner, Settlement, Sink, Timing, Unguarded,
    operator, rescue,
};

use super::delays::Through;
use super::panicky::Panicky;

/// What a scripted run is made of.
pub struct Scene {
    pub world: SimulatedWorld,
    pub series: SimulatedSeries,
    pub patience: Span,
    /// How long the series may be blind before it trips.
    pub blind_patience: Span,
    pub reaction: Reaction,
    /// Between two readings.
    pub every: Span,
    pub steps: Vec<&'static str>,
    /// How long each fault is held.
    pub hold: Span,
    /// What stands between the engine and the world's driver.
    pub through: Through,
    pub journal: ScriptedJournal,
    /// The operation in which the driver panics once.
    pub panics_in: Option<&'static str>,
    pub guard: Box<dyn Guard>,
}

/// Whether the disk is full when this event comes.
type Fails = Arc<dyn Fn(&Event) -> bool + Send + Sync>;

/// A sink that keeps everything and can fail from some event on.
#[derive(Clone, Default)]
pub struct ScriptedJournal {
    records: Arc<Mutex<Vec<Record>>>,
    fails_at: Option<Fails>,
    /// Events that are written and cannot be synced.
    unsynced_at: Option<fn(&Event) -> bool>,
    /// Events at which the engine panics, once they are written.
    panics_at: Option<fn(&Event) -> bool>,
}

impl ScriptedJournal {
    pub fn failing_at(fails_at: impl Fn(&Event) -> bool + Send + Sync + 'static) -> Self {
        Self {
            fails_at: Some(Arc::new(fails_at)),
            ..Self::default()
        }
    }

    pub fn unsynced_at(unsynced_at: fn(&Event) -> bool) -> Self {
        Self {
            unsynced_at: Some(unsynced_at),
            ..Self::default()
        }
    }

    pub fn panicking_at(panics_at: fn(&Event) -> bool) -> Self {
        Self {
            panics_at: Some(panics_at),
            ..Self::default()
        }
    }

    pub fn records(&self) -> Vec<Record> {
        self.records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }
}

impl Sink for ScriptedJournal {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        if self
            .fails_at
            .as_ref()
            .is_some_and(|fails| fails(&record.event))
        {
            return Err(Problem::new(
                ProblemKind::Evidence,
                "no space left on device",
            ));
        }
        self.records
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(record.clone());
        if self.panics_at.is_some_and(|panics| panics(&record.event)) {
            panic!("the engine panics, as scripted");
        }
        match self.unsynced_at {
            Some(unsynced) if unsynced(&record.event) => {
                Err(Problem::new(ProblemKind::Evidence, "input/output error"))
            }
            _ => Ok(()),
        }
    }

    fn last(&self) -> Option<u64> {
        self.records().last().map(|record| record.seq)
    }
}

/// A run that ended.
pub struct Ended {
    pub settlement: Settlement,
    pub records: Vec<Record>,
    pub world: SimulatedWorld,
}

/// Ends a run that stopped with this state, as another process would: what could not be proven gone.
pub async fn rescued(state: RunState, drivers: &[Arc<dyn FaultDriver>]) -> Vec<String> {
    rescued_into(ScriptedJournal::default(), state, drivers).await
}

/// The same, with a record of it.
pub async fn rescued_into(
    journal: ScriptedJournal,
    state: RunState,
    drivers: &[Arc<dyn FaultDriver>],
) -> Vec<String> {
    let driver_of = |step: usize, undo: &Undo| {
        let none = || Problem::new(ProblemKind::Unexpected, format!("no driver for {undo:?}"));
        drivers.get(step).cloned().ok_or_else(none)
    };
    let settlement = rescue(Rescue {
        sink: Box::new(journal),
        clock: Clock::continued(a_time(), state.elapsed_ms),
        state,
        drivers: &driver_of,
        undo_within: Timing::default().undo_within,
        takeover: Takeover {
            by: Rescuer::Recover,
            person: person_at_desk(),
            why: "its process died".to_owned(),
        },
    });
    if let Cause::UndoUnproven { remaining } = settlement.await.cause {
        return remaining;
    }
    Vec::new()
}

fn a_time() -> jiff::Timestamp {
    "2026-01-01T00:00:00Z".parse().expect("a time")
}

pub fn good() -> Reading {
    Reading::Value(0.0)
}

pub fn bad() -> Reading {
    Reading::Value(0.5)
}

impl Scene {
    /// One step of 10 s on a healthy series after a baseline of 5 s; the objective is `< 1%`.
    pub fn healthy() -> Self {
        Self {
            world: SimulatedWorld::new(),
            series: SimulatedSeries::new().series("errors", vec![(Span::ZERO, good())]),
            patience: Span::from_secs(2),
            blind_patience: Span::from_secs(3),
            reaction: Reaction::Rollback,
            steps: vec!["slow stream"],
            hold: Span::from_secs(10),
            through: Box::new(|driver| driver),
            every: Span::from_secs(1),
            journal: ScriptedJournal::default(),
            panics_in: None,
            guard: Box::new(Unguarded),
        }
    }

    /// The same with readings that change over time: seconds since the start, reading.
    pub fn reading(script: &[(u64, Reading)]) -> Self {
        let script = script
            .iter()
            .map(|(second, reading)| (Span::from_secs(*second), reading.clone()))
            .collect();
        Self {
            series: SimulatedSeries::new()
                .series("errors", script)
                .series("steady", vec![(Span::ZERO, good())]),
            ..Self::healthy()
        }
    }

    /// Runs it to its end.
    pub async fn run(self) -> Ended {
        self.run_with(|_, _| async {}).await
    }

    /// Runs it to its end beside a person who does something meanwhile.
    pub async fn run_with<F, P>(self, person: P) -> Ended
    where
        P: FnOnce(Operator, SimulatedWorld) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let (journal, world) = (self.journal.clone(), self.world.clone());
        let settlement = self.run_into(Box::new(journal.clone()), person).await;
        Ended {
            settlement,
            records: journal.records(),
            world,
        }
    }

    /// The same with another record of it.
    pub async fn run_into<F, P>(self, sink: Box<dyn Sink>, person: P) -> Settlement
    where
        P: FnOnce(Operator, SimulatedWorld) -> F,
        F: Future<Output = ()> + Send + 'static,
    {
        let admitted = self.admitted().await;
        let sources = Sources::simulated(self.series.source());
        let kit = Kit {
            drivers: self.steps.iter().map(|_| self.driver()).collect(),
            gauges: self
                .gauged()
                .into_iter()
                .map(|gauged| Gauge {
                    slo: gauged.slo,
                    metric: gauged.metric,
                    source: self.series.source(),
                })
                .collect(),
            sources,
            timing: Timing {
                undo_within: Duration::from_secs(30),
                ..Timing::default()
            },
            clock: Clock::starting_at(a_time()),
        };
        let run: RunId = "r-20260101-000000-test".parse().expect("a run id");
        let runner = Runner::new(admitted, run, person_at_desk(), kit).guarded(self.guard);
        let (own, inputs) = operator();
        let beside = tokio::spawn(person(own.clone(), self.world.clone()));
        let settlement = runner.execute(sink, own, inputs).await;
        beside.abort();
        settlement
    }

    /// Runs it to its end in a world that somebody else changes after so long.
    pub async fn run_while(self, after: Duration, changes: fn(&SimulatedWorld)) -> Ended {
        self.run_with(|_, world| async move {
            tokio::time::sleep(after).await;
            changes(&world);
            std::future::pending::<()>().await;
        })
        .await
    }

    fn driver(&self) -> Arc<dyn FaultDriver> {
        match self.panics_in {
            Some(operation) => Panicky::driver(self.world.driver(), operation),
            None => (self.through)(self.world.driver()),
        }
    }

    fn slo(&self) -> Slo {
        Slo {
            name: "errors".to_owned(),
            reads: "script errors".to_owned(),
            objective: "< 1%".parse().expect("an objective"),
            patience: self.patience,
            blind_patience: self.blind_patience,
            on_breach: self.reaction,
            on_no_data: self.reaction,
            every: self.every,
        }
    }

    /// The scripted SLO; where it may not end the run, a steady one that may stands beside it.
    pub fn gauged(&self) -> Vec<GaugedSlo> {
        let scripted = GaugedSlo {
            slo: self.slo(),
            metric: Metric::Simulated("errors".to_owned()),
        };
        let steady = GaugedSlo {
            slo: Slo {
                name: "steady".to_owned(),
                on_breach: Reaction::Rollback,
                ..self.slo()
            },
            metric: Metric::Simulated("steady".to_owned()),
        };
        match self.reaction {
            Reaction::Rollback => vec![scripted],
            Reaction::Record => vec![scripted, steady],
        }
    }

    /// Its plan, admitted.
    pub async fn admitted(&self) -> AdmittedPlan {
        let policy = policy::built_in();
        let plan = self.plan(policy.identity()).await;
        let stored = StoredPlan::lock(plan).expect("a plan that can be written");
        let at = |text: &str| text.parse().expect("a time");
        let times = [at("2026-01-01T00:00:00Z"), at("2026-01-01T00:30:00Z")];
        let person = person_at_desk();
        let yes = policy::answer(&stored, &person, ApprovalMode::Typed, times);
        let by = Admission {
            approvals: &[SealedApproval::seal(yes, None)],
            ..Admission::by(&policy, at("2026-01-01T00:01:00Z"), &person)
        };
        policy::admit(stored, by).expect("an admitted plan")
    }

    /// The plan of it, under this policy.
    pub async fn plan(&self, policy: chaos_gameday::plan::PolicyIdentity) -> Plan {
        let mut steps = Vec::new();
        let mut planned = Vec::new();
        for name in &self.steps {
            let fault = Fault::Simulated((*name).to_owned());
            let prepared = SimulatedWorld::new()
                .driver()
                .prepare(&fault, &Owner::Plan)
                .await
                .expect("an obedient world");
            let prepared = chaos_gameday::faults::Prepared {
                blast_radius: self
                    .world
                    .driver()
                    .prepare(&fault, &Owner::Plan)
                    .await
                    .map_or(prepared.blast_radius.clone(), |seen| seen.blast_radius),
                ..prepared
            };
            planned.push(PlannedStep {
                name: (*name).to_owned(),
                prepared,
            });
            steps.push(Step {
                name: (*name).to_owned(),
                fault,
                hold: self.hold,
                written: None,
            });
        }
        let text = "kind: Experiment\n".to_owned();
        Plan {
            format: 1,
            tool: "0.1.0".to_owned(),
            created: "2026-01-01T00:00:00Z".parse().expect("a time"),
            requester: person_at_desk(),
            source: DocumentSource {
                name: "scripted.yaml".to_owned(),
                digest: Digest::of(text.as_bytes()),
                text,
            },
            variables: std::collections::BTreeMap::new(),
            experiment: Experiment {
                name: "scripted".parse().expect("a name"),
                labels: std::collections::BTreeMap::new(),
                hypothesis: "it holds".to_owned(),
                environment: "sandbox".to_owned(),
                on: Worlds::default(),
                metrics: MetricSpecs::default(),
                slos: self.gauged(),
                baseline: Span::from_secs(5),
                steps,
                recovery_within: Span::from_secs(20),
            },
            steps: planned,
            cluster: None,
            policy,
            replay_of: None,
            rehearsals: Vec::new(),
            history: History::default(),
            runs_in_past: Vec::new(),
        }
    }
}

pub fn person_at_desk() -> Person {
    Person {
        user: "sam".to_owned(),
        host: "desk".to_owned(),
    }
}

impl Ended {
    /// The fold of the recorded events.
    pub fn state(&self) -> RunState {
        RunState::of(&self.records)
    }

    /// The phases in order.
    pub fn phases(&self) -> Vec<Phase> {
        self.transitions()
            .into_iter()
            .map(|(phase, _)| phase)
            .collect()
    }

    /// The phases in order, each with what led to it.
    pub fn transitions(&self) -> Vec<(Phase, Trigger)> {
        self.records
            .iter()
            .filter_map(|record| {
                let Event::PhaseEntered { phase, trigger, .. } = &record.event else {
                    return None;
                };
                Some((*phase, *trigger))
            })
            .collect()
    }

    /// Nothing of ours is left, every transition is in the table, nothing was injected before its
    /// undo was recorded, and the journal folds to what the engine had.
    pub fn assert_lawful(&self) {
        assert_eq!(self.world.in_place(), Vec::<String>::new(), "left in place");
        let mut phase = Phase::Preflight;
        for (next, trigger) in self.transitions() {
            assert_eq!(phase.next(trigger), Ok(next));
            phase = next;
        }
        assert!(phase.is_end(), "ended in {phase:?}");
        let injecting = self.position(|event| {
            matches!(
                event,
                Event::PhaseEntered {
                    phase: Phase::Injecting,
                    ..
                }
            )
        });
        let armed = self.position(|event| matches!(event, Event::UndoRecorded { .. }));
        assert!(
            injecting.is_none() || armed < injecting,
            "injected before the undo was recorded"
        );
        assert_eq!(self.state(), self.settlement.state);
    }

    fn position(&self, wanted: fn(&Event) -> bool) -> Option<usize> {
        self.records.iter().position(|record| wanted(&record.event))
    }
}

/// A person's wish after so many seconds.
pub async fn after(seconds: u64, operator: Operator, input: Input) {
    tokio::time::sleep(Duration::from_secs(seconds)).await;
    let _ = operator.send(input);
    std::future::pending::<()>().await;
}

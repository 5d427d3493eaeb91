//! An engine that dies: whatever is lost besides, what is in place is taken out.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use chaos_gameday::faults::FaultDriver;
use chaos_gameday::faults::simulated::{Behaviour, Operation};
use chaos_gameday::journal::{Header, Journal};
use chaos_gameday::metrics::{Metric, MetricSource, Sources};
use chaos_gameday::model::decision::Cause;
use chaos_gameday::model::event::{Event, Record};
use chaos_gameday::model::ids::RunId;
use chaos_gameday::model::phase::Phase;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;
use chaos_gameday::run::{Clock, Gauge, Kit, Runner, Timing};
use chaos_gameday::session::{self, Executed, Keyboard, Screen, Stage};
use chaos_gameday::view::View;
use futures_util::future::BoxFuture;
use tempfile::TempDir;

use crate::support::engine::{Scene, person_at_desk};
use crate::support::pty::{self, Modes};

/// Good readings until the end, where it takes the journal away and panics.
struct Fatal {
    journal: OnceLock<PathBuf>,
    /// Whose keys are read by then.
    terminal: File,
    found: Modes,
}

impl MetricSource for Fatal {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, _metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async { Reading::Value(0.0) })
    }

    fn rehearse<'a>(&'a self, _: &'a Slo, _: &'a Metric, _: Span) -> BoxFuture<'a, Rehearsal> {
        unreachable!("nothing is planned here")
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async {
            while pty::modes(&self.terminal) != self.found.with_keys() {
                std::thread::sleep(Duration::from_millis(1));
            }
            let journal = self.journal.get().expect("it was set");
            std::fs::remove_file(journal).expect("the journal is there");
            panic!("scripted")
        })
    }
}

/// Dies when the run comes to this phase.
struct Fragile(Phase);

impl View for Fragile {
    fn show(&mut self, record: &Record, _state: &RunState) {
        if matches!(record.event, Event::PhaseEntered { phase, .. } if phase == self.0) {
            panic!("scripted")
        }
    }

    fn tick(&mut self, _elapsed_ms: u64, _state: &RunState) {}

    fn finish(&mut self, _state: &RunState) {}
}

/// Good readings, each of which takes a moment of the time that is not paused.
struct Unhurried;

impl MetricSource for Unhurried {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, _metric: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async {
            std::thread::sleep(Duration::from_millis(20));
            Reading::Value(0.0)
        })
    }

    fn rehearse<'a>(&'a self, _: &'a Slo, _: &'a Metric, _: Span) -> BoxFuture<'a, Rehearsal> {
        unreachable!("nothing is planned here")
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { None })
    }
}

/// Shows nothing.
struct Silent;

impl View for Silent {
    fn show(&mut self, _record: &Record, _state: &RunState) {}

    fn tick(&mut self, _elapsed_ms: u64, _state: &RunState) {}

    fn finish(&mut self, _state: &RunState) {}
}

/// A scene with all that a process puts around its run.
struct Staged {
    folder: TempDir,
    drivers: Vec<Arc<dyn FaultDriver>>,
    timing: Timing,
    stage: Stage,
    runner: Runner,
}

impl Staged {
    /// Readings come from this source.
    async fn of(scene: &Scene, source: &Arc<dyn MetricSource>, timing: Timing) -> Self {
        let folder = TempDir::new().expect("a folder");
        let admitted = scene.admitted().await;
        let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().expect("a time"));
        let run: RunId = "r-20260101-000000-test".parse().expect("a run id");
        let header = Header {
            tool: "0.1.0".to_owned(),
            run: run.clone(),
            plan: admitted.id().clone(),
            digest: admitted.digest().clone(),
            started: clock.at(0),
        };
        let journal = Journal::create(&folder.path().join("journal.jsonl"), &header);
        let gauges = scene.gauged().into_iter().map(|gauged| Gauge {
            slo: gauged.slo,
            metric: gauged.metric,
            source: Arc::clone(source),
        });
        let drivers = vec![scene.world.driver()];
        let kit = Kit {
            drivers: drivers.clone(),
            gauges: gauges.collect(),
            sources: Sources::simulated(Arc::clone(source)),
            timing,
            clock,
        };
        let stage = Stage {
            journal: journal.expect("a journal"),
            view: Box::new(Silent),
            keyboard: None,
            clock,
            lock: None,
            alarm: None,
            guardian: None,
            person: person_at_desk(),
        };
        Self {
            folder,
            drivers,
            timing,
            stage,
            runner: Runner::new(admitted, run, person_at_desk(), kit),
        }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("journal.jsonl")
    }

    async fn ends(self) -> Executed {
        let executed = session::execute(self.runner, self.drivers, self.timing, self.stage).await;
        executed.expect("signals can be listened to")
    }
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_dies_with_its_journal_and_its_view_leaves_nothing_in_place() {
    let scene = Scene::healthy();
    // The engine's own undo fails and it is stuck; one that is tried later works.
    let no = Problem::new(ProblemKind::Refused, "no");
    scene
        .world
        .first(1, Operation::Revert, Behaviour::Fails(no));
    let (terminal, user_side) = pty::pair();
    let found = pty::modes(&terminal);
    let fatal = Arc::new(Fatal {
        journal: OnceLock::new(),
        terminal: terminal.try_clone().expect("a terminal"),
        found: found.clone(),
    });
    let source: Arc<dyn MetricSource> = fatal.clone();
    let timing = Timing {
        undo_within: Duration::ZERO,
        ..Timing::default()
    };
    let mut staged = Staged::of(&scene, &source, timing).await;
    fatal.journal.set(staged.journal()).expect("nobody set it");
    staged.stage.view = Box::new(Fragile(Phase::Verifying));
    staged.stage.keyboard = Some(Keyboard {
        person: person_at_desk(),
        terminal: user_side.try_clone().expect("a terminal").into(),
    });
    let ended = staged.ends().await;
    assert!(
        scene
            .world
            .calls()
            .iter()
            .any(|call| call.starts_with("inject"))
    );
    assert_eq!(scene.world.in_place(), Vec::<String>::new(), "{ended:?}");
    assert_eq!(pty::modes(&terminal), found);
}

#[tokio::test(start_paused = true)]
async fn a_view_that_dies_with_the_fault_in_ends_the_run_and_is_known_to_be_dead() {
    let mut scene = Scene::healthy();
    scene.hold = Span::from_secs(120);
    // The thread of the view knows nothing of paused time.
    let source: Arc<dyn MetricSource> = Arc::new(Unhurried);
    let mut staged = Staged::of(&scene, &source, Timing::default()).await;
    staged.stage.view = Box::new(Fragile(Phase::Observing));
    let ended = staged.ends().await;
    let cause = &ended.settlement.cause;
    assert!(
        cause.sentence().contains("the view panicked: scripted"),
        "{cause:?}"
    );
    assert_eq!((cause.exit_code(), ended.screen), (70, Screen::Died));
    assert_eq!(scene.world.in_place(), Vec::<String>::new());
}

#[tokio::test(start_paused = true)]
async fn a_lock_that_nobody_renews_any_more_is_lost() {
    let scene = Scene::healthy();
    let source = scene.series.source();
    let mut staged = Staged::of(&scene, &source, Timing::default()).await;
    let (keeper, news) = tokio::sync::mpsc::unbounded_channel();
    staged.stage.lock = Some(news);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(8)).await;
        // It panicked, and its end of the queue with it.
        drop(keeper);
    });
    let ended = staged.ends().await;
    let cause = &ended.settlement.cause;
    assert!(matches!(cause, Cause::LockLost { .. }), "{cause:?}");
    assert_eq!(ended.settlement.state.steps[0].undoing_at_ms, Some(8_000));
    assert_eq!(scene.world.in_place(), Vec::<String>::new());
}

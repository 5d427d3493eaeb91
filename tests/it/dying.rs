//! An engine that dies: whatever is lost besides, what is in place is taken out.

use std::fs::File;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::faults::simulated::{Behaviour, Operation};
use chaos_gameday::journal::{Header, Journal};
use chaos_gameday::metrics::{Metric, MetricSource, Sources};
use chaos_gameday::model::event::Record;
use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::model::rehearsal::Rehearsal;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::state::RunState;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;
use chaos_gameday::run::{Clock, Gauge, Kit, Runner, Timing};
use chaos_gameday::session::{self, Keyboard, Stage};
use chaos_gameday::view::View;
use futures_util::future::BoxFuture;

use crate::support::engine::{Scene, person_at_desk};
use crate::support::pty::{self, Modes};

/// Good readings until the end, where it takes the journal away and panics.
struct Fatal {
    journal: PathBuf,
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
            std::fs::remove_file(&self.journal).expect("the journal is there");
            panic!("scripted")
        })
    }
}

/// Dies with the first event.
struct Fragile;

impl View for Fragile {
    fn show(&mut self, _record: &Record, _state: &RunState) {
        panic!("scripted")
    }

    fn tick(&mut self, _elapsed_ms: u64, _state: &RunState) {}

    fn finish(&mut self, _state: &RunState) {}
}

#[tokio::test(start_paused = true)]
async fn an_engine_that_dies_with_its_journal_and_its_view_leaves_nothing_in_place() {
    let folder = tempfile::TempDir::new().expect("a folder");
    let path = folder.path().join("journal.jsonl");
    let scene = Scene::healthy();
    // The engine's own undo fails and it is stuck; one that is tried later works.
    let no = Problem::new(ProblemKind::Refused, "no");
    scene
        .world
        .first(1, Operation::Revert, Behaviour::Fails(no));
    let (terminal, user_side) = pty::pair();
    let found = pty::modes(&terminal);
    let source: Arc<dyn MetricSource> = Arc::new(Fatal {
        journal: path.clone(),
        terminal: terminal.try_clone().expect("a terminal"),
        found: found.clone(),
    });
    let admitted = scene.admitted().await;
    let clock = Clock::starting_at("2026-01-01T00:00:00Z".parse().expect("a time"));
    let run: chaos_gameday::model::ids::RunId = "r-20260101-000000-test".parse().expect("a run id");
    let header = Header {
        tool: "0.1.0".to_owned(),
        run: run.clone(),
        plan: admitted.id().clone(),
        digest: admitted.digest().clone(),
        started: clock.at(0),
    };
    let timing = Timing {
        undo_within: Duration::ZERO,
        ..Timing::default()
    };
    let drivers = vec![scene.world.driver()];
    let gauges = scene.gauged().into_iter().map(|gauged| Gauge {
        slo: gauged.slo,
        metric: gauged.metric,
        source: Arc::clone(&source),
    });
    let kit = Kit {
        drivers: drivers.clone(),
        gauges: gauges.collect(),
        sources: Sources::simulated(Arc::clone(&source)),
        timing,
        clock,
    };
    let stage = Stage {
        journal: Journal::create(&path, &header).expect("a journal"),
        view: Box::new(Fragile),
        keyboard: Some(Keyboard {
            person: person_at_desk(),
            terminal: user_side.try_clone().expect("a terminal").into(),
        }),
        clock,
        lock: None,
        alarm: None,
        guardian: None,
        person: person_at_desk(),
    };
    let runner = Runner::new(admitted, run, person_at_desk(), kit);
    let settled = session::execute(runner, drivers, timing, stage).await;
    assert_eq!(scene.world.in_place(), Vec::<String>::new(), "{settled:?}");
    assert_eq!(pty::modes(&terminal), found);
}

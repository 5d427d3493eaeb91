//! A calm run with a long baseline in a scripted world under a paused clock, with a real journal and a line view.
//!
//! The view is shown in the run's own thread: on one of its own, real time would not keep up with
//! paused time, and what it had not shown yet would look like a leak.

use std::time::Duration;

use chaos_gameday::faults::simulated::SimulatedWorld;
use chaos_gameday::faults::{Fault, Owner};
use chaos_gameday::journal::Journal;
use chaos_gameday::metrics::simulated::SimulatedSeries;
use chaos_gameday::metrics::{Metric, Sources};
use chaos_gameday::model::event::Record;
use chaos_gameday::model::outcome::Outcome;
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::state::RunState;
use chaos_gameday::plan::PlannedStep;
use chaos_gameday::run::{Clock, Gauge, Kit, Runner, Sink, Timing, operator};
use chaos_gameday::view::{LineView, View as _};

use crate::stand::{self, Failure, Wish};

/// The series that every SLO reads.
pub const SERIES: &str = "calm";

struct Evidence {
    journal: Journal,
    view: LineView,
    state: RunState,
}

impl Sink for Evidence {
    fn record(&mut self, record: &Record) -> Result<(), Problem> {
        self.journal.append(record, record.event.durability())?;
        self.state.apply(record);
        self.view.show(record, &self.state);
        Ok(())
    }
}

/// Runs it to its end.
pub async fn run(
    slos: usize,
    baseline: Duration,
    series: &SimulatedSeries,
    view: LineView,
) -> Result<Outcome, Failure> {
    let wish = Wish {
        slos,
        every: Duration::from_secs(1),
        baseline,
        hold: Duration::from_secs(10),
        prometheus: "http://127.0.0.1:1",
        platform: "http://127.0.0.1:1",
    };
    let world = SimulatedWorld::new();
    let fault = Fault::Simulated("calm".to_owned());
    let mut plan = stand::draft(&wish)?;
    let step = &mut plan.experiment.steps[0];
    step.fault = fault.clone();
    plan.steps = vec![PlannedStep {
        name: step.name.clone(),
        prepared: world.driver().prepare(&fault, &Owner::Plan).await?,
    }];
    let admitted = stand::admit(plan)?;
    let source = series.source();
    let gauge = |gauged: &chaos_gameday::plan::document::GaugedSlo| Gauge {
        slo: gauged.slo.clone(),
        metric: Metric::Simulated(SERIES.to_owned()),
        source: source.clone(),
    };
    let clock = Clock::start();
    let folder = tempfile::tempdir()?;
    let evidence = Evidence {
        journal: stand::journal(&admitted, folder.path(), clock)?,
        view,
        state: RunState::default(),
    };
    let kit = Kit {
        drivers: vec![world.driver()],
        gauges: admitted.plan().experiment.slos.iter().map(gauge).collect(),
        sources: Sources::simulated(source.clone()),
        timing: Timing::default(),
        clock,
    };
    let runner = Runner::new(admitted, stand::run_id()?, stand::person(), kit);
    let (own, inputs) = operator();
    let settlement = runner.execute(Box::new(evidence), own, inputs).await;
    Ok(settlement.outcome)
}

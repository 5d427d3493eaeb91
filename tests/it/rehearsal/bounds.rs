//! A rehearsal ends, whatever its sources do, and asks only so many things at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chaos_gameday::metrics::{Metric, MetricSource, Sources};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::rehearsal::{Now, Rehearsal};
use chaos_gameday::model::sample::{Reading, SloState};
use chaos_gameday::model::slo::Slo;
use chaos_gameday::model::traffic::TrafficSummary;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::document::GaugedSlo;
use chaos_gameday::plan::{Plan, rehearse};
use futures_util::future::BoxFuture;
use tokio::time::{Instant, sleep};

use super::{gate, now, plan, quiet, read, span, value};

/// A source whose rehearsals take so long, one after the next in this order, for ever.
#[derive(Default)]
struct Slow {
    takes: Vec<Duration>,
    /// How much longer it takes where the past is asked for too.
    past_takes: Duration,
    asked: AtomicUsize,
    under_way: AtomicUsize,
    most: AtomicUsize,
}

impl MetricSource for Slow {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        Box::pin(async { Ok(()) })
    }

    fn read<'a>(&'a self, _: &'a Metric) -> BoxFuture<'a, Reading> {
        Box::pin(async { Reading::Value(0.0) })
    }

    fn rehearse<'a>(&'a self, slo: &'a Slo, _: &'a Metric, over: Span) -> BoxFuture<'a, Rehearsal> {
        Box::pin(async move {
            let turn = self.asked.fetch_add(1, Ordering::SeqCst);
            let under_way = self.under_way.fetch_add(1, Ordering::SeqCst) + 1;
            self.most.fetch_max(under_way, Ordering::SeqCst);
            sleep(self.takes[turn % self.takes.len()]).await;
            if over > Span::ZERO {
                sleep(self.past_takes).await;
            }
            self.under_way.fetch_sub(1, Ordering::SeqCst);
            Rehearsal {
                slo: slo.name.clone(),
                past: (over > Span::ZERO).then(quiet),
                ..now(value(0.0))
            }
        })
    }

    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        Box::pin(async { None })
    }
}

/// A plan with so many SLOs that read from a script.
async fn with(slos: usize) -> Plan {
    let mut plan = plan(Vec::new()).await;
    plan.experiment.slos = (0..slos)
        .map(|number| GaugedSlo {
            slo: Slo {
                name: format!("slo-{number}"),
                ..gate("0s")
            },
            metric: Metric::Simulated("any".to_owned()),
        })
        .collect();
    plan
}

#[tokio::test(start_paused = true)]
async fn every_slo_is_rehearsed_in_its_order_and_eight_at_once() {
    let source = Arc::new(Slow {
        takes: [3, 1, 2].map(Duration::from_secs).to_vec(),
        ..Slow::default()
    });
    let sources = Sources::simulated(source.clone());
    let begun = Instant::now();
    let plan = rehearse(with(40).await, &sources, span("6h"))
        .await
        .expect("a rehearsal");
    let names: Vec<_> = plan.rehearsals.iter().map(|one| one.slo.clone()).collect();
    let expected: Vec<_> = (0..40).map(|number| format!("slo-{number}")).collect();
    assert_eq!(names, expected);
    assert_eq!(source.most.load(Ordering::SeqCst), 8);
    assert!(
        begun.elapsed() < Duration::from_secs(30),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test(start_paused = true)]
async fn what_has_not_answered_in_half_a_minute_is_written_down_as_down() {
    let source = Arc::new(Slow {
        takes: vec![Duration::from_secs(1), Duration::from_secs(86_400)],
        ..Slow::default()
    });
    let sources = Sources::simulated(source);
    let begun = Instant::now();
    let plan = rehearse(with(3).await, &sources, Span::ZERO)
        .await
        .expect("a rehearsal");
    assert_eq!(begun.elapsed().as_secs(), 30);
    let down = || {
        let why = "no answer in the 30s that all SLOs had".to_owned();
        read(Reading::SourceDown { why }, SloState::SourceDown)
    };
    let told: Vec<Now> = plan.rehearsals.into_iter().map(|one| one.now).collect();
    assert_eq!(told, [value(0.0), down(), value(0.0)]);
}

#[tokio::test(start_paused = true)]
async fn a_past_that_takes_too_long_takes_nothing_from_what_is_read_now() {
    let source = Arc::new(Slow {
        takes: vec![Duration::from_secs(1)],
        past_takes: Duration::from_secs(30),
        ..Slow::default()
    });
    let sources = Sources::simulated(source);
    let begun = Instant::now();
    let plan = rehearse(with(40).await, &sources, span("6h"))
        .await
        .expect("a rehearsal");
    assert_eq!(begun.elapsed().as_secs(), 60);
    let all = &plan.rehearsals;
    assert!(all.iter().all(|one| one.now == value(0.0)));
    // Eight at once, and 5 s went by for what they read now.
    assert_eq!(all.iter().filter(|one| one.past.is_some()).count(), 8);
    let late = "its past was not read within the 1m that all SLOs had; a shorter `--rehearse` asks for less";
    assert_eq!(all[39].warnings, [late]);
}

#[tokio::test]
async fn an_slo_without_a_source_is_an_error() {
    let refused = rehearse(with(1).await, &Sources::default(), span("6h")).await;
    let problem = refused.expect_err("no source");
    assert_eq!(
        problem.message,
        "nothing is declared that `script any` could be read from"
    );
}

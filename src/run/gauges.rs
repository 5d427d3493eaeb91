//! One task for each SLO: read its metric at a fixed cadence that doesn't drift, one at a time.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::input::Input;
use crate::metrics::{Metric, MetricSource};
use crate::model::sample::Reading;
use crate::model::slo::Slo;
use crate::model::units::Span;

/// An SLO with the source that it is read from.
#[derive(Clone)]
pub struct Gauge {
    /// The SLO.
    pub slo: Slo,
    /// What it reads.
    pub metric: Metric,
    /// Where from.
    pub source: Arc<dyn MetricSource>,
}

/// Starts reading every gauge; dropping the set ends it.
pub(super) fn watch_all(gauges: &[Gauge], inputs: &mpsc::UnboundedSender<Input>) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    for (index, gauge) in gauges.iter().cloned().enumerate() {
        tasks.spawn(watch(index, gauge, inputs.clone()));
    }
    tasks
}

async fn watch(index: usize, gauge: Gauge, inputs: mpsc::UnboundedSender<Input>) {
    let every = gauge.slo.every.as_duration();
    let mut due = Instant::now();
    loop {
        tokio::time::sleep_until(due).await;
        let began = Instant::now();
        let Some(reading) = read(index, &gauge, &inputs).await else {
            return;
        };
        let missed = missed_ticks(due, every);
        let sampled = Input::Sampled {
            gauge: index,
            reading,
            took_ms: Span::of(began.elapsed()).as_millis(),
            missed,
        };
        if inputs.send(sampled).is_err() {
            return;
        }
        let ticks = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
        due += every.saturating_mul(ticks);
    }
}

/// One reading; while it is under way, a word at every tick that it still is. `None`: nobody listens
/// any more.
async fn read(
    index: usize,
    gauge: &Gauge,
    inputs: &mpsc::UnboundedSender<Input>,
) -> Option<Reading> {
    let began = Instant::now();
    let asked = AssertUnwindSafe(gauge.source.read(&gauge.metric)).catch_unwind();
    tokio::pin!(asked);
    loop {
        match tokio::time::timeout(gauge.slo.every.as_duration(), &mut asked).await {
            Ok(Ok(reading)) => return Some(reading),
            Ok(Err(_)) => {
                return Some(Reading::SourceDown {
                    why: "reading it panicked, which is a bug in chaos".to_owned(),
                });
            }
            Err(_) => {
                let waited_ms = Span::of(began.elapsed()).as_millis();
                let waiting = Input::Waiting {
                    gauge: index,
                    waited_ms,
                };
                inputs.send(waiting).ok()?;
            }
        }
    }
}

/// How many whole ticks after `due` have passed already.
fn missed_ticks(due: Instant, every: Duration) -> u64 {
    let late = Instant::now().saturating_duration_since(due).as_nanos();
    u64::try_from(late / every.as_nanos().max(1)).unwrap_or(u64::MAX)
}

//! One task for each SLO: read its metric at a fixed cadence that doesn't drift, one at a time.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::input::Input;
use crate::metrics::{Metric, MetricSource};
use crate::model::slo::Slo;

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
        let reading = gauge.source.read(&gauge.metric).await;
        let took = began.elapsed();
        let missed = missed_ticks(due, every);
        let sampled = Input::Sampled {
            gauge: index,
            reading,
            took_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
            missed,
        };
        if inputs.send(sampled).is_err() {
            return;
        }
        let ticks = u32::try_from(missed).unwrap_or(u32::MAX).saturating_add(1);
        due += every.saturating_mul(ticks);
    }
}

/// How many whole ticks after `due` have passed already.
fn missed_ticks(due: Instant, every: Duration) -> u64 {
    let late = Instant::now().saturating_duration_since(due).as_nanos();
    u64::try_from(late / every.as_nanos().max(1)).unwrap_or(u64::MAX)
}

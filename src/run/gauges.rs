//! One task for each SLO: read its metric at a fixed cadence that doesn't drift, one at a time.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::input::{Input, ReadingTimes};
use crate::metrics::{Metric, MetricSource};
use crate::model::sample::Reading;
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

/// From so many SLOs of one source on, their readings are spread over time: asked all at once they
/// would be a burst that the source is not used to, and that measures itself.
const CROWD: usize = 17;

/// Starts reading every gauge; dropping the set ends it. Each is read first within its `every` and
/// within `settle`, whichever is shorter.
pub(super) fn watch_all(
    gauges: &[Gauge],
    settle: Duration,
    inputs: &mpsc::UnboundedSender<Input>,
) -> JoinSet<()> {
    let mut tasks = JoinSet::new();
    let start = Instant::now();
    let all = gauges.iter().cloned().zip(offsets(gauges, settle));
    for (index, (gauge, offset)) in all.enumerate() {
        tasks.spawn(watch(index, gauge, start + offset, inputs.clone()));
    }
    tasks
}

/// How long after the start each gauge is read first: at once, but for crowds, which are spread
/// evenly, in document order.
fn offsets(gauges: &[Gauge], settle: Duration) -> Vec<Duration> {
    let mut crowds: HashMap<*const (), (u32, u32)> = HashMap::new();
    for gauge in gauges {
        crowds.entry(source_of(gauge)).or_default().0 += 1;
    }
    let spread = |gauge: &Gauge| {
        let (size, seen) = crowds.entry(source_of(gauge)).or_default();
        let place = *seen;
        *seen += 1;
        if (*size as usize) < CROWD {
            return Duration::ZERO;
        }
        gauge.slo.every.as_duration().min(settle) * place / *size
    };
    gauges.iter().map(spread).collect()
}

fn source_of(gauge: &Gauge) -> *const () {
    Arc::as_ptr(&gauge.source).cast()
}

async fn watch(index: usize, gauge: Gauge, first: Instant, inputs: mpsc::UnboundedSender<Input>) {
    let every = gauge.slo.every.as_duration();
    let mut due = first;
    loop {
        tokio::time::sleep_until(due).await;
        let asked = Instant::now();
        let Some(reading) = read(index, &gauge, due, &inputs).await else {
            return;
        };
        let missed = missed_ticks(due, every);
        let sampled = Input::Sampled {
            gauge: index,
            reading,
            times: ReadingTimes {
                due,
                asked,
                answered: Instant::now(),
            },
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
    due: Instant,
    inputs: &mpsc::UnboundedSender<Input>,
) -> Option<Reading> {
    let asked = Instant::now();
    let answer = AssertUnwindSafe(gauge.source.read(&gauge.metric)).catch_unwind();
    tokio::pin!(answer);
    loop {
        match tokio::time::timeout(gauge.slo.every.as_duration(), &mut answer).await {
            Ok(Ok(Reading::Value(number))) => return Some(Reading::from_number(number)),
            Ok(Ok(blind)) => return Some(blind),
            Ok(Err(_)) => {
                return Some(Reading::SourceDown {
                    why: "reading it panicked, which is a bug in chaos".to_owned(),
                });
            }
            Err(_) => {
                let waiting = Input::Waiting {
                    gauge: index,
                    times: ReadingTimes {
                        due,
                        asked,
                        answered: Instant::now(),
                    },
                };
                inputs.send(waiting).ok()?;
            }
        }
    }
}

/// How many ticks after `due` have passed already; one that is due this very moment has not.
fn missed_ticks(due: Instant, every: Duration) -> u64 {
    let late = Instant::now().saturating_duration_since(due).as_nanos();
    u64::try_from(late.saturating_sub(1) / every.as_nanos().max(1)).unwrap_or(u64::MAX)
}

//! One task for each SLO: read its metric at a fixed cadence that doesn't drift, one at a time.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use tokio::sync::mpsc;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::beside::beside;
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

const NEXT_TO_NOTHING: Duration = Duration::from_nanos(1);

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
        let watching = watch(index, gauge, start + offset, inputs.clone());
        tasks.spawn(beside("a gauge", inputs.clone(), watching));
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
        // A machine that slept reads for the tick that it woke up in, not for the one it missed.
        let overslept = ticks_between(due, asked, every);
        due += every.saturating_mul(overslept);
        let Some(reading) = read(index, &gauge, due, &inputs).await else {
            return;
        };
        let answered = Instant::now();
        // A tick that is due this very moment is not late yet.
        let outlasted = ticks_between(due + NEXT_TO_NOTHING, answered, every);
        let sampled = Input::Sampled {
            gauge: index,
            reading,
            times: ReadingTimes {
                due,
                asked,
                answered,
            },
            missed: u64::from(overslept.saturating_add(outlasted)),
        };
        if inputs.send(sampled).is_err() {
            return;
        }
        due += every.saturating_mul(outlasted.saturating_add(1));
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

/// How many whole ticks lie between two moments.
fn ticks_between(from: Instant, to: Instant, every: Duration) -> u32 {
    let between = to.saturating_duration_since(from).as_nanos();
    u32::try_from(between / every.as_nanos().max(1)).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use futures_util::future::BoxFuture;

    use super::*;
    use crate::metrics::simulated::SimulatedSeries;
    use crate::model::problem::Problem;
    use crate::model::rehearsal::Rehearsal;
    use crate::model::slo::Reaction;
    use crate::model::traffic::TrafficSummary;
    use crate::model::units::Span;

    fn gauges(count: usize, every: Span, source: &Arc<dyn MetricSource>) -> Vec<Gauge> {
        let slo = Slo {
            name: "errors".to_owned(),
            reads: "script".to_owned(),
            objective: "< 1%".parse().expect("a valid objective"),
            patience: Span::ZERO,
            blind_patience: Span::from_secs(30),
            on_breach: Reaction::Rollback,
            on_no_data: Reaction::Rollback,
            every,
        };
        let gauge = Gauge {
            slo,
            metric: Metric::Simulated("errors".to_owned()),
            source: Arc::clone(source),
        };
        vec![gauge; count]
    }

    fn millis(offsets: &[Duration]) -> Vec<u128> {
        offsets.iter().map(Duration::as_millis).collect()
    }

    #[test]
    fn a_handful_is_read_at_once_and_a_crowd_spread_over_its_tick() {
        let second = Span::from_secs(1);
        let long = Duration::from_secs(60);
        let (one, other) = (
            SimulatedSeries::new().source(),
            SimulatedSeries::new().source(),
        );
        let handful = gauges(CROWD - 1, second, &one);
        assert_eq!(offsets(&handful, long), vec![Duration::ZERO; CROWD - 1]);
        let mut crowd = gauges(20, second, &one);
        crowd.extend(gauges(2, second, &other));
        let spread: Vec<u128> = (0..20).map(|place| place * 50).chain([0, 0]).collect();
        assert_eq!(millis(&offsets(&crowd, long)), spread);
    }

    #[test]
    fn a_crowd_of_rare_readings_is_read_within_the_baseline_all_the_same() {
        let source = SimulatedSeries::new().source();
        let crowd = gauges(20, Span::from_secs(60), &source);
        let latest = offsets(&crowd, Duration::from_secs(5)).into_iter().max();
        assert_eq!(latest, Some(Duration::from_millis(4_750)));
        let hurried = offsets(&crowd, Duration::ZERO);
        assert_eq!(hurried, vec![Duration::ZERO; 20]);
    }

    #[tokio::test(start_paused = true)]
    async fn a_crowd_keeps_its_places_from_tick_to_tick() {
        let source = SimulatedSeries::new().source();
        let crowd = gauges(20, Span::from_secs(1), &source);
        let (own, mut inputs) = mpsc::unbounded_channel();
        let began = Instant::now();
        let _readers = watch_all(&crowd, Duration::from_secs(5), &own);
        let mut asked = Vec::new();
        while asked.len() < 40 {
            let Some(Input::Sampled { gauge, times, .. }) = inputs.recv().await else {
                panic!("only readings come in");
            };
            asked.push((gauge, (times.asked - began).as_millis()));
        }
        let due = |reading: usize| (reading % 20, reading as u128 * 50);
        assert_eq!(asked, (0..40).map(due).collect::<Vec<_>>());
    }

    /// Panics before it so much as begins to read.
    struct Broken;

    impl MetricSource for Broken {
        fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
            unreachable!("nobody starts it here")
        }

        fn read<'a>(&'a self, _: &'a Metric) -> BoxFuture<'a, Reading> {
            panic!("scripted")
        }

        fn rehearse<'a>(&'a self, _: &'a Slo, _: &'a Metric, _: Span) -> BoxFuture<'a, Rehearsal> {
            unreachable!("nothing is planned here")
        }

        fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
            unreachable!("nobody stops it here")
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_gauge_that_dies_is_told_to_the_run() {
        let broken: Arc<dyn MetricSource> = Arc::new(Broken);
        let (own, mut inputs) = mpsc::unbounded_channel();
        let _reader = watch_all(
            &gauges(1, Span::from_secs(1), &broken),
            Duration::ZERO,
            &own,
        );
        let died = Input::Died {
            what: "a gauge",
            why: "scripted".to_owned(),
        };
        assert_eq!(inputs.recv().await, Some(died));
    }
}

//! The sliding window of the traffic generator: a ring of slices, so that memory stays the same at
//! any rate and old results fall out by themselves.
//!
//! Pure: the time of every call is handed in.

use std::collections::BTreeMap;
use std::time::Duration;

use hdrhistogram::Histogram;
use tokio::time::Instant;

use crate::metrics::{Quantile, StatusClass};

/// A window is the slice under way and those before it; it slides by one slice at a time and so
/// covers between 19/20 of its length and all of it, never more.
const SLICES: u64 = 20;

/// Three digits: a latency is shown at most 0.1 % too high.
const DIGITS: u8 = 3;

/// Longer latencies than a day are counted as a day.
const LONGEST_LATENCY: Duration = Duration::from_secs(86_400);

/// What became of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fate {
    /// Answered with this status.
    Answered(u16),
    /// Not answered in time.
    TimedOut,
    /// Its connection was refused or broke before the answer was complete.
    ConnectionFailed,
    /// Never sent: too many were in flight.
    Dropped,
}

impl Fate {
    /// Whether how long it took says anything: a refused connection is no fast answer.
    pub(super) fn has_latency(self) -> bool {
        match self {
            Self::Answered(_) | Self::TimedOut | Self::Dropped => true,
            Self::ConnectionFailed => false,
        }
    }
}

/// How many requests met which fate.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Counts {
    pub(super) by_status: BTreeMap<u16, u64>,
    pub(super) timed_out: u64,
    pub(super) connection_failed: u64,
    pub(super) dropped: u64,
}

impl Counts {
    pub(super) fn record(&mut self, fate: Fate) {
        match fate {
            Fate::Answered(status) => *self.by_status.entry(status).or_default() += 1,
            Fate::TimedOut => self.timed_out += 1,
            Fate::ConnectionFailed => self.connection_failed += 1,
            Fate::Dropped => self.dropped += 1,
        }
    }

    fn add(&mut self, other: &Self) {
        for (status, count) in &other.by_status {
            *self.by_status.entry(*status).or_default() += count;
        }
        self.timed_out += other.timed_out;
        self.connection_failed += other.connection_failed;
        self.dropped += other.dropped;
    }

    pub(super) fn answered(&self) -> u64 {
        self.by_status.values().sum()
    }

    pub(super) fn finished(&self) -> u64 {
        self.answered() + self.timed_out + self.connection_failed + self.dropped
    }

    pub(super) fn failed(&self) -> u64 {
        let refused: u64 = self.by_status.range(400..).map(|(_, count)| count).sum();
        refused + self.timed_out + self.connection_failed + self.dropped
    }

    pub(super) fn matching(&self, class: StatusClass) -> u64 {
        let matches = |status: u16| match class {
            StatusClass::Exactly(exactly) => status == exactly,
            StatusClass::Class(digit) => status / 100 == u16::from(digit),
        };
        self.by_status
            .iter()
            .filter(|(status, _)| matches(**status))
            .map(|(_, count)| count)
            .sum()
    }
}

/// A distribution of latencies, in microseconds inside.
#[derive(Debug, Clone)]
pub(super) struct Latencies(Histogram<u32>);

impl Latencies {
    pub(super) fn new() -> Self {
        Self(Histogram::new(DIGITS).expect("three digits are within what a histogram can do"))
    }

    pub(super) fn record(&mut self, latency: Duration) {
        let micros = latency.min(LONGEST_LATENCY).as_micros();
        let micros = u64::try_from(micros).expect("a day of microseconds fits into 64 bits");
        self.0
            .record(micros)
            .expect("a histogram that resizes itself holds a day");
    }

    fn add(&mut self, other: &Self) {
        self.0
            .add(&other.0)
            .expect("a histogram that resizes itself holds another one");
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The latency at a quantile; zero when nothing was recorded.
    pub(super) fn at(&self, quantile: Quantile) -> Duration {
        let ratio = match quantile {
            Quantile::P50 => 0.5,
            Quantile::P90 => 0.9,
            Quantile::P95 => 0.95,
            Quantile::P99 => 0.99,
            Quantile::P999 => 0.999,
            Quantile::Max => 1.0,
        };
        Duration::from_micros(self.0.value_at_quantile(ratio))
    }
}

#[derive(Debug)]
struct Slice {
    /// Which slice since the origin this place of the ring holds now.
    number: u64,
    counts: Counts,
    latencies: Latencies,
}

/// What finished lately, sliced by time.
///
/// Public for the benches; only the traffic generator uses it.
#[derive(Debug)]
pub struct TrafficWindow {
    origin: Instant,
    slice: Duration,
    /// Time between two requests: what the first result stands for.
    period: Duration,
    first: Option<Instant>,
    ring: Vec<Slice>,
}

impl TrafficWindow {
    /// An empty window of this length that begins at `origin`; `rate` requests a second come in.
    pub fn new(origin: Instant, length: Duration, rate: f64) -> Self {
        let empty = |number| Slice {
            number,
            counts: Counts::default(),
            latencies: Latencies::new(),
        };
        Self {
            origin,
            slice: (length / u32::try_from(SLICES).expect("20 fits"))
                .max(Duration::from_micros(50)),
            period: Duration::try_from_secs_f64(1.0 / rate).unwrap_or(length),
            first: None,
            ring: (0..SLICES).map(empty).collect(),
        }
    }

    /// Counts one result that came in `now`.
    pub fn record(&mut self, now: Instant, fate: Fate, latency: Duration) {
        self.first.get_or_insert(now);
        let number = self.slice_at(now);
        let place = usize::try_from(number % SLICES).expect("a ring of 20 is short");
        let slice = &mut self.ring[place];
        if slice.number < number {
            slice.number = number;
            slice.counts = Counts::default();
            slice.latencies.0.reset();
        }
        // A result older than the whole ring (its task was kept waiting) has no place any more.
        if slice.number == number {
            slice.counts.record(fate);
            if fate.has_latency() {
                slice.latencies.record(latency);
            }
        }
    }

    /// The share of what finished in the window that failed; `None`: nothing finished.
    pub fn error_rate(&self, now: Instant) -> Option<f64> {
        let counts = self.counts(now);
        let finished = counts.finished();
        (finished > 0).then(|| counts.failed() as f64 / finished as f64)
    }

    /// Answers a second; `None`: nothing finished.
    pub fn throughput(&self, now: Instant) -> Option<f64> {
        let counts = self.counts(now);
        (counts.finished() > 0)
            .then(|| counts.answered() as f64 / self.covered(now).as_secs_f64())
            .filter(|throughput| throughput.is_finite())
    }

    /// Answers with these statuses; `None`: nothing was answered, so nothing is known of answers.
    pub fn answers(&self, class: StatusClass, now: Instant) -> Option<u64> {
        let counts = self.counts(now);
        (counts.answered() > 0).then(|| counts.matching(class))
    }

    /// How many finished without an answer, when none was answered.
    pub(super) fn unanswered(&self, now: Instant) -> Option<u64> {
        let counts = self.counts(now);
        (counts.finished() > 0 && counts.answered() == 0).then(|| counts.finished())
    }

    /// The latency at a quantile of what finished, but for connections that failed: they have none.
    /// `None`: nothing else finished.
    pub fn latency(&self, quantile: Quantile, now: Instant) -> Option<Duration> {
        let latencies = self.latencies(now);
        (!latencies.is_empty()).then(|| latencies.at(quantile))
    }

    pub(super) fn latencies(&self, now: Instant) -> Latencies {
        let mut all = Latencies::new();
        for slice in self.current(now) {
            all.add(&slice.latencies);
        }
        all
    }

    fn counts(&self, now: Instant) -> Counts {
        let mut all = Counts::default();
        for slice in self.current(now) {
            all.add(&slice.counts);
        }
        all
    }

    fn current(&self, now: Instant) -> impl Iterator<Item = &Slice> {
        let newest = self.slice_at(now);
        self.ring
            .iter()
            .filter(move |slice| slice.number + SLICES > newest)
    }

    /// How much of the past the figures are over. The first result stands for one period, so that a
    /// rate is right from the second result on and not only once the window is full.
    fn covered(&self, now: Instant) -> Duration {
        let since = |then: Instant| now.saturating_duration_since(then);
        let oldest = (self.slice_at(now) + 1).saturating_sub(SLICES);
        let past = since(self.origin).as_secs_f64() - oldest as f64 * self.slice.as_secs_f64();
        let past = Duration::try_from_secs_f64(past).unwrap_or(self.slice);
        let known = self.first.map_or(Duration::ZERO, since) + self.period;
        if oldest == 0 { known } else { known.min(past) }
    }

    /// How many counters it holds: its size in memory.
    #[cfg(test)]
    pub(super) fn counters(&self) -> usize {
        let of = |slice: &Slice| slice.latencies.0.distinct_values() + slice.counts.by_status.len();
        self.ring.iter().map(of).sum()
    }

    fn slice_at(&self, now: Instant) -> u64 {
        let slices = now.saturating_duration_since(self.origin).as_nanos() / self.slice.as_nanos();
        u64::try_from(slices).unwrap_or(u64::MAX - SLICES)
    }
}

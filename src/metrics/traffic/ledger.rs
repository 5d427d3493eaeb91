//! What the generator knows at any moment: the window, the whole run, and what is under way.
//!
//! The one place that turns results into readings. Pure: the time of every call is handed in.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Notify;
use tokio::time::Instant;

use super::window::{Counts, Fate, Latencies, TrafficWindow};
use crate::metrics::{Quantile, TrafficMetric, TrafficSpec};
use crate::model::sample::Reading;
use crate::model::traffic::TrafficSummary;
use crate::model::units::Span;

/// So long after the start a figure still waits for the first result: nothing can have ended at once,
/// and that is no blindness. A target that takes longer shows as what it is.
const FIRST_RESULT: Duration = Duration::from_millis(200);

pub(super) struct Ledger {
    window: TrafficWindow,
    length: Span,
    timeout: Duration,
    sent: u64,
    counts: Counts,
    latencies: Latencies,
    /// Intended start by request number: the first one is the oldest.
    in_flight: BTreeMap<u64, Instant>,
    origin: Instant,
    /// Wakes whoever waits for the first result.
    ended: Arc<Notify>,
}

impl Ledger {
    pub(super) fn new(spec: &TrafficSpec, origin: Instant) -> Self {
        Self {
            window: TrafficWindow::new(origin, spec.window.as_duration(), spec.rate),
            length: spec.window,
            timeout: spec.timeout.as_duration(),
            sent: 0,
            counts: Counts::default(),
            latencies: Latencies::new(),
            in_flight: BTreeMap::new(),
            origin,
            ended: Arc::default(),
        }
    }

    /// What tells of the first result, and until when it is worth waiting for; `None`: there was one.
    pub(super) fn first_result(&self) -> Option<(Arc<Notify>, Instant)> {
        let until = self.origin + FIRST_RESULT.min(self.timeout);
        (self.counts.finished() == 0).then(|| (Arc::clone(&self.ended), until))
    }

    pub(super) fn begin(&mut self, number: u64, intended: Instant) {
        self.sent += 1;
        self.in_flight.insert(number, intended);
    }

    pub(super) fn finish(&mut self, number: u64, fate: Fate, now: Instant) {
        if let Some(intended) = self.in_flight.remove(&number) {
            self.record(now, fate, now.saturating_duration_since(intended));
        }
    }

    /// A request that was due and could not be sent. Whoever wanted it would have waited in vain, so
    /// its latency is that of a time-out; a small one would make a stall look fast.
    pub(super) fn drop_one(&mut self, intended: Instant, now: Instant) {
        let late = now.saturating_duration_since(intended);
        self.record(now, Fate::Dropped, late.max(self.timeout));
    }

    fn record(&mut self, now: Instant, fate: Fate, latency: Duration) {
        self.window.record(now, fate, latency);
        self.counts.record(fate);
        if fate.has_latency() {
            self.latencies.record(latency);
        }
        self.ended.notify_waiters();
    }

    pub(super) fn read(&self, metric: &TrafficMetric, now: Instant) -> Reading {
        let figure = match metric {
            TrafficMetric::ErrorRate => self.window.error_rate(now),
            TrafficMetric::Throughput => self.window.throughput(now),
            TrafficMetric::Status(class) => {
                self.window.answers(*class, now).map(|count| count as f64)
            }
            TrafficMetric::Latency(quantile) => {
                self.latency(*quantile, now).map(|it| it.as_secs_f64())
            }
        };
        figure.map_or_else(|| self.nothing(now), Reading::from_number)
    }

    /// The latency at a quantile, over what finished and over what is under way for longer than that.
    ///
    /// A request under way is known to take at least its age. Once it is older than the quantile of
    /// those that finished (in the window, or in the whole run when the window is empty) it is
    /// evidence that the quantile is higher, so it counts with its age; a younger one may still end
    /// either way and is left out. So a hang shows before its time-outs do, and what is under way
    /// never makes a figure better.
    fn latency(&self, quantile: Quantile, now: Instant) -> Option<Duration> {
        if self.latencies.is_empty() {
            return None;
        }
        let mut known = self.window.latencies(now);
        let finished = if known.is_empty() {
            &self.latencies
        } else {
            &known
        };
        let bound = finished.at(quantile);
        for intended in self.in_flight.values() {
            let age = now.saturating_duration_since(*intended);
            if age <= bound {
                break;
            }
            known.record(age);
        }
        (!known.is_empty()).then(|| known.at(quantile))
    }

    fn nothing(&self, now: Instant) -> Reading {
        let under_way = match self.in_flight.len() {
            1 => "1 is under way".to_owned(),
            count => format!("{count} are under way"),
        };
        let why = match self.window.unanswered(now) {
            Some(count) => {
                format!("none of the last {count} requests was answered, {under_way}")
            }
            None if self.counts.finished() == 0 => {
                format!("no request has finished yet, {under_way}")
            }
            None => format!(
                "no request finished in the last {}, {under_way}",
                self.length
            ),
        };
        Reading::NoData { why }
    }

    /// Counts what is still under way as timed out and sums up the run.
    pub(super) fn settle(&mut self, now: Instant) -> TrafficSummary {
        while let Some((number, _)) = self.in_flight.first_key_value() {
            self.finish(*number, Fate::TimedOut, now);
        }
        let milliseconds = |quantile| self.latencies.at(quantile).as_secs_f64() * 1_000.0;
        TrafficSummary {
            sent: self.sent,
            dropped: self.counts.dropped,
            by_status: self.counts.by_status.clone(),
            timed_out: self.counts.timed_out,
            connection_failed: self.counts.connection_failed,
            p50_ms: milliseconds(Quantile::P50),
            p99_ms: milliseconds(Quantile::P99),
            max_ms: milliseconds(Quantile::Max),
        }
    }
}

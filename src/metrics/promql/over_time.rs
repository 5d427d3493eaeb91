//! Functions of one series' samples in a range: rates with Prometheus's extrapolation and its view of
//! counter resets, and the plain figures of a range.

use super::numbers::{Mean, Sum};
use super::select::Window;

/// Samples further than this many average intervals from an end of the range are taken for a series
/// that began or ended there.
const NEAR: f64 = 1.1;

/// How a range's difference is taken.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// Only ever grows, starts at zero, and starts again at zero: a fall is a reset.
    Counter,
    /// May fall.
    Gauge,
}

/// Increase of a counter per second.
pub(super) fn rate(window: &Window) -> Option<f64> {
    Some(extrapolated(window, Kind::Counter)? / window.seconds())
}

/// Increase of a counter over the range.
pub(super) fn increase(window: &Window) -> Option<f64> {
    extrapolated(window, Kind::Counter)
}

/// Difference of a gauge over the range.
pub(super) fn delta(window: &Window) -> Option<f64> {
    extrapolated(window, Kind::Gauge)
}

/// Increase of a counter per second, between the last two samples.
pub(super) fn irate(window: &Window) -> Option<f64> {
    let ((before_ms, before), (last_ms, last)) = window.last_two()?;
    let grown = if last < before { last } else { last - before };
    Some(grown / seconds_between(before_ms, last_ms))
}

/// Difference between the last two samples.
pub(super) fn idelta(window: &Window) -> Option<f64> {
    let ((_, before), (_, last)) = window.last_two()?;
    Some(last - before)
}

/// How often a counter fell.
pub(super) fn resets(window: &Window) -> Option<f64> {
    Some(window.count_pairs(|before, after| after < before))
}

/// How often the value changed; from NaN to NaN is no change.
pub(super) fn changes(window: &Window) -> Option<f64> {
    Some(
        window.count_pairs(|before, after| after != before && !(after.is_nan() && before.is_nan())),
    )
}

/// The mean of the samples.
pub(super) fn avg(window: &Window) -> Option<f64> {
    Some(window.values().fold(Mean::default(), Mean::with).value())
}

/// The sum of the samples.
pub(super) fn sum(window: &Window) -> Option<f64> {
    Some(window.values().fold(Sum::default(), Sum::with).value())
}

/// The smallest sample; NaN only where every sample is.
pub(super) fn min(window: &Window) -> Option<f64> {
    window.values().reduce(f64::min)
}

/// The largest sample; NaN only where every sample is.
pub(super) fn max(window: &Window) -> Option<f64> {
    window.values().reduce(f64::max)
}

/// How many samples there are.
pub(super) fn count(window: &Window) -> Option<f64> {
    Some(window.points.len() as f64)
}

/// The latest sample.
pub(super) fn last(window: &Window) -> Option<f64> {
    window.points.last().map(|(_, value)| *value)
}

/// The difference between the last and the first sample, stretched to the ends of the range where
/// the samples come near them, and by half an interval where they do not; a counter never further
/// back than to where it was zero.
fn extrapolated(window: &Window, kind: Kind) -> Option<f64> {
    let ((first_ms, first), (last_ms, last)) = match window.points.as_slice() {
        [first, .., last] => (*first, *last),
        _ => return None,
    };
    let mut grown = last - first;
    if kind == Kind::Counter {
        let pairs = window.points.windows(2);
        for fall in pairs.filter(|pair| pair[1].1 < pair[0].1) {
            grown += fall[0].1;
        }
    }

    let sampled = seconds_between(first_ms, last_ms);
    let interval = sampled / (window.points.len() - 1) as f64;
    let mut before = seconds_between(window.start_ms, first_ms);
    let after = seconds_between(last_ms, window.end_ms);
    if kind == Kind::Counter && grown > 0.0 && first >= 0.0 {
        before = before.min(sampled * (first / grown));
    }
    let reach = |gap: f64| {
        if gap < interval * NEAR {
            gap
        } else {
            interval / 2.0
        }
    };
    Some(grown * ((sampled + reach(before) + reach(after)) / sampled))
}

fn seconds_between(start_ms: i64, end_ms: i64) -> f64 {
    end_ms.saturating_sub(start_ms) as f64 / 1_000.0
}

impl Window {
    fn seconds(&self) -> f64 {
        seconds_between(self.start_ms, self.end_ms)
    }

    fn values(&self) -> impl Iterator<Item = f64> {
        self.points.iter().map(|(_, value)| *value)
    }

    fn last_two(&self) -> Option<((i64, f64), (i64, f64))> {
        match self.points.as_slice() {
            [.., before, last] => Some((*before, *last)),
            _ => None,
        }
    }

    fn count_pairs(&self, is_one: impl Fn(f64, f64) -> bool) -> f64 {
        let pairs = self.points.windows(2);
        pairs.filter(|pair| is_one(pair[0].1, pair[1].1)).count() as f64
    }
}

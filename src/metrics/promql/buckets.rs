//! `histogram_quantile` over classic buckets: cumulative counts by upper bound, the label `le`.

use std::collections::BTreeMap;

use super::answer::{LabelSet, Sample, drop_name};

/// The label that holds a bucket's upper bound.
const BOUND: &str = "le";

/// How many observations were at most so large.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Bucket {
    bound: f64,
    count: f64,
}

/// The quantile of each histogram: series that differ only in `le` are the buckets of one. A series
/// whose `le` is no number is no bucket.
pub(super) fn quantiles<'a>(quantile: f64, buckets: Vec<Sample<'a>>) -> Vec<Sample<'a>> {
    let mut histograms: BTreeMap<LabelSet<'a>, Vec<Bucket>> = BTreeMap::new();
    for mut sample in buckets {
        let bound = sample.labels.iter().find(|(name, _)| *name == BOUND);
        let Some(bound) = bound.and_then(|(_, text)| text.parse().ok()) else {
            continue;
        };
        sample.labels.retain(|(name, _)| *name != BOUND);
        let histogram = histograms.entry(sample.labels).or_default();
        histogram.push(Bucket {
            bound,
            count: sample.value,
        });
    }
    let found = histograms.into_iter();
    found
        .map(|(mut labels, histogram)| {
            drop_name(&mut labels);
            let value = of_histogram(quantile, histogram);
            Sample { labels, value }
        })
        .collect()
}

/// The quantile of one histogram, linear within a bucket; the lowest bucket starts at zero, unless
/// its bound is negative, and the highest finite bound is the most that can be said.
fn of_histogram(quantile: f64, buckets: Vec<Bucket>) -> f64 {
    if quantile.is_nan() {
        return f64::NAN;
    }
    if quantile < 0.0 {
        return f64::NEG_INFINITY;
    }
    if quantile > 1.0 {
        return f64::INFINITY;
    }
    let buckets = cumulative(buckets);
    let (finite, total) = match buckets.as_slice() {
        [finite @ .., last] if last.bound == f64::INFINITY => (finite, last.count),
        _ => return f64::NAN,
    };
    let Some(highest) = finite.last() else {
        return f64::NAN;
    };
    if total == 0.0 {
        return f64::NAN;
    }
    let rank = quantile * total;
    // Counts may be NaN: the search has to halve exactly as Prometheus's does to find the same.
    let index = first(finite.len(), |at| finite[at].count >= rank);
    let Some(bucket) = finite.get(index) else {
        return highest.bound;
    };
    let lower = match index.checked_sub(1) {
        Some(below) => finite[below],
        None if bucket.bound <= 0.0 => return bucket.bound,
        None => Bucket {
            bound: 0.0,
            count: 0.0,
        },
    };
    let share = (rank - lower.count) / (bucket.count - lower.count);
    lower.bound + (bucket.bound - lower.bound) * share
}

/// By bound, each bound once, and never falling: buckets that are read one after the other may
/// disagree by the observations in between.
fn cumulative(mut buckets: Vec<Bucket>) -> Vec<Bucket> {
    buckets.sort_by(|one, other| one.bound.total_cmp(&other.bound));
    let mut whole: Vec<Bucket> = Vec::with_capacity(buckets.len());
    for bucket in buckets {
        match whole.last_mut() {
            Some(last) if last.bound == bucket.bound => last.count += bucket.count,
            _ => whole.push(bucket),
        }
    }
    let mut most = whole.first().map_or(f64::NAN, |lowest| lowest.count);
    for bucket in whole.iter_mut().skip(1) {
        if bucket.count < most {
            bucket.count = most;
        } else if bucket.count > most {
            most = bucket.count;
        }
    }
    whole
}

/// The first index from which on it is so, found by halving; `count` if it is nowhere.
fn first(count: usize, is_so: impl Fn(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, count);
    while low < high {
        let middle = low.midpoint(high);
        if is_so(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    low
}

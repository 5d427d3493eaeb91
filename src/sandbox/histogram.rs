//! How long answers took, as the cumulative buckets of a metrics page.

use std::time::Duration;

/// Upper bounds in seconds. Half of them are below what a healthy pipeline takes with one retry, the
/// others tell apart how long a sick one makes its callers wait.
const BOUNDS: [f64; 11] = [
    0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0,
];

/// Counts by duration.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram {
    /// Those within each bound and above the one before; last those above all.
    counts: [u64; BOUNDS.len() + 1],
    sum: Duration,
}

impl Histogram {
    pub(super) fn record(&mut self, took: Duration) {
        let seconds = took.as_secs_f64();
        let bucket = BOUNDS.partition_point(|bound| *bound < seconds);
        self.counts[bucket] += 1;
        self.sum += took;
    }

    /// Each bound with how many were within it, the infinite one last.
    pub(super) fn buckets(&self) -> impl Iterator<Item = (f64, u64)> {
        let bounds = BOUNDS.into_iter().chain([f64::INFINITY]);
        bounds.zip(self.counts).scan(0, |total, (bound, count)| {
            *total += count;
            Some((bound, *total))
        })
    }

    /// How many there were.
    pub(super) fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// How long all of them took together.
    pub(super) fn sum(&self) -> Duration {
        self.sum
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_holds_everything_up_to_and_with_its_bound() {
        let mut histogram = Histogram::default();
        for millis in [0, 5, 6, 800, 1_000, 10_000, 10_001] {
            histogram.record(Duration::from_millis(millis));
        }
        let expected = [
            (0.005, 2),
            (0.01, 3),
            (0.025, 3),
            (0.05, 3),
            (0.1, 3),
            (0.25, 3),
            (0.5, 3),
            (1.0, 5),
            (2.5, 5),
            (5.0, 5),
            (10.0, 6),
            (f64::INFINITY, 7),
        ];
        assert!(histogram.buckets().eq(expected));
        assert_eq!(histogram.count(), 7);
        assert_eq!(histogram.sum(), Duration::from_millis(21_812));
    }
}

//! Samples in memory: series by their labels, for as long as the longest query looks back.

use std::collections::{BTreeMap, VecDeque};

/// Labels by name; the metric's name is `__name__`, as in Prometheus.
pub type Labels = BTreeMap<String, String>;

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The value; may be NaN or infinite. `None`: the series is stale from here on, which ends the
    /// look-back of an instant selector and is no sample of a range.
    pub value: Option<f64>,
}

/// Series by their labels; samples older than the span that is kept are dropped as newer ones come.
#[derive(Debug, Clone)]
pub struct SeriesStore {
    keep_ms: i64,
    series: BTreeMap<Labels, VecDeque<Point>>,
}

impl SeriesStore {
    /// An empty store that keeps so many milliseconds of each series.
    pub fn new(keep_ms: i64) -> Self {
        Self {
            keep_ms,
            series: BTreeMap::new(),
        }
    }

    /// Adds a sample. One that is not newer than the series' latest is left out, as Prometheus does.
    pub fn append(&mut self, labels: Labels, point: Point) {
        let points = self.series.entry(labels).or_default();
        if points
            .back()
            .is_none_or(|latest| latest.at_ms < point.at_ms)
        {
            points.push_back(point);
        }
        let oldest = point.at_ms.saturating_sub(self.keep_ms);
        while points.front().is_some_and(|first| first.at_ms < oldest) {
            points.pop_front();
        }
    }

    /// Every series, in the order of the labels, with its samples, oldest first.
    pub fn all(&self) -> impl Iterator<Item = (&Labels, &VecDeque<Point>)> {
        self.series.iter()
    }
}

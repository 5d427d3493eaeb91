//! Which series a selector finds, and which of their samples count at an instant or in a range.

use std::collections::VecDeque;

use promql_parser::parser::{MatrixSelector, VectorSelector};

use super::LOOK_BACK;
use super::answer::{Moment, NAME, Sample, borrowed_labels};
use crate::metrics::series::{Labels, Point};

/// The samples of one series in a range, at least one; stale markers left out.
pub(super) struct Window {
    /// Milliseconds since 1970 and value, oldest first.
    pub(super) points: Vec<(i64, f64)>,
    /// The start of the range, in milliseconds since 1970.
    pub(super) start_ms: i64,
    /// The end of the range.
    pub(super) end_ms: i64,
}

impl<'a> Moment<'a> {
    /// The latest sample of each series, at most five minutes old and not stale.
    pub(super) fn latest(&self, selector: &VectorSelector) -> Vec<Sample<'a>> {
        let found = self.series(selector);
        found
            .filter_map(|(labels, points)| {
                let value = self.value(points)?;
                let labels = borrowed_labels(labels);
                Some(Sample { labels, value })
            })
            .collect()
    }

    fn value(&self, points: &VecDeque<Point>) -> Option<f64> {
        let later = points.partition_point(|point| point.at_ms <= self.at_ms);
        let latest = points.get(later.checked_sub(1)?)?;
        let age = self.at_ms.saturating_sub(latest.at_ms);
        let fresh = u64::try_from(age).is_ok_and(|age| age <= LOOK_BACK.as_millis());
        latest.value.filter(|_| fresh)
    }

    /// What `work` makes of each series' samples in the range, both of its ends included.
    pub(super) fn over(
        &self,
        selector: &MatrixSelector,
        work: impl Fn(&Window) -> Option<f64>,
    ) -> Vec<Sample<'a>> {
        let range = i64::try_from(selector.range.as_millis()).unwrap_or(i64::MAX);
        let mut window = Window {
            points: Vec::new(),
            start_ms: self.at_ms.saturating_sub(range),
            end_ms: self.at_ms,
        };
        let mut samples = Vec::new();
        for (labels, points) in self.series(&selector.vs) {
            window.fill(points);
            if window.points.is_empty() {
                continue;
            }
            if let Some(value) = work(&window) {
                let labels = borrowed_labels(labels);
                samples.push(Sample { labels, value });
            }
        }
        samples
    }

    fn series<'s>(
        &self,
        selector: &'s VectorSelector,
    ) -> impl Iterator<Item = (&'a Labels, &'a VecDeque<Point>)> + use<'a, 's> {
        let all = self.store.of(selector.name.as_deref());
        all.filter(move |(labels, _)| is_meant(selector, labels))
    }
}

/// Whether the selector finds the series. A label that it lacks is an empty one.
fn is_meant(selector: &VectorSelector, labels: &Labels) -> bool {
    let value = |name: &str| labels.get(name).map_or("", String::as_str);
    let named = selector.name.as_ref();
    named.is_none_or(|name| value(NAME) == name)
        && selector
            .matchers
            .matchers
            .iter()
            .all(|matcher| matcher.is_match(value(&matcher.name)))
}

impl Window {
    fn fill(&mut self, points: &VecDeque<Point>) {
        self.points.clear();
        let first = points.partition_point(|point| point.at_ms < self.start_ms);
        let beyond = points.partition_point(|point| point.at_ms <= self.end_ms);
        let inside = points.range(first..beyond.max(first));
        self.points
            .extend(inside.filter_map(|point| Some((point.at_ms, point.value?))));
    }
}

//! Samples in memory: series by their labels, each for as long as the queries that read it look back.
//!
//! Memory is bounded: what nobody asks for keeps two samples, what is too old goes whether new samples
//! come or not, and `HELD_AT_MOST` is for the whole store.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Bound;

/// Labels by name; the metric's name is `__name__`, as in Prometheus.
pub type Labels = BTreeMap<String, String>;

/// What a store may hold, in bytes.
const HELD_AT_MOST: usize = 128 << 20;

/// What a series nobody asks for keeps: enough for a first `rate` of whoever asks first.
const NEWEST: usize = 2;

/// About what the maps and the texts' own books take, for each series and for each label; measured.
/// A map of labels has room for eleven from the first on.
const SERIES_OVERHEAD: usize = 830;
const LABEL_OVERHEAD: usize = 32;

/// Samples that the first one of a series makes room for; more double it.
const FIRST_ROOM: usize = 4;

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The value; may be NaN or infinite. `None`: the series is stale from here on, which ends the
    /// look-back of an instant selector and is no sample of a range.
    pub value: Option<f64>,
}

/// How much of a series is kept; the more, the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Keeps {
    /// The newest two samples, and nothing once it is stale.
    Newest,
    /// So many milliseconds of it.
    Milliseconds(i64),
}

/// Where a sample was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Origin {
    /// Which page, by its number.
    pub(super) page: usize,
    /// Which read of that page.
    pub(super) round: u64,
    /// Who said when it was taken.
    pub(super) dated: Dated,
}

/// Who said when a sample was taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum Dated {
    /// Nobody: it is as old as the read.
    #[default]
    ByRead,
    /// The page.
    ByPage,
}

#[derive(Debug, Clone)]
struct Series {
    points: VecDeque<Point>,
    keeps: Keeps,
    origin: Origin,
}

/// Series by their labels.
#[derive(Debug, Clone)]
pub struct SeriesStore {
    keep_ms: i64,
    /// By the metric's name first: most selectors name one, and walk no others.
    metrics: BTreeMap<String, BTreeMap<Labels, Series>>,
    held: usize,
}

impl SeriesStore {
    /// An empty store that keeps so many milliseconds of each series.
    pub fn new(keep_ms: i64) -> Self {
        Self {
            keep_ms,
            metrics: BTreeMap::new(),
            held: 0,
        }
    }

    /// Adds a sample. One that is not newer than the series' latest is left out, as Prometheus does.
    pub fn append(&mut self, labels: Labels, point: Point) {
        let keeps = Keeps::Milliseconds(self.keep_ms);
        self.add(labels, point, Origin::default(), |_| keeps);
    }

    /// Adds a sample that was read somewhere; a new series is asked how much of it is kept.
    pub(super) fn add(
        &mut self,
        labels: Labels,
        point: Point,
        origin: Origin,
        keeps: impl FnOnce(&Labels) -> Keeps,
    ) {
        let metric = metric(&labels);
        let all = match self.metrics.get_mut(metric) {
            Some(all) => all,
            None => self.metrics.entry(metric.to_owned()).or_default(),
        };
        let series = match all.get_mut(&labels) {
            Some(series) => series,
            None => {
                self.held += weight(&labels);
                let keeps = keeps(&labels);
                all.entry(labels).or_insert(Series {
                    points: VecDeque::new(),
                    keeps,
                    origin,
                })
            }
        };
        series.origin = origin;
        if series.is_behind(point.at_ms) {
            self.held += series.push(point);
        }
    }

    /// Ends the series that a page had before and no longer has, but for those whose times the page
    /// itself gives: they end when they are too old, as in Prometheus.
    pub(super) fn end_missing(&mut self, page: usize, round: u64, at_ms: i64) {
        for series in self.metrics.values_mut().flat_map(BTreeMap::values_mut) {
            let Origin {
                page: from,
                round: last,
                dated,
            } = series.origin;
            let missing = from == page && last < round && dated == Dated::ByRead;
            if missing && !series.is_stale() && series.is_behind(at_ms) {
                self.held += series.push(Point { at_ms, value: None });
            }
        }
    }

    /// Keeps at least so much of the series of this metric, or of any, that satisfy `is_asked`.
    pub(super) fn keep(
        &mut self,
        metric: Option<&str>,
        at_least: Keeps,
        is_asked: impl Fn(&Labels) -> bool,
    ) {
        let metrics = self.metrics.range_mut::<str, _>(named(metric));
        for (labels, series) in metrics.flat_map(|(_, all)| all) {
            if series.keeps < at_least && is_asked(labels) {
                series.keeps = at_least;
            }
        }
    }

    /// Drops what is no longer kept, and series of which nothing is left.
    pub(super) fn forget(&mut self, now_ms: i64) {
        let mut freed = 0;
        self.metrics.retain(|_, all| {
            all.retain(|labels, series| {
                series.forget(now_ms);
                let stays = !series.points.is_empty();
                if !stays {
                    freed += weight(labels) + room(&series.points);
                }
                stays
            });
            !all.is_empty()
        });
        self.held -= freed;
    }

    /// Whether one more sample of each of these series can be held.
    pub(super) fn has_room_for<'l>(&self, more: impl Iterator<Item = &'l Labels>) -> bool {
        let known = |labels| self.metrics.get(metric(labels))?.get(labels);
        let new = more.map(|labels| match known(labels) {
            Some(series) => more_room(&series.points),
            None => more_room(&VecDeque::new()) + weight(labels),
        });
        self.held + new.sum::<usize>() <= HELD_AT_MOST
    }

    /// Every series with its samples, oldest first; in the order of the metrics' names.
    pub fn all(&self) -> impl Iterator<Item = (&Labels, &VecDeque<Point>)> {
        self.of(None)
    }

    /// The series of one metric, or of all.
    pub(super) fn of(
        &self,
        metric: Option<&str>,
    ) -> impl Iterator<Item = (&Labels, &VecDeque<Point>)> + use<'_> {
        let metrics = self.metrics.range::<str, _>(named(metric));
        let all = metrics.flat_map(|(_, all)| all);
        all.map(|(labels, series)| (labels, &series.points))
    }
}

/// The metric's name; empty where there is none.
fn metric(labels: &Labels) -> &str {
    labels.get("__name__").map_or("", String::as_str)
}

/// The range of one name, or of all.
fn named(metric: Option<&str>) -> (Bound<&str>, Bound<&str>) {
    match metric {
        Some(name) => (Bound::Included(name), Bound::Included(name)),
        None => (Bound::Unbounded, Bound::Unbounded),
    }
}

impl Series {
    fn is_behind(&self, at_ms: i64) -> bool {
        self.points.back().is_none_or(|latest| latest.at_ms < at_ms)
    }

    fn is_stale(&self) -> bool {
        self.points
            .back()
            .is_some_and(|latest| latest.value.is_none())
    }

    /// Adds a sample and says how many bytes more that takes.
    fn push(&mut self, point: Point) -> usize {
        let before = room(&self.points);
        self.points.push_back(point);
        room(&self.points) - before
    }

    /// Drops what is no longer kept; its room stays for what comes.
    fn forget(&mut self, now_ms: i64) {
        match self.keeps {
            Keeps::Newest if self.is_stale() => self.points.clear(),
            Keeps::Newest => {
                let surplus = self.points.len().saturating_sub(NEWEST);
                self.points.drain(..surplus);
            }
            Keeps::Milliseconds(keep_ms) => {
                let oldest = now_ms.saturating_sub(keep_ms);
                let kept = self.points.partition_point(|point| point.at_ms < oldest);
                self.points.drain(..kept);
            }
        }
    }
}

/// The bytes that samples have room in.
fn room(points: &VecDeque<Point>) -> usize {
    points.capacity() * size_of::<Point>()
}

/// The bytes that one more sample takes.
fn more_room(points: &VecDeque<Point>) -> usize {
    match points.len() < points.capacity() {
        true => 0,
        false => room(points).max(FIRST_ROOM * size_of::<Point>()),
    }
}

/// About what a series takes without its samples, in bytes.
fn weight(labels: &Labels) -> usize {
    let texts = labels
        .iter()
        .map(|(name, value)| name.len() + value.len() + LABEL_OVERHEAD);
    SERIES_OVERHEAD + texts.sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(name: &str) -> Labels {
        Labels::from([("__name__".to_owned(), name.to_owned())])
    }

    fn point(at_ms: i64, value: f64) -> Point {
        Point {
            at_ms,
            value: Some(value),
        }
    }

    fn contents(store: &SeriesStore) -> Vec<(&str, Vec<i64>)> {
        store
            .all()
            .map(|(labels, points)| {
                let times = points.iter().map(|point| point.at_ms).collect();
                (labels["__name__"].as_str(), times)
            })
            .collect()
    }

    fn read_in(round: u64) -> Origin {
        Origin {
            round,
            ..Origin::default()
        }
    }

    #[test]
    fn a_sample_that_is_not_newer_is_left_out() {
        let mut store = SeriesStore::new(10);
        for (at_ms, value) in [(5, 1.0), (5, 2.0), (4, 3.0), (6, 4.0)] {
            store.append(labels("a"), point(at_ms, value));
        }
        let points: Vec<_> = store.all().flat_map(|(_, points)| points).collect();
        assert_eq!(points, [&point(5, 1.0), &point(6, 4.0)]);
    }

    #[test]
    fn what_is_too_old_goes_whether_new_samples_come_or_not() {
        let mut store = SeriesStore::new(10);
        store.append(labels("gone"), point(1, 0.0));
        for at_ms in [1, 5, 15] {
            store.append(labels("here"), point(at_ms, 0.0));
        }
        store.forget(15);
        assert_eq!(contents(&store), [("here", vec![5, 15])]);
        store.forget(26);
        assert_eq!(contents(&store), []);
        assert_eq!(store.held, 0);
    }

    #[test]
    fn what_nobody_asks_for_keeps_two_samples_and_nothing_once_it_is_stale() {
        let mut store = SeriesStore::new(1_000);
        for round in 1..=9 {
            for name in ["asked", "unasked"] {
                store.add(
                    labels(name),
                    point(round as i64, 0.0),
                    read_in(round),
                    |labels| match labels["__name__"] == "asked" {
                        true => Keeps::Milliseconds(4),
                        false => Keeps::Newest,
                    },
                );
            }
        }
        store.forget(9);
        let both = [("asked", vec![5, 6, 7, 8, 9]), ("unasked", vec![8, 9])];
        assert_eq!(contents(&store), both);
        store.keep(Some("unasked"), Keeps::Milliseconds(4), |_| true);
        store.keep(None, Keeps::Milliseconds(1), |_| true);
        store.end_missing(0, 10, 10);
        store.forget(10);
        let both = [("asked", vec![6, 7, 8, 9, 10]), ("unasked", vec![8, 9, 10])];
        assert_eq!(contents(&store), both);
        store.forget(15);
        assert_eq!(contents(&store), []);
        assert_eq!(store.held, 0);
    }

    #[test]
    fn who_names_a_metric_walks_no_other() {
        let mut store = SeriesStore::new(10);
        for name in ["a", "ab", "b"] {
            store.append(labels(name), point(1, 0.0));
        }
        let walked = |metric| {
            let found = store.of(metric);
            found
                .map(|(labels, _)| labels["__name__"].as_str())
                .collect::<Vec<_>>()
        };
        assert_eq!(walked(Some("a")), ["a"]);
        assert_eq!(walked(Some("c")), [""; 0]);
        assert_eq!(walked(None), ["a", "ab", "b"]);
        let ours = labels("a");
        store.keep(Some("a"), Keeps::Milliseconds(20), |walked| {
            assert_eq!(*walked, ours);
            true
        });
    }

    #[test]
    fn only_what_its_page_dated_by_the_read_and_no_longer_has_goes_stale() {
        let mut store = SeriesStore::new(1_000);
        let cases = [
            ("stays", 0, 2, Dated::ByRead),
            ("missing", 0, 1, Dated::ByRead),
            ("dated by the page", 0, 1, Dated::ByPage),
            ("of another page", 1, 1, Dated::ByRead),
        ];
        for (name, page, round, dated) in cases {
            let origin = Origin { page, round, dated };
            store.add(labels(name), point(1, 0.0), origin, |_| Keeps::Newest);
        }
        for at_ms in [2, 3] {
            store.end_missing(0, 2, at_ms);
        }
        let ended = store.all().filter(|(_, points)| points.len() > 1);
        let ended: Vec<_> = ended
            .map(|(labels, points)| (labels["__name__"].as_str(), points.back()))
            .collect();
        let stale = Point {
            at_ms: 2,
            value: None,
        };
        assert_eq!(ended, [("missing", Some(&stale))]);
    }

    #[test]
    fn a_store_holds_so_much_and_not_more() {
        let mut store = SeriesStore::new(i64::MAX);
        let known = labels("known");
        store.append(known.clone(), point(0, 0.0));
        // A full series takes as much again for one more sample, one with room takes nothing.
        let all = |count| std::iter::repeat_n(&known, count);
        assert!(store.has_room_for(all(1 << 20)));
        for at_ms in 1..4 {
            store.append(known.clone(), point(at_ms, 0.0));
        }
        let free = HELD_AT_MOST - store.held;
        let most = free / (4 * size_of::<Point>());
        assert!(store.has_room_for(all(most)));
        assert!(!store.has_room_for(all(most + 1)));
        let new = free - 4 * size_of::<Point>() - weight(&labels(""));
        let new = labels(&"n".repeat(new));
        assert!(store.has_room_for(std::iter::once(&new)));
        assert!(!store.has_room_for([&new, &known].into_iter()));
        store.append(new, point(0, 0.0));
        assert_eq!(store.held, HELD_AT_MOST);
    }
}

//! Samples in memory: series by their labels, each for as long as the queries that read it look back.
//!
//! Memory is bounded: what nobody asks for keeps two samples, what is too old goes whether new samples
//! come or not, and `HELD_AT_MOST` is for the whole store.

use std::collections::{BTreeMap, VecDeque};

/// Labels by name; the metric's name is `__name__`, as in Prometheus.
pub type Labels = BTreeMap<String, String>;

/// What a store may hold, in bytes.
const HELD_AT_MOST: usize = 128 << 20;

/// What a series nobody asks for keeps: enough for a first `rate` of whoever asks first.
const NEWEST: usize = 2;

/// About what the maps and the texts' own books take, for each series and for each label.
const SERIES_OVERHEAD: usize = 200;
const LABEL_OVERHEAD: usize = 64;

/// One sample.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// Milliseconds since 1970.
    pub at_ms: i64,
    /// The value; may be NaN or infinite. `None`: the series is stale from here on, which ends the
    /// look-back of an instant selector and is no sample of a range.
    pub value: Option<f64>,
}

/// How much of a series is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
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
    series: BTreeMap<Labels, Series>,
    held: usize,
}

impl SeriesStore {
    /// An empty store that keeps so many milliseconds of each series.
    pub fn new(keep_ms: i64) -> Self {
        Self {
            keep_ms,
            series: BTreeMap::new(),
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
        let series = match self.series.get_mut(&labels) {
            Some(series) => series,
            None => {
                self.held += weight(&labels);
                let keeps = keeps(&labels);
                self.series.entry(labels).or_insert(Series {
                    points: VecDeque::new(),
                    keeps,
                    origin,
                })
            }
        };
        series.origin = origin;
        if series.is_behind(point.at_ms) {
            series.points.push_back(point);
            self.held += size_of::<Point>();
        }
    }

    /// Ends the series that a page had before and no longer has, but for those whose times the page
    /// itself gives: they end when they are too old, as in Prometheus.
    pub(super) fn end_missing(&mut self, page: usize, round: u64, at_ms: i64) {
        for series in self.series.values_mut() {
            let Origin {
                page: from,
                round: last,
                dated,
            } = series.origin;
            let missing = from == page && last < round && dated == Dated::ByRead;
            if missing && !series.is_stale() && series.is_behind(at_ms) {
                series.points.push_back(Point { at_ms, value: None });
                self.held += size_of::<Point>();
            }
        }
    }

    /// Decides anew how much of each series is kept.
    pub(super) fn keep(&mut self, keeps: impl Fn(&Labels) -> Keeps) {
        for (labels, series) in &mut self.series {
            series.keeps = keeps(labels);
        }
    }

    /// Drops what is no longer kept, and series of which nothing is left.
    pub(super) fn forget(&mut self, now_ms: i64) {
        let mut freed = 0;
        self.series.retain(|labels, series| {
            freed += series.forget(now_ms) * size_of::<Point>();
            let stays = !series.points.is_empty();
            if !stays {
                freed += weight(labels);
            }
            stays
        });
        self.held -= freed;
    }

    /// Whether one more sample of each of these series can be held.
    pub(super) fn has_room_for<'l>(&self, more: impl Iterator<Item = &'l Labels>) -> bool {
        let new = more.map(|labels| match self.series.contains_key(labels) {
            true => size_of::<Point>(),
            false => size_of::<Point>() + weight(labels),
        });
        self.held + new.sum::<usize>() <= HELD_AT_MOST
    }

    /// Every series, in the order of the labels, with its samples, oldest first.
    pub fn all(&self) -> impl Iterator<Item = (&Labels, &VecDeque<Point>)> {
        self.series
            .iter()
            .map(|(labels, series)| (labels, &series.points))
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

    /// Drops what is no longer kept and says how much that was.
    fn forget(&mut self, now_ms: i64) -> usize {
        let before = self.points.len();
        match self.keeps {
            Keeps::Newest if self.is_stale() => self.points.clear(),
            Keeps::Newest => {
                let surplus = before.saturating_sub(NEWEST);
                self.points.drain(..surplus);
            }
            Keeps::Milliseconds(keep_ms) => {
                let oldest = now_ms.saturating_sub(keep_ms);
                let kept = self.points.partition_point(|point| point.at_ms < oldest);
                self.points.drain(..kept);
            }
        }
        before - self.points.len()
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
        store.keep(|_| Keeps::Newest);
        store.end_missing(0, 10, 10);
        store.forget(10);
        assert_eq!(contents(&store), []);
        assert_eq!(store.held, 0);
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
        let free = HELD_AT_MOST - store.held;
        let most = free / size_of::<Point>();
        assert!(store.has_room_for(std::iter::repeat_n(&known, most)));
        assert!(!store.has_room_for(std::iter::repeat_n(&known, most + 1)));
        let new = labels(&"n".repeat(free - size_of::<Point>() - weight(&labels(""))));
        assert!(store.has_room_for(std::iter::once(&new)));
        assert!(!store.has_room_for([&new, &known].into_iter()));
    }
}

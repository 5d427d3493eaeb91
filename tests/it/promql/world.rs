//! Half an hour of series with everything that can be odd about series: resets, gaps, ends with and
//! without a stale marker, NaN, infinities, labels that need quoting, histograms that are broken.

use chaos_gameday::metrics::series::{Labels, Point, SeriesStore};

use super::judge::Instants;

/// When it begins, in milliseconds since 1970; on no grid.
const START_MS: i64 = 1_700_000_003_217;
const EVERY_MS: i64 = 5_000;
const MINUTE_MS: i64 = 60_000;
const STEPS: i64 = 360;

/// The series, in the order of their labels.
pub struct World {
    pub series: Vec<(Labels, Vec<Point>)>,
}

/// What a series reads at a step: `None` nothing, `Some(None)` a stale marker.
type Story = fn(i64) -> Option<Option<f64>>;

impl World {
    pub fn new() -> Self {
        let mut world = Self { series: Vec::new() };
        world.counters();
        world.gauges();
        world.labels();
        world.histograms();
        world.series.sort_by(|one, other| one.0.cmp(&other.0));
        world
    }

    /// The same samples as a store of ours.
    pub fn store(&self) -> SeriesStore {
        let mut store = SeriesStore::new(3 * 60 * MINUTE_MS);
        for (labels, points) in &self.series {
            for point in points {
                store.append(labels.clone(), *point);
            }
        }
        store
    }

    /// From before everything to after it, on no grid; on the very samples; and at the edge of the
    /// look-back, to the millisecond.
    pub fn instants(&self) -> [Instants; 3] {
        let end_ms = START_MS + (STEPS - 1) * EVERY_MS;
        let instants = |first_ms, step_ms, count| Instants {
            first_ms,
            step_ms,
            count,
        };
        [
            instants(START_MS - 7_001, 233_017, 9),
            instants(START_MS + 16 * MINUTE_MS, EVERY_MS, 3),
            instants(end_ms + 5 * MINUTE_MS - 1, 1, 3),
        ]
    }

    fn add(&mut self, labels: &str, story: Story) {
        let points = (0..STEPS).filter_map(|step| {
            let at_ms = START_MS + step * EVERY_MS;
            story(step).map(|value| Point { at_ms, value })
        });
        self.series.push((read_labels(labels), points.collect()));
    }

    fn counters(&mut self) {
        self.add("requests_total code=200 pod=a job=shop", |step| {
            value(step as f64 * 7.0 + (step % 5) as f64)
        });
        self.add("requests_total code=200 pod=b job=shop", |step| {
            // Starts again every five minutes.
            value((step % 61) as f64 * 3.25)
        });
        self.add("requests_total code=500 pod=a job=shop", |step| {
            // Nothing for two minutes, and a reset meanwhile.
            let gap = (190..214).contains(&step);
            let since = if step < 190 { step } else { step - 200 };
            (!gap).then_some(Some(since as f64 * 0.5))
        });
        self.add("requests_total code=500 pod=b job=shop", |step| {
            // Begins late, a little above zero.
            (step >= 139).then(|| Some((step - 138) as f64 * 0.125))
        });
        self.add("requests_total code=503 pod=c job=shop", |step| {
            // Ends for good, and says so.
            match step {
                ..200 => value(step as f64),
                200 => Some(None),
                _ => None,
            }
        });
        self.add("requests_total code=504 pod=c job=shop", |step| {
            // Ends without a word.
            (step < 200).then_some(Some(step as f64 * 2.0))
        });
        self.add("requests_total code=418 pod=d job=shop", |step| {
            // Gone and back, with markers.
            match step % 40 {
                ..25 => value((step % 40) as f64),
                25 => Some(None),
                _ => None,
            }
        });
        self.add("requests_total code=200 pod=e job=rare", |step| {
            (step % 12 == 3).then_some(Some(step as f64 * 11.0))
        });
        self.add("errors_total pod=a job=shop", |step| {
            value((step / 9) as f64)
        });
        self.add("errors_total pod=b job=shop", |_| value(0.0));
        self.add("once_total pod=a", |step| {
            (step == 144).then_some(Some(5.0))
        });
        self.add("twice_total pod=a", |step| {
            matches!(step, 140 | 144).then(|| Some((step - 100) as f64))
        });
    }

    fn gauges(&mut self) {
        self.add("queue_length pod=a job=shop", |step| {
            value((step * 37 % 11) as f64 - 2.0)
        });
        self.add("queue_length pod=b job=shop", |step| {
            value((step * 53 % 17) as f64 * 0.75)
        });
        self.add("queue_length pod=c job=shop", |step| match step % 7 {
            0 | 3 => value(f64::NAN),
            _ => value(3.0),
        });
        self.add("queue_length pod=d job=mall", |step| match step % 29 {
            5 => value(f64::INFINITY),
            9 => value(f64::NEG_INFINITY),
            other => value(other as f64 * -1.5),
        });
        self.add("limit pod=a job=shop", |_| value(5.0));
        self.add("limit pod=b job=shop", |_| value(6.0));
        self.add("limit pod=b job=shop zone=x", |_| value(7.0));
        self.add("always_nan pod=a", |_| value(f64::NAN));
        self.add("always_infinite pod=a", |_| value(f64::INFINITY));
        self.add("huge pod=a", |step| value(1e300 * (step % 3) as f64));
        self.add("huge pod=b", |_| value(-1.7e308));
        self.add("huge pod=c", |_| value(-1.7e308));
        self.add("huge pod=d", |_| value(1e-300));
        self.add("up job=shop pod=a", |_| value(1.0));
        self.add("up job=shop pod=b", |step| value((step % 2) as f64));
        self.add("up job=shop pod=c", |_| value(0.0));
        self.add("last_success_timestamp_seconds job=shop", |step| {
            value(1_700_000_000.0 + step as f64)
        });
    }

    fn labels(&mut self) {
        self.add("job:errors:rate5m job=shop", |_| value(0.25));
        self.add("odd text=say_\"hi\" Zone=UPPER", |_| value(1.0));
        self.add("odd text=back\\slash Zone=UPPER", |_| value(2.0));
        self.add("odd text=größer_☃ Zone=lower", |_| value(3.0));
        self.add("odd text=two\nlines", |_| value(4.0));
        self.add("odd text=a.b|c(d)*", |_| value(5.0));
        self.add("odd", |_| value(6.0));
        // Without their names these two are one.
        self.add("twin_one pod=a", |_| value(1.0));
        self.add("twin_two pod=a", |_| value(2.0));
    }

    fn histograms(&mut self) {
        let buckets: &[(&str, Story)] = &[
            ("good le=0.1", |step| value(step as f64)),
            ("good le=0.5", |step| value(step as f64 * 3.0)),
            ("good le=1", |step| value(step as f64 * 3.5)),
            ("good le=+Inf", |step| value(step as f64 * 4.0)),
            ("endless le=0.1", |step| value(step as f64)),
            ("endless le=1", |step| value(step as f64 * 2.0)),
            ("falling le=0.1", |step| value(step as f64 * 5.0)),
            ("falling le=0.2", |step| value(step as f64 * 2.0)),
            ("falling le=0.3", |step| value(step as f64 * 9.0)),
            ("falling le=+Inf", |step| value(step as f64 * 8.0)),
            ("empty le=0.1", |_| value(0.0)),
            ("empty le=+Inf", |_| value(0.0)),
            ("single le=+Inf", |step| value(step as f64)),
            ("below le=-1", |step| value(step as f64)),
            ("below le=0", |step| value(step as f64 * 2.0)),
            ("below le=2", |step| value(step as f64 * 3.0)),
            ("below le=+Inf", |step| value(step as f64 * 3.0)),
            ("nan le=0.1", |_| value(f64::NAN)),
            ("nan le=1", |step| value(step as f64)),
            ("nan le=2", |step| value(step as f64 * 2.0)),
            ("nan le=+Inf", |step| value(step as f64 * 3.0)),
            ("hole le=0.1", |step| value(step as f64)),
            ("hole le=1", |_| value(f64::NAN)),
            ("hole le=2", |step| value(step as f64 * 2.0)),
            ("hole le=+Inf", |step| value(step as f64 * 3.0)),
            ("malformed le=much", |step| value(step as f64)),
            ("malformed le=1", |step| value(step as f64)),
            ("malformed le=+Inf", |step| value(step as f64 * 2.0)),
            ("same le=1", |step| value(step as f64)),
            ("same le=1.0", |step| value(step as f64)),
            ("same le=1e1", |step| value(step as f64 * 3.0)),
            ("same le=Inf", |step| value(step as f64 * 4.0)),
            ("bare", |step| value(step as f64)),
        ];
        for (labels, story) in buckets {
            let labels = format!("latency_seconds_bucket kind={labels}");
            self.add(&labels, *story);
        }
    }
}

fn value(number: f64) -> Option<Option<f64>> {
    Some(Some(number))
}

/// A name, and pairs with `=` after it.
fn read_labels(text: &str) -> Labels {
    let (name, pairs) = text.split_once(' ').unwrap_or((text, ""));
    let pairs = pairs.split(' ').filter_map(|pair| pair.split_once('='));
    let named = [("__name__", name)].into_iter().chain(pairs);
    named
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

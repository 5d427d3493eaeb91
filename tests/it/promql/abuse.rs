//! Nothing that is written in a query, and nothing that a page can hold, ends the program.

use chaos_gameday::metrics::promql::{self, Value};
use chaos_gameday::metrics::series::{Labels, Point, SeriesStore};
use proptest::prelude::*;

use super::random;

/// Pieces of queries, whole and broken.
const PIECES: &[&str] = &[
    "x",
    "rate",
    "sum",
    "by",
    "on",
    "ignoring",
    "group_left",
    "bool",
    "offset",
    "@",
    "start()",
    "or",
    "and",
    "unless",
    "(",
    ")",
    "{",
    "}",
    "[",
    "]",
    "[5m]",
    "[5m:1m]",
    "[1e30]",
    "[0]",
    ",",
    ":",
    "+",
    "-",
    "^",
    "==",
    "=~",
    "!=",
    "!",
    "=",
    "<",
    "1",
    "0x",
    "1e",
    "NaN",
    "Inf",
    "5m",
    "99999999999y",
    "1e309",
    "\"a\"",
    "'",
    "`",
    "`\\d`",
    "\"\\",
    "\"\\xff\"",
    "\"\\U0011ffff\"",
    "é",
    "#",
    "\n",
    ".",
    "{a=~\"(\"}",
    "{a=\"b\"}",
    "topk",
    "time",
    "nosuch(",
    "histogram_quantile(",
    "\u{0}",
    "😀",
    "fill(",
    "fill_left",
    "limit_ratio",
];

fn soup() -> impl Strategy<Value = String> {
    let pieces = prop::collection::vec(prop::sample::select(PIECES), 0..24);
    (pieces, prop::sample::select(&["", " "][..]))
        .prop_map(|(pieces, between)| pieces.join(between))
}

fn number() -> impl Strategy<Value = Option<f64>> {
    prop_oneof![
        8 => any::<f64>().prop_map(Some),
        8 => (0_u32..100).prop_map(|number| Some(f64::from(number))),
        1 => Just(Some(f64::NAN)),
        1 => Just(Some(f64::INFINITY)),
        2 => Just(None),
    ]
}

fn series() -> impl Strategy<Value = (Labels, Vec<Point>)> {
    let labels = prop::collection::btree_map(
        prop::sample::select(&["pod", "code", "job", "le", "zone", "kind"][..])
            .prop_map(str::to_owned),
        prop::sample::select(&["a", "b", "500", "0.1", "+Inf", "NaN", "1e999"][..])
            .prop_map(str::to_owned),
        0..4,
    );
    let gap = prop_oneof![8 => 0..60_000_i64, 1 => any::<i64>()];
    let points = prop::collection::vec((gap, number()), 0..12);
    (prop::sample::select(random::NAMES), labels, points).prop_map(|(name, mut labels, gaps)| {
        labels.insert("__name__".to_owned(), name.to_owned());
        let mut at_ms = 0_i64;
        let points = gaps.into_iter().map(|(gap, value)| {
            at_ms = at_ms.saturating_add(gap);
            Point { at_ms, value }
        });
        (labels, points.collect())
    })
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused_at_a_place_in_it(query in prop_oneof![soup(), ".{0,40}"]) {
        match promql::parse(&query) {
            Ok(read) => {
                let _either_is_fine = promql::check(&read);
                let _either_is_fine = promql::evaluate(&read, &SeriesStore::new(1), 0);
                promql::longest_range(&read);
                promql::selectors(&read);
            }
            Err(why) => {
                let place = why.range.unwrap_or_default();
                prop_assert!(query.get(place.clone()).is_some(), "{place:?} of {query:?}");
            }
        }
    }

    #[test]
    fn any_series_have_an_answer_or_a_reason_for_none(
        seed in any::<u64>(),
        all in prop::collection::vec(series(), 0..12),
        at_ms in prop_oneof![8 => 0..300_000_i64, 1 => any::<i64>()],
    ) {
        let mut store = SeriesStore::new(3_600_000);
        for (labels, points) in all {
            for point in points {
                store.append(labels.clone(), point);
            }
        }
        let query = random::expression(seed);
        let read = promql::parse(&query).map_err(|why| TestCaseError::fail(why.problem.message))?;
        prop_assert_eq!(promql::check(&read), Ok(()));
        if let Ok(Value::Vector(samples)) = promql::evaluate(&read, &store, at_ms) {
            let in_order = samples.windows(2).all(|pair| pair[0].0 < pair[1].0);
            prop_assert!(in_order, "{}: {:?}", query, samples);
        }
    }
}

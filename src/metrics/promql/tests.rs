//! The rules, each in a few samples that can be worked out by hand.

use super::*;
use crate::metrics::series::Point;

/// Series as `name{label="value"} 0=1 10=2 20=stale`: seconds and values.
fn store(series: &[&str]) -> SeriesStore {
    let mut store = SeriesStore::new(24 * 60 * 60 * 1_000);
    for line in series {
        let (selector, points) = line.split_once(' ').expect("labels and samples");
        let (name, pairs) = selector.split_once('{').unwrap_or((selector, "}"));
        let pairs = pairs.trim_end_matches('}').split(',');
        let pairs = pairs.filter_map(|pair| pair.split_once('='));
        let labels: Labels = [("__name__", name)]
            .into_iter()
            .chain(pairs.map(|(name, value)| (name, value.trim_matches('"'))))
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect();
        for point in points.split(' ') {
            let (at, value) = point.split_once('=').expect("a second and a value");
            let at_s: f64 = at.parse().expect("a second");
            let point = Point {
                at_ms: (at_s * 1_000.0) as i64,
                value: (value != "stale").then(|| value.parse().expect("a value")),
            };
            store.append(labels.clone(), point);
        }
    }
    store
}

/// The answer as a person would write it down.
fn answer(series: &[&str], query: &str, at_s: f64) -> String {
    let expression = parse(query).expect(query);
    match evaluate(&expression, &store(series), (at_s * 1_000.0) as i64) {
        Err(problem) => format!("refused: {problem}"),
        Ok(Value::Scalar(value)) => value.to_string(),
        Ok(Value::Vector(samples)) => {
            let lines = samples.into_iter().map(|(mut labels, value)| {
                let name = labels.remove("__name__").unwrap_or_default();
                let pairs = labels.iter();
                let pairs: Vec<_> = pairs
                    .map(|(name, value)| format!("{name}={value:?}"))
                    .collect();
                format!("{name}{{{}}} {value}", pairs.join(","))
            });
            lines.collect::<Vec<_>>().join("; ")
        }
    }
}

/// Each query of a table at its second.
fn assert_answers(series: &[&str], table: &[(&str, f64, &str)]) {
    for (query, at_s, expected) in table {
        assert_eq!(answer(series, query, *at_s), *expected, "{query} at {at_s}");
    }
}

#[test]
fn a_selector_looks_back_five_minutes_and_stops_at_a_stale_marker() {
    let series = ["up{pod=\"a\"} 10=1", "up{pod=\"b\"} 10=2 20=stale 40=3"];
    assert_answers(
        &series,
        &[
            ("up", 9.999, ""),
            ("up", 10.0, "up{pod=\"a\"} 1; up{pod=\"b\"} 2"),
            ("up", 25.0, "up{pod=\"a\"} 1"),
            ("up", 40.0, "up{pod=\"a\"} 1; up{pod=\"b\"} 3"),
            ("up", 310.0, "up{pod=\"a\"} 1; up{pod=\"b\"} 3"),
            ("up", 310.001, "up{pod=\"b\"} 3"),
        ],
    );
}

#[test]
fn a_label_that_is_not_there_is_empty_and_a_regular_expression_matches_all_of_it() {
    let series = [
        "up{zone=\"eu-1\"} 0=1",
        "up{job=\"shop\"} 0=2",
        "down{zone=\"\"} 0=3",
    ];
    assert_answers(
        &series,
        &[
            ("up{zone=\"\"}", 0.0, "up{job=\"shop\"} 2"),
            ("up{zone!=\"\"}", 0.0, "up{zone=\"eu-1\"} 1"),
            ("up{zone=~\"eu\"}", 0.0, ""),
            ("up{zone=~\"eu.*\"}", 0.0, "up{zone=\"eu-1\"} 1"),
            (
                "up{zone=~`eu-\\d|`}",
                0.0,
                "up{job=\"shop\"} 2; up{zone=\"eu-1\"} 1",
            ),
            ("up{zone!~\".+\"}", 0.0, "up{job=\"shop\"} 2"),
            ("{__name__=~\"d.wn\"}", 0.0, "down{} 3"),
        ],
    );
}

#[test]
fn rates_are_stretched_to_the_ends_of_the_range_as_far_as_the_samples_allow() {
    let even = ["c{} 0=0 10=10 20=20 30=30"];
    let late = ["c{} 20=1 30=11"];
    // Both ends are included, and the samples stand on them.
    assert_eq!(answer(&even, "increase(c[30s])", 30.0), "{} 30");
    assert_eq!(answer(&even, "rate(c[30s])", 30.0), "{} 1");
    // Five seconds to either end, less than 1.1 intervals.
    assert_eq!(answer(&even, "increase(c[30s])", 35.0), "{} 30");
    // Further away than that: half an interval at the end, and nothing was before zero.
    assert_eq!(answer(&even, "increase(c[60s])", 45.0), "{} 35");
    // A counter is zero one second before its first sample; a gauge may have been anything.
    assert_eq!(answer(&late, "increase(c[12s])", 30.0), "{} 11");
    assert_eq!(answer(&late, "delta(c[12s])", 30.0), "{} 12");
    // Half an interval to both sides.
    let far = ["g{} 20=20 30=30"];
    assert_eq!(answer(&far, "delta(g[60s])", 60.0), "{} 20");
    // One sample is no rate.
    assert_eq!(answer(&late, "rate(c[9s])", 30.0), "");
}

#[test]
fn a_counter_that_falls_has_started_again() {
    let series = ["c{} 0=10 10=2 20=5"];
    assert_answers(
        &series,
        &[
            ("increase(c[20s])", 20.0, "{} 5"),
            ("resets(c[20s])", 20.0, "{} 1"),
            ("delta(c[20s])", 20.0, "{} -5"),
            ("irate(c[20s])", 10.0, "{} 0.2"),
            ("idelta(c[20s])", 10.0, "{} -8"),
        ],
    );
}

#[test]
fn a_stale_marker_is_no_sample_of_a_range() {
    let series = ["c{} 0=0 10=10 20=stale 30=20"];
    assert_answers(
        &series,
        &[
            ("count_over_time(c[30s])", 30.0, "{} 3"),
            ("increase(c[30s])", 30.0, "{} 20"),
            ("last_over_time(c[30s])", 25.0, "c{} 10"),
            ("last_over_time(c[5s])", 25.0, ""),
        ],
    );
}

#[test]
fn figures_of_a_range_know_nan_and_the_infinities() {
    let series = [
        "g{} 0=NaN 10=3 20=NaN 30=NaN 40=-1",
        "h{} 0=inf 10=-inf",
        "i{} 0=inf 10=7",
    ];
    assert_answers(
        &series,
        &[
            ("min_over_time(g[40s])", 40.0, "{} -1"),
            ("max_over_time(g[40s])", 40.0, "{} 3"),
            ("sum_over_time(g[40s])", 40.0, "{} NaN"),
            ("changes(g[40s])", 40.0, "{} 3"),
            ("max_over_time(g[1s])", 0.0, "{} NaN"),
            ("avg_over_time(h[10s])", 10.0, "{} NaN"),
            ("avg_over_time(i[10s])", 10.0, "{} inf"),
        ],
    );
}

#[test]
fn names_go_where_a_number_is_no_longer_the_metric() {
    let series = ["a{pod=\"x\"} 0=3", "b{pod=\"x\"} 0=4"];
    let twice =
        "refused: the labels {pod=\"x\"} match several series once the metric's name is dropped";
    assert_answers(
        &series,
        &[
            ("a > 2", 0.0, "a{pod=\"x\"} 3"),
            ("2 < a", 0.0, "a{pod=\"x\"} 3"),
            ("a > bool 2", 0.0, "{pod=\"x\"} 1"),
            ("a < b", 0.0, "a{pod=\"x\"} 3"),
            ("a < bool b", 0.0, "{pod=\"x\"} 1"),
            ("a < on (pod) b", 0.0, "{pod=\"x\"} 3"),
            ("a + b", 0.0, "{pod=\"x\"} 7"),
            ("-a", 0.0, "{pod=\"x\"} -3"),
            ("abs(a)", 0.0, "{pod=\"x\"} 3"),
            ("last_over_time(a[1s])", 0.0, "a{pod=\"x\"} 3"),
            ("sum by (__name__) (a)", 0.0, "a{} 3"),
            ("sum without (pod) (a)", 0.0, "{} 3"),
            ("{pod=\"x\"} > 2", 0.0, "a{pod=\"x\"} 3; b{pod=\"x\"} 4"),
            ("{pod=\"x\"} + 1", 0.0, twice),
            ("-{pod=\"x\"}", 0.0, twice),
            ("abs({pod=\"x\"})", 0.0, twice),
            ("rate({pod=\"x\"}[1m])", 0.0, ""),
            ("sum_over_time({pod=\"x\"}[1m])", 0.0, twice),
            (
                "last_over_time({pod=\"x\"}[1m])",
                0.0,
                "a{pod=\"x\"} 3; b{pod=\"x\"} 4",
            ),
        ],
    );
}

#[test]
fn vectors_match_one_to_one_and_say_so_otherwise() {
    let series = [
        "a{pod=\"x\",code=\"1\"} 0=6",
        "b{pod=\"x\"} 0=2",
        "c{pod=\"x\",zone=\"m\"} 0=1",
        "c{pod=\"x\",zone=\"n\"} 0=2",
        "c{pod=\"y\",zone=\"n\"} 0=3",
    ];
    assert_answers(
        &series,
        &[
            ("a / b", 0.0, ""),
            ("a / ignoring (code) b", 0.0, "{pod=\"x\"} 3"),
            ("a / on (pod) b", 0.0, "{pod=\"x\"} 3"),
            ("a > ignoring (code) b", 0.0, "a{pod=\"x\"} 6"),
            (
                "b / on (pod) c",
                0.0,
                "refused: the labels {pod=\"x\"} match several series on the right side of `/`, which differ in `zone`",
            ),
            (
                "c / on (pod) b",
                0.0,
                "refused: the labels {pod=\"x\"} match several series on the left side of `/`, which differ in `zone`",
            ),
            // Only one of the two is left by the comparison.
            ("c >= on (pod) b", 0.0, "{pod=\"x\"} 2"),
            ("nosuch / on (pod) c", 0.0, ""),
            ("a and on (pod) c", 0.0, "a{code=\"1\",pod=\"x\"} 6"),
            (
                "c and on (pod) b",
                0.0,
                "c{pod=\"x\",zone=\"m\"} 1; c{pod=\"x\",zone=\"n\"} 2",
            ),
            ("c unless on (pod) b", 0.0, "c{pod=\"y\",zone=\"n\"} 3"),
            (
                "b or on (pod) c",
                0.0,
                "b{pod=\"x\"} 2; c{pod=\"y\",zone=\"n\"} 3",
            ),
            ("nosuch or vector(0)", 0.0, "{} 0"),
            ("b or vector(0)", 0.0, "{} 0; b{pod=\"x\"} 2"),
            ("sum(b) or vector(0)", 0.0, "{} 2"),
        ],
    );
}

#[test]
fn numbers_and_vectors_are_told_apart() {
    let series = ["a{pod=\"x\"} 0=5", "a{pod=\"y\"} 0=-7"];
    assert_answers(
        &series,
        &[
            ("2 ^ 3 ^ 2", 0.0, "512"),
            ("-2 ^ 2", 0.0, "-4"),
            ("-5 % 3", 0.0, "-2"),
            ("1 / 0", 0.0, "inf"),
            ("2 > bool 1", 0.0, "1"),
            ("time()", 1.5, "1.5"),
            ("vector(2)", 0.0, "{} 2"),
            ("scalar(sum(a))", 0.0, "-2"),
            ("scalar(a)", 0.0, "NaN"),
            ("clamp(a, -1, 1)", 0.0, "{pod=\"x\"} 1; {pod=\"y\"} -1"),
            ("clamp(a, 1, -1)", 0.0, ""),
            ("clamp_min(a, NaN)", 0.0, "{pod=\"x\"} NaN; {pod=\"y\"} NaN"),
            ("round(vector(2.5))", 0.0, "{} 3"),
            ("round(vector(-2.5))", 0.0, "{} -2"),
            ("round(vector(7), 5)", 0.0, "{} 5"),
        ],
    );
}

#[test]
fn groups_are_made_of_series_and_of_nothing_there_is_no_group() {
    let series = [
        "a{pod=\"x\",code=\"1\"} 0=1",
        "a{pod=\"y\",code=\"1\"} 0=2",
        "a{pod=\"y\",code=\"2\"} 0=NaN",
    ];
    assert_answers(
        &series,
        &[
            ("sum by (code) (a)", 0.0, "{code=\"1\"} 3; {code=\"2\"} NaN"),
            (
                "avg without (pod) (a)",
                0.0,
                "{code=\"1\"} 1.5; {code=\"2\"} NaN",
            ),
            ("max(a)", 0.0, "{} 2"),
            ("min by (pod) (a)", 0.0, "{pod=\"x\"} 1; {pod=\"y\"} 2"),
            ("count by (nosuch) (a)", 0.0, "{} 3"),
            ("sum(nosuch)", 0.0, ""),
        ],
    );
}

#[test]
fn quantiles_are_linear_within_a_bucket_and_never_above_the_highest_bound() {
    let series = [
        "b{k=\"good\",le=\"1\"} 0=10",
        "b{k=\"good\",le=\"2\"} 0=30",
        "b{k=\"good\",le=\"+Inf\"} 0=40",
        "b{k=\"endless\",le=\"1\"} 0=10",
        "b{k=\"falling\",le=\"1\"} 0=20",
        "b{k=\"falling\",le=\"2\"} 0=10",
        "b{k=\"falling\",le=\"4\"} 0=40",
        "b{k=\"falling\",le=\"+Inf\"} 0=40",
        "b{k=\"below\",le=\"-1\"} 0=10",
        "b{k=\"below\",le=\"+Inf\"} 0=20",
        "b{k=\"empty\",le=\"1\"} 0=0",
        "b{k=\"empty\",le=\"+Inf\"} 0=0",
        "b{k=\"none\",le=\"much\"} 0=1",
    ];
    assert_answers(
        &series,
        &[
            (
                "histogram_quantile(0.5, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} 1.5",
            ),
            (
                "histogram_quantile(0.125, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} 0.5",
            ),
            (
                "histogram_quantile(0.99, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} 2",
            ),
            (
                "histogram_quantile(-1, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} -inf",
            ),
            (
                "histogram_quantile(2, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} inf",
            ),
            (
                "histogram_quantile(NaN, b{k=\"good\"})",
                0.0,
                "{k=\"good\"} NaN",
            ),
            (
                "histogram_quantile(0.5, b{k=\"endless\"})",
                0.0,
                "{k=\"endless\"} NaN",
            ),
            (
                "histogram_quantile(0.75, b{k=\"falling\"})",
                0.0,
                "{k=\"falling\"} 3",
            ),
            (
                "histogram_quantile(0.2, b{k=\"below\"})",
                0.0,
                "{k=\"below\"} -1",
            ),
            (
                "histogram_quantile(0.5, b{k=\"empty\"})",
                0.0,
                "{k=\"empty\"} NaN",
            ),
            ("histogram_quantile(0.5, b{k=\"none\"})", 0.0, ""),
        ],
    );
}

/// What is refused, and the names that are said.
const REFUSED: &[(&str, &[&str])] = &[
    (
        "predict_linear(x[1h], 3600)",
        &["the function `predict_linear`"],
    ),
    (
        "label_replace(x, \"a\", \"$1\", \"b\", \"(.*)\")",
        &[
            "the function `label_replace`",
            "the text \"a\"",
            "the text \"$1\"",
            "the text \"b\"",
            "the text \"(.*)\"",
        ],
    ),
    ("absent(x)", &["the function `absent`"]),
    (
        "histogram_avg(x)",
        &["the function `histogram_avg`, which is for native histograms,"],
    ),
    ("topk(3, x)", &["the aggregation `topk`"]),
    ("quantile(0.9, x)", &["the aggregation `quantile`"]),
    (
        "count_values(\"a\", x)",
        &["the aggregation `count_values`", "the text \"a\""],
    ),
    ("x offset 5m", &["`offset`"]),
    ("rate(x[5m] offset -5m)", &["`offset`"]),
    ("x @ 5", &["`@`"]),
    (
        "max_over_time(rate(x[1m])[5m:1m])",
        &["a subquery (`[…:…]`)"],
    ),
    ("x * on (a) group_left (b) y", &["`group_left`"]),
    ("x * on (a) group_right y", &["`group_right`"]),
    ("x + fill (0) y", &["`fill`"]),
    ("x atan2 y", &["the operator `atan2`"]),
    ("x{a=\"b\" or c=\"d\"}", &["`or` between matchers"]),
    ("x[5m]", &["a range"]),
    ("(x[5m])", &["a range"]),
    ("\"text\"", &["the text \"text\""]),
    (
        "topk(1, x offset 1m) + deriv(y[1m] @ 3) + topk(2, z)",
        &[
            "the aggregation `topk`",
            "`offset`",
            "the function `deriv`",
            "`@`",
        ],
    ),
];

#[test]
fn what_is_outside_the_subset_is_refused_by_name_all_at_once() {
    for (query, names) in REFUSED {
        let expression = parse(query).expect(query);
        let problems = check(&expression).expect_err(query);
        let messages: Vec<_> = problems.iter().map(|problem| &*problem.message).collect();
        let expected = names.iter();
        let expected: Vec<_> = expected
            .map(|name| format!("{name} cannot be answered from pages alone"))
            .collect();
        assert_eq!(messages, expected, "{query}");
        let first = evaluate(&expression, &store(&[]), 0);
        assert_eq!(first.as_ref(), Err(&problems[0]), "{query}");
    }
    let offset = check(&parse("x offset 5m").expect("a query")).expect_err("refused");
    assert_eq!(
        offset[0].hint.as_deref(),
        Some(
            "leave it out: no more of the past is kept than the longest range needs; \
             or read this SLO from `prometheus`, which answers all of PromQL"
        )
    );
}

#[test]
fn what_the_documentation_shows_is_inside_the_subset() {
    let functions = FUNCTIONS.iter().map(|known| known.example);
    let aggregations = AGGREGATIONS.iter().map(|known| known.example);
    let operators = OPERATORS.iter().map(|known| known.example);
    for example in functions.chain(aggregations).chain(operators) {
        assert_eq!(check(&parse(example).expect(example)), Ok(()), "{example}");
    }
}

#[test]
fn a_query_says_what_it_looks_at() {
    let query = "sum(rate(a{code=~`5..`}[1m] offset 1h)) / max_over_time(sum(b{c=\"d\\\"\"})[2h:]) > a{code=~\"5..\"} or b{c='d\"'} @ 3";
    let expression = parse(query).expect("a query");
    assert_eq!(longest_range(&expression), Some(Span::from_secs(7_200)));
    let expected = ["a{code=~\"5..\"}", "b{c=\"d\\\"\"}"];
    let found = selectors(&expression);
    let shown: Vec<_> = found.iter().map(ToString::to_string).collect();
    assert_eq!(shown, expected);
    let one = narrowed(&found[0], [("pod", "a\"b\\c")]).to_string();
    assert_eq!(one, r#"a{code=~"5..",pod="a\"b\\c"}"#);
    assert!(parse(&one).is_ok(), "{one}");
    for selector in expected {
        assert!(parse(selector).is_ok(), "{selector}");
    }
    assert_eq!(longest_range(&parse("a + 1").expect("a query")), None);
}

#[test]
fn several_series_are_told_apart_by_their_labels() {
    let series: Vec<Labels> = [
        &[("__name__", "up"), ("job", "shop"), ("pod", "a")][..],
        &[("__name__", "up"), ("job", "shop"), ("pod", "b")],
        &[("__name__", "up"), ("job", "shop"), ("zone", "x")],
    ]
    .into_iter()
    .map(|pairs| {
        let pairs = pairs.iter();
        pairs
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    })
    .collect();
    assert_eq!(labels_apart(&series), ["pod", "zone"]);
    let problem = several_series(&series);
    assert_eq!(
        problem.message,
        "the query answers with 3 series where one is needed; they differ in `pod`, `zone`"
    );
    assert_eq!(
        problem.hint.as_deref(),
        Some(
            "aggregate them, as in `sum without (pod, zone) (…)`, or choose one with a matcher such as `pod=\"…\"`"
        )
    );
}

/// As deep and as wide as it may be; every walk over the tree has to fit the stack of a thread.
#[test]
fn the_largest_query_fits_a_stack_and_the_next_one_is_refused() {
    let nested = |depth: usize| format!("{}1{}", "(".repeat(depth), ")".repeat(depth));
    let added = |count: usize| format!("1{}", "+1".repeat(count));
    let negated = |count: usize| format!("{}x", "-".repeat(count));
    let both = format!("{}{}{}", "abs(".repeat(64), negated(200), ")".repeat(64));
    for query in [nested(64), added(200), negated(200), both] {
        let expression = parse(&query).expect("within the limits");
        assert_eq!(check(&expression), Ok(()));
        assert!(evaluate(&expression, &store(&[]), 0).is_ok());
        assert_eq!(longest_range(&expression), None);
    }
    let refusals = [
        (nested(65), "brackets stand in each other more than 64 deep"),
        (added(201), "the query has more than 200 operators"),
        (
            negated(20_000),
            "the query is 20001 bytes long, more than 16384",
        ),
        (
            "(".repeat(16_384),
            "this is no PromQL: unclosed left parenthesis",
        ),
    ];
    for (query, message) in refusals {
        let refusal = parse(&query).expect_err(message);
        assert_eq!(refusal.problem.message, message);
    }
}

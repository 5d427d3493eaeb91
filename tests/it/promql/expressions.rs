//! Every supported construct over every sort of series.

use chaos_gameday::metrics::promql;

const SELECTORS: &[&str] = &[
    "requests_total",
    "requests_total{code=~\"5..\"}",
    "requests_total{code!~\"5..|200\",pod!=\"a\"}",
    "{__name__=~\"requests.*\",pod=\"c\"}",
    "{__name__=\"errors_total\"}",
    "requests_total{zone=\"\"}",
    "limit{zone!=\"\"}",
    "limit{zone=~\".*\"}",
    "limit{zone=~\".+\"}",
    "limit{zone!~\".+\"}",
    "limit{pod=~\"\"}",
    "requests_total{code=~\"50\"}",
    "requests_total{code=\"nosuch\"}",
    "nosuch",
    "queue_length",
    "queue_length{job=\"mall\"}",
    "always_nan",
    "always_infinite",
    "huge",
    "job:errors:rate5m",
    "odd",
    "odd{text=\"say_\\\"hi\\\"\"}",
    "odd{text='say_\"hi\"'}",
    "odd{text=`back\\slash`}",
    "odd{text=~`\\w+\\.b.c.*`}",
    "odd{text=~`say_\"\\w\\w\"`, Zone='UPPER'}",
    "odd{text=\"größer_\\u2603\"}",
    "odd{text=~\"gr.*\"}",
    "odd{text=~\"two.lines\"}",
    "odd{text=~\"(?s)two.lines\"}",
    "odd{text=~\"(?i)SAY.*\"}",
    "odd{text=~\"a\\\\.b\\\\|c.*\"}",
    "odd{Zone=\"UPPER\"}",
    "once_total",
    "twice_total",
];

const RANGED: &[&str] = &[
    "requests_total",
    "requests_total{pod=\"b\",code=\"200\"}",
    "requests_total{code=~\"5..\"}",
    "requests_total{job=\"rare\"}",
    "queue_length",
    "{__name__=~\"once_total|twice_total\"}",
    "errors_total",
    "{__name__=~\"always.*\"}",
    "huge",
];

const RANGES: &[&str] = &["1s", "10s", "1m", "5m", "15m", "5m30s500ms"];

const VECTORS: &[&str] = &[
    "queue_length",
    "rate(requests_total[1m])",
    "huge",
    "always_nan",
    "odd",
    "sum by (job) (queue_length)",
    "{__name__=~\"twin_.*\"}",
    "nosuch",
];

const SCALARS: &[&str] = &[
    "3",
    "-0.5",
    "0",
    "NaN",
    "Inf",
    "-Inf",
    "scalar(limit{pod=\"a\"})",
];

/// Modifiers of an aggregation, before and after.
const GROUPINGS: &[&str] = &[
    "",
    " by ()",
    " by (job)",
    " by (code, pod)",
    " by (__name__)",
    " by (nosuch, Zone)",
    " without (pod)",
    " without ()",
    " without (pod, code, __name__)",
];

const QUANTILES: &[&str] = &[
    "0",
    "0.1",
    "0.5",
    "0.9",
    "1",
    "-0.1",
    "1.1",
    "NaN",
    "scalar(nosuch)",
];

/// What cannot be had from templates.
const OTHERS: &[&str] = &[
    "1",
    "-1",
    "- - 1",
    "+1",
    "0x1F",
    "017",
    "1e3",
    ".5",
    "-2 ^ 2",
    "2 ^ 3 ^ 2",
    "2 - 3 - 4",
    "1 + 2 * 3",
    "7 % 4 * 2",
    "5 % -3",
    "-5 % 3",
    "1 / 0",
    "0 / 0",
    "-1 / 0",
    "5 % 0",
    "0 ^ 0",
    "1 > bool 2",
    "NaN == bool NaN",
    "(1 + 2) * 3",
    "((queue_length))",
    "-queue_length",
    "-{__name__=~\"twin_.*\"}",
    "+queue_length",
    "-queue_length ^ 2",
    "time()",
    "time() - last_success_timestamp_seconds",
    "vector(time())",
    "vector(1) + vector(2)",
    "scalar(queue_length)",
    "scalar(nosuch)",
    "rate((requests_total[1m]))",
    "sum(requests_total) by (code)",
    "sum(sum by (code, pod) (rate(requests_total[1m]))) / count(requests_total)",
    "sum(rate(requests_total{code=~\"5..\"}[1m])) / sum(rate(requests_total[1m]))",
    "sum(rate(nosuch[1m])) / sum(rate(requests_total[1m])) or vector(0)",
    "errors_total / ignoring (code) requests_total{code=\"500\"}",
    "errors_total / on (pod) requests_total{code=\"500\"}",
    "errors_total / on (pod) requests_total",
    "requests_total / on (pod) errors_total",
    "requests_total > on (pod) errors_total",
    "requests_total > bool on (pod, job) errors_total",
    "requests_total == on (pod) requests_total",
    "limit / limit",
    "limit / ignoring (zone) limit",
    "limit > on (pod) (limit > 6)",
    "queue_length < limit",
    "queue_length < bool limit",
    "queue_length < ignoring (zone) limit",
    "queue_length == queue_length",
    "queue_length != queue_length",
    "queue_length and limit",
    "queue_length and on (pod) limit",
    "queue_length and on () limit",
    "queue_length and nosuch",
    "queue_length or limit",
    "limit or queue_length",
    "limit or on (pod) queue_length",
    "nosuch or queue_length",
    "queue_length unless limit",
    "queue_length unless on (pod) (up == 0)",
    "queue_length unless ignoring (job) nosuch",
    "up == 1 and on (pod) queue_length > 2",
    "{pod=\"a\"}",
    "{pod=\"a\"} > 3",
    "{pod=\"a\"} + 1",
    "{__name__=~\"twin_.*\"} + 0",
    "abs({__name__=~\"twin_.*\"})",
    "sum_over_time({__name__=~\"twin_.*\"}[1m])",
    "last_over_time({__name__=~\"twin_.*\"}[1m])",
    "twin_one + twin_two",
    "twin_one == twin_two",
    "twin_one < twin_two",
    "3 < queue_length",
    "3 < bool queue_length",
    "3 - queue_length",
    "clamp(queue_length, 5, 1)",
    "clamp(queue_length, 1, scalar(limit{pod=\"a\"}))",
    "round(queue_length)",
    "round(queue_length, 0.3)",
    "round(queue_length, -2)",
    "round(queue_length, 0)",
    "histogram_quantile(0.5, sum by (le) (rate(latency_seconds_bucket{kind=\"good\"}[1m])))",
    "histogram_quantile(0.99, sum by (kind, le) (increase(latency_seconds_bucket[5m])))",
    "histogram_quantile(0.5, sum by (kind) (latency_seconds_bucket))",
    "histogram_quantile(0.5, {__name__=~\"latency_seconds_bucket|odd\"})",
    "avg_over_time(queue_length[1m]) > avg by (pod) (queue_length)",
    "increase(requests_total[5m]) / 300 - rate(requests_total[5m])",
    "count(queue_length > 3) or vector(0)",
    "avg(huge)",
    "avg(queue_length{pod=~\"a|d\"})",
    "sum(rate(requests_total[1m])) by (code) > 0.5",
];

/// Every expression, each once.
pub fn all() -> Vec<String> {
    let mut all: Vec<String> = SELECTORS.iter().map(|&text| text.to_owned()).collect();
    all.extend(OTHERS.iter().map(|&text| text.to_owned()));
    all.extend(documented());
    all.extend(functions());
    all.extend(aggregations());
    all.extend(operators());
    all.sort();
    all.dedup();
    all
}

/// The examples of the documentation.
fn documented() -> impl Iterator<Item = String> {
    let functions = promql::FUNCTIONS.iter().map(|known| known.example);
    let aggregations = promql::AGGREGATIONS.iter().map(|known| known.example);
    let operators = promql::OPERATORS.iter().map(|known| known.example);
    functions
        .chain(aggregations)
        .chain(operators)
        .map(str::to_owned)
}

fn functions() -> Vec<String> {
    let mut all = Vec::new();
    for function in promql::FUNCTIONS {
        let name = function.name;
        match name {
            "time" | "vector" | "scalar" => {}
            "histogram_quantile" => {
                let calls = QUANTILES.iter();
                all.extend(calls.map(|share| format!("{name}({share}, latency_seconds_bucket)")));
            }
            "round" | "clamp_min" | "clamp_max" => {
                all.extend(products(VECTORS, SCALARS, |vector, number| {
                    format!("{name}({vector}, {number})")
                }));
            }
            "clamp" => all.extend(products(SCALARS, SCALARS, |least, most| {
                format!("clamp(queue_length, {least}, {most})")
            })),
            _ if function.example.contains("[") => {
                all.extend(products(RANGED, RANGES, |selector, range| {
                    format!("{name}({selector}[{range}])")
                }));
            }
            _ => all.extend(VECTORS.iter().map(|vector| format!("{name}({vector})"))),
        }
    }
    all
}

fn aggregations() -> Vec<String> {
    let mut all = Vec::new();
    for aggregation in promql::AGGREGATIONS {
        all.extend(products(VECTORS, GROUPINGS, |vector, grouping| {
            format!("{}{grouping} ({vector})", aggregation.name)
        }));
    }
    all
}

fn operators() -> Vec<String> {
    let mut all = Vec::new();
    for operator in promql::OPERATORS {
        let sign = operator.sign;
        let is_set = matches!(sign, "and" | "or" | "unless");
        let compares = matches!(sign, "==" | "!=" | ">" | "<" | ">=" | "<=");
        all.extend(
            VECTORS
                .iter()
                .map(|vector| format!("{vector} {sign} queue_length")),
        );
        if is_set {
            continue;
        }
        for number in ["0", "3", "NaN"] {
            all.push(format!("queue_length {sign} {number}"));
            all.push(format!("{number} {sign} queue_length"));
            let told = if compares { " bool" } else { "" };
            all.push(format!("{number} {sign}{told} 2"));
            if compares {
                all.push(format!("queue_length {sign} bool {number}"));
                all.push(format!("queue_length {sign} bool on (pod) up"));
            }
        }
    }
    all
}

fn products(ones: &[&str], others: &[&str], text: impl Fn(&str, &str) -> String) -> Vec<String> {
    let pairs = ones
        .iter()
        .flat_map(|one| others.iter().map(move |other| (one, other)));
    pairs.map(|(one, other)| text(one, other)).collect()
}

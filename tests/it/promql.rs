//! The subset of PromQL against a real Prometheus: both hold the same samples, and are asked the same
//! queries about the same instants.

mod abuse;
mod expressions;
mod judge;
mod live;
mod random;
mod remote_write;
mod world;

use chaos_gameday::metrics::promql;

use crate::support::prometheus::{Prometheus, is_missing};
use judge::Judge;
use world::World;

/// A server that holds the samples of a world.
async fn server_with(world: &World) -> Prometheus {
    let flags = ["--web.enable-remote-write-receiver"];
    let server = Prometheus::start_with("  []", &flags).await;
    remote_write::push(&server.url, &world.series).await;
    server
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_supported_expression_answers_as_prometheus_does() {
    if is_missing() {
        return;
    }
    let world = World::new();
    let server = server_with(&world).await;
    let expressions = expressions::all();
    assert!(expressions.len() >= 120, "only {}", expressions.len());
    let judge = Judge::new(&server.url, world.store());
    let verdict = judge.compare(&expressions, &world.instants()).await;
    assert_eq!(verdict.differences, [""; 0]);
    verdict.assert_worthwhile();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn expressions_that_nobody_thought_of_answer_as_prometheus_does() {
    if is_missing() {
        return;
    }
    let world = World::new();
    let server = server_with(&world).await;
    let expressions: Vec<_> = (0..500).map(random::expression).collect();
    let judge = Judge::new(&server.url, world.store());
    let verdict = judge.compare(&expressions, &world.instants()[..1]).await;
    assert_eq!(verdict.differences, [""; 0]);
    verdict.assert_worthwhile();
}

/// PromQL that Prometheus reads, of every sort, the subset left aside.
const READABLE: &[&str] = &[
    "x{a=~`\\d+\\.\\w`, b!~'\\\\d'}",
    "sum by (job, le,) (x) or on () y",
    "SUM(x) BY (sum, by, on)",
    "sum without (bool, offset) (sum)",
    "x{on=\"a\", by='b', sum=`c`,}",
    "{__name__=\"x\"}[5m:]",
    "x @ 1.5 offset -5m",
    "rate(x[1h30m] @ end())",
    "topk(3, x) + quantile(0.9, y)",
    "count_values('a', x)",
    "label_join(x, \"a\", \"-\", \"b\", \"c\")",
    "x * on (a) group_left (b, c) y",
    "predict_linear(x[1h], 4 * 3600) < 0",
    "absent(x{a=\"b\"})",
    "x # a comment\n + y",
    "job:x:rate5m / ignoring (a) :y:",
    "0x1F + 1e-3 + .5 + Inf - NaN",
    "x atan2 y",
    "day_of_week() == bool 1",
    "max_over_time(deriv(x[5m])[1h:1m])",
    "x{a=~\"[[:alpha:]]+|(?i:y)|\\\\pL\"}",
    "x{a=\"\\u2603\\n\\t\\\"\"}",
    "-x ^ -y",
    "\"a text\"",
];

/// A query that Prometheus reads must not be refused by us before it is asked.
#[tokio::test]
async fn what_prometheus_reads_can_be_read_here() {
    if is_missing() {
        return;
    }
    let server = Prometheus::start("  []").await;
    for query in READABLE {
        server.query(query, None).await;
        assert!(
            promql::parse(query).is_ok(),
            "{query}: {:?}",
            promql::parse(query)
        );
    }
}

#[test]
fn the_documentation_lists_what_the_code_has() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/promql.md");
    let page = std::fs::read_to_string(path).expect("docs/promql.md");
    let row =
        |name: &str, does: &str, example: &str| format!("| `{name}` | {does} | `{example}` |");
    let functions = promql::FUNCTIONS.iter();
    let aggregations = promql::AGGREGATIONS.iter();
    let operators = promql::OPERATORS.iter();
    let expected: Vec<_> = functions
        .map(|known| row(known.name, known.does, known.example))
        .chain(aggregations.map(|known| row(known.name, known.does, known.example)))
        .chain(operators.map(|known| row(known.sign, known.does, known.example)))
        .collect();
    let found: Vec<_> = page
        .lines()
        .filter(|line| line.starts_with("| `"))
        .collect();
    assert_eq!(found, expected);
}

//! The subset of PromQL against a real Prometheus: both hold the same samples, and are asked the same
//! queries about the same instants.

mod expressions;
mod judge;
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

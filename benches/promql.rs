//! How long a query takes over a page of a thousand series that is read every second.

use std::hint::black_box;

use chaos_gameday::metrics::promql::{evaluate, parse};
use chaos_gameday::metrics::series::{Labels, Point, SeriesStore};
use criterion::{Criterion, criterion_group, criterion_main};

const SERIES: usize = 1_000;
const METRICS: usize = 50;
const SECONDS: i64 = 300;

fn store() -> SeriesStore {
    let mut store = SeriesStore::new(SECONDS * 1_000);
    for series in 0..SERIES {
        let labels: Labels = [
            ("__name__", format!("metric_{}_total", series % METRICS)),
            ("instance", "127.0.0.1:9100".to_owned()),
            ("job", "shop".to_owned()),
            ("pod", format!("checkout-{series}")),
            ("code", format!("{}", 200 + series % 7)),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value))
        .collect();
        for second in 0..SECONDS {
            let value = Some((second * 3) as f64);
            let at_ms = second * 1_000;
            store.append(labels.clone(), Point { at_ms, value });
        }
    }
    store
}

fn queries(criterion: &mut Criterion) {
    let store = store();
    let queries = [
        ("one metric", "sum(rate(metric_1_total[30s]))"),
        (
            "error rate",
            "sum(rate(metric_1_total{code=~\"20[1-4]\"}[30s])) / sum(rate(metric_1_total[30s]))",
        ),
        ("by label", "sum by (code) (rate(metric_1_total[1m])) > 1"),
        ("every series", "sum by (code) (rate({job=\"shop\"}[30s]))"),
    ];
    let mut group = criterion.benchmark_group("promql, 1,000 series");
    for (name, query) in queries {
        let expression = parse(query).expect("a query");
        group.bench_function(name, |bencher| {
            bencher.iter(|| evaluate(black_box(&expression), &store, SECONDS * 1_000 - 500));
        });
    }
    group.finish();
}

criterion_group!(benches, queries);
criterion_main!(benches);

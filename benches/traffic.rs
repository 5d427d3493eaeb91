//! What the traffic window costs at 10,000 requests a second: one result recorded, one figure read.

use std::hint::black_box;
use std::time::Duration;

use chaos_gameday::metrics::{Fate, Quantile, TrafficWindow};
use criterion::{Criterion, criterion_group, criterion_main};
use tokio::time::Instant;

const RATE: u32 = 10_000;
const WINDOW: Duration = Duration::from_secs(10);

/// Latencies from 1 to 200 ms, spread so that neighbours never share a cell; each 50th fails.
fn result(number: u32) -> (Fate, Duration) {
    let fate = if number.is_multiple_of(50) {
        Fate::Answered(503)
    } else {
        Fate::Answered(200)
    };
    let micros = 1_000 + u64::from(number.wrapping_mul(7_919) % 199_000);
    (fate, Duration::from_micros(micros))
}

/// A window that has been full for a while, and its newest moment.
fn full() -> (TrafficWindow, Instant) {
    let origin = Instant::now();
    let mut window = TrafficWindow::new(origin, WINDOW, f64::from(RATE));
    let mut now = origin;
    for number in 0..RATE * 15 {
        now += Duration::from_secs(1) / RATE;
        let (fate, latency) = result(number);
        window.record(now, fate, latency);
    }
    (window, now)
}

fn record(criterion: &mut Criterion) {
    let (mut window, mut now) = full();
    let mut number = 0;
    criterion.bench_function("record one result", |bencher| {
        bencher.iter(|| {
            number += 1;
            now += Duration::from_secs(1) / RATE;
            let (fate, latency) = result(number);
            window.record(black_box(now), fate, latency);
        });
    });
}

fn read(criterion: &mut Criterion) {
    let (window, now) = full();
    criterion.bench_function("read the error rate", |bencher| {
        bencher.iter(|| window.error_rate(black_box(now)));
    });
    criterion.bench_function("read the throughput", |bencher| {
        bencher.iter(|| window.throughput(black_box(now)));
    });
    criterion.bench_function("read p99", |bencher| {
        bencher.iter(|| window.latency(Quantile::P99, black_box(now)));
    });
}

criterion_group!(benches, record, read);
criterion_main!(benches);

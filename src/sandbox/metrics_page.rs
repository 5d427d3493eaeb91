//! The app's `/metrics` page in the OpenMetrics text format.

use std::fmt::Write;

use super::app::App;
use super::histogram::Histogram;
use super::ledger::Totals;

/// The status of an order that got in.
const ACCEPTED: u16 = 202;

/// Renders the page.
pub(super) fn render(app: &App) -> String {
    let mut page = String::new();
    family(&mut page, "sandbox_app", "info", "Version of the app.");
    let version = app.version;
    line(
        &mut page,
        &format!("sandbox_app_info{{version=\"{version}\"}} 1"),
    );
    let help = "Answers of POST /orders by status.";
    family(&mut page, "http_requests", "counter", help);
    let mut answers = app.ledger.answers();
    // There from the start, so that the first order is a rise and not a new series.
    answers.by_status.entry(ACCEPTED).or_default();
    for (code, answers) in &answers.by_status {
        let labels = format!("code=\"{code}\"");
        line(
            &mut page,
            &format!("http_requests_total{{{labels}}} {answers}"),
        );
    }
    durations(&mut page, &answers.durations);
    let totals = app.ledger.totals();
    for (name, value, help) in counters(&totals) {
        family(&mut page, name, "counter", help);
        line(&mut page, &format!("{name}_total {value}"));
    }
    for (name, value, help) in gauges(app, &totals) {
        family(&mut page, name, "gauge", help);
        line(&mut page, &format!("{name} {value}"));
    }
    line(&mut page, "# EOF");
    page
}

fn durations(page: &mut String, durations: &Histogram) {
    let name = "http_request_duration_seconds";
    let help = "How long POST /orders took to be answered.";
    family(page, name, "histogram", help);
    for (bound, count) in durations.buckets() {
        let bound = match bound.is_finite() {
            // With a point, as OpenMetrics writes them.
            true => format!("{bound:?}"),
            false => "+Inf".to_owned(),
        };
        line(page, &format!("{name}_bucket{{le=\"{bound}\"}} {count}"));
    }
    line(page, &format!("{name}_count {}", durations.count()));
    let sum = durations.sum().as_secs_f64();
    line(page, &format!("{name}_sum {sum}"));
}

/// Name, value and meaning of what only grows.
fn counters(totals: &Totals) -> [(&'static str, u64, &'static str); 7] {
    let told = "Orders that a caller was told are accepted.";
    let repeated = "Deliveries of an order beyond its first.";
    let retried = "Attempts of an AWS call beyond its first.";
    let put_aside = "Orders in the dead-letter queue.";
    [
        ("orders_accepted", totals.accepted, told),
        (
            "orders_refused",
            totals.refused,
            "Answers that refused an order.",
        ),
        ("orders_stored", totals.stored, "Orders in the table."),
        (
            "orders_counted",
            totals.counted,
            "Orders whose metric arrived.",
        ),
        ("orders_dead_lettered", totals.dead_lettered, put_aside),
        ("orders_duplicated", totals.duplicated, repeated),
        ("aws_retries", totals.retries, retried),
    ]
}

/// Name, value and meaning of what may also shrink.
fn gauges(app: &App, totals: &Totals) -> [(&'static str, f64, &'static str); 4] {
    let silent = "Accepted orders whose metric was lost without a word.";
    let pending = "Accepted orders that wait to be stored.";
    let oldest = "How long the oldest of them has been waiting.";
    let waited = app.ledger.oldest_pending().as_secs_f64();
    let uptime = app.uptime().as_secs_f64();
    [
        ("orders_silent", totals.silent as f64, silent),
        ("orders_pending", totals.pending as f64, pending),
        ("orders_oldest_pending_seconds", waited, oldest),
        ("sandbox_uptime_seconds", uptime, "Time since the start."),
    ]
}

fn family(page: &mut String, name: &str, kind: &str, help: &str) {
    line(page, &format!("# TYPE {name} {kind}"));
    if name.ends_with("_seconds") {
        line(page, &format!("# UNIT {name} seconds"));
    }
    line(page, &format!("# HELP {name} {help}"));
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").expect("a string takes every line");
}

//! The app's `/metrics` page in the OpenMetrics text format.

use std::fmt::Write;

use super::app::App;

/// Renders the page.
pub(super) fn render(app: &App) -> String {
    let totals = app.ledger.totals();
    let mut page = String::new();
    family(&mut page, "sandbox_app", "info", "Version of the app.");
    line(
        &mut page,
        &format!("sandbox_app_info{{version=\"{}\"}} 1", app.version),
    );
    let help = "Answers of POST /orders by status.";
    family(&mut page, "http_requests", "counter", help);
    for (code, answers) in app.ledger.answers() {
        line(
            &mut page,
            &format!("http_requests_total{{code=\"{code}\"}} {answers}"),
        );
    }
    for (name, value, help) in [
        (
            "orders_accepted",
            totals.accepted,
            "Orders that a caller was told are accepted.",
        ),
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
        (
            "orders_dead_lettered",
            totals.dead_lettered,
            "Orders in the dead-letter queue.",
        ),
        (
            "orders_duplicated",
            totals.duplicated,
            "Deliveries of an order beyond its first.",
        ),
        (
            "aws_retries",
            totals.retries,
            "Attempts of an AWS call beyond its first.",
        ),
    ] {
        family(&mut page, name, "counter", help);
        line(&mut page, &format!("{name}_total {value}"));
    }
    let oldest = app.ledger.oldest_pending().as_secs_f64();
    for (name, value, help) in [
        (
            "orders_silent",
            totals.silent as f64,
            "Accepted orders whose metric was lost without a word.",
        ),
        (
            "orders_pending",
            totals.pending as f64,
            "Accepted orders that wait to be stored.",
        ),
        (
            "orders_oldest_pending_seconds",
            oldest,
            "How long the oldest of them has been waiting.",
        ),
        (
            "sandbox_uptime_seconds",
            app.uptime().as_secs_f64(),
            "Time since the start.",
        ),
    ] {
        family(&mut page, name, "gauge", help);
        line(&mut page, &format!("{name} {value}"));
    }
    line(&mut page, "# EOF");
    page
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

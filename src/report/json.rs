//! The report for programs: stable names, milliseconds, readings in base units.

use serde::Serialize;

use super::Format;
use super::compare::Comparison;
use super::content::Report;

pub(super) struct Json;

impl Format for Json {
    fn render(&self, report: &Report) -> String {
        pretty(report)
    }

    fn render_comparison(&self, comparison: &Comparison) -> String {
        pretty(comparison)
    }
}

fn pretty(document: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(document)
        .expect("the document has string keys and plain values only");
    text.push('\n');
    text
}

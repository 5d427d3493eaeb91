//! What differs between two plans, or between a plan and the world: below a heading for each topic,
//! what was planned and what is now, on one line where it fits.

use super::super::sanitise::sanitise;
use super::super::text::columns;
use super::{Page, Printer, Stream};
use crate::plan::Difference;

/// The differences as data, before a plan; says so where there are none.
pub fn show_differences(printer: &Printer, from: &str, differences: &[Difference]) {
    let page = Page::on(printer, Stream::Stdout);
    printer.data(&(page.compared(from, differences).join("\n") + "\n\n"));
}

/// The same as talk.
pub fn insist_differences_from(printer: &Printer, from: &str, differences: &[Difference]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.compared(from, differences) {
        printer.insist(&line);
    }
}

/// What differs between the plan and the world, as talk that is shown even when quiet.
pub fn insist_drift(printer: &Printer, differences: &[Difference]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.differences(differences) {
        printer.insist(&line);
    }
}

impl Page {
    fn compared(&self, from: &str, differences: &[Difference]) -> Vec<String> {
        if differences.is_empty() {
            return vec![format!(
                "nothing differs in meaning from {}",
                sanitise(from)
            )];
        }
        let heading = format!("What differs from {}", sanitise(from));
        let mut lines = vec![self.heading(&heading)];
        lines.extend(self.differences(differences));
        lines
    }

    /// By topic, in the order in which they come.
    pub(super) fn differences(&self, differences: &[Difference]) -> Vec<String> {
        let mut lines = Vec::new();
        let mut last = None;
        for difference in differences {
            if last != Some(difference.topic) {
                lines.push(format!("  {}", difference.topic.heading()));
                last = Some(difference.topic);
            }
            lines.extend(self.difference(difference));
        }
        lines
    }

    fn difference(&self, difference: &Difference) -> Vec<String> {
        let line = format!("    {}", sanitise(&difference.to_string()));
        if columns(&line) <= self.width {
            return vec![line];
        }
        let mut lines = self.hung(4, 6, &difference.place);
        let [planned, now] = difference.sides();
        lines.extend(self.labelled(6, "planned", &planned));
        lines.extend(self.labelled(6, "now", &now));
        lines
    }
}

//! The steps of a plan: what each does, to whom, and the literal requests in and out.

use super::super::sanitise::sanitise;
use super::Page;
use super::literal::packed;
use crate::model::request::Request;
use crate::plan::{PlannedStep, StoredPlan};

/// Where the texts behind labels begin.
const COLUMN: usize = 12;

impl Page {
    pub(super) fn steps(&self, stored: &StoredPlan) -> Vec<String> {
        let steps = &stored.plan.steps;
        let shared = shared_notes(steps);
        let mut lines = Vec::new();
        for (index, (step, hold)) in stored.plan.holds().enumerate() {
            let which = format!("Step {} of {}", index + 1, steps.len());
            lines.extend(self.section(&format!("{which} · {} · held for {hold}", step.name)));
            lines.extend(self.step(step, &shared));
        }
        if !shared.is_empty() {
            lines.extend(self.section("Every step"));
            let notes = shared.iter();
            lines.extend(notes.flat_map(|note| self.labelled(2, "note", note)));
        }
        lines
    }

    fn step(&self, step: &PlannedStep, shared: &[&String]) -> Vec<String> {
        let prepared = &step.prepared;
        let mut lines = self.listed(2, "does", &prepared.summaries);
        let targets: Vec<String> = prepared.targets.iter().map(ToString::to_string).collect();
        lines.extend(self.listed(2, "touches", &targets));
        lines.extend(self.labelled(2, "that is", &prepared.blast_radius));
        for request in &prepared.requests {
            lines.extend(self.request("sends", request));
        }
        for request in &prepared.undo_requests {
            let mut sent = prepared.requests.iter();
            let repeats = request.body.is_some() && sent.any(|sent| sent.body == request.body);
            lines.extend(match repeats {
                true => self.repeated("undoes", request),
                false => self.request("undoes", request),
            });
        }
        let notes = prepared.warnings.iter();
        let notes = notes.filter(|note| !shared.contains(note));
        lines.extend(notes.flat_map(|note| self.labelled(2, "note", note)));
        lines
    }

    fn call(&self, label: &str, request: &Request) -> Vec<String> {
        self.labelled(2, label, &format!("{} {}", request.method, request.url))
    }

    /// One whose body stands above.
    fn repeated(&self, label: &str, request: &Request) -> Vec<String> {
        let mut lines = self.call(label, request);
        lines.extend(self.wrapped(COLUMN, "with the same body"));
        lines
    }

    /// Literal, so that it can be copied.
    fn request(&self, label: &str, request: &Request) -> Vec<String> {
        let mut lines = self.call(label, request);
        if let Some(body) = &request.body {
            let body = sanitise(&body.to_string());
            let body = packed(&body, self.width.saturating_sub(COLUMN));
            let margin = " ".repeat(COLUMN);
            lines.extend(body.iter().map(|line| format!("{margin}{line}")));
        }
        lines
    }
}

/// The notes that every one of several steps has.
fn shared_notes(steps: &[PlannedStep]) -> Vec<&String> {
    let Some((first, others)) = steps.split_first().filter(|(_, others)| !others.is_empty()) else {
        return Vec::new();
    };
    let notes = first.prepared.warnings.iter();
    let everywhere = |note: &&String| {
        let mut others = others.iter();
        others.all(|step| step.prepared.warnings.contains(note))
    };
    notes.filter(everywhere).collect()
}

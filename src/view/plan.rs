//! A plan as a person reads it: what is touched, what is sent, how it ends, what undoes it, what the
//! policy says, what to type next.

mod cluster;
mod credentials;
mod differences;
mod explain;
mod rehearsal;

pub use differences::{insist_differences_from, insist_drift, show_differences};
pub use explain::explain;

use super::printer::Printer;
use super::sanitise::sanitise;
use super::setup::Stream;
use super::text::{columns, left};
use super::theme::{Colour, Glyphs, Tone};
use crate::model::approval::Exception;
use crate::model::request::Request;
use crate::model::units::Span;
use crate::plan::{Difference, PlannedStep, StoredPlan};
use crate::policy::{Finding, Severity};

/// The plan as data.
pub fn show(printer: &Printer, stored: &StoredPlan, findings: &[Finding]) {
    let page = Page::on(printer, Stream::Stdout);
    let mut lines = page.plan(stored, findings);
    lines.push(page.next(stored, findings));
    printer.data(&lines.join("\n"));
}

/// The plan as talk, on the way to a run.
pub fn talk(printer: &Printer, stored: &StoredPlan, findings: &[Finding]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.plan(stored, findings) {
        printer.talk(&line);
    }
}

/// The plan to a person who is about to be asked for a yes; shown even when quiet.
pub fn insist(printer: &Printer, stored: &StoredPlan, findings: &[Finding]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.plan(stored, findings) {
        printer.insist(&line);
    }
}

/// What differs from the plan of the run that is repeated.
pub fn talk_differences(printer: &Printer, differences: &[Difference]) {
    let (places, others): (Vec<_>, Vec<_>) = differences
        .iter()
        .partition(|difference| difference.is_an_address());
    if others.is_empty() && places.is_empty() {
        printer.talk("the same plan as then, in the same world");
        return;
    }
    printer.talk("what differs from the run that is repeated:");
    if !places.is_empty() {
        printer.talk("  addresses and sessions: it is another instance (-v names each)");
        for difference in places {
            printer.detail(&format!("  {}", sanitise(&difference.to_string())));
        }
    }
    let others: Vec<Difference> = others.into_iter().cloned().collect();
    for line in Page::on(printer, Stream::Stderr).differences(&others) {
        printer.talk(&line);
    }
}

/// What the policy says, as talk that is shown even when quiet.
pub fn insist_findings(printer: &Printer, findings: &[Finding]) {
    let page = Page::on(printer, Stream::Stderr);
    for line in page.findings("PLAN", findings) {
        printer.insist(&line);
    }
}

/// Narrower pages are not laid out for.
const NARROWEST: usize = 40;
/// Wider lines are hard to read.
const WIDEST: usize = 120;

struct Page {
    width: usize,
    colour: Colour,
    glyphs: Glyphs,
}

impl Page {
    fn on(printer: &Printer, stream: Stream) -> Self {
        Self {
            width: printer.size().0.clamp(NARROWEST, WIDEST),
            colour: printer.setup().colour(stream),
            glyphs: printer.setup().glyphs(),
        }
    }

    fn heading(&self, text: &str) -> String {
        Tone::Strong.paint(text, self.colour)
    }

    /// Words broken at blanks, each line behind the same indent; a long word stands alone.
    fn wrapped(&self, indent: usize, text: &str) -> Vec<String> {
        self.hung(indent, indent, text)
    }

    /// The same with another indent from the second line on.
    fn hung(&self, first: usize, rest: usize, text: &str) -> Vec<String> {
        let text = sanitise(text);
        let mut lines = Vec::new();
        let mut line = " ".repeat(first);
        let mut words = 0;
        for word in text.split_whitespace() {
            let gap = usize::from(words > 0);
            if words > 0 && columns(&line) + gap + columns(word) > self.width {
                lines.push(std::mem::replace(&mut line, " ".repeat(rest)));
                words = 0;
            }
            if words > 0 {
                line.push(' ');
            }
            line.push_str(word);
            words += 1;
        }
        lines.push(line);
        lines
    }

    /// A label of fixed width and its text.
    fn labelled(&self, indent: usize, label: &str, text: &str) -> Vec<String> {
        const LABEL: usize = 10;
        let column = indent + LABEL;
        let mut lines = self.hung(column, column, text);
        if let Some(head) = lines.first_mut() {
            let rest = head.split_off(column.min(head.len()));
            *head = format!("{}{}{rest}", " ".repeat(indent), left(label, LABEL));
        }
        lines
    }

    fn plan(&self, stored: &StoredPlan, findings: &[Finding]) -> Vec<String> {
        let plan = &stored.plan;
        let mut lines = vec![self.heading(&format!("Plan {}", stored.id))];
        lines.extend(self.labelled(2, "name", plan.name().as_str()));
        lines.extend(self.labelled(
            2,
            "where",
            &format!("environment {}", plan.experiment.environment),
        ));
        lines.extend(self.labelled(2, "claim", &plan.experiment.hypothesis));
        lines.extend(self.labelled(2, "from", &plan.source.name));
        lines.extend(plan.worlds().iter().flat_map(|world| {
            let session = world
                .session
                .as_deref()
                .unwrap_or("unknown, so a restart cannot be noticed");
            self.labelled(
                2,
                "world",
                &format!(
                    "{} {} at {}, session {session}",
                    world.platform, world.version, world.endpoint
                ),
            )
        }));
        lines.extend(self.cluster(stored));
        if let Some(run) = &plan.replay_of {
            lines.extend(self.labelled(2, "repeats", run.as_str()));
        }
        for (name, used) in &plan.variables {
            lines.extend(self.labelled(
                2,
                "variable",
                &format!("{name} = {} ({})", used.value, used.source),
            ));
        }
        lines.extend(self.credentials(stored));
        for (index, (step, hold)) in plan.holds().enumerate() {
            lines.extend(self.step(index, step, hold));
        }
        lines.extend(self.ending(stored));
        lines.extend(self.slos(stored));
        lines.push(String::new());
        lines.push(self.heading(&format!("Policy {}", plan.policy.name)));
        lines.extend(self.findings(stored.id.as_str(), findings));
        lines.push(String::new());
        lines.push(format!("digest {}", stored.digest));
        lines
    }

    fn step(&self, index: usize, step: &PlannedStep, hold: Span) -> Vec<String> {
        let prepared = &step.prepared;
        let title = format!(
            "Step {} · {} · held for {}",
            index + 1,
            sanitise(&step.name),
            hold
        );
        let title = self.glyphs.adapt(title);
        let mut lines = vec![String::new(), self.heading(&title)];
        for target in &prepared.targets {
            lines.extend(self.labelled(2, "touches", &target.to_string()));
        }
        lines.extend(self.labelled(2, "dose", &prepared.blast_radius));
        for summary in &prepared.summaries {
            lines.extend(self.labelled(2, "does", summary));
        }
        for request in &prepared.requests {
            lines.extend(self.request("sends", request));
        }
        for request in &prepared.undo_requests {
            lines.extend(self.request("undoes", request));
        }
        for warning in &prepared.warnings {
            lines.extend(self.labelled(2, "note", warning));
        }
        lines
    }

    /// Literal: a body is printed whole and never broken, so that it can be copied.
    fn request(&self, label: &str, request: &Request) -> Vec<String> {
        let mut lines = self.labelled(2, label, &format!("{} {}", request.method, request.url));
        if let Some(body) = &request.body {
            lines.push(format!("{}{}", " ".repeat(12), sanitise(&body.to_string())));
        }
        lines
    }

    fn ending(&self, stored: &StoredPlan) -> Vec<String> {
        let experiment = &stored.plan.experiment;
        let mut lines = vec![String::new(), self.heading("How it goes and how it ends")];
        let course = format!(
            "{} of baseline, in which every SLO must hold; then each step: inject, see it in, hold, undo, see it gone; then {} for the SLOs to come back",
            experiment.baseline, experiment.recovery_within
        );
        lines.extend(self.wrapped(2, &course));
        lines.extend(self.wrapped(
            2,
            "at once, with everything undone: a rollback SLO that breaches or goes blind, a fault that vanishes, Ctrl-C, SIGTERM, SIGHUP, SIGQUIT",
        ));
        lines
    }

    fn slos(&self, stored: &StoredPlan) -> Vec<String> {
        let mut lines = vec![String::new(), self.heading("SLOs")];
        for gauged in &stored.plan.experiment.slos {
            let slo = &gauged.slo;
            let text = format!(
                "{} {} ({}), every {}; {} after {}, blind: {} after {}",
                slo.name,
                slo.objective,
                slo.reads,
                slo.every,
                slo.on_breach.word(),
                slo.patience,
                slo.on_no_data.word(),
                slo.blind_patience,
            );
            lines.extend(self.hung(2, 4, &text));
        }
        lines.extend(self.rehearsals(stored));
        lines
    }

    /// What the policy says; `plan` is how to name the plan in what is typed next.
    fn findings(&self, plan: &str, findings: &[Finding]) -> Vec<String> {
        if findings.is_empty() {
            let nothing = "nothing to say: no rule is broken and no approval is needed";
            return self.wrapped(2, nothing);
        }
        let arrow = self.glyphs.adapt("→".to_owned());
        let mut lines = Vec::new();
        for finding in findings {
            let tone = match finding.severity {
                Severity::Deny => Tone::Bad,
                Severity::Require | Severity::Warn => Tone::Caution,
            };
            let text = format!(
                "{} ({}, at {})",
                finding.message, finding.rule, finding.place
            );
            let mut wrapped = self.labelled(2, finding.severity.word(), &text);
            if let Some(head) = wrapped.first_mut() {
                *head = head.replacen(
                    finding.severity.word(),
                    &tone.paint(finding.severity.word(), self.colour),
                    1,
                );
            }
            lines.extend(wrapped);
            lines.extend(self.labelled(2, "", &format!("{arrow} {}", finding.way_out)));
            if let Some(exception) = finding.exception {
                let typed = typed_approval(plan, &[exception]);
                lines.extend(self.labelled(2, "", &format!("{arrow} or allow it: `{typed}`")));
            }
        }
        lines
    }

    fn next(&self, stored: &StoredPlan, findings: &[Finding]) -> String {
        let worst = findings.iter().map(|finding| finding.severity).min();
        let id = stored.id.as_str();
        match worst {
            Some(Severity::Deny) => "denied: change the experiment, then plan again".to_owned(),
            Some(Severity::Require) => {
                let mut exceptions: Vec<Exception> = findings
                    .iter()
                    .filter_map(|found| found.exception)
                    .collect();
                exceptions.sort_unstable();
                exceptions.dedup();
                let typed = typed_approval(id, &exceptions);
                let next = format!("next: {typed}, then chaos run {id}");
                self.hung(0, 6, &next).join("\n")
            }
            Some(Severity::Warn) | None => format!("next: chaos run {id}"),
        }
    }
}

/// The approval to type for a plan that wants these exceptions allowed by name.
fn typed_approval(plan: &str, exceptions: &[Exception]) -> String {
    let allowed = exceptions
        .iter()
        .map(|one| format!(" --allow {}", one.word()));
    let allowed: String = allowed.collect();
    let reason = if exceptions.is_empty() {
        ""
    } else {
        " --reason TEXT"
    };
    format!("chaos approve {plan}{allowed}{reason}")
}

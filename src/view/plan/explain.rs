//! A plan on one page that can be printed: what it does, to whom, what ends it, who must say yes, and
//! the exact commands that undo it by hand should this tool vanish.

use super::super::approvals;
use super::super::printer::Printer;
use super::super::sanitise::sanitise;
use super::super::setup::Stream;
use super::super::text::{clock_time, columns};
use super::Page;
use super::literal::packed;
use crate::model::localstack::RUN_PLACEHOLDER;
use crate::model::slo::{Reaction, Slo};
use crate::plan::{PlannedStep, StoredPlan};
use crate::policy::{Finding, Severity, Standing};

/// Paper is no wider.
const PAPER: usize = 80;

/// The page as data.
pub fn explain(
    printer: &Printer,
    stored: &StoredPlan,
    findings: &[Finding],
    standing: Option<&Standing>,
) {
    let mut page = Page::on(printer, Stream::Stdout);
    page.width = page.width.min(PAPER);
    let mut lines = page.explained(stored);
    lines.extend(page.what(stored));
    lines.extend(page.ends(stored));
    lines.extend(page.death(stored));
    let said = standing.map(approvals::lines).unwrap_or_default();
    lines.extend(page.yes(findings, &said));
    lines.extend(page.by_hand(stored));
    let lines: Vec<String> = lines
        .into_iter()
        .map(|line| page.glyphs.adapt(line))
        .collect();
    printer.data(&lines.join("\n"));
}

impl Page {
    fn explained(&self, stored: &StoredPlan) -> Vec<String> {
        let plan = &stored.plan;
        let mut lines = vec![self.heading(&format!("{}: plan {}", plan.name(), stored.id))];
        lines.extend(self.wrapped(2, &plan.experiment.hypothesis));
        let asked = format!(
            "asked for by {} at {}, environment {}, policy {}",
            plan.requester,
            clock_time(plan.created),
            plan.experiment.environment,
            plan.policy.name
        );
        lines.extend(self.wrapped(2, &asked));
        lines.push(format!("  {}", stored.digest));
        lines
    }

    fn what(&self, stored: &StoredPlan) -> Vec<String> {
        let mut lines = self.section("What it does, and to whom");
        for world in stored.plan.worlds() {
            lines.extend(self.wrapped(2, &format!("on {world}")));
        }
        if let Some(cluster) = &stored.plan.cluster {
            lines.extend(self.wrapped(2, &format!("on {cluster}")));
        }
        for (index, (step, hold)) in stored.plan.holds().enumerate() {
            let title = format!("step {}, for {hold}: {}", index + 1, step.name);
            lines.extend(self.wrapped(2, &title));
            let prepared = &step.prepared;
            for does in &prepared.summaries {
                lines.extend(self.hung(4, 6, does));
            }
            let targets: Vec<String> = prepared.targets.iter().map(ToString::to_string).collect();
            lines.extend(self.labelled(4, "touches", &targets.join(", ")));
            lines.extend(self.labelled(4, "that is", &prepared.blast_radius));
        }
        lines
    }

    fn ends(&self, stored: &StoredPlan) -> Vec<String> {
        let experiment = &stored.plan.experiment;
        let mut lines = self.section("What ends it");
        lines.extend(self.wrapped(
            2,
            "each step ends by itself after its time; all of it is undone at once, and seen gone, on Ctrl-C, SIGTERM, SIGHUP, SIGQUIT, a closed terminal, and where",
        ));
        for gauged in &experiment.slos {
            if let Some(ends) = ends_by(&gauged.slo) {
                lines.extend(self.hung(4, 6, &ends));
            }
        }
        let back = format!(
            "the SLOs must hold again within {}",
            experiment.recovery_within
        );
        lines.extend(self.wrapped(2, &back));
        lines
    }

    fn death(&self, stored: &StoredPlan) -> Vec<String> {
        let mut lines = self.section("If this tool dies (kill -9, power, a lost machine)");
        let mut told: Vec<&str> = Vec::new();
        for step in &stored.plan.steps {
            let left = step.prepared.undo.left_alone();
            if !told.contains(&left) {
                told.push(left);
                lines.extend(self.wrapped(2, left));
            }
        }
        lines.extend(self.wrapped(
            2,
            "`chaos report RUN` shows, where it ran, what it had in place and how to undo it",
        ));
        lines
    }

    fn yes(&self, findings: &[Finding], said: &[String]) -> Vec<String> {
        let mut lines = self.section("Who must say yes, and who did");
        let required: Vec<&Finding> = findings
            .iter()
            .filter(|finding| finding.severity != Severity::Warn)
            .collect();
        for finding in &required {
            let text = format!("{} ({})", finding.message, finding.rule);
            lines.extend(self.labelled(2, finding.severity.word(), &text));
        }
        if required.is_empty() {
            lines.extend(self.wrapped(2, "nobody has to"));
        }
        for line in said {
            lines.extend(self.hung(2, 4, &sanitise(line)));
        }
        lines
    }

    fn by_hand(&self, stored: &StoredPlan) -> Vec<String> {
        let mut lines = self.section("How to undo it by hand");
        let undos = || stored.plan.steps.iter().map(|step| &step.prepared.undo);
        let commands: Vec<String> = undos().flat_map(|undo| undo.by_hand()).collect();
        lines.extend(self.wrapped(2, "1. see what is in place:"));
        let looks = unique(undos().flat_map(|undo| undo.look_by_hand()));
        lines.extend(looks.iter().flat_map(|look| self.command(look)));
        lines.extend(self.wrapped(2, "2. take it out:"));
        if commands.iter().any(|line| line.contains(RUN_PLACEHOLDER)) {
            let text = format!(
                "replace {RUN_PLACEHOLDER} by the run's id, which the rules above show after `chaos:`, and `chaos runs` shows too; others' rules are left alone"
            );
            lines.extend(self.wrapped(5, &text));
        }
        for (index, step) in stored.plan.steps.iter().enumerate() {
            lines.extend(self.step_by_hand(index, step, stored.plan.steps.len()));
        }
        let gone = unique(undos().flat_map(|undo| undo.gone_by_hand()));
        let text = format!("3. look again, as in 1: {}", gone.join("; "));
        lines.extend(self.hung(2, 5, &text));
        lines
    }

    fn step_by_hand(&self, index: usize, step: &PlannedStep, steps: usize) -> Vec<String> {
        let named = format!("step {}, {}:", index + 1, step.name);
        let named = (steps > 1).then(|| self.wrapped(5, &named));
        let commands = step.prepared.undo.by_hand();
        let commands = commands.iter().flat_map(|command| self.command(command));
        named.into_iter().flatten().chain(commands).collect()
    }

    /// A command in lines that a shell reads as one, each as wide as the paper where it can be: broken
    /// before its options, and in a JSON body after a comma, where JSON lets white space stand.
    fn command(&self, command: &str) -> Vec<String> {
        const INDENT: usize = 5;
        let command = sanitise(command);
        let margin = " ".repeat(INDENT);
        if INDENT + columns(&command) <= self.width {
            return vec![format!("{margin}{command}")];
        }
        let (head, options) = match command.split_once(" -H ") {
            Some((head, options)) => (head, format!("-H {options}")),
            None => (command.as_str(), String::new()),
        };
        let (header, body) = match options.split_once(" -d ") {
            Some((header, body)) => (header.to_owned(), format!("-d {body}")),
            None => (options, String::new()),
        };
        let body = packed(&body, self.width.saturating_sub(INDENT + 2));
        let parts = [vec![head.to_owned()], vec![format!("  {header}")]];
        let mut lines: Vec<String> = parts.into_iter().flatten().collect();
        lines.retain(|line| !line.trim().is_empty());
        let continued = lines.len();
        let mut lines: Vec<String> = lines.iter().map(|line| format!("{margin}{line}")).collect();
        for line in &mut lines[..continued] {
            line.push_str(if body.is_empty() { "" } else { " \\" });
        }
        lines.extend(body.iter().map(|line| format!("{margin}  {line}")));
        lines
    }
}

/// How an SLO ends a run; `None`: it goes on record only.
fn ends_by(slo: &Slo) -> Option<String> {
    let breach = (slo.on_breach == Reaction::Rollback)
        .then(|| format!("is not {} for {}", slo.objective, slo.patience));
    let blind = (slo.on_no_data == Reaction::Rollback)
        .then(|| format!("cannot be read for {}", slo.blind_patience));
    let how: Vec<String> = breach.into_iter().chain(blind).collect();
    (!how.is_empty()).then(|| format!("{} {}", slo.name, how.join(", or ")))
}

fn unique(all: impl Iterator<Item = String>) -> Vec<String> {
    let mut kept: Vec<String> = Vec::new();
    for one in all {
        if !kept.contains(&one) {
            kept.push(one);
        }
    }
    kept
}

//! What the policy says about a plan, and who must say yes to it.

use super::super::approvals;
use super::super::theme::Tone;
use super::head::named;
use super::{Page, Sheet};
use crate::policy::{ApprovalNeed, Finding, Severity};

/// The rule whose finding says who must approve.
const APPROVAL: &str = "approval";

impl Page {
    /// Every finding but who must approve, which stands in its own section.
    pub(super) fn ruling(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let policy = named(&sheet.stored.plan.policy);
        let mut lines = self.section(&format!("Policy {policy}"));
        let others = sheet.findings.iter().filter(|found| found.rule != APPROVAL);
        let others: Vec<&Finding> = others.collect();
        if others.is_empty() {
            lines.extend(self.wrapped(2, "no rule is broken"));
        }
        lines.extend(others.iter().flat_map(|found| self.finding(found)));
        lines
    }

    /// One finding with its rule, its place and its way out.
    pub(super) fn finding(&self, finding: &Finding) -> Vec<String> {
        let mut lines = self.said(finding);
        let arrow = self.glyphs.adapt("→".to_owned());
        lines.extend(self.labelled(2, "", &format!("{arrow} {}", finding.way_out)));
        if let Some(exception) = finding.exception {
            let allowed = exception.word();
            let text = format!("{arrow} or whoever approves allows it: `--allow {allowed}`");
            lines.extend(self.labelled(2, "", &text));
        }
        lines
    }

    fn said(&self, finding: &Finding) -> Vec<String> {
        let tone = match finding.severity {
            Severity::Deny => Tone::Bad,
            Severity::Require | Severity::Warn => Tone::Caution,
        };
        let word = finding.severity.word();
        let (rule, place) = (&finding.rule, &finding.place);
        let text = format!("{} ({rule}, at {place})", finding.message);
        let mut lines = self.labelled(2, word, &text);
        if let Some(head) = lines.first_mut() {
            *head = head.replacen(word, &tone.paint(word, self.colour), 1);
        }
        lines
    }

    /// How many, whose and how, for how long it counts, and what was said so far.
    pub(super) fn who_says_yes(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let mut lines = self.section("Who must say yes");
        let mut findings = sheet.findings.iter();
        match findings.find(|found| found.rule == APPROVAL) {
            Some(found) => lines.extend(self.said(found)),
            None => lines.extend(self.wrapped(2, &unasked(sheet))),
        }
        let said = sheet.standing.map(approvals::lines).unwrap_or_default();
        lines.extend(said.iter().flat_map(|line| self.hung(2, 4, line)));
        lines
    }
}

/// Where the rule has nothing to say: no approval is wanted, but what is required may need one.
fn unasked(sheet: &Sheet<'_>) -> String {
    let name = &sheet.stored.plan.experiment.environment;
    let mut findings = sheet.findings.iter();
    if findings.any(|found| found.severity == Severity::Require) {
        return "a person who allows what is required above".to_owned();
    }
    let rules = sheet.policy.environment(name);
    match rules.map(|environment| environment.approval.mode) {
        Some(ApprovalNeed::None) => format!("nobody: environment `{name}` wants no approval"),
        Some(ApprovalNeed::Confirm | ApprovalNeed::Signed) | None => {
            "nobody: it touches only the sandbox that this very command started".to_owned()
        }
    }
}

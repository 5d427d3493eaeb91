//! What to type after a plan was read.

use super::super::approvals::missing;
use super::super::sanitise::sanitise;
use super::{Page, Sheet};
use crate::model::approval::Exception;
use crate::policy::{ApprovalNeed, BUILT_IN, Halt, Permission, Severity};

/// What an experiment that is made for the sandbox takes its address from.
const SANDBOX_VARIABLE: &str = "SANDBOX_AWS";

impl Page {
    /// Each command on a line of its own, whole however long it is, so that it can be copied.
    pub(super) fn next(&self, sheet: &Sheet<'_>) -> Vec<String> {
        let stored = sheet.stored;
        let worst = sheet.findings.iter().map(|finding| finding.severity).min();
        let run = format!("chaos run {}", stored.id);
        let halt = sheet.standing.and_then(|standing| standing.halt.as_ref());
        match worst {
            Some(Severity::Deny) if halt == Some(&Halt::OtherPolicy) => vec![format!(
                "next: chaos plan {}, since the policy is another one now",
                sanitise(&stored.plan.source.name)
            )],
            Some(Severity::Deny) => vec![format!(
                "next: change what is denied, then chaos plan {}",
                sanitise(&stored.plan.source.name)
            )],
            Some(Severity::Warn) | None => run_or_wait(halt, &run),
            Some(Severity::Require) => match sheet.standing {
                Some(standing) if standing.is_enough() => run_or_wait(halt, &run),
                Some(standing) if !standing.denials.is_empty() => {
                    let no = missing(standing).unwrap_or_default();
                    let text = format!("next: {no}; a yes of the same person takes it back");
                    self.hung(0, 6, &text)
                }
                Some(_) | None => approve_then(sheet, &run),
            },
        }
    }
}

/// What refuses it now stands above, with the moment from which it may run.
fn run_or_wait(halt: Option<&Halt>, run: &str) -> Vec<String> {
    match halt {
        Some(Halt::Now(_)) => vec![format!("next, once it is not refused any more: {run}")],
        Some(Halt::OtherPolicy) | None => vec![format!("next: {run}")],
    }
}

fn approve_then(sheet: &Sheet<'_>, run: &str) -> Vec<String> {
    let approve = typed_approval(sheet);
    let mut lines = match by_whom(sheet) {
        None => vec![format!("next: {approve}"), format!("then: {run}")],
        Some(whom) => vec![
            format!("next, by {whom}:"),
            format!("      {approve}"),
            "then:".to_owned(),
            format!("      {run}"),
        ],
    };
    let plan = &sheet.stored.plan;
    if plan.policy.name == BUILT_IN && plan.variables.contains_key(SANDBOX_VARIABLE) {
        let file = sanitise(&plan.source.name);
        lines.push("or, on a sandbox of its own, with nobody's approval:".to_owned());
        lines.push(format!("      chaos run --sandbox {file}"));
    }
    lines
}

/// Whoever has to type it, where that is not just whoever reads this.
fn by_whom(sheet: &Sheet<'_>) -> Option<String> {
    let environment = &sheet.stored.plan.experiment.environment;
    let rules = &sheet.policy.environment(environment)?.approval;
    let given = sheet.standing.map_or(0, |standing| standing.count());
    match (rules.count.saturating_sub(given), rules.requester) {
        (0 | 1, Permission::Allowed) if given == 0 => None,
        (0 | 1, Permission::Allowed | Permission::Denied) => Some("another person".to_owned()),
        (more, Permission::Allowed) => Some(format!("each of {more} persons")),
        (more, Permission::Denied) => Some(format!("each of {more} other persons")),
    }
}

/// The approval to type, with everything that it has to allow by name.
fn typed_approval(sheet: &Sheet<'_>) -> String {
    let found = sheet.findings.iter();
    let mut exceptions: Vec<Exception> = found.filter_map(|found| found.exception).collect();
    exceptions.sort_unstable();
    exceptions.dedup();
    let environment = &sheet.stored.plan.experiment.environment;
    let environment = sheet.policy.environment(environment);
    let key = match environment.map(|environment| environment.approval.mode) {
        Some(ApprovalNeed::Signed) => " --key FILE",
        Some(ApprovalNeed::None | ApprovalNeed::Confirm) | None => "",
    };
    let allowed = exceptions
        .iter()
        .map(|one| format!(" --allow {}", one.word()));
    let allowed: String = allowed.collect();
    let reason = match exceptions.is_empty() {
        true => "",
        false => " --reason TEXT",
    };
    format!("chaos approve {}{key}{allowed}{reason}", sheet.stored.id)
}

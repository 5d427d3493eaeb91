//! A person says yes to exactly this plan, except where the policy says that nobody has to.

use super::facts::quoted;
use super::{Facts, Found};
use crate::policy::built_in::BUILT_IN;
use crate::policy::document::{ApprovalNeed, ApprovalRules, Permission, RequiredPresence};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let rules = &environment.approval;
    match rules.mode {
        ApprovalNeed::None => Vec::new(),
        ApprovalNeed::Confirm | ApprovalNeed::Signed if needs_none(facts) => Vec::new(),
        ApprovalNeed::Confirm | ApprovalNeed::Signed => vec![Found::require(
            "environment",
            format!(
                "environment `{}` wants {}{}; it counts for {}",
                facts.environment_name(),
                wanted(rules),
                because(facts),
                rules.expires_after
            ),
            way_out(facts, rules),
        )],
    }
}

/// Nobody can be hurt in the sandbox of this very process. A policy that somebody wrote says itself
/// where no approval is needed.
fn needs_none(facts: &Facts<'_>) -> bool {
    facts.policy.name == BUILT_IN && facts.is_in_its_own_sandbox()
}

fn because(facts: &Facts<'_>) -> String {
    let own = facts.sandbox.filter(|_| facts.policy.name == BUILT_IN);
    let outside = own.and_then(|sandbox| sandbox.outside(facts.plan));
    outside.map_or(String::new(), |what| {
        format!(", since {what} is no part of the sandbox of this run")
    })
}

/// `the approvals of 2 persons …`: how many, whose, and how.
fn wanted(rules: &ApprovalRules) -> String {
    let how_many = match rules.count {
        0 | 1 => "a person's approval".to_owned(),
        count => format!("the approvals of {count} persons"),
    };
    let whose = match rules.approvers.as_slice() {
        [] => String::new(),
        approvers => format!(" ({})", quoted(approvers)),
    };
    let others = match rules.requester {
        Permission::Allowed => "",
        Permission::Denied => ", not that of whoever made the plan",
    };
    let how = match (rules.mode, rules.presence) {
        (ApprovalNeed::None | ApprovalNeed::Confirm, _) => ", typed at a terminal",
        (ApprovalNeed::Signed, RequiredPresence::None) => ", signed with an SSH key",
        (ApprovalNeed::Signed, RequiredPresence::Touch) => {
            ", signed with a FIDO key that is touched"
        }
        (ApprovalNeed::Signed, RequiredPresence::Verify) => {
            ", signed with a FIDO key that knows who touches it"
        }
    };
    let once = match rules.reuse {
        Permission::Allowed => "",
        Permission::Denied => ", for one run",
    };
    format!("{how_many}{whose}{others}{how}{once}")
}

fn way_out(facts: &Facts<'_>, rules: &ApprovalRules) -> &'static str {
    match rules.mode {
        // It ends with the run, and so does whatever could be approved apart from it.
        ApprovalNeed::None | ApprovalNeed::Confirm if facts.is_in_its_own_sandbox() => {
            "type the experiment's name when the run asks, at a terminal; or let the policy say `approval: {mode: none}` there"
        }
        ApprovalNeed::Signed => {
            "`chaos approve PLAN --key FILE` at a terminal, with a key that the policy's signers list"
        }
        ApprovalNeed::None | ApprovalNeed::Confirm if facts.policy.name == BUILT_IN => {
            "`chaos approve PLAN` at a terminal; only a run that touches nothing but its own sandbox needs none"
        }
        ApprovalNeed::None | ApprovalNeed::Confirm => "`chaos approve PLAN` at a terminal",
    }
}

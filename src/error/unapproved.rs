//! Why a plan is not approved, in words: each refusal has its own.

use crate::model::approval::{Approval, ApprovalFlaw};
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::Standing;
use crate::view::sanitise;

/// The problem, and a line for each approval that does not count where there are several.
pub fn words(standing: &Standing) -> (Problem, Vec<String>) {
    let plan = &standing.plan;
    if let Some(no) = standing.denials.last() {
        return (said_no(plan.as_str(), no), Vec::new());
    }
    let passed_over = standing.passed_over();
    let lines = || {
        passed_over
            .iter()
            .map(|(of, flaw)| line(of, flaw))
            .collect()
    };
    match (standing.granted.as_slice(), passed_over.as_slice()) {
        ([], []) => {
            let message = format!("nobody has approved plan {plan}");
            let hint = format!("a person approves it at a terminal: `chaos approve {plan}`");
            (refused(message).hint(hint), Vec::new())
        }
        ([], [(approval, flaw)]) => {
            let message = format!("the approval of {} {flaw}", approval.approver);
            (refused(message).hint(next(plan.as_str(), flaw)), Vec::new())
        }
        ([], several) => {
            let message = format!("none of {} approvals of plan {plan} counts", several.len());
            let hint = format!("a person approves it at a terminal: `chaos approve {plan}`");
            (refused(message).hint(hint), lines())
        }
        (granted, _) => {
            let by: Vec<String> = granted.iter().map(|one| one.by()).collect();
            let (count, needed) = (standing.count(), standing.needed);
            let message = format!(
                "plan {plan} has {count} of {needed} approvals, by {}",
                by.join(", ")
            );
            let hint = match needed - count {
                1 => format!("another person approves it: `chaos approve {plan}`"),
                more => format!("{more} other persons approve it: `chaos approve {plan}`"),
            };
            (refused(message).hint(hint), lines())
        }
    }
}

fn line(approval: &Approval, flaw: &ApprovalFlaw) -> String {
    sanitise(&format!("  that of {} {flaw}", approval.approver))
}

fn said_no(plan: &str, no: &Approval) -> Problem {
    let why = no.reason.as_deref().map(|why| format!(": {why}"));
    let message = format!(
        "{} said no to plan {plan}{}",
        no.approver,
        why.unwrap_or_default()
    );
    refused(message).hint(format!(
        "it stands until {} says yes with `chaos approve {plan}`, or a new plan is made",
        no.approver
    ))
}

fn next(plan: &str, flaw: &ApprovalFlaw) -> String {
    let again = format!("approve once more: `chaos approve {plan}`");
    match flaw {
        ApprovalFlaw::FromTheFuture => {
            "set the clock of this machine, or of the approver's, and try again".to_owned()
        }
        ApprovalFlaw::Unsigned => format!("sign it: `chaos approve {plan} --key FILE`"),
        ApprovalFlaw::Signature(_) => {
            "the policy's file of signers says whose keys count, for what and when".to_owned()
        }
        ApprovalFlaw::ByRequester
        | ApprovalFlaw::NotAnApprover { .. }
        | ApprovalFlaw::SamePerson => {
            format!("somebody else approves it: `chaos approve {plan}`")
        }
        ApprovalFlaw::Untouched | ApprovalFlaw::Unverified => {
            format!("sign with such a FIDO key: `chaos approve {plan} --key FILE`")
        }
        ApprovalFlaw::Lacks(exception) => format!(
            "say so by name: `chaos approve {plan} --allow {} --reason WHY`",
            exception.word()
        ),
        ApprovalFlaw::OtherDigest
        | ApprovalFlaw::OtherPolicy
        | ApprovalFlaw::OtherWorlds
        | ApprovalFlaw::OtherStage
        | ApprovalFlaw::NobodysAnswer
        | ApprovalFlaw::Expired { .. }
        | ApprovalFlaw::TooLong
        | ApprovalFlaw::Used { .. }
        | ApprovalFlaw::NoNonce
        | ApprovalFlaw::NoReason => again,
    }
}

fn refused(message: String) -> Problem {
    Problem::new(ProblemKind::Refused, message)
}

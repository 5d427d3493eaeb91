//! Why a plan is not approved, in words: each refusal has its own.

use std::path::PathBuf;

use crate::model::approval::{Approval, ApprovalFlaw};
use crate::model::ids::PlanId;
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::Standing;
use crate::view::sanitise;

/// Too few approvals, with what is known of how to go on.
#[derive(Debug)]
pub struct Unapproved {
    /// Where the plan stands.
    pub standing: Standing,
    /// How it came here.
    pub way: Way,
    /// Why the person here could not be asked for a signature.
    pub key: Option<Problem>,
}

/// How a plan and its approvals came here, and so how they go on.
#[derive(Debug, Clone, Default)]
pub struct Way {
    /// The plan's file; `None`: it is kept here, and its id will do.
    pub file: Option<PathBuf>,
    /// Files of what was said about it.
    pub approvals: Vec<PathBuf>,
}

impl Way {
    /// One more file of what was said, where there is one.
    pub fn add(&mut self, file: Option<PathBuf>) {
        self.approvals.extend(file);
        self.approvals.sort();
        self.approvals.dedup();
    }

    /// The plan as it is typed.
    pub fn plan(&self, id: &PlanId) -> String {
        let file = self.file.as_ref();
        file.map_or_else(|| id.to_string(), |file| file.display().to_string())
    }

    /// What runs it.
    pub fn run(&self, id: &PlanId) -> String {
        let given = self.approvals.iter();
        let given: String = given
            .map(|file| format!(" --approval {}", file.display()))
            .collect();
        format!("chaos run {}{given}", self.plan(id))
    }

    /// What is typed for one more yes, and after it.
    fn on(&self, standing: &Standing) -> String {
        let approve = standing.approve_as(&self.plan(&standing.plan));
        match &self.file {
            None => format!("`{approve}`"),
            Some(_) => format!(
                "`{approve}`; then: `{} --approval THEIRS`",
                self.run(&standing.plan)
            ),
        }
    }
}

/// The problem, and a line for each approval that does not count where there are several.
pub fn words(standing: &Standing, way: &Way) -> (Problem, Vec<String>) {
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
            let hint = format!(
                "{} approves it at a terminal: {}",
                standing.whom(),
                way.on(standing)
            );
            (refused(message).hint(hint), Vec::new())
        }
        ([], [(approval, flaw)]) => {
            let message = format!("the approval of {} {flaw}", approval.approver);
            (refused(message).hint(next(standing, flaw)), Vec::new())
        }
        ([], several) => {
            let message = format!("none of {} approvals of plan {plan} counts", several.len());
            let hint = format!(
                "{} approves it at a terminal: {}",
                standing.whom(),
                way.on(standing)
            );
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
                1 => format!("another person approves it: {}", way.on(standing)),
                more => format!("{more} other persons approve it: {}", way.on(standing)),
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

fn next(standing: &Standing, flaw: &ApprovalFlaw) -> String {
    let plan = &standing.plan;
    let again = format!("approve once more: `chaos approve {plan}`");
    match flaw {
        ApprovalFlaw::FromTheFuture => {
            "set the clock of this machine, or of the approver's, and try again".to_owned()
        }
        ApprovalFlaw::Unsigned => format!("sign it: `chaos approve {plan} --key FILE`"),
        ApprovalFlaw::Signature(_) => {
            "the policy's file of signers says whose keys count, for what and when".to_owned()
        }
        ApprovalFlaw::ByRequester => {
            format!("{} approves it: `{}`", standing.whom(), standing.approve())
        }
        ApprovalFlaw::NotAnApprover { .. } | ApprovalFlaw::SamePerson => {
            format!("somebody else approves it: `{}`", standing.approve())
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

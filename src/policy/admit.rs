//! From a plan, its findings and its approvals to the only thing that a run takes.

use jiff::Timestamp;

use super::document::{Attendance, Moment, Permission, Policy};
use super::finding::{Finding, Severity};
use super::rules::{Facts, OwnSandbox, evaluate};
use super::standing::Standing;
use super::weigh::{Granted, Scales};
use crate::model::approval::{
    Approval, ApprovalMode, FORMAT, Nonce, Person, SealedApproval, Stage, Verdict,
};
use crate::model::history::History;
use crate::model::ids::{Digest, PlanId, RunId};
use crate::plan::{Plan, PolicyIdentity, StoredPlan};

/// A plan that the policy admits and that is approved. Nothing else can be run, and `admit` is the
/// only way to one.
#[derive(Debug, Clone, PartialEq)]
pub struct AdmittedPlan {
    stored: StoredPlan,
    granted: Vec<Granted>,
    reuse: Permission,
}

impl AdmittedPlan {
    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.stored.plan
    }

    /// Its id.
    pub fn id(&self) -> &PlanId {
        &self.stored.id
    }

    /// Its digest.
    pub fn digest(&self) -> &Digest {
        &self.stored.digest
    }

    /// Those of its approvals that no other run may rest on.
    pub fn single_use(&self) -> &[Granted] {
        match self.reuse {
            Permission::Allowed => &[],
            Permission::Denied => &self.granted,
        }
    }

    /// The approvals that it rests on; at least one.
    pub fn granted(&self) -> &[Granted] {
        &self.granted
    }
}

/// Why a plan is not admitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The policy forbids it.
    Denied(Vec<Finding>),
    /// It was made under other rules than those that apply now.
    OtherPolicy {
        /// The policy that it was made under.
        planned: Box<PolicyIdentity>,
        /// The policy that applies.
        now: Box<PolicyIdentity>,
    },
    /// Too few approvals count, or somebody said no.
    Unapproved(Box<Standing>),
}

/// What a plan is admitted by.
#[derive(Debug, Clone, Copy)]
pub struct Admission<'a> {
    /// The policy.
    pub policy: &'a Policy,
    /// The sandbox that this very process started, if it did.
    pub sandbox: Option<&'a OwnSandbox>,
    /// What was run before.
    pub history: &'a History,
    /// Whether a person is there.
    pub attendance: Attendance,
    /// What was said about the plan.
    pub approvals: &'a [SealedApproval],
    /// Approvals that a run rested on, each with that run.
    pub used: &'a [(Nonce, RunId)],
    /// Now.
    pub now: Timestamp,
    /// Who asks.
    pub requester: &'a Person,
}

impl<'a> Admission<'a> {
    /// By this policy alone: nothing was run before, a person is there, and nobody has said anything.
    pub fn by(policy: &'a Policy, now: Timestamp, requester: &'a Person) -> Self {
        Self {
            policy,
            sandbox: None,
            history: History::none(),
            attendance: Attendance::Person,
            approvals: &[],
            used: &[],
            now,
            requester,
        }
    }
}

/// Admits a plan, or says why not. The policy is asked again here, about this very plan, whatever was
/// found before.
///
/// # Errors
/// The refusal.
pub fn admit(stored: StoredPlan, by: Admission<'_>) -> Result<AdmittedPlan, Refusal> {
    made_under(&stored, by.policy)?;
    let facts = Facts {
        sandbox: by.sandbox,
        history: by.history,
        moment: Moment::Running(by.now),
        attendance: by.attendance,
        ..Facts::about(&stored.plan, by.policy)
    };
    let (denied, other): (Vec<Finding>, Vec<Finding>) = evaluate(&facts)
        .into_iter()
        .partition(|finding| finding.severity == Severity::Deny);
    if !denied.is_empty() {
        return Err(Refusal::Denied(denied));
    }
    let needs_person = other
        .iter()
        .any(|finding| finding.severity == Severity::Require);
    // An environment that is not known was denied above.
    let Some(scales) = Scales::new(&stored, by.policy, &other, by.used, by.now) else {
        return Err(Refusal::Denied(Vec::new()));
    };
    let standing = Standing::of(&scales, by.approvals);
    // A no stands also where no yes is needed.
    if !standing.denials.is_empty() || (needs_person && !standing.is_enough()) {
        return Err(Refusal::Unapproved(Box::new(standing)));
    }
    if !needs_person {
        let granted = vec![not_needed(&stored, &by)];
        return Ok(AdmittedPlan {
            stored,
            granted,
            reuse: Permission::Allowed,
        });
    }
    let reuse = scales.rules.reuse;
    Ok(AdmittedPlan {
        granted: standing.granted,
        stored,
        reuse,
    })
}

/// Nothing, if a plan was made under this very policy.
///
/// # Errors
/// Both policies.
pub fn made_under(stored: &StoredPlan, policy: &Policy) -> Result<(), Refusal> {
    let (planned, now) = (&stored.plan.policy, policy.identity());
    if planned.is_same(&now) {
        return Ok(());
    }
    Err(Refusal::OtherPolicy {
        planned: Box::new(planned.clone()),
        now: Box::new(now),
    })
}

fn not_needed(stored: &StoredPlan, by: &Admission<'_>) -> Granted {
    let answer = answer(stored, by.requester, ApprovalMode::NotNeeded, [by.now; 2]);
    let reason = match by.sandbox {
        Some(sandbox) if sandbox.holds(&stored.plan) => {
            "the sandbox that this process started needs no approval".to_owned()
        }
        Some(_) | None => format!(
            "policy `{}` wants no approval in environment `{}`",
            by.policy.name, stored.plan.experiment.environment
        ),
    };
    Granted {
        approval: Approval {
            reason: Some(reason),
            ..answer
        },
        signature: None,
    }
}

/// A plain yes to this plan by this person, from one moment until another, which has no nonce yet.
pub fn answer(
    stored: &StoredPlan,
    approver: &Person,
    mode: ApprovalMode,
    [approved_at, expires_at]: [Timestamp; 2],
) -> Approval {
    Approval {
        format: FORMAT,
        plan: stored.id.clone(),
        digest: stored.digest.clone(),
        policy: Some(stored.plan.policy.digest.clone()),
        worlds: stored.plan.identities(),
        stage: Some(Stage::Run),
        nonce: None,
        requester: Some(stored.plan.requester.clone()),
        approver: approver.clone(),
        mode,
        verdict: Verdict::Yes,
        approved_at,
        expires_at,
        reason: None,
        exceptions: Vec::new(),
    }
}

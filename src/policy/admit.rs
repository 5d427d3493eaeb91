//! From a plan, its findings and its approvals to the only thing that a run takes.

use jiff::{SignedDuration, Timestamp};

use super::document::{ApprovalRules, Attendance, Moment, Policy};
use super::finding::{Finding, Severity};
use super::rules::{Facts, OwnSandbox, evaluate};
use crate::model::approval::{
    Approval, ApprovalFlaw, ApprovalMode, FORMAT, Nonce, Person, SealedApproval, Signature, Stage,
    Verdict,
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
}

/// An approval that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Granted {
    /// What was said.
    pub approval: Approval,
    /// The signature over it, with whose it was found to be.
    pub signature: Option<Signature>,
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
    /// Nobody has approved it.
    Unapproved,
    /// There are approvals, and none counts; the flaw of the latest.
    VoidApproval(ApprovalFlaw),
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
    if !needs_person {
        let granted = vec![not_needed(&stored, by.now, by.requester)];
        return Ok(AdmittedPlan { stored, granted });
    }
    let rules = &by
        .policy
        .environment(&stored.plan.experiment.environment)
        .ok_or(Refusal::Unapproved)?
        .approval;
    let granted: Vec<Granted> = by
        .approvals
        .iter()
        .filter(|sealed| sealed.approval.verdict == Verdict::Yes)
        .filter(|sealed| sealed.approval.mode == ApprovalMode::Typed)
        .filter(|sealed| !counts_too_long(&sealed.approval, rules))
        .filter(|sealed| sealed.approval.check(&stored.digest, by.now).is_ok())
        .map(|sealed| Granted {
            approval: sealed.approval.clone(),
            signature: None,
        })
        .collect();
    if granted.is_empty() {
        return Err(flaw_of(&stored, by, rules));
    }
    Ok(AdmittedPlan { stored, granted })
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

fn not_needed(stored: &StoredPlan, now: Timestamp, requester: &Person) -> Granted {
    let approval = answer(stored, requester, ApprovalMode::NotNeeded, [now, now]);
    Granted {
        approval: Approval {
            reason: Some("the sandbox that this process started needs no approval".to_owned()),
            ..approval
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
        worlds: stored.plan.worlds(),
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

/// Whatever the file says, an approval counts no longer than the policy lets it.
fn counts_too_long(approval: &Approval, rules: &ApprovalRules) -> bool {
    let counts_for = approval.expires_at.duration_since(approval.approved_at);
    let most = rules.expires_after.as_duration();
    counts_for > SignedDuration::try_from(most).unwrap_or(SignedDuration::MAX)
}

fn flaw_of(stored: &StoredPlan, by: Admission<'_>, rules: &ApprovalRules) -> Refusal {
    let latest = by
        .approvals
        .iter()
        .map(|sealed| &sealed.approval)
        .max_by_key(|approval| approval.approved_at);
    if latest.is_some_and(|latest| counts_too_long(latest, rules)) {
        return Refusal::VoidApproval(ApprovalFlaw::TooLong);
    }
    match latest.map(|approval| approval.check(&stored.digest, by.now)) {
        Some(Err(flaw)) => Refusal::VoidApproval(flaw),
        Some(Ok(())) | None => Refusal::Unapproved,
    }
}

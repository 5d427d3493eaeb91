//! From a plan, its findings and an approval to the only thing that a run takes.

use jiff::{SignedDuration, Timestamp};

use super::built_in::Policy;
use super::finding::{Finding, Severity};
use super::rules::{Facts, OwnSandbox, evaluate};
use crate::model::approval::{Approval, ApprovalFlaw, ApprovalMode, Person};
use crate::model::ids::{Digest, PlanId};
use crate::plan::{Plan, StoredPlan};

/// A plan that the policy admits and that is approved. Nothing else can be run, and `admit` is the
/// only way to one.
#[derive(Debug, Clone, PartialEq)]
pub struct AdmittedPlan {
    stored: StoredPlan,
    approval: Approval,
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

    /// The approval that it rests on.
    pub fn approval(&self) -> &Approval {
        &self.approval
    }
}

/// Why a plan is not admitted.
#[derive(Debug, Clone, PartialEq)]
pub enum Refusal {
    /// The policy forbids it.
    Denied(Vec<Finding>),
    /// It was made under other rules than those that apply now.
    OtherPolicy {
        /// The policy that applies.
        now: String,
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
    /// What was approved.
    pub approvals: &'a [Approval],
    /// Now.
    pub now: Timestamp,
    /// Who asks.
    pub requester: &'a Person,
}

/// Admits a plan, or says why not. The policy is asked again here, about this very plan, whatever was
/// found before.
///
/// # Errors
/// The refusal.
pub fn admit(stored: StoredPlan, by: Admission<'_>) -> Result<AdmittedPlan, Refusal> {
    if stored.plan.policy != by.policy.identity() {
        return Err(Refusal::OtherPolicy {
            now: by.policy.name.clone(),
        });
    }
    let facts = Facts {
        plan: &stored.plan,
        policy: by.policy,
        sandbox: by.sandbox,
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
    let approval = match by
        .approvals
        .iter()
        .filter(|approval| approval.mode == ApprovalMode::Typed)
        .filter(|approval| !counts_too_long(approval, by.policy))
        .find(|approval| approval.check(&stored.digest, by.now).is_ok())
    {
        Some(approval) => approval.clone(),
        None if !needs_person => not_needed(&stored, by.now, by.requester),
        None => return Err(flaw_of(&stored, by)),
    };
    Ok(AdmittedPlan { stored, approval })
}

fn not_needed(stored: &StoredPlan, now: Timestamp, requester: &Person) -> Approval {
    Approval {
        format: 1,
        plan: stored.id.clone(),
        digest: stored.digest.clone(),
        approver: requester.clone(),
        mode: ApprovalMode::NotNeeded,
        approved_at: now,
        expires_at: now,
        reason: Some("the sandbox that this process started needs no approval".to_owned()),
    }
}

/// Whatever the file says, an approval counts no longer than the policy lets it.
fn counts_too_long(approval: &Approval, policy: &Policy) -> bool {
    let counts_for = approval.expires_at.duration_since(approval.approved_at);
    let most = policy.approval_counts_for.as_duration();
    counts_for > SignedDuration::try_from(most).unwrap_or(SignedDuration::MAX)
}

fn flaw_of(stored: &StoredPlan, by: Admission<'_>) -> Refusal {
    let latest = by
        .approvals
        .iter()
        .max_by_key(|approval| approval.approved_at);
    if latest.is_some_and(|latest| counts_too_long(latest, by.policy)) {
        return Refusal::VoidApproval(ApprovalFlaw::TooLong);
    }
    match latest.map(|approval| approval.check(&stored.digest, by.now)) {
        Some(Err(flaw)) => Refusal::VoidApproval(flaw),
        Some(Ok(())) | None => Refusal::Unapproved,
    }
}

//! Whether one approval counts for one plan, and if not, why.

use jiff::{SignedDuration, Timestamp};

use super::document::{ApprovalNeed, ApprovalRules, Permission, Policy, RequiredPresence};
use super::finding::{Finding, Severity};
use crate::model::approval::{
    Approval, ApprovalFlaw, ApprovalMode, Exception, Nonce, Person, Presence, SealedApproval,
    Signature, SignatureFlaw, Signer, Stage,
};
use crate::model::ids::RunId;
use crate::model::pattern::Pattern;
use crate::plan::StoredPlan;
use crate::signing::{self, AllowedSigners, KeyWish, Recognised, Signed};

/// Clocks of two machines may differ by so much.
const CLOCK_TOLERANCE_S: i64 = 60;

/// An approval that counts.
#[derive(Debug, Clone, PartialEq)]
pub struct Granted {
    /// What was said.
    pub approval: Approval,
    /// The signature over it, with whose it was found to be.
    pub signature: Option<Signature>,
}

impl Granted {
    /// Who gave it, as shown: the principal where a key says so, else user and host.
    pub fn by(&self) -> String {
        let signer = self.signature.as_ref().and_then(|it| it.signer.as_ref());
        signer.map_or_else(
            || self.approval.approver.to_string(),
            |signer| signer.principal.clone(),
        )
    }

    /// Whether two of them may come from one person: by one name, or by one key.
    pub(super) fn is_by_whom(&self, other: &Self) -> bool {
        let signer = |granted: &Self| granted.signature.as_ref()?.signer.clone();
        match (signer(self), signer(other)) {
            (Some(one), Some(two)) => {
                one.principal == two.principal || one.fingerprint == two.fingerprint
            }
            // A name is all there is then, and whoever sits at two machines has it at both.
            (Some(_) | None, _) => {
                let user = |granted: &Self| granted.approval.approver.user.to_lowercase();
                user(self) == user(other)
            }
        }
    }
}

/// What approvals of a plan are weighed by.
#[derive(Debug, Clone)]
pub struct Scales<'a> {
    pub(super) stored: &'a StoredPlan,
    pub(super) rules: &'a ApprovalRules,
    /// `None`: the policy names none, or none that can be read.
    signers: Option<AllowedSigners>,
    /// What each has to allow by name.
    pub(super) exceptions: Vec<Exception>,
    used: &'a [(Nonce, RunId)],
    now: Timestamp,
}

impl<'a> Scales<'a> {
    /// For a plan of an environment that the policy knows, whose findings these are; `None`: it does
    /// not know it.
    pub fn new(
        stored: &'a StoredPlan,
        policy: &'a Policy,
        findings: &[Finding],
        used: &'a [(Nonce, RunId)],
        now: Timestamp,
    ) -> Option<Self> {
        let environment = policy.environment(&stored.plan.experiment.environment)?;
        let rules = &environment.approval;
        let signers = rules.signers.as_ref();
        Some(Self {
            stored,
            rules,
            signers: signers.and_then(|file| AllowedSigners::parse(&file.text).ok()),
            exceptions: exceptions(findings),
            used,
            now,
        })
    }

    /// How many approvals the plan needs.
    pub fn needed(&self) -> u32 {
        self.rules.count.max(1)
    }

    /// What each approval has to allow by name.
    pub fn exceptions(&self) -> &[Exception] {
        &self.exceptions
    }

    /// Whether the policy wants signatures.
    pub fn need(&self) -> ApprovalNeed {
        self.rules.mode
    }

    /// Whoever made the plan, where that person may not approve it.
    pub fn barred(&self) -> Option<String> {
        let user = || self.stored.plan.requester.user.clone();
        (self.rules.requester == Permission::Denied).then(user)
    }

    /// The keys that count.
    pub fn signers(&self) -> Option<&AllowedSigners> {
        self.signers.as_ref()
    }

    /// Whether a yes counts, whatever others said.
    ///
    /// # Errors
    /// Why it does not: the first flaw.
    pub fn weigh(&self, sealed: &SealedApproval) -> Result<Granted, ApprovalFlaw> {
        let approval = &sealed.approval;
        self.is_about_this_plan(approval)?;
        let recognised = self.recognised(sealed)?;
        self.is_in_time(approval)?;
        self.may_approve(approval, recognised.as_ref())?;
        self.knew_who(recognised.as_ref())?;
        self.allows(approval)?;
        self.is_unused(approval)?;
        let signature = sealed.signature.as_ref();
        Ok(Granted {
            approval: approval.clone(),
            signature: signature.map(|signature| Signature {
                signer: recognised.map(|recognised| recognised.signer),
                ..signature.clone()
            }),
        })
    }

    /// Whether somebody may approve as far as can be told before a key is asked.
    ///
    /// # Errors
    /// Why not.
    pub fn may_try(&self, approval: &Approval) -> Result<(), ApprovalFlaw> {
        match self.rules.mode {
            ApprovalNeed::None | ApprovalNeed::Confirm => self.may_approve(approval, None),
            ApprovalNeed::Signed if self.is_requester(&approval.approver.user) => {
                Err(ApprovalFlaw::ByRequester)
            }
            ApprovalNeed::Signed => Ok(()),
        }
    }

    pub(super) fn is_about_this_plan(&self, approval: &Approval) -> Result<(), ApprovalFlaw> {
        let plan = &self.stored.plan;
        if approval.digest != self.stored.digest {
            return Err(ApprovalFlaw::OtherDigest);
        }
        if approval.policy.as_ref() != Some(&plan.policy.digest) {
            return Err(ApprovalFlaw::OtherPolicy);
        }
        if approval.worlds != plan.identities() {
            return Err(ApprovalFlaw::OtherWorlds);
        }
        match approval.stage {
            Some(Stage::Run) => Ok(()),
            None => Err(ApprovalFlaw::OtherStage),
        }
    }

    /// Whose signature it is, where it has one or has to have one.
    fn recognised(&self, sealed: &SealedApproval) -> Result<Option<Recognised>, ApprovalFlaw> {
        let approval = &sealed.approval;
        match (approval.mode, &sealed.signature, self.rules.mode) {
            (ApprovalMode::NotNeeded, _, _) => Err(ApprovalFlaw::NobodysAnswer),
            (ApprovalMode::Typed, None, ApprovalNeed::None | ApprovalNeed::Confirm) => Ok(None),
            (ApprovalMode::Typed | ApprovalMode::Signed, None, _) => Err(ApprovalFlaw::Unsigned),
            (ApprovalMode::Typed | ApprovalMode::Signed, Some(signature), _) => {
                let signers = self.signers.as_ref();
                let signers = signers.ok_or(ApprovalFlaw::Signature(SignatureFlaw::NoSigners))?;
                let message = approval.canonical();
                let signed = Signed {
                    message: message.as_bytes(),
                    armored: &signature.armored,
                    at: self.now,
                    by: &approval.approver,
                };
                signing::verify(signers, &signed)
                    .map(Some)
                    .map_err(ApprovalFlaw::Signature)
            }
        }
    }

    /// Whose signature an approval bears, whether it counts or not.
    pub(super) fn signer_of(&self, sealed: &SealedApproval) -> Option<Signer> {
        let recognised = self.recognised(sealed).ok()??;
        Some(recognised.signer)
    }

    fn is_in_time(&self, approval: &Approval) -> Result<(), ApprovalFlaw> {
        let Approval {
            approved_at,
            expires_at,
            ..
        } = *approval;
        if approved_at.as_second() > self.now.as_second() + CLOCK_TOLERANCE_S {
            return Err(ApprovalFlaw::FromTheFuture);
        }
        let most = SignedDuration::try_from(self.rules.expires_after.as_duration());
        // Whatever the approval says, it counts no longer than the policy lets it.
        if expires_at.duration_since(approved_at) > most.unwrap_or(SignedDuration::MAX) {
            return Err(ApprovalFlaw::TooLong);
        }
        if self.now >= expires_at {
            return Err(ApprovalFlaw::Expired { at: expires_at });
        }
        Ok(())
    }

    fn may_approve(
        &self,
        approval: &Approval,
        recognised: Option<&Recognised>,
    ) -> Result<(), ApprovalFlaw> {
        let user = &approval.approver.user;
        let principal = recognised.map(|recognised| recognised.signer.principal.as_str());
        let is_requester = self.is_requester(user)
            || principal.is_some_and(|principal| self.is_requester(principal));
        if is_requester {
            return Err(ApprovalFlaw::ByRequester);
        }
        let name = principal.unwrap_or(user);
        let approvers = &self.rules.approvers;
        let fits = |pattern: &Pattern| pattern.matches(name);
        if !approvers.is_empty() && !approvers.iter().any(fits) {
            return Err(ApprovalFlaw::NotAnApprover {
                name: name.to_owned(),
            });
        }
        Ok(())
    }

    /// Whether a name is the requester's and the requester may not approve. Before the `@` of a
    /// principal, people write their user name.
    fn is_requester(&self, name: &str) -> bool {
        let Person { user, .. } = &self.stored.plan.requester;
        let head = name.split('@').next().unwrap_or(name);
        let same = |one: &str| one.eq_ignore_ascii_case(user);
        self.rules.requester == Permission::Denied && (same(name) || same(head))
    }

    fn knew_who(&self, recognised: Option<&Recognised>) -> Result<(), ApprovalFlaw> {
        let Some(recognised) = recognised else {
            return Ok(());
        };
        let required = match (recognised.wish, self.rules.presence) {
            (KeyWish::Verify, _) => RequiredPresence::Verify,
            (KeyWish::NoTouch, RequiredPresence::Touch) => RequiredPresence::None,
            (KeyWish::AsThePolicySays | KeyWish::NoTouch, required) => required,
        };
        match (required, recognised.signer.presence) {
            (RequiredPresence::None, _)
            | (RequiredPresence::Touch, Presence::Touched | Presence::Verified)
            | (RequiredPresence::Verify, Presence::Verified) => Ok(()),
            (RequiredPresence::Touch, Presence::Unknown | Presence::Absent) => {
                Err(ApprovalFlaw::Untouched)
            }
            (
                RequiredPresence::Verify,
                Presence::Unknown | Presence::Absent | Presence::Touched,
            ) => Err(ApprovalFlaw::Unverified),
        }
    }

    /// Each approval allows all that the plan needs: whoever says yes has seen what is unusual.
    fn allows(&self, approval: &Approval) -> Result<(), ApprovalFlaw> {
        let missing = |wanted: &&Exception| !approval.exceptions.contains(wanted);
        if let Some(exception) = self.exceptions.iter().find(missing) {
            return Err(ApprovalFlaw::Lacks(*exception));
        }
        let reason = approval.reason.as_deref().unwrap_or_default();
        if !approval.exceptions.is_empty() && reason.trim().is_empty() {
            return Err(ApprovalFlaw::NoReason);
        }
        Ok(())
    }

    fn is_unused(&self, approval: &Approval) -> Result<(), ApprovalFlaw> {
        if self.rules.reuse == Permission::Allowed {
            return Ok(());
        }
        let nonce = approval.nonce.as_ref().ok_or(ApprovalFlaw::NoNonce)?;
        match self.used.iter().find(|(used, _)| used == nonce) {
            Some((_, run)) => Err(ApprovalFlaw::Used { by: run.clone() }),
            None => Ok(()),
        }
    }
}

/// What the findings want allowed by name, each once.
fn exceptions(findings: &[Finding]) -> Vec<Exception> {
    let required = findings
        .iter()
        .filter(|finding| finding.severity == Severity::Require);
    let mut all: Vec<Exception> = required.filter_map(|finding| finding.exception).collect();
    all.sort_unstable();
    all.dedup();
    all
}

//! Where a plan stands with all that was said about it: who counts, who does not and why, who said no.

use super::document::{ApprovalNeed, Permission};
use super::weigh::{Granted, Scales};
use crate::model::approval::{Approval, ApprovalFlaw, SealedApproval, Signer, Verdict};
use crate::model::ids::PlanId;

/// Where a plan stands with its approvals.
#[derive(Debug, Clone, PartialEq)]
pub struct Standing {
    /// The plan.
    pub plan: PlanId,
    /// How many approvals it needs, each of another person.
    pub needed: u32,
    /// One for each person who counts, the one that ends first.
    pub granted: Vec<Granted>,
    /// Everything that was said, in order.
    pub said: Vec<Said>,
    /// Every no that stands.
    pub denials: Vec<Approval>,
    /// What a yes to it takes.
    pub need: ApprovalNeed,
    /// Whoever made it and may not approve it; `None`: that person may.
    pub barred: Option<String>,
    /// Why it does not run all the same; `None`: nothing is known that keeps it from running.
    pub halt: Option<Halt>,
}

/// Why a plan does not run, whatever approvals it has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Halt {
    /// It was made under another policy than the one that applies.
    OtherPolicy,
    /// The policy would refuse it at this moment: why, and the way out.
    Now(String),
}

/// An answer, and whether it counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// It.
    pub approval: Approval,
    /// Whose signature it bears; `None`: nobody's that the policy knows. Whoever it names besides is a
    /// claim.
    pub signer: Option<Signer>,
    /// Why it does not count; `None`: it does.
    pub flaw: Option<ApprovalFlaw>,
}

impl Standing {
    /// Of these approvals on these scales.
    pub fn of(scales: &Scales<'_>, approvals: &[SealedApproval]) -> Self {
        let mut said = Vec::new();
        let mut denials = Vec::new();
        let mut weighed = Vec::new();
        let mut lifting: Vec<&Approval> = Vec::new();
        for sealed in approvals {
            let approval = &sealed.approval;
            let found = match approval.verdict {
                Verdict::Yes => scales.weigh(sealed).map(|granted| weighed.push(granted)),
                Verdict::No => scales
                    .is_about_this_plan(approval)
                    .map(|()| denials.push(approval.clone())),
            };
            match (&found, approval.verdict) {
                // A yes that was good once took back the no before it, for good.
                (
                    Ok(()) | Err(ApprovalFlaw::Expired { .. } | ApprovalFlaw::Used { .. }),
                    Verdict::Yes,
                ) => lifting.push(approval),
                (Ok(()) | Err(_), Verdict::Yes | Verdict::No) => {}
            }
            said.push(Said {
                approval: approval.clone(),
                signer: scales.signer_of(sealed),
                flaw: found.err(),
            });
        }
        denials.retain(|no| !lifting.iter().any(|yes| takes_back(yes, no)));
        let mut granted = one_a_person(weighed);
        for one in &mut said {
            one.flaw = one.flaw.take().or_else(|| said_already(one, &granted));
        }
        spare(&mut granted, scales);
        Self {
            plan: scales.stored.id.clone(),
            needed: scales.needed(),
            granted,
            said,
            denials,
            need: scales.need(),
            barred: scales.barred(),
            halt: None,
        }
    }

    /// This one answer alone, which does not count.
    pub fn without(scales: &Scales<'_>, approval: Approval, flaw: ApprovalFlaw) -> Self {
        let flaw = Some(flaw);
        Self {
            plan: scales.stored.id.clone(),
            needed: scales.needed(),
            granted: Vec::new(),
            said: vec![Said {
                approval,
                signer: None,
                flaw,
            }],
            denials: Vec::new(),
            need: scales.need(),
            barred: scales.barred(),
            halt: None,
        }
    }

    /// Who may give the first yes.
    pub fn whom(&self) -> String {
        let barred = self.barred.as_ref();
        barred.map_or("a person".to_owned(), |user| {
            format!("somebody else than {user}")
        })
    }

    /// What to type for a yes to the plan by its id.
    pub fn approve(&self) -> String {
        self.approve_as(self.plan.as_str())
    }

    /// The same of the plan by another name, such as its file's.
    pub fn approve_as(&self, plan: &str) -> String {
        match self.need {
            ApprovalNeed::None | ApprovalNeed::Confirm => format!("chaos approve {plan}"),
            ApprovalNeed::Signed => format!("chaos approve {plan} --key FILE"),
        }
    }

    /// Those that do not count, each with why.
    pub fn passed_over(&self) -> Vec<(&Approval, &ApprovalFlaw)> {
        let all = self.said.iter();
        all.filter_map(|Said { approval, flaw, .. }| Some((approval, flaw.as_ref()?)))
            .collect()
    }

    /// How many are there of those that it needs.
    pub fn count(&self) -> u32 {
        let count = u32::try_from(self.granted.len()).unwrap_or(u32::MAX);
        count.min(self.needed)
    }

    /// Whether it may run as far as approvals go.
    pub fn is_enough(&self) -> bool {
        self.denials.is_empty() && self.count() == self.needed
    }
}

fn takes_back(yes: &Approval, no: &Approval) -> bool {
    yes.approver == no.approver && yes.approved_at > no.approved_at
}

/// One approval of each person, those that end first.
fn one_a_person(mut all: Vec<Granted>) -> Vec<Granted> {
    all.sort_by_key(|granted| granted.approval.expires_at);
    let mut distinct: Vec<Granted> = Vec::new();
    for granted in all {
        if !distinct.iter().any(|other| other.is_by_whom(&granted)) {
            distinct.push(granted);
        }
    }
    distinct
}

/// Where a good yes is none of those that count, another of the same person does.
fn said_already(one: &Said, distinct: &[Granted]) -> Option<ApprovalFlaw> {
    let is_it = |granted: &Granted| granted.approval == one.approval;
    let again = one.approval.verdict == Verdict::Yes && !distinct.iter().any(is_it);
    again.then_some(ApprovalFlaw::SamePerson)
}

/// Of single-use approvals no more than are needed, so that the others are left for another run.
fn spare(granted: &mut Vec<Granted>, scales: &Scales<'_>) {
    match scales.rules.reuse {
        Permission::Allowed => {}
        Permission::Denied => granted.truncate(usize::try_from(scales.needed()).unwrap_or(1)),
    }
}

//! The policy's last word on a plan, with a person asked where it wants one and there is one.

use super::Desk;
use super::approve;
use super::conduct::Conduct;
use super::planning::{self, Planned};
use crate::cli::ConductArgs;
use crate::error::Failure;
use crate::journal::Store;
use crate::model::approval::SealedApproval;
use crate::model::ids::PlanId;
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::{self, Admission, AdmittedPlan, OwnSandbox};
use crate::run::Clock;
use crate::view::prompt::{self, Answer};

/// The policy's last word, with a person asked where it wants one and there is one.
pub(super) fn admit(
    desk: &Desk,
    store: &Store,
    planned: Planned,
    conduct: &Conduct<'_>,
    sandbox: Option<&OwnSandbox>,
) -> Result<AdmittedPlan, Failure> {
    planned.undenied()?;
    let required = planned.needs_approval();
    let Planned { stored, policy, .. } = planned;
    let mut approvals = read_approvals(desk, store, &stored.id)?;
    let now = Clock::wall();
    let approved = approvals
        .iter()
        .any(|sealed| sealed.approval.check(&stored.digest, now).is_ok());
    // Where there were approvals and nobody can be asked for another, admission says what is wrong
    // with the latest.
    let asks = required && !approved && (desk.printer.has_person() || approvals.is_empty());
    if asks {
        let approval = approve::ask(desk, &stored, &policy, None, None)?;
        store.save_approval(&approval)?;
        approvals.push(approval);
    } else if !required {
        courtesy(desk, conduct.args)?;
    }
    let history = planning::history(desk, &stored.plan.experiment)?;
    let by = Admission {
        policy: &policy,
        sandbox,
        history: &history,
        attendance: planning::attendance(desk),
        used: &[],
        approvals: &approvals,
        now: Clock::wall(),
        requester: &desk.settings.person,
    };
    Ok(policy::admit(stored, by)?)
}

fn read_approvals(
    desk: &Desk,
    store: &Store,
    plan: &PlanId,
) -> Result<Vec<SealedApproval>, Failure> {
    let found = store.approvals(plan)?;
    for problem in &found.damaged {
        desk.printer.warn(&problem.message);
    }
    Ok(found.readable)
}

/// Nobody has to approve, but a person who sits there is asked all the same.
fn courtesy(desk: &Desk, args: &ConductArgs) -> Result<(), Failure> {
    if args.yes || !desk.printer.has_person() {
        return Ok(());
    }
    match prompt::confirm(&desk.printer, "run it now?", Answer::Yes)? {
        Answer::Yes => Ok(()),
        Answer::No => Err(Failure::Unapproved(
            Problem::new(ProblemKind::Refused, "not run: you said no").hint("nothing was injected"),
        )),
    }
}

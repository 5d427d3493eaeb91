//! `chaos approve`: a person at a terminal says yes to one plan, digest for digest, or no.

use std::path::PathBuf;

use super::Desk;
use super::approvals;
use super::asking::{self, Subject, Wish};
use super::planning::{self, Judged};
use super::plans::{self, Found};
use super::policies;
use crate::cli::ApproveArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::approval::{Approval, ApprovalMode, Nonce, SealedApproval, Verdict};
use crate::plan::StoredPlan;
use crate::policy::{self, Moment};
use crate::run::Clock;
use crate::view::plan::{self as shown, Sheet};
use crate::view::{approvals as told, clock_time};

pub(super) fn approve(desk: &Desk, args: &ApproveArgs) -> Result<Exit, Failure> {
    if args.list {
        approvals::list(desk, &args.policy, args.output)?;
        return Ok(Exit::Done);
    }
    let found = plans::find_and_keep(desk, args.plan.as_deref().unwrap_or_default())?;
    let person = &desk.settings.person;
    let out = approvals::place(found.file.as_deref(), args.out.as_deref(), person)?;
    let sealed = match args.deny {
        true => no(desk, &found.stored, args.reason.clone()),
        false => yes(desk, &found, args)?,
    };
    desk.store()?.save_approval(&sealed)?;
    if let Some(out) = &out {
        approvals::write(out, &sealed)?;
    }
    tell(desk, &found, &sealed, args, out)?;
    Ok(Exit::Done)
}

fn yes(desk: &Desk, found: &Found, args: &ApproveArgs) -> Result<SealedApproval, Failure> {
    let stored = &found.stored;
    let policy = policies::of_plan(desk, &args.policy, &stored.plan, found.file.as_deref())?;
    policy::made_under(stored, &policy)?;
    let history = planning::history(desk, &stored.plan.experiment, &policy)?;
    let judged = Judged {
        policy: &policy,
        sandbox: None,
        history: &history,
        attendance: planning::attendance(desk),
        moment: Moment::Planning(Clock::wall()),
    };
    let findings = planning::judge(&stored.plan, &judged);
    planning::undenied(&findings)?;
    let sheet = Sheet {
        stored,
        policy: &policy,
        findings: &findings,
        standing: None,
    };
    shown::insist(&desk.printer, &sheet);
    let about = Subject {
        stored,
        policy: &policy,
        findings: &findings,
    };
    let allowed = args.allow.iter().map(|allowed| allowed.exception());
    let wish = Wish {
        valid_for: args.valid_for,
        reason: args.reason.clone(),
        allow: allowed.collect(),
        key: args.key.clone(),
    };
    asking::ask(desk, about, wish)
}

/// A no needs no terminal: it can only keep something from happening. It has no end.
fn no(desk: &Desk, stored: &StoredPlan, reason: Option<String>) -> SealedApproval {
    let now = Clock::wall();
    let person = &desk.settings.person;
    let answer = policy::answer(stored, person, ApprovalMode::Typed, [now, now]);
    let approval = Approval {
        verdict: Verdict::No,
        nonce: Some(Nonce::of(rand::random())),
        reason: reason.and_then(|reason| asking::plain(&reason)),
        ..answer
    };
    SealedApproval::seal(approval, None)
}

fn tell(
    desk: &Desk,
    found: &Found,
    sealed: &SealedApproval,
    args: &ApproveArgs,
    out: Option<PathBuf>,
) -> Result<(), Failure> {
    let id = &found.stored.id;
    let file = out.map(|path| format!(", written to {}", path.display()));
    let file = file.unwrap_or_default();
    match sealed.approval.verdict {
        Verdict::No => desk.printer.success(&format!(
            "denied {id}: it does not run until you say yes, or a new plan is made{file}"
        )),
        Verdict::Yes => {
            let until = clock_time(sealed.approval.expires_at);
            let standing = approvals::standing(desk, found, &args.policy)?;
            let next = match told::missing(&standing) {
                Some(missing) => missing,
                None => format!("next: chaos run {id}"),
            };
            let words = format!("approved {id} until {until}{file}; {next}");
            desk.printer.success(&words);
        }
    }
    Ok(())
}

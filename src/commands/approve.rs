//! `chaos approve`: a person at a terminal says yes to one plan, digest for digest, or no.

use std::path::PathBuf;

use super::Desk;
use super::approvals;
use super::asking::{self, Subject, Wish};
use super::planning;
use super::plans::{self, Found};
use super::policies;
use crate::cli::ApproveArgs;
use crate::error::{Failure, why_unapproved};
use crate::exit::Exit;
use crate::model::approval::{Approval, ApprovalMode, Nonce, SealedApproval, Verdict};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::StoredPlan;
use crate::policy;
use crate::run::Clock;
use crate::view::clock_time;
use crate::view::plan::{self as shown, Sheet};

pub(super) fn approve(desk: &Desk, args: &ApproveArgs) -> Result<Exit, Failure> {
    if args.list {
        approvals::list(desk, &args.policy, args.output)?;
        return Ok(Exit::Done);
    }
    says_why(args)?;
    let found = plans::find_and_keep(desk, args.plan.as_deref().unwrap_or_default())?;
    let person = &desk.settings.person;
    let verdict = match args.deny {
        true => Verdict::No,
        false => Verdict::Yes,
    };
    let out = approvals::place(&found, args.out.as_deref(), person, verdict)?;
    approvals::take_beside(desk, &found)?;
    let sealed = match verdict {
        Verdict::No => no(desk, &found.stored, args.reason.clone()),
        Verdict::Yes => yes(desk, &found, args)?,
    };
    desk.store()?.save_approval(&sealed)?;
    if let Some(out) = &out {
        approvals::write(out, &sealed)?;
    }
    tell(desk, &found, &sealed, args, out)?;
    Ok(Exit::Done)
}

/// What is out of the ordinary is not said without a reason.
fn says_why(args: &ApproveArgs) -> Result<(), Problem> {
    let what = match (args.deny, args.allow.first()) {
        (true, _) => "a no",
        (false, Some(_)) => "an exception",
        (false, None) => return Ok(()),
    };
    if args.reason.as_deref().and_then(asking::plain).is_some() {
        return Ok(());
    }
    let message = format!("{what} says why: --reason TEXT");
    Err(Problem::new(ProblemKind::Invalid, message)
        .hint("whoever reads it later wants to know, and it is kept with it"))
}

fn yes(desk: &Desk, found: &Found, args: &ApproveArgs) -> Result<SealedApproval, Failure> {
    let stored = &found.stored;
    let policy = policies::of_plan(desk, &args.policy, &stored.plan, found.file.as_deref())?;
    policy::made_under(stored, &policy)?;
    let (findings, _) = planning::looked_at(desk, &stored.plan, &policy)?;
    planning::undenied(&findings)?;
    let sheet = Sheet {
        stored,
        policy: &policy,
        findings: &findings,
        standing: None,
    };
    let about = Subject {
        stored,
        policy: &policy,
        findings: &findings,
    };
    asking::may(desk, about)?;
    shown::insist(&desk.printer, &sheet);
    let allowed = args.allow.iter().map(|allowed| allowed.exception());
    let wish = Wish {
        valid_for: args.valid_for,
        reason: args.reason.clone(),
        allow: allowed.collect(),
        key: args.key.key.clone(),
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
    let file = out.as_ref().map(|path| path.display().to_string());
    let written = file.as_ref().map(|file| format!(", written to {file}"));
    let written = written.unwrap_or_default();
    let mut way = approvals::way(desk, found);
    way.add(out);
    match (sealed.approval.verdict, file) {
        (Verdict::No, None) => desk.printer.success(&format!(
            "denied {id}: it does not run here until you say yes, or a new plan is made"
        )),
        (Verdict::No, Some(file)) => {
            desk.printer.success(&format!(
                "denied {id}{written}: it does not run here until you say yes, or a new plan is made"
            ));
            let plan = way.plan(id);
            let stops = format!(
                "elsewhere nobody knows of it: hand the file to whoever runs the plan; `chaos run {plan} --approval {file}` stops there"
            );
            desk.printer.success(&stops);
        }
        (Verdict::Yes, _) => {
            let until = clock_time(sealed.approval.expires_at);
            let standing = approvals::standing(desk, found, &args.policy)?;
            let next = why_unapproved(&standing, &way).0.hint.unwrap_or_default();
            let (count, needed) = (standing.count(), standing.needed);
            let next = match standing.is_enough() {
                true => format!("next: {}", way.run(id)),
                false => next,
            };
            desk.printer.success(&format!(
                "approved {id} until {until}{written}; {count} of {needed} approvals"
            ));
            desk.printer.success(&next);
        }
    }
    Ok(())
}

//! `chaos approve`: a person at a terminal says yes to one plan, digest for digest.

use jiff::SignedDuration;

use super::Desk;
use super::planning::{self, Judged};
use super::policies;
use crate::cli::ApproveArgs;
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::approval::{Approval, ApprovalMode, Nonce, SealedApproval};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::plan::StoredPlan;
use crate::policy::{self, Moment, Policy};
use crate::run::Clock;
use crate::view::clock_time;
use crate::view::plan as shown;
use crate::view::prompt::{self, Answer};

pub(super) fn approve(desk: &Desk, args: &ApproveArgs) -> Result<Exit, Failure> {
    let store = desk.store()?;
    let (_, text) = store.load_plan(args.plan.as_deref().unwrap_or_default())?;
    let stored = StoredPlan::from_text(&text)?;
    let policy = policies::of_plan(desk, &args.policy, &stored.plan)?;
    policy::made_under(&stored, &policy)?;
    let history = planning::history(desk)?;
    let findings = planning::judge(
        &stored.plan,
        &Judged {
            policy: &policy,
            sandbox: None,
            history: &history,
            attendance: planning::attendance(desk),
            moment: Moment::Planning,
        },
    );
    planning::undenied(&findings)?;
    shown::insist(&desk.printer, &stored, &findings);
    let sealed = ask(desk, &stored, &policy, args.valid_for, args.reason.clone())?;
    store.save_approval(&sealed)?;
    desk.printer.success(&format!(
        "approved {} until {}; next: chaos run {}",
        stored.id,
        clock_time(sealed.approval.expires_at),
        stored.id
    ));
    Ok(Exit::Done)
}

/// Asks the person at the terminal to type the experiment's name.
pub(super) fn ask(
    desk: &Desk,
    stored: &StoredPlan,
    policy: &Policy,
    valid_for: Option<Span>,
    reason: Option<String>,
) -> Result<SealedApproval, Failure> {
    let most = policy
        .environment(&stored.plan.experiment.environment)
        .map_or(Span::ZERO, |environment| environment.approval.expires_after);
    let valid_for = valid_for.unwrap_or(most);
    if valid_for == Span::ZERO || valid_for > most {
        return Err(Failure::Problem(
            Problem::new(
                ProblemKind::Invalid,
                format!("an approval cannot count for {valid_for}"),
            )
            .hint(format!(
                "policy `{}` lets it count for {most} at most",
                policy.name
            )),
        ));
    }
    if !desk.printer.has_person() {
        return Err(Failure::Unapproved(
            Problem::new(
                ProblemKind::Refused,
                format!(
                    "plan {} needs a person's approval, and there is no terminal to ask one",
                    stored.id
                ),
            )
            .hint(format!(
                "a person at a terminal: `chaos approve {}`",
                stored.id
            )),
        ));
    }
    let name = stored.plan.name().as_str();
    let question = format!("to approve plan {}, type the experiment's name", stored.id);
    match prompt::ask_typed_name(&desk.printer, name, &question)? {
        Answer::Yes => {}
        Answer::No => {
            return Err(Failure::Unapproved(
                Problem::new(
                    ProblemKind::Refused,
                    format!("plan {} was not approved", stored.id),
                )
                .hint("nothing was injected"),
            ));
        }
    }
    let now = Clock::wall();
    let length =
        SignedDuration::from_millis(i64::try_from(valid_for.as_millis()).unwrap_or(i64::MAX));
    let until = now.checked_add(length).unwrap_or(now);
    let answer = policy::answer(
        stored,
        &desk.settings.person,
        ApprovalMode::Typed,
        [now, until],
    );
    let approval = Approval {
        nonce: Some(Nonce::of(rand::random())),
        reason,
        ..answer
    };
    Ok(SealedApproval::seal(approval, None))
}

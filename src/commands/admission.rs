//! The policy's last word on a plan, with a person asked where it wants one and there is one.

use super::Desk;
use super::approvals;
use super::asking::{self, Subject, Wish};
use super::conduct::{Conduct, Seen};
use super::planning::{self, Judged, Planned};
use crate::cli::ConductArgs;
use crate::error::{Failure, Unapproved};
use crate::journal::{Store, Use};
use crate::model::approval::{ApprovalMode, Nonce, SealedApproval};
use crate::model::ids::RunId;
use crate::model::problem::{Problem, ProblemKind};
use crate::policy::{self, Admission, AdmittedPlan, Moment, OwnSandbox, Refusal, Scales, Standing};
use crate::run::Clock;
use crate::view::plan as shown;
use crate::view::prompt::{self, Answer};

/// The policy's last word, with a person asked where it wants one and there is one.
pub(super) fn admit(
    desk: &Desk,
    store: &Store,
    planned: Planned,
    conduct: &Conduct<'_>,
    sandbox: Option<&OwnSandbox>,
) -> Result<AdmittedPlan, Failure> {
    let history = planning::history(desk, &planned.stored.plan.experiment, &planned.policy)?;
    // Nobody is asked for a yes to what may not run now, whoever says yes.
    planning::undenied(&planning::judge(
        &planned.stored.plan,
        &Judged {
            policy: &planned.policy,
            sandbox,
            history: &history,
            attendance: planning::attendance(desk),
            moment: Moment::Running(Clock::wall()),
        },
    ))?;
    let required = planned.needs_approval();
    let used = store.used()?;
    let mut trouble = None;
    let mut given = approvals::kept(desk, store, &planned.stored.id)?;
    if required {
        let about = Subject {
            stored: &planned.stored,
            policy: &planned.policy,
            findings: &planned.findings,
        };
        let wish = || Wish {
            key: conduct.args.key.key.clone(),
            ..Wish::default()
        };
        let mut asked = asks(desk, about, &given, &used);
        if asked && !given.is_empty() {
            // What is missing is said before whose key could sign.
            trouble = asking::keyless(desk, about, &wish());
            asked = trouble.is_none();
        }
        if asked {
            if sandbox.is_some() && !desk.printer.has_person() {
                return Err(now_or_never(about));
            }
            // Nobody says yes to what he has not seen.
            if conduct.seen == Seen::Unseen && desk.printer.has_person() {
                shown::insist(&desk.printer, &planned.sheet());
            }
            let approval = asking::ask(desk, about, wish())?;
            store.save_approval(&approval)?;
            given.push(approval);
        }
    } else {
        courtesy(desk, conduct.args)?;
    }
    let Planned { stored, policy, .. } = planned;
    let by = Admission {
        policy: &policy,
        sandbox,
        history: &history,
        attendance: planning::attendance(desk),
        used: &used,
        approvals: &given,
        now: Clock::wall(),
        requester: &desk.settings.person,
    };
    policy::admit(stored, by).map_err(|refusal| match refusal {
        Refusal::Unapproved(standing) => Failure::Void(Box::new(Unapproved {
            standing: *standing,
            way: conduct.way.clone(),
            key: trouble,
        })),
        Refusal::Denied(_) | Refusal::OtherPolicy { .. } => refusal.into(),
    })
}

/// A plan about the sandbox of this very run cannot be approved elsewhere: both end with it.
fn now_or_never(about: Subject<'_>) -> Failure {
    let (policy, environment) = (
        &about.policy.name,
        &about.stored.plan.experiment.environment,
    );
    let message = format!(
        "policy `{policy}` wants a person's approval of what runs in environment `{environment}`, and there is no terminal to ask one"
    );
    let hint = format!(
        "type it at a terminal; or let the policy say `approval: {{mode: none}}` for `{environment}`"
    );
    Failure::Unapproved(Problem::new(ProblemKind::Refused, message).hint(hint))
}

/// Whether the person here is asked for a yes: somebody's is missing, and theirs may be the one. Where
/// there were approvals and nobody can be asked for another, admission says what is wrong with them.
fn asks(
    desk: &Desk,
    about: Subject<'_>,
    given: &[SealedApproval],
    used: &[(Nonce, RunId)],
) -> bool {
    let now = Clock::wall();
    let scales = Scales::new(about.stored, about.policy, about.findings, used, now);
    let Some(scales) = scales else { return false };
    let standing = Standing::of(&scales, given);
    if standing.is_enough() || !standing.denials.is_empty() {
        return false;
    }
    let person = &desk.settings.person;
    let draft = policy::answer(about.stored, person, ApprovalMode::Typed, [now, now]);
    let mut granted = standing.granted.iter();
    let said_it = granted.any(|granted| granted.approval.approver == *person);
    match desk.printer.has_person() {
        true => !said_it && scales.may_try(&draft).is_ok(),
        // It says that there is no terminal.
        false => given.is_empty(),
    }
}

/// Uses up what counts for one run only, before its journal is opened. If one of several is gone by
/// then, those before it are used up for nothing: a yes too few rather than one too many.
pub(super) fn use_up(store: &Store, admitted: &AdmittedPlan, run: &RunId) -> Result<(), Failure> {
    for granted in admitted.single_use() {
        let Some(nonce) = &granted.approval.nonce else {
            continue;
        };
        if let Use::Gone { by } = store.use_up(nonce, run)? {
            let message = format!(
                "the approval of {} counts once and was used by {by}",
                granted.by()
            );
            let hint = format!("approve once more: `chaos approve {}`", admitted.id());
            let problem = Problem::new(ProblemKind::Refused, message).hint(hint);
            return Err(Failure::Unapproved(problem));
        }
    }
    Ok(())
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

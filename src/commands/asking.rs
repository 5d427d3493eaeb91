//! A person at a terminal is asked for a yes to one plan, digest for digest; a key signs it where the
//! policy wants that. Without a terminal it is a no, whatever else was said.

use std::path::{Path, PathBuf};

use jiff::SignedDuration;

use super::Desk;
use super::signature;
use crate::error::Failure;
use crate::model::approval::{
    Approval, ApprovalFlaw, ApprovalMode, Exception, Nonce, SealedApproval, Signature,
};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;
use crate::plan::StoredPlan;
use crate::policy::{self, ApprovalNeed, Finding, Policy, Scales, Severity, Standing};
use crate::run::Clock;
use crate::view::prompt::{self, Answer};

/// What is to be approved.
#[derive(Clone, Copy)]
pub(super) struct Subject<'a> {
    pub(super) stored: &'a StoredPlan,
    pub(super) policy: &'a Policy,
    pub(super) findings: &'a [Finding],
}

/// What was typed with the command.
#[derive(Default)]
pub(super) struct Wish {
    pub(super) valid_for: Option<Span>,
    pub(super) reason: Option<String>,
    pub(super) allow: Vec<Exception>,
    pub(super) key: Option<PathBuf>,
}

/// Asks the person at the terminal to type the experiment's name, and has it signed where it has to
/// be. What comes back counts.
pub(super) fn ask(desk: &Desk, about: Subject<'_>, wish: Wish) -> Result<SealedApproval, Failure> {
    let id = &about.stored.id;
    let length = length(about, wish.valid_for)?;
    if !desk.printer.has_person() {
        let scales = scales(about)?;
        let nobody = Standing::of(&scales, &[]);
        return Err(refused(
            format!("plan {id} needs a person's approval, and there is no terminal to ask one"),
            format!("{} at a terminal: `{}`", nobody.whom(), nobody.approve()),
        ));
    }
    let draft = may(desk, about)?;
    let scales = scales(about)?;
    let key = key(desk, wish.key.as_deref(), &scales)?;
    let mode = match key {
        Some(_) => ApprovalMode::Signed,
        None => ApprovalMode::Typed,
    };
    type_names(desk, about)?;
    let (exceptions, reason) = allow(desk, about, &scales, wish.allow, wish.reason)?;
    let now = Clock::wall();
    let approval = Approval {
        nonce: Some(Nonce::of(rand::random())),
        approved_at: now,
        expires_at: now.checked_add(length).unwrap_or(now),
        exceptions,
        reason,
        mode,
        ..draft
    };
    let signature = key
        .map(|key| signature::make(&key, &approval))
        .transpose()?;
    let sealed = SealedApproval::seal(
        approval,
        signature.map(|armored| Signature {
            armored,
            signer: None,
        }),
    );
    // Nobody walks away with a yes that will not count. The key may have kept the person waiting.
    let scales = self::scales(about)?;
    match scales.weigh(&sealed) {
        Ok(_) => Ok(sealed),
        Err(flaw) => Err(void(&scales, &sealed.approval, flaw)),
    }
}

/// The draft of a yes by the person here, who may give one as far as can be told before a key is asked.
pub(super) fn may(desk: &Desk, about: Subject<'_>) -> Result<Approval, Failure> {
    let scales = scales(about)?;
    let now = Clock::wall();
    let person = &desk.settings.person;
    let draft = policy::answer(about.stored, person, ApprovalMode::Typed, [now, now]);
    match scales.may_try(&draft) {
        Ok(()) => Ok(draft),
        Err(flaw) => Err(void(&scales, &draft, flaw)),
    }
}

/// The key that signs: one of the policy's signers where it has to be signed, the one that was named
/// where a typed name would do and the policy knows that key.
fn key(desk: &Desk, named: Option<&Path>, scales: &Scales<'_>) -> Result<Option<PathBuf>, Failure> {
    match scales.need() {
        ApprovalNeed::Signed => signature::key(desk, named, scales).map(Some),
        ApprovalNeed::None | ApprovalNeed::Confirm => {
            let Some(named) = named else { return Ok(None) };
            let key = signature::key(desk, Some(named), scales).ok();
            if key.is_none() {
                let words = "not signed: the policy knows no such key, and wants none";
                desk.printer.talk(&format!("{}: {words}", named.display()));
            }
            Ok(key)
        }
    }
}

/// Why the person here could not sign, where a signature is wanted; `None`: nothing is in the way.
pub(super) fn keyless(desk: &Desk, about: Subject<'_>, wish: &Wish) -> Option<Problem> {
    let scales = scales(about).ok()?;
    if scales.need() != ApprovalNeed::Signed {
        return None;
    }
    match signature::key(desk, wish.key.as_deref(), &scales) {
        Err(Failure::Unapproved(problem)) => Some(problem),
        Ok(_) | Err(_) => None,
    }
}

/// On what approvals of this plan are weighed here and now, single use left aside.
fn scales<'a>(about: Subject<'a>) -> Result<Scales<'a>, Failure> {
    let now = Clock::wall();
    Scales::new(about.stored, about.policy, about.findings, &[], now)
        .ok_or_else(|| Failure::Denied(about.findings.to_vec()))
}

fn void(scales: &Scales<'_>, approval: &Approval, flaw: ApprovalFlaw) -> Failure {
    Failure::void(Standing::without(scales, approval.clone(), flaw))
}

fn refused(message: String, hint: impl Into<String>) -> Failure {
    Failure::Unapproved(Problem::new(ProblemKind::Refused, message).hint(hint))
}

/// For how long it is to count.
fn length(about: Subject<'_>, valid_for: Option<Span>) -> Result<SignedDuration, Failure> {
    let environment = &about.stored.plan.experiment.environment;
    let most = about
        .policy
        .environment(environment)
        .map_or(Span::ZERO, |environment| environment.approval.expires_after);
    let valid_for = valid_for.unwrap_or(most);
    if valid_for == Span::ZERO || valid_for > most {
        let message = format!("an approval cannot count for {valid_for}");
        let name = &about.policy.name;
        let hint = format!("policy `{name}` lets it count for {most} at most");
        let problem = Problem::new(ProblemKind::Invalid, message).hint(hint);
        return Err(Failure::Problem(problem));
    }
    let milliseconds = i64::try_from(valid_for.as_millis()).unwrap_or(i64::MAX);
    Ok(SignedDuration::from_millis(milliseconds))
}

/// The experiment's name, and each name that smells of production.
fn type_names(desk: &Desk, about: Subject<'_>) -> Result<(), Failure> {
    let id = &about.stored.id;
    let name = about.stored.plan.name().as_str();
    let mut names = vec![(
        name,
        format!("your yes to plan {id}: its experiment's name"),
    )];
    let production = required(about.findings, Exception::Production);
    for subject in production.filter_map(Finding::subject) {
        if !names.iter().any(|(name, _)| *name == subject) {
            let question = format!("`{subject}` smells of production");
            names.push((subject, question));
        }
    }
    for (name, question) in names {
        match prompt::ask_typed_name(&desk.printer, name, &question)? {
            Answer::Yes => {}
            Answer::No => return Err(not_approved(about)),
        }
    }
    Ok(())
}

fn not_approved(about: Subject<'_>) -> Failure {
    refused(
        format!("plan {} was not approved", about.stored.id),
        "nothing was injected",
    )
}

fn required(findings: &[Finding], exception: Exception) -> impl Iterator<Item = &Finding> {
    findings.iter().filter(move |finding| {
        finding.severity == Severity::Require && finding.exception == Some(exception)
    })
}

/// What is allowed by name, each asked for unless it was typed with the command, and why.
fn allow(
    desk: &Desk,
    about: Subject<'_>,
    scales: &Scales<'_>,
    mut allowed: Vec<Exception>,
    reason: Option<String>,
) -> Result<(Vec<Exception>, Option<String>), Failure> {
    allowed.retain(|one| is_needed(desk, scales, *one));
    for exception in scales.exceptions() {
        if allowed.contains(exception) {
            continue;
        }
        for finding in required(about.findings, *exception) {
            desk.printer
                .insist(&crate::view::sanitise(&finding.message));
        }
        let question = format!("allow `{}`: {exception}?", exception.word());
        match prompt::confirm(&desk.printer, &question, Answer::No)? {
            Answer::Yes => allowed.push(*exception),
            Answer::No => return Err(not_approved(about)),
        }
    }
    allowed.sort_unstable();
    allowed.dedup();
    let reason = match reason.and_then(|reason| plain(&reason)) {
        None if !allowed.is_empty() => {
            let why = prompt::ask_line(&desk.printer, "why is it allowed")?;
            let why = why.and_then(|why| plain(&why));
            Some(why.ok_or_else(|| not_approved(about))?)
        }
        given => given,
    };
    Ok((allowed, reason))
}

/// Whether the plan needs it allowed; what it does not need is said and left out of what is signed.
fn is_needed(desk: &Desk, scales: &Scales<'_>, exception: Exception) -> bool {
    let needed = scales.exceptions().contains(&exception);
    if !needed {
        let word = exception.word();
        desk.printer
            .warn(&format!("this plan does not need `{word}`: it is left out"));
    }
    needed
}

/// A reason without what steers a terminal: what is kept and signed is what is seen. `None`: nothing is
/// left of it.
pub(super) fn plain(reason: &str) -> Option<String> {
    let plain = crate::view::sanitise(reason).trim().to_owned();
    (!plain.is_empty()).then_some(plain)
}

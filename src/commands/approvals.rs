//! Approvals that are brought in, kept, written beside a plan's file, and listed.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::Desk;
use super::planning::{self, Judged};
use super::plans::{self, Found};
use super::policies;
use crate::cli::{Form, PolicyArgs};
use crate::error::{Failure, Way};
use crate::journal::Store;
use crate::model::approval::{Person, SealedApproval, Verdict};
use crate::model::history::History;
use crate::model::ids::PlanId;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{StoredPlan, read_locked};
use crate::policy::{Attendance, Halt, Moment, Policy, Scales, Severity, Standing, made_under};
use crate::run::Clock;
use crate::view::approvals as shown;

/// The approvals in these files, each for this plan.
///
/// # Errors
/// The first file that cannot be read, is none, was changed, or is for another plan.
fn read(files: &[PathBuf], plan: &PlanId) -> Result<Vec<SealedApproval>, Failure> {
    let one = |file: &PathBuf| {
        let name = file.display();
        let sealed = read_one(file)?;
        let its = &sealed.approval.plan;
        if its == plan {
            return Ok(sealed);
        }
        Err(Failure::Problem(
            Problem::new(
                ProblemKind::Invalid,
                format!("{name}: this approval is for plan {its}, not for {plan}"),
            )
            .hint("give `--approval` the files that were written for this plan"),
        ))
    };
    files.iter().map(one).collect()
}

/// The approval in a file.
fn read_one(file: &Path) -> Result<SealedApproval, Problem> {
    // Byte for byte: a mark in front of it would make it another.
    let text = read_locked(file).map_err(|why| Problem {
        hint: Some("give `--approval` a file that `chaos approve` wrote".to_owned()),
        ..why
    })?;
    SealedApproval::from_text(&text.unwrap_or_default()).map_err(|problem| Problem {
        message: format!("{}: {}", file.display(), problem.message),
        ..problem
    })
}

/// Keeps the approvals that a run brings along, all of them read before anything else happens.
///
/// # Errors
/// As `read`; or there are some, and no plan that they could be for.
pub(super) fn bring_in(
    desk: &Desk,
    files: &[PathBuf],
    plan: Option<&PlanId>,
) -> Result<(), Failure> {
    let plan = match plan {
        Some(plan) => plan,
        None if files.is_empty() => return Ok(()),
        None => {
            let message = "an approval is for one plan, and a run of an experiment makes a new one";
            return Err(Failure::Problem(
                Problem::new(ProblemKind::Invalid, message)
                    .hint("run the plan that was approved: `chaos run PLAN --approval FILE`"),
            ));
        }
    };
    let store = desk.store()?;
    for sealed in read(files, plan)? {
        store.take_approval(&sealed)?;
    }
    Ok(())
}

/// Where a plan stands here and now.
pub(super) fn standing(
    desk: &Desk,
    found: &Found,
    policy: &PolicyArgs,
) -> Result<Standing, Failure> {
    let stored = &found.stored;
    let policy = policies::of_plan(desk, policy, &stored.plan, found.file.as_deref())?;
    let (findings, history) = planning::looked_at(desk, &stored.plan, &policy)?;
    let store = desk.store()?;
    let used = store.used()?;
    let scales = Scales::new(stored, &policy, &findings, &used, Clock::wall());
    let scales = scales.ok_or(Failure::Denied(findings))?;
    let approvals = kept(desk, &store, &stored.id)?;
    Ok(Standing {
        halt: halt(stored, &policy, &history),
        ..Standing::of(&scales, &approvals)
    })
}

/// What a run of this plan would be refused for at this moment, if a person began it.
pub(super) fn halt(stored: &StoredPlan, policy: &Policy, history: &History) -> Option<Halt> {
    if made_under(stored, policy).is_err() {
        return Some(Halt::OtherPolicy);
    }
    let judged = Judged {
        policy,
        sandbox: None,
        history,
        attendance: Attendance::Person,
        moment: Moment::Running(Clock::wall()),
    };
    let mut findings = planning::judge(&stored.plan, &judged).into_iter();
    let denied = findings.find(|finding| finding.severity == Severity::Deny)?;
    Some(Halt::Now(format!("{}: {}", denied.message, denied.way_out)))
}

/// The approvals that are kept of a plan; those that are damaged are named.
pub(super) fn kept(
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

/// `approve --list`: every plan that is kept here, newest first, with what was said about it.
pub(super) fn list(desk: &Desk, policy: &PolicyArgs, form: Form) -> Result<(), Failure> {
    let store = desk.store()?;
    let mut rows = Vec::new();
    for id in store.plans()? {
        let listed = plans::find(desk, id.as_str()).and_then(|found| {
            let standing = standing(desk, &found, policy)?;
            Ok((found.stored.plan.name().clone(), standing))
        });
        match listed {
            Ok(row) => rows.push(row),
            // One bad plan hides no other.
            Err(Failure::Problem(problem)) => {
                desk.printer.warn(&format!("{id}: {}", problem.message));
            }
            Err(Failure::Denied(_)) => {
                desk.printer
                    .warn(&format!("{id}: the policy does not know its environment"));
            }
            Err(Failure::Document(_)) if policy.policy.is_none() => {
                let words = "its policy cannot be read: `chaos policy check` says why";
                desk.printer.warn(&format!("{id}: {words}"));
            }
            Err(failure) => return Err(failure),
        }
    }
    match form {
        Form::Json => {
            let rows = rows.iter();
            let rows = rows.map(|(name, standing)| shown::json(name.as_str(), standing));
            let all = serde_json::Value::from(rows.collect::<Vec<_>>());
            desk.printer.data(&format!("{all:#}"));
        }
        Form::Text => {
            for (name, standing) in &rows {
                shown::list(&desk.printer, name.as_str(), standing);
            }
            if rows.is_empty() {
                desk.printer
                    .talk("no plans are kept here; `chaos plan FILE` makes one");
            }
        }
    }
    Ok(())
}

/// How the files end that `approve` writes beside a plan's.
const YES: &str = ".approval.json";
const NO: &str = ".denial.json";

/// What lies beside a plan's file and is about that very plan, by its name and by what it says.
fn beside(desk: &Desk, found: &Found) -> Vec<(PathBuf, SealedApproval)> {
    let Some(plan) = &found.file else {
        return Vec::new();
    };
    let folder = match plan.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let stem = plan.file_stem().unwrap_or_default().to_string_lossy();
    let head = format!("{stem}.");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let fits =
        |name: &String| name.starts_with(&head) && (name.ends_with(YES) || name.ends_with(NO));
    let mut names: Vec<String> = names.filter(fits).collect();
    names.sort();
    let mut all = Vec::new();
    for file in names.into_iter().map(|name| plan.with_file_name(name)) {
        match read_one(&file) {
            Ok(sealed) if sealed.approval.plan == found.stored.id => all.push((file, sealed)),
            // Of an earlier plan in the same file.
            Ok(_) => {}
            Err(problem) => desk
                .printer
                .warn(&format!("passed over: {}", problem.message)),
        }
    }
    all
}

/// Keeps what lies beside a plan's file, so that whoever approves last sees them all.
pub(super) fn take_beside(desk: &Desk, found: &Found) -> Result<(), Failure> {
    let store = desk.store()?;
    for (_, sealed) in beside(desk, found) {
        store.take_approval(&sealed)?;
    }
    Ok(())
}

/// How a plan came here: its file, and what lies beside it.
pub(super) fn way(desk: &Desk, found: &Found) -> Way {
    let files = beside(desk, found).into_iter();
    Way {
        file: found.file.clone(),
        approvals: files.map(|(file, _)| file).collect(),
    }
}

/// Where the approval of a plan that came as a file goes: where it was asked for, else beside the plan
/// under a name that is free.
///
/// # Errors
/// Something stands where it was asked for.
pub(super) fn place(
    found: &Found,
    out: Option<&Path>,
    person: &Person,
    verdict: Verdict,
) -> Result<Option<PathBuf>, Failure> {
    if let Some(out) = out {
        if out.exists() {
            return Err(taken(out).into());
        }
        return Ok(Some(out.to_owned()));
    }
    let Some(plan) = &found.file else {
        return Ok(None);
    };
    let stem = plan.file_stem().unwrap_or_default().to_string_lossy();
    let plain = |letter: char| match letter {
        letter if letter.is_alphanumeric() || "-_@".contains(letter) => letter,
        _ => '-',
    };
    let user: String = person.user.chars().map(plain).collect();
    let end = match verdict {
        Verdict::Yes => YES,
        Verdict::No => NO,
    };
    let first = format!("{stem}.{user}{end}");
    let later = (2..).map(|number| format!("{stem}.{user}.{number}{end}"));
    let mut names = std::iter::once(first).chain(later);
    Ok(names.find_map(|name| {
        let path = plan.with_file_name(name);
        (!path.exists()).then_some(path)
    }))
}

/// Writes an approval into a new file.
///
/// # Errors
/// It cannot be written, or something stands there.
pub(super) fn write(path: &Path, sealed: &SealedApproval) -> Result<(), Problem> {
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| {
        file.write_all(sealed.to_text().as_bytes())?;
        file.sync_all()
    });
    written.map_err(|why| {
        if why.kind() == ErrorKind::AlreadyExists {
            return taken(path);
        }
        let message = format!("cannot write {}: {why}", path.display());
        Problem::new(ProblemKind::Evidence, message)
            .hint("the approval is kept in the state folder; name another file with `--out`")
    })
}

fn taken(path: &Path) -> Problem {
    let message = format!("{} exists already", path.display());
    Problem::new(ProblemKind::Invalid, message)
        .hint("nothing is ever overwritten; name another file with `--out`")
}

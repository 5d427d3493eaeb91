//! Which policy applies, and `chaos policy`.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use super::Desk;
use crate::cli::{Form, PolicyArgs, PolicyCommand, PolicyCommandArgs};
use crate::error::Failure;
use crate::exit::Exit;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Plan, read_source};
use crate::policy::{self, Policy};
use crate::run::Clock;
use crate::view::policy as shown;

/// What a policy is looked for by.
pub(super) const FILE: &str = "chaos-policy.yaml";

/// The policy that applies to a document: the one that was named, else the one that is found upwards
/// from it, else the built-in one.
pub(super) fn applying(desk: &Desk, args: &PolicyArgs, document: &Path) -> Result<Policy, Failure> {
    if let Some(file) = &args.policy {
        return told(desk, read(file)?, "named by --policy or CHAOS_POLICY");
    }
    let from = document.display();
    match upwards(document)? {
        Some(file) => told(desk, read(&file)?, &format!("found upwards from {from}")),
        None => {
            let why = format!("there is no {FILE} upwards from {from}");
            told(desk, policy::built_in(), &why)
        }
    }
}

/// The policy that applies to a plan, from whatever folder it is run: the one that was named, else the
/// one at the place of the one that it was made under, else, for a plan's file that comes from
/// elsewhere, the one that is found upwards from that.
pub(super) fn of_plan(
    desk: &Desk,
    args: &PolicyArgs,
    plan: &Plan,
    file: Option<&Path>,
) -> Result<Policy, Failure> {
    let document = Path::new(&plan.source.name);
    if args.policy.is_some() {
        return applying(desk, args, document);
    }
    let Some(path) = &plan.policy.path else {
        // A policy that was written since then, where the document still is, applies all the same.
        let same = read_source(document).is_ok_and(|source| source.text == plan.source.text);
        if same {
            return applying(desk, args, document);
        }
        return told(desk, policy::built_in(), "the plan was made under it");
    };
    if is_gone(Path::new(path)) {
        if let Some(file) = file.filter(|_| !document.exists())
            && upwards(file)?.is_some()
        {
            return applying(desk, args, file);
        }
        let message = format!(
            "policy `{}`, under which this plan was made, is not at {path}",
            plan.policy.name
        );
        let hint =
            "name it with `--policy FILE` or CHAOS_POLICY, or make a new plan with `chaos plan`";
        return Err(Problem::new(ProblemKind::Invalid, message)
            .hint(hint)
            .into());
    }
    told(desk, read(Path::new(path))?, "the plan was made under it")
}

fn is_gone(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|why| why.kind() == ErrorKind::NotFound)
}

/// The policy, with the reason why it applies said to whoever wants to know.
fn told(desk: &Desk, policy: Policy, why: &str) -> Result<Policy, Failure> {
    let place = policy.path.as_ref().map(|path| format!(" of {path}"));
    let place = place.unwrap_or_default();
    desk.printer
        .detail(&format!("policy `{}`{place} applies: {why}", policy.name));
    Ok(policy)
}

/// The nearest policy in the document's folder or one above it. One that nobody can read is found too:
/// passing over it would let through what it forbids.
pub(super) fn upwards(document: &Path) -> Result<Option<PathBuf>, Problem> {
    let folder = match document.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    // A folder that is not there is told by whoever reads the document.
    let Ok(folder) = folder.canonicalize() else {
        return Ok(None);
    };
    for folder in folder.ancestors() {
        let file = folder.join(FILE);
        match file.symlink_metadata() {
            Ok(found) => {
                check_owner(&file, found.uid(), document)?;
                return Ok(Some(file));
            }
            Err(why) if why.kind() == ErrorKind::NotFound => {}
            Err(why) => {
                let message = format!(
                    "{} may be a policy, and cannot be read: {why}",
                    file.display()
                );
                return Err(Problem::new(ProblemKind::Invalid, message)
                    .hint("let this user read it, or name the policy with `--policy FILE`"));
            }
        }
    }
    Ok(None)
}

/// In a folder such as `/tmp`, anybody could put a policy above other people's documents.
fn check_owner(file: &Path, owner: u32, document: &Path) -> Result<(), Problem> {
    const ROOT: u32 = 0;
    let of_document = document.metadata().map(|found| found.uid()).ok();
    let user = rustix::process::geteuid().as_raw();
    if owner == ROOT || owner == user || Some(owner) == of_document {
        return Ok(());
    }
    let message = format!(
        "{} belongs to another user, neither you nor the owner of the document",
        file.display()
    );
    Err(Problem::new(ProblemKind::Refused, message)
        .hint(format!("if you trust it: `--policy {}`", file.display())))
}

/// Reads a policy and the files that it names.
pub(super) fn read(file: &Path) -> Result<Policy, Failure> {
    let source = read_source(file)?;
    let folder = file.parent().unwrap_or(Path::new(""));
    let files = RefCell::new(vec![file.to_owned()]);
    let policy = policy::load_policy(&source, &|path| {
        files.borrow_mut().push(folder.join(path));
        beside(folder, path)
    })?;
    let path = file.canonicalize().unwrap_or(file.to_owned());
    Ok(Policy {
        path: Some(path.display().to_string()),
        open_to_others: open_to_others(files.into_inner()),
        ..policy
    })
}

/// Which of these files, or of the folders that they are in, others than the owner may write, each once
/// and from `/` on.
fn open_to_others(files: Vec<PathBuf>) -> Vec<String> {
    let mut open = BTreeSet::new();
    for file in files.iter().filter_map(|file| file.canonicalize().ok()) {
        let folder = file.parent().map(Path::to_owned);
        let both = folder.into_iter().chain([file]);
        open.extend(both.filter(|path| is_open_to_others(path)));
    }
    open.iter().map(|path| path.display().to_string()).collect()
}

fn is_open_to_others(path: &Path) -> bool {
    const BY_GROUP: u32 = 0o020;
    const BY_ANYBODY: u32 = 0o002;
    // In a folder such as /tmp, nobody can put another file in the place of somebody else's.
    const KEPT_APART: u32 = 0o1000;
    path.metadata().is_ok_and(|found| {
        let mode = found.mode();
        // By custom, nobody else is in the group that has the number of its user.
        let by_group = mode & BY_GROUP != 0 && found.gid() != found.uid();
        let apart = found.is_dir() && mode & KEPT_APART != 0;
        (by_group || mode & BY_ANYBODY != 0) && !apart
    })
}

fn beside(folder: &Path, path: &str) -> Result<String, Problem> {
    let source = read_source(&folder.join(path));
    let source = source
        .map_err(|why| why.hint("a path is looked for from the folder of the policy; check both"));
    Ok(source?.text)
}

pub(super) fn policy(desk: &Desk, args: &PolicyCommandArgs) -> Result<Exit, Failure> {
    match &args.command {
        PolicyCommand::Check {
            file,
            policy,
            output,
        } => {
            let policy = match file {
                Some(file) => read(file)?,
                None => applying(desk, policy, Path::new(FILE))?,
            };
            let advice = policy::advice(&policy, Clock::wall());
            match output {
                Form::Text => shown::show(&desk.printer, &policy, &advice),
                Form::Json => shown::json(&desk.printer, &policy, &advice),
            }
            Ok(Exit::Done)
        }
    }
}

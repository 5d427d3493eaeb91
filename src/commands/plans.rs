//! Which plan is meant: by its id, by a part of it, or by its file, which may come from elsewhere.

use std::path::{Path, PathBuf};

use super::Desk;
use crate::error::Failure;
use crate::model::approval::{Approval, SealedApproval, Verdict};
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{StoredPlan, read_locked};

/// A plan of which not a byte has changed.
pub(super) struct Found {
    pub(super) stored: StoredPlan,
    /// Its file's text.
    pub(super) text: String,
    /// The file that was named; `None`: it is kept in the store.
    pub(super) file: Option<PathBuf>,
}

/// The plan of this id or file; writes nothing.
pub(super) fn find(desk: &Desk, what: &str) -> Result<Found, Failure> {
    if let Some(found) = of_file(Path::new(what))? {
        return Ok(found);
    }
    if is_a_path(what) {
        return Err(no_plan(what).into());
    }
    of_store(desk, what)
}

/// The plan, where what was typed can be nothing else: no run has such an id.
pub(super) fn find_unless_a_run(desk: &Desk, what: &str) -> Result<Option<Found>, Failure> {
    match what.starts_with("p-") || is_a_path(what) {
        true => find(desk, what).map(Some),
        false => of_file(Path::new(what)),
    }
}

/// The same as `find`, and keeps it in the store where it came from elsewhere.
pub(super) fn find_and_keep(desk: &Desk, what: &str) -> Result<Found, Failure> {
    keep(desk, find(desk, what)?)
}

/// The plan that a run names, kept in the store; `None`: it names an experiment.
pub(super) fn to_run(desk: &Desk, what: &str) -> Result<Option<Found>, Failure> {
    if let Some(found) = of_file(Path::new(what))? {
        return keep(desk, found).map(Some);
    }
    match Path::new(what).exists() || !could_be_an_id(what) {
        true => Ok(None),
        false => of_store(desk, what).map(Some),
    }
}

/// The plan in a file; `None`: there is no such file, or something else is in it.
pub(super) fn of_file(file: &Path) -> Result<Option<Found>, Failure> {
    if !file.is_file() {
        return Ok(None);
    }
    let Some(text) = read_locked(file)? else {
        return Ok(None);
    };
    if StoredPlan::is_yaml_of_one(&text) {
        return Err(only_to_be_read(file).into());
    }
    if !StoredPlan::is_meant_by(&text) {
        return match SealedApproval::from_text(&text) {
            Ok(sealed) => Err(an_approval(file, &sealed.approval).into()),
            Err(_) => Ok(None),
        };
    }
    let stored = StoredPlan::from_text(&text).map_err(|mut why| {
        why.message = format!("{}: {}", file.display(), why.message);
        why
    })?;
    Ok(Some(Found {
        stored,
        text,
        file: Some(file.to_owned()),
    }))
}

fn an_approval(file: &Path, approval: &Approval) -> Problem {
    let file = file.display();
    let what = match approval.verdict {
        Verdict::Yes => "an approval of",
        Verdict::No => "a no to",
    };
    let message = format!("{file} is {what} plan {}", approval.plan);
    Problem::new(ProblemKind::Invalid, message).hint(format!(
        "name the plan, and this file after it: `chaos run PLAN --approval {file}`"
    ))
}

fn only_to_be_read(file: &Path) -> Problem {
    let message = format!(
        "{} is a plan as YAML, which is for reading only",
        file.display()
    );
    let hint = "its id will do where it is kept; `chaos plan FILE --out PLAN` or `-o json` writes the file that can be taken elsewhere";
    Problem::new(ProblemKind::Invalid, message).hint(hint)
}

fn of_store(desk: &Desk, what: &str) -> Result<Found, Failure> {
    let (_, text) = desk.store()?.load_plan(what)?;
    Ok(Found {
        stored: StoredPlan::from_text(&text)?,
        text,
        file: None,
    })
}

fn keep(desk: &Desk, found: Found) -> Result<Found, Failure> {
    if found.file.is_some() {
        desk.store()?.save_plan(&found.stored.id, &found.text)?;
    }
    Ok(found)
}

/// The shortest part of an id that `run` takes for one: less could be the name of a file.
const SHORTEST_PART: usize = 4;

fn could_be_an_id(what: &str) -> bool {
    let digits = |text: &str| text.chars().all(|c| c.is_ascii_hexdigit());
    what.starts_with("p-") || (what.len() >= SHORTEST_PART && digits(what))
}

/// No id has a slash or a dot in it.
fn is_a_path(what: &str) -> bool {
    what.contains(['/', '.'])
}

fn no_plan(what: &str) -> Problem {
    let file = Path::new(what);
    if file.is_file() {
        return Problem::new(ProblemKind::Invalid, format!("{what} is no plan"))
            .hint(format!("`chaos plan {what}` makes one of an experiment"));
    }
    Problem::new(ProblemKind::Invalid, format!("there is no file {what}"))
        .hint("`chaos plan FILE --out PLAN` writes a plan into a file")
}

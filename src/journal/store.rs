//! The store under the state folder: plans, approvals and runs.
//!
//! `plans/<id>.json`, `approvals/<plan>/<n>.json`, `runs/<id>/{journal.jsonl,plan.json}`. Folders are made when first needed, for this user only; nothing is ever
//! overwritten. Whether an approval still counts is judged elsewhere.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::disk::{self, Placed};
use super::writing::Writing;
use crate::model::approval::SealedApproval;
use crate::model::attendance::Attendance;
use crate::model::ids::{PlanId, RunId};
use crate::model::problem::{Problem, ProblemKind};

/// How many candidates an ambiguous or unknown id is answered with.
const MOST_CANDIDATES: usize = 10;

/// No journal's first line is longer.
const LONGEST_HEADER: u64 = 64 * 1024;

/// The state folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Store {
    root: PathBuf,
}

/// The folder of one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFolder {
    path: PathBuf,
}

/// A run that has a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunEntry {
    /// Its id.
    pub id: RunId,
    /// Its journal; missing when the run died before its first word.
    pub journal: PathBuf,
    /// The plan that it executes.
    pub plan: PathBuf,
}

impl RunEntry {
    /// Its folder.
    pub fn folder(&self) -> RunFolder {
        RunFolder::of(&self.journal)
    }

    /// Whether somebody is at work on it.
    ///
    /// # Errors
    /// Its lock cannot be looked at.
    pub fn attendance(&self) -> Result<Attendance, Problem> {
        Writing::held_by(self.folder().path())
    }

    /// Whether its journal has not even its first line whole, which is on disk before anything else
    /// happens: nothing was injected.
    pub fn never_began(&self) -> bool {
        let missing = fs::symlink_metadata(&self.journal)
            .is_err_and(|why| why.kind() == std::io::ErrorKind::NotFound);
        missing || disk::open_file(&self.journal).is_ok_and(|file| !has_a_line(file))
    }

    /// The plan that it executed, as it was stored.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn plan_text(&self) -> Result<String, Problem> {
        disk::read_text(&self.plan)
    }
}

/// The approvals of a plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Approvals {
    /// Those that can be read, oldest first.
    pub readable: Vec<SealedApproval>,
    /// One problem for each that cannot.
    pub damaged: Vec<Problem>,
}

impl RunFolder {
    /// The folder of the run with this journal.
    pub fn of(journal: &Path) -> Self {
        Self {
            path: journal.parent().unwrap_or(Path::new("")).to_owned(),
        }
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where its journal is, or will be.
    pub fn journal(&self) -> PathBuf {
        self.path.join("journal.jsonl")
    }

    /// Where its guardian writes what it does.
    pub fn guardian_log(&self) -> PathBuf {
        self.path.join("guardian.log")
    }

    /// Opens that log, for this user only; what stands in it stays.
    ///
    /// # Errors
    /// The disk says no.
    pub fn open_guardian_log(&self) -> Result<File, Problem> {
        let path = self.guardian_log();
        disk::open_kept(&path).map_err(|why| disk::cannot("write", &path, &why))
    }

    /// Where somebody leaves the wish that it should end.
    pub fn abort_request(&self) -> PathBuf {
        self.path.join("abort.json")
    }

    /// Where its plan is.
    pub fn plan(&self) -> PathBuf {
        self.path.join("plan.json")
    }
}

impl Store {
    /// The store in this folder, which need not exist yet.
    ///
    /// # Errors
    /// Something that is no folder stands there.
    pub fn open(root: PathBuf) -> Result<Self, Problem> {
        if fs::metadata(&root).is_ok_and(|found| !found.is_dir()) {
            return Err(Problem::new(
                ProblemKind::Evidence,
                format!("the state folder {} is no folder", root.display()),
            )
            .hint("choose another with `--state-dir`"));
        }
        Ok(Self { root })
    }

    /// The folder.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Keeps a plan. The same plan once more is fine.
    ///
    /// # Errors
    /// The disk says no, or another plan stands under the same id.
    pub fn save_plan(&self, id: &PlanId, plan: &str) -> Result<(), Problem> {
        let path = self.plan_path(id);
        if disk::place(&path, plan.as_bytes())? == Placed::New || disk::read_text(&path)? == plan {
            return Ok(());
        }
        Err(Problem::new(
            ProblemKind::Evidence,
            format!("another plan stands under {id} in {}", path.display()),
        )
        .hint("nothing is ever overwritten: move that file away and plan again"))
    }

    /// A plan by its id, or by the only possible start of it, with or without `p-`.
    ///
    /// # Errors
    /// There is none, or more than one, or it cannot be read.
    pub fn load_plan(&self, wanted: &str) -> Result<(PlanId, String), Problem> {
        let id = choose(Kept::Plan, wanted, self.plans()?)?;
        let text = disk::read_text(&self.plan_path(&id))?;
        Ok((id, text))
    }

    /// The ids of the plans, newest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn plans(&self) -> Result<Vec<PlanId>, Problem> {
        let mut found: Vec<(SystemTime, PlanId)> = disk::names_in(&self.root.join("plans"))?
            .iter()
            .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
            .map(|id: PlanId| (modified(&self.plan_path(&id)), id))
            .collect();
        found.sort_by(|left, right| right.cmp(left));
        Ok(found.into_iter().map(|(_, id)| id).collect())
    }

    /// Keeps an approval beside those that are there.
    ///
    /// # Errors
    /// The disk says no.
    pub fn save_approval(&self, sealed: &SealedApproval) -> Result<(), Problem> {
        let folder = self
            .root
            .join("approvals")
            .join(sealed.approval.plan.as_str());
        let text = sealed.to_text().into_bytes();
        let mut number = approval_numbers(&folder)?.last().map_or(1, |last| last + 1);
        while disk::place(&folder.join(format!("{number}.json")), &text)? == Placed::Taken {
            number += 1;
        }
        Ok(())
    }

    /// The approvals of a plan, oldest first; those that cannot be read are named.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn approvals(&self, plan: &PlanId) -> Result<Approvals, Problem> {
        let folder = self.root.join("approvals").join(plan.as_str());
        let mut approvals = Approvals::default();
        for number in approval_numbers(&folder)? {
            match read_approval(&folder.join(format!("{number}.json")), plan) {
                Ok(approval) => approvals.readable.push(approval),
                Err(problem) => approvals.damaged.push(problem),
            }
        }
        Ok(approvals)
    }

    /// Keeps an approval that came from elsewhere, unless it is here already.
    ///
    /// # Errors
    /// The disk says no.
    pub fn take_approval(&self, sealed: &SealedApproval) -> Result<(), Problem> {
        let known = self.approvals(&sealed.approval.plan)?;
        match known.readable.contains(sealed) {
            true => Ok(()),
            false => self.save_approval(sealed),
        }
    }

    /// Makes the folder of a new run with its plan in it; the journal comes next.
    ///
    /// # Errors
    /// The disk says no, or the run exists.
    pub fn create_run(&self, id: &RunId, plan: &str) -> Result<RunFolder, Problem> {
        let folder = self.run_folder(id);
        let runs = self.root.join("runs");
        disk::make_folder(&runs)?;
        disk::make_new_folder(folder.path())?;
        disk::place(&folder.plan(), plan.as_bytes())?;
        disk::sync_folder(&runs)?;
        Ok(folder)
    }

    /// The runs, newest first.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn runs(&self) -> Result<Vec<RunEntry>, Problem> {
        let names = disk::names_in(&self.root.join("runs"))?;
        let ids = names.iter().rev().filter_map(|name| name.parse().ok());
        Ok(ids.map(|id| self.run_entry(id)).collect())
    }

    /// The run with exactly this id; `None`: it is not known here.
    pub fn run(&self, id: &RunId) -> Option<RunEntry> {
        let known = self.run_folder(id).path().is_dir();
        known.then(|| self.run_entry(id.clone()))
    }

    /// A run by its id, by the only possible start of it with or without `r-`, or `last`.
    ///
    /// # Errors
    /// There is none, or more than one.
    pub fn find_run(&self, wanted: &str) -> Result<RunEntry, Problem> {
        let mut runs = self.runs()?;
        if wanted == "last" && !runs.is_empty() {
            return Ok(runs.swap_remove(0));
        }
        let ids = runs.into_iter().map(|run| run.id).collect();
        choose(Kept::Run, wanted, ids).map(|id| self.run_entry(id))
    }

    fn plan_path(&self, id: &PlanId) -> PathBuf {
        self.root.join("plans").join(format!("{id}.json"))
    }

    fn run_folder(&self, id: &RunId) -> RunFolder {
        RunFolder {
            path: self.root.join("runs").join(id.as_str()),
        }
    }

    fn run_entry(&self, id: RunId) -> RunEntry {
        let folder = self.run_folder(&id);
        RunEntry {
            journal: folder.journal(),
            plan: folder.plan(),
            id,
        }
    }
}

fn has_a_line(file: File) -> bool {
    let mut head = Vec::new();
    let read = file.take(LONGEST_HEADER).read_to_end(&mut head);
    read.is_err() || head.contains(&b'\n') || head.len() as u64 == LONGEST_HEADER
}

fn modified(path: &Path) -> SystemTime {
    fs::metadata(path)
        .and_then(|found| found.modified())
        .unwrap_or(SystemTime::UNIX_EPOCH)
}

fn approval_numbers(folder: &Path) -> Result<Vec<u32>, Problem> {
    let mut numbers: Vec<u32> = disk::names_in(folder)?
        .iter()
        .filter_map(|name| name.strip_suffix(".json")?.parse().ok())
        .collect();
    numbers.sort_unstable();
    Ok(numbers)
}

fn read_approval(path: &Path, plan: &PlanId) -> Result<SealedApproval, Problem> {
    let damaged = |why: &str| {
        Problem::new(
            ProblemKind::Evidence,
            format!("the approval {} does not count: {why}", path.display()),
        )
        .hint(format!("approve once more: `chaos approve {plan}`"))
    };
    let sealed =
        SealedApproval::from_text(&disk::read_text(path)?).map_err(|why| damaged(&why.message))?;
    if sealed.approval.plan != *plan {
        return Err(damaged(&format!("it is for {}", sealed.approval.plan)));
    }
    Ok(sealed)
}

/// What an id may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kept {
    Plan,
    Run,
}

impl Kept {
    fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Run => "run",
        }
    }

    fn prefix(self) -> &'static str {
        match self {
            Self::Plan => "p-",
            Self::Run => "r-",
        }
    }

    fn maker(self) -> &'static str {
        match self {
            Self::Plan => "`chaos plan FILE` makes one",
            Self::Run => "`chaos run FILE` makes one",
        }
    }
}

/// The one id that is meant.
fn choose<Id>(kept: Kept, wanted: &str, ids: Vec<Id>) -> Result<Id, Problem>
where
    Id: std::fmt::Display + PartialEq,
{
    let prefix = kept.prefix();
    let start = format!("{prefix}{}", wanted.strip_prefix(prefix).unwrap_or(wanted));
    let newest: Vec<String> = ids.iter().map(ToString::to_string).collect();
    let (starting, others): (Vec<Id>, Vec<Id>) = ids
        .into_iter()
        .filter(|id| !wanted.is_empty() && id.to_string().contains(wanted.trim()))
        .partition(|id| id.to_string().starts_with(&start));
    // Whoever types the start of an id means that; a part from its middle is the second guess.
    let mut fitting = if starting.is_empty() {
        others
    } else {
        starting
    };
    if let Some(exact) = fitting.iter().position(|id| id.to_string() == start) {
        return Ok(fitting.swap_remove(exact));
    }
    match fitting.len() {
        1 => Ok(fitting.swap_remove(0)),
        0 => Err(unknown(kept, wanted, &start, &newest)),
        _ => Err(ambiguous(kept, wanted, &fitting)),
    }
}

fn unknown(kept: Kept, wanted: &str, start: &str, newest: &[String]) -> Problem {
    let (what, maker) = (kept.word(), kept.maker());
    let hint = if newest.is_empty() {
        format!("there is no {what} yet: {maker}")
    } else {
        let mut nearest: Vec<&String> = newest.iter().collect();
        // Stable, so that among the equally near the newest stay first.
        nearest.sort_by_key(|id| strsim::levenshtein(id, start));
        nearest.truncate(MOST_CANDIDATES);
        let nearest: Vec<&str> = nearest.into_iter().map(String::as_str).collect();
        format!("there are {}; {maker}", nearest.join(", "))
    };
    Problem::new(
        ProblemKind::Invalid,
        format!("there is no {what} `{}`", wanted.escape_debug()),
    )
    .hint(hint)
}

fn ambiguous<Id: std::fmt::Display>(kept: Kept, wanted: &str, fitting: &[Id]) -> Problem {
    let mut names: Vec<String> = fitting
        .iter()
        .take(MOST_CANDIDATES)
        .map(ToString::to_string)
        .collect();
    if fitting.len() > MOST_CANDIDATES {
        names.push(format!("{} more", fitting.len() - MOST_CANDIDATES));
    }
    Problem::new(
        ProblemKind::Invalid,
        format!("`{wanted}` could be {} {}s", fitting.len(), kept.word()),
    )
    .hint(format!("write more of it: {}", names.join(", ")))
}

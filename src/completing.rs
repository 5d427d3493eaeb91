//! What a shell is offered when it asks: experiment files, plan ids, run ids.
//!
//! Silent on every trouble: a completion that prints an error destroys a command line.

use std::ffi::OsStr;
use std::path::Path;

use clap_complete::CompletionCandidate;

use crate::journal::Store;
use crate::settings;

/// More than these, newest first, would drown what is looked for; what is typed still finds any.
const MOST_IDS: usize = 12;

fn store() -> Option<Store> {
    Store::open(settings::default_state_dir()?.value).ok()
}

/// Ids of plans.
pub fn plans(typed: &OsStr) -> Vec<CompletionCandidate> {
    let ids = store()
        .and_then(|store| store.plans().ok())
        .unwrap_or_default();
    let mut found = offer(typed, ids.iter().map(ToString::to_string));
    found.truncate(MOST_IDS);
    found
}

/// Ids of runs, and `last`.
pub fn runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let runs = store()
        .and_then(|store| store.runs().ok())
        .unwrap_or_default();
    let last = (!runs.is_empty()).then(|| "last".to_owned());
    let ids = runs.iter().map(|run| run.id.to_string());
    let mut found = offer(typed, last.into_iter().chain(ids));
    found.truncate(MOST_IDS);
    found
}

/// Ids of plans and of runs.
pub fn plans_and_runs(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = plans(typed);
    all.extend(runs(typed));
    all
}

/// Experiment files and ids of plans.
pub fn experiments_and_plans(typed: &OsStr) -> Vec<CompletionCandidate> {
    let mut all = experiments(typed);
    all.extend(plans(typed));
    all
}

/// YAML files that are experiments, and folders on the way to some.
pub fn experiments(typed: &OsStr) -> Vec<CompletionCandidate> {
    documents(typed, "Experiment")
}

/// YAML files that are policies, and folders on the way to some.
pub fn policies(typed: &OsStr) -> Vec<CompletionCandidate> {
    documents(typed, "Policy")
}

fn documents(typed: &OsStr, wanted: &str) -> Vec<CompletionCandidate> {
    let typed_text = typed.to_string_lossy();
    let folder = match typed_text.rfind('/') {
        Some(end) => typed_text[..=end].to_owned(),
        None => String::new(),
    };
    let looked_in = if folder.is_empty() {
        "."
    } else {
        folder.as_str()
    };
    let Ok(entries) = std::fs::read_dir(looked_in) else {
        return Vec::new();
    };
    let names = entries.filter_map(Result::ok).filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let kind = entry.file_type().ok()?;
        if name.starts_with('.') {
            return None;
        }
        if kind.is_dir() {
            return Some(format!("{folder}{name}/"));
        }
        is_document(&entry.path(), wanted).then(|| format!("{folder}{name}"))
    });
    let mut found: Vec<String> = names.collect();
    found.sort();
    offer(typed, found.into_iter())
}

/// A look at the head of the file; the whole of it is the loader's business.
fn is_document(path: &Path, kind: &str) -> bool {
    use std::io::Read as _;
    let yaml = path
        .extension()
        .is_some_and(|ending| ending == "yaml" || ending == "yml");
    let regular = std::fs::metadata(path).is_ok_and(|found| found.is_file());
    if !yaml || !regular {
        return false;
    }
    let mut head = [0_u8; 4096];
    let read = std::fs::File::open(path).and_then(|mut file| file.read(&mut head));
    let wanted = format!("kind: {kind}");
    read.is_ok_and(|count| {
        let head = String::from_utf8_lossy(&head[..count]);
        head.lines().any(|line| line.starts_with(&wanted))
    })
}

fn offer(typed: &OsStr, all: impl Iterator<Item = String>) -> Vec<CompletionCandidate> {
    let typed = typed.to_string_lossy().into_owned();
    all.filter(|candidate| candidate.starts_with(&typed))
        .map(CompletionCandidate::new)
        .collect()
}

//! Locks that every state folder of a user on this machine shares: what is locked is a world, and two
//! runs meet there wherever they keep their evidence. Other users and other machines are not kept out.
//!
//! The files are empty and stay; the system clears their folder at logout or start.

use std::fs::{self, File, TryLockError};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::disk;
use crate::model::ids::Digest;
use crate::model::problem::{Problem, ProblemKind};

/// The folder of the locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locks {
    folder: PathBuf,
}

/// A lock that is held until it is dropped, or until its process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    _file: File,
}

impl Locks {
    /// The locks in this folder, which is made, with those above it, for this user only.
    ///
    /// # Errors
    /// The disk says no, or the folder or the one above it belongs to somebody else, who could give
    /// one lock to two runs.
    pub fn open(folder: PathBuf) -> Result<Self, Problem> {
        disk::make_folder(&folder).map_err(elsewhere)?;
        for path in [folder.parent(), Some(&folder)].into_iter().flatten() {
            refuse_foreign(path)?;
        }
        Ok(Self { folder })
    }

    /// Takes the lock of this name; `None`: somebody has it.
    ///
    /// # Errors
    /// The disk says no.
    pub fn take(&self, name: &str) -> Result<Option<Lock>, Problem> {
        let path = self.folder.join(lock_file(name));
        let cannot = |verb, why| elsewhere(disk::cannot(verb, &path, &why));
        let file = disk::open_lock(&path).map_err(|why| cannot("open", why))?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Lock { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(why)) => Err(cannot("lock", why)),
        }
    }
}

/// In a folder that everybody writes to, another user may have made ours before us.
fn refuse_foreign(path: &Path) -> Result<(), Problem> {
    let found =
        fs::symlink_metadata(path).map_err(|why| elsewhere(disk::cannot("look at", path, &why)))?;
    let us = rustix::process::geteuid().as_raw();
    if found.is_dir() && found.uid() == us {
        return Ok(());
    }
    let what = match found.is_dir() {
        true => format!("belongs to user {}, not to you ({us})", found.uid()),
        false => "is no folder".to_owned(),
    };
    Err(elsewhere(Problem::new(
        ProblemKind::Refused,
        format!("the locks cannot be kept in {}: it {what}", path.display()),
    )))
}

fn elsewhere(problem: Problem) -> Problem {
    problem.hint(
        "clear that place, or set CHAOS_LOCK_DIR to a folder of yours, the same for every run",
    )
}

/// A lock is named after a target, so any text may come; a file name takes the plain ones as they
/// are and a digest of the others.
fn lock_file(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if (1..=64).contains(&name.len()) && name.chars().all(plain) {
        return format!("{name}.lock");
    }
    let digest = Digest::of(name.as_bytes());
    format!(
        "x{}.lock",
        digest.as_str().trim_start_matches(Digest::PREFIX)
    )
}

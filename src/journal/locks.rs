//! Locks that every state folder of a user on this machine shares: what is locked is a world, and two
//! runs meet there wherever they keep their evidence. Other users and other machines are not kept out.
//!
//! The system's lock on the file is the truth: it ends with its process, however that ends. What stands
//! in the file says who to talk to, and may be old, cut short or nonsense. The files stay; the system
//! clears their folder at logout or start.

use std::collections::BTreeSet;
use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::disk;
use crate::model::holder::Holder;
use crate::model::ids::{Digest, RunId};
use crate::model::problem::{Problem, ProblemKind};

/// Nobody writes a longer one.
const LONGEST_HOLDER: u64 = 4 * 1024;

/// A holder writes who he is right after he took the lock: so long, in all, we wait for that.
const HOLDER_LOOKS: u32 = 20;
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// Whoever removes lock files for ever, instead of once, keeps everybody from locking.
const MOST_REMOVALS: usize = 10;

/// The folder of the locks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Locks {
    folder: PathBuf,
}

/// A lock that is held until it is dropped, or until its process ends in whatever way.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

/// What came of wanting a lock.
#[derive(Debug)]
pub enum Attempt {
    /// It is ours.
    Taken(Lock),
    /// Somebody has it.
    Held(Box<Held>),
}

/// A lock that somebody else has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Held {
    /// Who says that he has it; `None`: nobody says so, or in no words that can be read.
    pub holder: Option<Holder>,
}

impl Attempt {
    /// The lock; `None`: somebody has it.
    pub fn taken(self) -> Option<Lock> {
        match self {
            Self::Taken(lock) => Some(lock),
            Self::Held(_) => None,
        }
    }
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

    /// Takes the lock of this name and writes into it who has it, or says who has it already.
    ///
    /// # Errors
    /// The disk says no. A holder that cannot be written is no error: the lock holds without.
    pub fn take(&self, name: &str, holder: &Holder) -> Result<Attempt, Problem> {
        let path = self.folder.join(lock_file(name));
        let cannot = |verb, why| elsewhere(disk::cannot(verb, &path, &why));
        for _ in 0..MOST_REMOVALS {
            let mut file = disk::open_kept(&path).map_err(|why| cannot("open", why))?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    let holder = read_holder(&mut file);
                    return Ok(Attempt::Held(Box::new(Held { holder })));
                }
                Err(TryLockError::Error(why)) => return Err(cannot("lock", why)),
            }
            // Between our opening and our locking somebody may have removed it: then the next one
            // makes and locks another file of that name.
            let lock = Lock {
                file,
                path: path.clone(),
            };
            if lock.stands() {
                lock.tell(holder);
                return Ok(Attempt::Taken(lock));
            }
        }
        Err(removed(&path))
    }
}

/// The runs that say that they hold a lock in this folder now, wherever they keep their state. Takes
/// nothing and makes nothing.
///
/// # Errors
/// The folder cannot be read.
pub fn runs_under_way(folder: &Path) -> Result<BTreeSet<RunId>, Problem> {
    let names = disk::names_in(folder)?;
    let locks = names.iter().filter(|name| name.ends_with(".lock"));
    Ok(locks
        .filter_map(|name| holding(&folder.join(name)))
        .collect())
}

/// The run that holds this lock now, if one does and says so.
fn holding(path: &Path) -> Option<RunId> {
    let mut file = disk::open_file(path).ok()?;
    match file.try_lock_shared() {
        Err(TryLockError::WouldBlock) => said(&mut file)?.run,
        // Nobody has it; what was taken to find out is given back right here.
        Ok(()) | Err(TryLockError::Error(_)) => None,
    }
}

impl Lock {
    /// That nobody else can have taken it meanwhile: a lock file that was removed locks nobody out.
    ///
    /// # Errors
    /// The file was removed, or exchanged for another one.
    pub fn check(&self) -> Result<(), Problem> {
        match self.stands() {
            true => Ok(()),
            false => Err(removed(&self.path)),
        }
    }

    fn stands(&self) -> bool {
        let (ours, there) = (self.file.metadata(), fs::symlink_metadata(&self.path));
        ours.is_ok_and(|ours| {
            there.is_ok_and(|there| (ours.dev(), ours.ino()) == (there.dev(), there.ino()))
        })
    }

    /// Writes into it who has it.
    pub fn tell(&self, holder: &Holder) {
        let line = serde_json::to_vec(holder).unwrap_or_default();
        // It only helps others to find us; the lock itself is taken.
        let _ = self
            .file
            .set_len(0)
            .and_then(|()| (&self.file).write_all(&line));
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // Nobody holds it from now on. What stays is not believed anyway.
        let _ = self.file.set_len(0);
    }
}

fn removed(path: &Path) -> Problem {
    let message = format!(
        "the lock file {} was removed under this run: another one may have started",
        path.display()
    );
    Problem::new(ProblemKind::Conflict, message)
        .hint("start again, and let nobody clear that folder; nothing was injected")
}

/// Who says that he holds it. A file that is empty, cut short or of a process that is no more may be
/// one that its new holder is just about to write, so it is looked at again.
fn read_holder(file: &mut File) -> Option<Holder> {
    let mut last = None;
    for _ in 0..HOLDER_LOOKS {
        last = said(file).or(last);
        if last.as_ref().is_some_and(is_alive) {
            break;
        }
        std::thread::sleep(BETWEEN_LOOKS);
    }
    last
}

fn said(file: &mut File) -> Option<Holder> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    let mut limited = file.take(LONGEST_HOLDER + 1);
    limited.read_to_end(&mut text).ok()?;
    if text.len() as u64 > LONGEST_HOLDER {
        return None;
    }
    serde_json::from_slice(&text).ok()
}

/// Whether its process is to be seen from here; one in another container is not.
fn is_alive(holder: &Holder) -> bool {
    let pid = i32::try_from(holder.pid).ok().and_then(Pid::from_raw);
    pid.is_some_and(|pid| test_kill_process(pid) != Err(Errno::SRCH))
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

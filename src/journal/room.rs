//! Whether a state folder takes what a run will write: tried out, not only asked for, since a quota or
//! a limit of the process shows up in no figure of the disk.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use rustix::fs::{FallocateFlags, StatVfs, fallocate, statvfs};
use rustix::io::Errno;
use rustix::process::{Resource, getrlimit};

use super::disk;
use crate::model::problem::{Problem, ProblemKind};

/// What is written and synced for a try.
const TRIED: [u8; 4 * 1024] = [b'.'; 4 * 1024];

/// A run makes about ten files and folders; that many must be possible.
const FILES: u64 = 16;

const MIB: u64 = 1 << 20;

/// What a run needs on the disk of its evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wanted {
    /// Bytes that it may write.
    pub own: u64,
    /// Bytes that must be free, so that neighbours on the disk do not fill it meanwhile.
    pub free: u64,
}

/// What the disk of a state folder has, where it is enough.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room {
    /// One sentence for each figure that is enough and not by much.
    pub warnings: Vec<String>,
}

impl Room {
    /// Looks for it in this folder, which is made if need be, by writing, syncing and removing a file.
    ///
    /// # Errors
    /// The evidence of such a run could not be written there.
    pub fn find(folder: &Path, wanted: Wanted) -> Result<Self, Problem> {
        disk::make_folder(folder)?;
        refuse_file_limit(wanted)?;
        let found = statvfs(folder).map_err(|why| disk::cannot("look at", folder, &why.into()))?;
        let warnings = judge(folder, &found, wanted)?;
        try_out(folder, wanted).map_err(|why| disk::cannot("write into", folder, &why))?;
        disk::sync_folder(folder)?;
        Ok(Self { warnings })
    }
}

/// `ulimit -f`: beyond it a write does not fail, it kills.
fn refuse_file_limit(wanted: Wanted) -> Result<(), Problem> {
    match getrlimit(Resource::Fsize).current {
        Some(limit) if limit < wanted.own => Err(Problem::new(
            ProblemKind::Evidence,
            format!(
                "no file of this process may be larger than {limit} bytes, and the journal of this run may take {} MiB",
                wanted.own.div_ceil(MIB)
            ),
        )
        .hint("raise the limit where chaos is started: `ulimit -f unlimited`")),
        Some(_) | None => Ok(()),
    }
}

/// Refuses what is too little, and warns below twice that.
fn judge(folder: &Path, found: &StatVfs, wanted: Wanted) -> Result<Vec<String>, Problem> {
    let mut warnings = Vec::new();
    let free = found.f_bavail.saturating_mul(found.f_frsize);
    let place = folder.display();
    let said = format!(
        "{} MiB are free on the disk of {place}, of {} MiB that a run needs",
        free / MIB,
        wanted.free.div_ceil(MIB)
    );
    if free < wanted.free {
        return Err(short_of(said, "free some space"));
    }
    if free < wanted.free.saturating_mul(2) {
        warnings.push(format!("only {said}"));
    }
    // Some file systems count no inodes and say that there are none at all.
    if found.f_files > 0 {
        let said = format!(
            "{} more files fit on the disk of {place} (inodes), of {FILES} that a run needs",
            found.f_favail
        );
        if found.f_favail < FILES {
            return Err(short_of(said, "remove some files"));
        }
        if found.f_favail < 2 * FILES {
            warnings.push(format!("only {said}"));
        }
    }
    Ok(warnings)
}

fn short_of(said: String, remedy: &str) -> Problem {
    Problem::new(ProblemKind::Evidence, format!("only {said}")).hint(format!(
        "{remedy} on that disk, or choose another folder with `--state-dir`"
    ))
}

/// A file that goes with its handle.
struct Trial {
    path: PathBuf,
    file: File,
}

impl Drop for Trial {
    fn drop(&mut self) {
        // Litter is no reason to refuse a run; whether it could be removed was asked before.
        let _ = fs::remove_file(&self.path);
    }
}

fn try_out(folder: &Path, wanted: Wanted) -> io::Result<()> {
    let path = folder.join(format!(".room-{}", std::process::id()));
    // What a process of that number left when it was killed.
    let _ = fs::remove_file(&path);
    let file = disk::create_new(&path)?;
    let mut trial = Trial { path, file };
    reserve(&trial.file, wanted.own)?;
    trial.file.write_all(&TRIED)?;
    trial.file.sync_all()?;
    fs::remove_file(&trial.path)
}

/// Takes the space for a moment: that alone meets a quota. Where the file system cannot reserve, the
/// bytes that are really written have to do.
fn reserve(file: &File, bytes: u64) -> io::Result<()> {
    match fallocate(file, FallocateFlags::empty(), 0, bytes) {
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS | Errno::INVAL) => Ok(()),
        Err(why) => Err(why.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WANTED: Wanted = Wanted {
        own: MIB,
        free: 64 * MIB,
    };

    fn disk_of(free: u64, files: u64, more_files: u64) -> StatVfs {
        let mut found = statvfs("/").expect("there is a root");
        (found.f_bavail, found.f_frsize) = (free / 4096, 4096);
        (found.f_files, found.f_favail) = (files, more_files);
        found
    }

    #[test]
    fn too_little_is_refused_and_less_than_twice_that_is_told() {
        let told = |free, files, more| {
            let found = judge(Path::new("/state"), &disk_of(free, files, more), WANTED);
            found.map_err(|problem| problem.message)
        };
        assert_eq!(told(128 * MIB, 1_000, 32), Ok(vec![]));
        // btrfs counts no inodes.
        assert_eq!(told(128 * MIB, 0, 0), Ok(vec![]));
        assert_eq!(
            told(100 * MIB, 1_000, 31),
            Ok(vec![
                "only 100 MiB are free on the disk of /state, of 64 MiB that a run needs"
                    .to_owned(),
                "only 31 more files fit on the disk of /state (inodes), of 16 that a run needs"
                    .to_owned(),
            ])
        );
        assert_eq!(
            told(63 * MIB, 1_000, 1_000),
            Err(
                "only 63 MiB are free on the disk of /state, of 64 MiB that a run needs".to_owned()
            )
        );
        assert_eq!(
            told(128 * MIB, 1_000, 15),
            Err(
                "only 15 more files fit on the disk of /state (inodes), of 16 that a run needs"
                    .to_owned()
            )
        );
    }

    #[test]
    fn nothing_is_left_of_a_try() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = folder.path().join("not/yet/there");
        let wanted = Wanted { own: MIB, free: 1 };
        let room = Room::find(&state, wanted).expect("room");
        assert_eq!(room.warnings, Vec::<String>::new());
        assert_eq!(fs::read_dir(&state).expect("it was made").count(), 0);
    }

    #[test]
    fn a_file_that_stands_in_the_way_is_named() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let state = folder.path().join("state");
        fs::write(&state, "").expect("space");
        let problem = Room::find(&state, WANTED).expect_err("no folder");
        assert_eq!(problem.kind, ProblemKind::Evidence);
        assert!(problem.message.contains("state"), "{problem}");
    }
}

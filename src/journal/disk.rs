//! What journal and store ask of the file system: private folders, files that appear whole or not
//! at all and are never overwritten, and errors that name the place and the next move.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, ErrorKind, Read, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::model::problem::{Problem, ProblemKind};

/// The largest document of the store that is read.
const LARGEST_DOCUMENT: u64 = 64 * 1024 * 1024;

/// Whether a file was new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Placed {
    /// It is there now.
    New,
    /// Something of that name was there before and was left alone.
    Taken,
}

/// "cannot <verb> <path>: <why>", with the next move.
pub(super) fn cannot(verb: &str, path: &Path, why: &io::Error) -> Problem {
    let problem = Problem::new(
        ProblemKind::Evidence,
        format!("cannot {verb} {}: {why}", path.display()),
    );
    match hint_for(why) {
        Some(hint) => problem.hint(hint),
        None => problem,
    }
}

fn hint_for(why: &io::Error) -> Option<&'static str> {
    // The kinds that a person can do something about; the list of kinds is open (`non_exhaustive`).
    let known = [
        (
            ErrorKind::StorageFull,
            "free some space on that disk, or choose another folder with `--state-dir`",
        ),
        (
            ErrorKind::QuotaExceeded,
            "free some of your quota, or choose another folder with `--state-dir`",
        ),
        (
            ErrorKind::PermissionDenied,
            "make the folder yours and writable, or choose another with `--state-dir`",
        ),
        (
            ErrorKind::ReadOnlyFilesystem,
            "choose a folder on a writable disk with `--state-dir`",
        ),
        (
            ErrorKind::NotADirectory,
            "something on that path is a file; choose another folder with `--state-dir`",
        ),
        (
            ErrorKind::NotFound,
            "`chaos runs` lists the runs that there are",
        ),
        (
            ErrorKind::AlreadyExists,
            "nothing is ever overwritten; move it away if it is yours to move",
        ),
    ];
    known
        .iter()
        .find(|(kind, _)| *kind == why.kind())
        .map(|(_, hint)| *hint)
}

/// Makes a folder, and those above it, for this user only.
pub(super) fn make_folder(path: &Path) -> Result<(), Problem> {
    DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(path)
        .map_err(|why| cannot("make the folder", path, &why))
}

/// Makes one folder, for this user only, that did not exist before.
pub(super) fn make_new_folder(path: &Path) -> Result<(), Problem> {
    DirBuilder::new()
        .mode(0o700)
        .create(path)
        .map_err(|why| cannot("make the folder", path, &why))
}

/// A file to lock or to write more into; what is in it is left as it is.
pub(super) fn open_kept(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .read(true)
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

/// Makes the directory entry of a new file durable.
pub(super) fn sync_folder(path: &Path) -> Result<(), Problem> {
    File::open(path)
        .and_then(|folder| folder.sync_all())
        .map_err(|why| cannot("sync the folder", path, &why))
}

/// A file for this user only that did not exist before.
pub(super) fn create_new(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// An existing journal, to go on with.
pub(super) fn open_journal(path: &Path) -> io::Result<File> {
    OpenOptions::new().append(true).open(path)
}

/// Puts a whole file in place, durably, unless the name is taken.
///
/// The bytes are written under another name first and linked in place, so that a crash leaves no
/// half-written document under a name that counts.
pub(super) fn place(path: &Path, content: &[u8]) -> Result<Placed, Problem> {
    let folder = path.parent().expect("every document lies in a folder");
    make_folder(folder)?;
    let draft = draft_beside(path);
    let written = create_new(&draft).and_then(|mut file| {
        file.write_all(content)?;
        file.sync_all()
    });
    let placed = match written {
        Ok(()) => link(&draft, path),
        Err(why) => Err(why),
    };
    // A draft that cannot be removed is litter, not a reason to lose the document.
    let _ = fs::remove_file(&draft);
    let placed = placed.map_err(|why| cannot("write", path, &why))?;
    sync_folder(folder)?;
    Ok(placed)
}

fn link(draft: &Path, path: &Path) -> io::Result<Placed> {
    match fs::hard_link(draft, path) {
        Ok(()) => Ok(Placed::New),
        Err(why) if why.kind() == ErrorKind::AlreadyExists => Ok(Placed::Taken),
        Err(why) => Err(why),
    }
}

fn draft_beside(path: &Path) -> PathBuf {
    static DRAFTS: AtomicU64 = AtomicU64::new(0);
    let number = DRAFTS.fetch_add(1, Ordering::Relaxed);
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!(".{name}.{}-{number}.draft", std::process::id()))
}

/// Opens a regular file; a FIFO would wait for ever, a device may never end.
pub(super) fn open_file(path: &Path) -> Result<File, Problem> {
    let kind = fs::metadata(path).map_err(|why| cannot("read", path, &why))?;
    if !kind.is_file() {
        return Err(Problem::new(
            ProblemKind::Evidence,
            format!("cannot read {}: it is no regular file", path.display()),
        )
        .hint("`chaos runs` lists the runs that there are"));
    }
    File::open(path).map_err(|why| cannot("read", path, &why))
}

/// The text of a document of the store.
pub(super) fn read_text(path: &Path) -> Result<String, Problem> {
    let mut text = String::new();
    open_file(path)?
        .take(LARGEST_DOCUMENT)
        .read_to_string(&mut text)
        .map_err(|why| cannot("read", path, &why))?;
    Ok(text)
}

/// The names in a folder; none when there is no such folder yet.
pub(super) fn names_in(path: &Path) -> Result<Vec<String>, Problem> {
    let entries = match fs::read_dir(path) {
        Ok(entries) => entries,
        Err(why) if why.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(why) => return Err(cannot("read the folder", path, &why)),
    };
    let mut names = Vec::new();
    for entry in entries {
        let entry = entry.map_err(|why| cannot("read the folder", path, &why))?;
        names.extend(entry.file_name().into_string());
    }
    names.sort();
    Ok(names)
}

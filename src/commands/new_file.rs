//! Files that a person asks for: experiments, plans and approvals that travel. They are made, never
//! overwritten, and no folder is made for them.

use std::fs::OpenOptions;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

use crate::model::problem::{Problem, ProblemKind};

/// Whether it can be made, as far as can be told before: asked before any work is done for it.
pub(super) fn can_be(file: &Path) -> Result<(), Problem> {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    if file.symlink_metadata().is_ok() {
        Err(exists(file))
    } else if folder.is_dir() {
        Ok(())
    } else {
        let folder = folder.display();
        Err(unwritable(file, &format!("there is no folder {folder}"))
            .hint(format!("make it first: `mkdir -p {folder}`")))
    }
}

/// Makes it, whole or not at all.
pub(super) fn write(file: &Path, text: &str) -> Result<(), Problem> {
    can_be(file)?;
    let refused = |why: &std::io::Error| {
        let hint = "name a file in a folder that you may write to";
        unwritable(file, &why.to_string()).hint(hint)
    };
    let opened = OpenOptions::new().write(true).create_new(true).open(file);
    let mut open = opened.map_err(|why| match why.kind() == ErrorKind::AlreadyExists {
        true => exists(file),
        false => refused(&why),
    })?;
    let written = open
        .write_all(text.as_bytes())
        .and_then(|()| open.sync_all());
    written.map_err(|why| {
        // Half a document is worse than none; what is removed here was made here.
        let _ = std::fs::remove_file(file);
        refused(&why)
    })
}

fn exists(file: &Path) -> Problem {
    Problem::new(ProblemKind::Invalid, format!("{} exists", file.display()))
        .hint("name another file; nothing is ever overwritten")
}

fn unwritable(file: &Path, why: &str) -> Problem {
    let message = format!("{} cannot be written: {why}", file.display());
    Problem::new(ProblemKind::Invalid, message)
}

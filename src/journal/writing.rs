//! The lock of one run: whoever writes its journal, and undoes what it has in place, holds it. There is
//! one at a time: `chaos run`, then the guardian, `chaos abort` or `chaos recover`.
//!
//! The system's lock on the file is the truth; it ends with its process, however that ends. What stands
//! in the file only helps others to find it.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::disk;
use crate::model::attendance::{Attendance, Writer};
use crate::model::problem::Problem;

/// Nobody writes a longer one.
const LONGEST_WRITER: u64 = 4 * 1024;

/// Whoever only looks who has the lock holds a share of it for a moment, and must not be taken for
/// somebody at work: so often, and after such a pause, it is tried.
const TRIES: (u32, Duration) = (4, Duration::from_millis(10));

/// The lock, held until it is dropped or its process ends in whatever way.
#[derive(Debug)]
pub struct Writing {
    file: File,
}

/// What came of wanting it.
#[derive(Debug)]
pub enum Wanted {
    /// It is ours.
    Taken(Writing),
    /// Somebody writes; `None`: he does not say who he is.
    Held(Option<Writer>),
}

impl Writing {
    /// Takes the lock of the run in this folder, or says who has it. Two threads of one process keep
    /// each other out as two processes do.
    ///
    /// # Errors
    /// The disk says no.
    pub fn take(folder: &Path, writer: &Writer) -> Result<Wanted, Problem> {
        let path = lock_file(folder);
        let cannot = |why| disk::cannot("lock", &path, &why);
        let mut file = disk::open_kept(&path).map_err(cannot)?;
        let (tries, pause) = TRIES;
        for left in (0..tries).rev() {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if left > 0 => std::thread::sleep(pause),
                Err(TryLockError::WouldBlock) => return Ok(Wanted::Held(said(&mut file))),
                Err(TryLockError::Error(why)) => return Err(cannot(why)),
            }
        }
        let line = serde_json::to_vec(writer).unwrap_or_default();
        // It only helps others to find us; the lock itself is taken.
        let _ = file.set_len(0).and_then(|()| file.write_all(&line));
        Ok(Wanted::Taken(Self { file }))
    }

    /// Who has it now. Makes no file, and keeps nobody from taking it.
    ///
    /// # Errors
    /// The disk says no.
    pub fn held_by(folder: &Path) -> Result<Attendance, Problem> {
        let path = lock_file(folder);
        if !fs::exists(&path).unwrap_or(true) {
            return Ok(Attendance::Nobody);
        }
        let cannot = |why| disk::cannot("look at the lock", &path, &why);
        let mut file = disk::open_file(&path)?;
        match file.try_lock_shared() {
            // Given back at once: the file is closed here.
            Ok(()) => Ok(Attendance::Nobody),
            Err(TryLockError::WouldBlock) => {
                Ok(said(&mut file).map_or(Attendance::Unknown, Attendance::Writer))
            }
            Err(TryLockError::Error(why)) => Err(cannot(why)),
        }
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        // Nobody writes from now on. What stays is not believed anyway.
        let _ = self.file.set_len(0);
    }
}

fn lock_file(folder: &Path) -> PathBuf {
    folder.join("writer.lock")
}

fn said(file: &mut File) -> Option<Writer> {
    let mut text = Vec::new();
    file.rewind().ok()?;
    file.take(LONGEST_WRITER).read_to_end(&mut text).ok()?;
    serde_json::from_slice(&text).ok()
}

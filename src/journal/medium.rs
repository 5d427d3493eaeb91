//! What a journal is written to: a file and its disk; in simulations something that fails on purpose.

use std::fmt;
use std::fs::File;
use std::io::{self, Write};

use super::syncing::Syncing;

/// Bytes that only grow, and that can be made durable.
///
/// # Errors
/// Each call says what the operating system says.
pub trait Medium: fmt::Debug + Send {
    /// Puts these bytes behind all others; after an error any part of them may stand there.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts off what stands behind so many bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// Begins to make durable what stands there by now, and waits for nothing; whether that failed says
    /// the next `sync`.
    fn begin_sync(&mut self) -> io::Result<()>;

    /// On return what stands there is durable. After a failure none succeeds any more, since the
    /// kernel forgets what it lost.
    fn sync(&mut self) -> io::Result<()>;
}

/// A file, and the thread that syncs it.
#[derive(Debug)]
pub(super) struct FileMedium {
    file: File,
    syncing: Syncing,
}

impl FileMedium {
    /// A file that is open for appending.
    ///
    /// # Errors
    /// There is no handle or no thread to be had.
    pub(super) fn of(file: File) -> io::Result<Self> {
        let syncing = Syncing::of(&file)?;
        Ok(Self { file, syncing })
    }
}

impl Medium for FileMedium {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        self.syncing.begin()
    }

    fn sync(&mut self) -> io::Result<()> {
        self.syncing.finish()
    }
}

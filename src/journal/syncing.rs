//! Syncs a journal to its disk, and remembers for good that it failed once.
//!
//! On a thread of its own where the run must not wait: a disk may take a second, or hang, and an undo
//! is worth more than the line that says so.

use std::fs::File;
use std::io;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The disk of one journal; dropping it ends the thread.
#[derive(Debug)]
pub(super) struct Syncing {
    wanted: Sender<()>,
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug)]
struct Disk {
    file: File,
    health: Health,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Good,
    /// A sync failed: the kernel forgets what it lost, so no later one proves anything.
    Lost,
}

impl Syncing {
    /// Starts the thread for this file.
    ///
    /// # Errors
    /// There is no handle or no thread to be had.
    pub(super) fn of(file: &File) -> io::Result<Self> {
        let (wanted, wishes) = channel();
        let disk = Arc::new(Mutex::new(Disk {
            file: file.try_clone()?,
            health: Health::Good,
        }));
        let shared = Arc::clone(&disk);
        let thread = std::thread::Builder::new().name("journal".to_owned());
        thread.spawn(move || sync_when_wanted(&wishes, &shared))?;
        Ok(Self { wanted, disk })
    }

    /// Begins a sync of what is written by now, and waits for nothing. Whether it failed says the next
    /// one that is waited for.
    pub(super) fn begin(&self) -> io::Result<()> {
        // Without the thread there is only the slow way.
        self.wanted.send(()).or_else(|_| self.finish())
    }

    /// Syncs what is written by now.
    ///
    /// # Errors
    /// This sync failed, or an earlier one.
    pub(super) fn finish(&self) -> io::Result<()> {
        lock(&self.disk).sync()
    }
}

impl Disk {
    fn sync(&mut self) -> io::Result<()> {
        if self.health == Health::Lost {
            return Err(io::Error::other("an earlier sync failed"));
        }
        self.file
            .sync_data()
            .inspect_err(|_| self.health = Health::Lost)
    }
}

fn sync_when_wanted(wishes: &Receiver<()>, disk: &Mutex<Disk>) {
    while wishes.recv().is_ok() {
        // The disk remembers it for whoever asks next.
        let _ = lock(disk).sync();
    }
}

fn lock(disk: &Mutex<Disk>) -> MutexGuard<'_, Disk> {
    disk.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sync_that_hangs_holds_nobody_up_who_does_not_wait_for_it() {
        let file = tempfile::tempfile().unwrap();
        let syncing = Syncing::of(&file).unwrap();
        let hangs = lock(&syncing.disk);
        syncing.begin().unwrap();
        syncing.begin().unwrap();
        drop(hangs);
        syncing.finish().unwrap();
    }

    #[test]
    fn a_failure_that_nobody_waited_for_is_told_to_the_next_who_does() {
        let file = File::options().append(true).open("/dev/full").unwrap();
        let syncing = Syncing::of(&file).unwrap();
        syncing.begin().unwrap();
        while lock(&syncing.disk).health == Health::Good {
            std::thread::yield_now();
        }
        let told = syncing.finish().map_err(|why| why.to_string());
        assert_eq!(told, Err("an earlier sync failed".to_owned()));
    }
}

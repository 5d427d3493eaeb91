//! A disk that fails on purpose, and that knows what of a journal would survive a power loss.

use std::io::{self, ErrorKind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use chaos_gameday::journal::Medium;
use tokio::time::Instant;

use crate::dice::Dice;
use crate::life::Life;
use crate::schedule::{DiskTrouble, Place};
use crate::sim::Sim;

/// The disk under one journal.
#[derive(Debug)]
pub struct Disk {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    bytes: Vec<u8>,
    /// So many of them survive a power loss.
    synced: usize,
    /// A sync failed: the kernel forgot what it lost, and nothing behind it is sure any more.
    lost: bool,
    /// Syncs under way: when they end, and for how many bytes.
    under_way: Vec<(Instant, usize)>,
    trouble: DiskTrouble,
    dice: Dice,
    appends_failed: u32,
    syncs_failed: u32,
}

impl Disk {
    pub fn new(trouble: DiskTrouble, dice: Dice) -> Self {
        Self {
            inner: Mutex::new(Inner {
                bytes: Vec::new(),
                synced: 0,
                lost: false,
                under_way: Vec::new(),
                trouble,
                dice,
                appends_failed: 0,
                syncs_failed: 0,
            }),
        }
    }

    fn inner(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().unwrap_or_else(PoisonError::into_inner);
        inner.end_syncs();
        inner
    }

    /// What a reader finds.
    pub fn bytes(&self) -> Vec<u8> {
        self.inner().bytes.clone()
    }

    /// What survives a power loss for certain.
    pub fn synced(&self) -> Vec<u8> {
        let inner = self.inner();
        inner.bytes[..inner.synced].to_vec()
    }

    /// Nothing goes wrong from now on.
    pub fn tame(&self) {
        self.inner().trouble = DiskTrouble {
            appends: 0,
            cuts: 0,
            syncs: 0,
        };
    }

    /// Appends that failed so far.
    pub fn appends_failed(&self) -> u32 {
        self.inner().appends_failed
    }

    /// Syncs that failed so far.
    pub fn syncs_failed(&self) -> u32 {
        self.inner().syncs_failed
    }

    /// What was not synced survives in part; what comes after is written to a disk that works again.
    pub fn lose_power(&self) {
        let mut inner = self.inner();
        let loose = (inner.bytes.len() - inner.synced) as u64;
        let kept = inner.synced + usize::try_from(inner.dice.below(loose + 1)).unwrap_or(0);
        inner.bytes.truncate(kept);
        inner.synced = kept;
        inner.lost = false;
        inner.under_way.clear();
    }
}

impl Inner {
    fn end_syncs(&mut self) {
        if self.under_way.is_empty() {
            return;
        }
        let now = Instant::now();
        let (over, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut self.under_way)
            .into_iter()
            .partition(|(due, _)| *due <= now);
        self.under_way = rest;
        for (_, length) in over {
            self.make_durable(length);
        }
    }

    fn make_durable(&mut self, length: usize) {
        if !self.lost {
            self.synced = self.synced.max(length.min(self.bytes.len()));
        }
    }
}

/// The open file of one process.
#[derive(Debug)]
pub struct Handle {
    sim: Weak<Sim>,
    life: Arc<Life>,
    /// A sync of this very file failed.
    failed: bool,
}

impl Handle {
    pub fn new(sim: &Arc<Sim>, life: &Arc<Life>) -> Box<Self> {
        Box::new(Self {
            sim: Arc::downgrade(sim),
            life: Arc::clone(life),
            failed: false,
        })
    }

    /// `None`: the process is dead and does nothing any more.
    fn sim(&self, place: Place) -> Option<Arc<Sim>> {
        let sim = self.sim.upgrade()?;
        if self.life.is_dead() {
            return None;
        }
        sim.strike(&self.life, place);
        if self.life.is_dead() {
            return None;
        }
        sim.expect_writer(&self.life, "writes the journal");
        Some(sim)
    }
}

fn full() -> io::Error {
    io::Error::new(ErrorKind::StorageFull, "no space left on device")
}

fn broken() -> io::Error {
    io::Error::other("input/output error")
}

impl Medium for Handle {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        let Some(sim) = self.sim(Place::Append) else {
            return Ok(());
        };
        // Whoever is killed in here leaves half a line.
        let half = bytes.len() / 2;
        sim.disk.inner().bytes.extend_from_slice(&bytes[..half]);
        sim.strike(&self.life, Place::Torn);
        if self.life.is_dead() {
            return Ok(());
        }
        let mut inner = sim.disk.inner();
        let trouble = inner.trouble.appends;
        if inner.dice.happens(trouble) {
            inner.appends_failed += 1;
            let part = inner.dice.below(bytes.len() as u64 - half as u64);
            let part = usize::try_from(part).unwrap_or(0);
            inner.bytes.extend_from_slice(&bytes[half..half + part]);
            return Err(full());
        }
        inner.bytes.extend_from_slice(&bytes[half..]);
        Ok(())
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        let Some(sim) = self.sim(Place::Append) else {
            return Ok(());
        };
        let mut inner = sim.disk.inner();
        let trouble = inner.trouble.cuts;
        if inner.dice.happens(trouble) {
            return Err(broken());
        }
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        inner.bytes.truncate(length);
        inner.synced = inner.synced.min(length);
        Ok(())
    }

    fn begin_sync(&mut self) -> io::Result<()> {
        let Some(sim) = self.sim(Place::Sync) else {
            return Ok(());
        };
        let mut inner = sim.disk.inner();
        let trouble = inner.trouble.syncs;
        if inner.dice.happens(trouble) {
            inner.lost = true;
            inner.syncs_failed += 1;
            self.failed = true;
            return Ok(());
        }
        let due = Instant::now() + inner.dice.within(2_000);
        let length = inner.bytes.len();
        inner.under_way.push((due, length));
        Ok(())
    }

    fn sync(&mut self) -> io::Result<()> {
        let Some(sim) = self.sim(Place::Sync) else {
            return Ok(());
        };
        {
            let mut inner = sim.disk.inner();
            let trouble = inner.trouble.syncs;
            if self.failed || inner.dice.happens(trouble) {
                inner.lost = true;
                inner.syncs_failed += 1;
                self.failed = true;
                return Err(broken());
            }
            inner.under_way.clear();
            let length = inner.bytes.len();
            inner.make_durable(length);
        }
        sim.strike(&self.life, Place::Synced);
        Ok(())
    }
}

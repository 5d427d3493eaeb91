//! Signals that arrive while a run is not under way yet but holds locks that others wait for.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::signal::unix::{SignalKind, signal};

use super::deaf;
use crate::model::problem::Problem;

/// Each keeps its place: the number of one that arrived is its place here, plus one.
const SIGNALS: [(i32, &str); 4] = [
    (signal_hook::consts::SIGINT, "SIGINT"),
    (signal_hook::consts::SIGTERM, "SIGTERM"),
    (signal_hook::consts::SIGHUP, "SIGHUP"),
    (signal_hook::consts::SIGQUIT, "SIGQUIT"),
];

/// Once it is set, a signal ends a question with a no and no process: whoever set it gives back what he
/// holds, and then ends.
#[derive(Debug)]
pub struct Alarm {
    /// Written by the handler itself, so it is known as soon as a question was broken off. 0: none came.
    arrived: Arc<AtomicUsize>,
    waiting: Vec<tokio::signal::unix::Signal>,
}

impl Alarm {
    /// Listens from now on.
    ///
    /// # Errors
    /// Signals cannot be listened to.
    pub fn set() -> Result<Self, Problem> {
        let arrived = Arc::new(AtomicUsize::new(0));
        let mut waiting = Vec::new();
        for (place, (number, _)) in SIGNALS.into_iter().enumerate() {
            signal_hook::flag::register_usize(number, Arc::clone(&arrived), place + 1)
                .map_err(|why| deaf(number, &why))?;
            let kind = SignalKind::from_raw(number);
            waiting.push(signal(kind).map_err(|why| deaf(number, &why))?);
        }
        Ok(Self { arrived, waiting })
    }

    /// The signal that arrived, if one did.
    pub fn rang(&self) -> Option<&'static str> {
        let place = self.arrived.load(Ordering::SeqCst).checked_sub(1)?;
        SIGNALS.get(place).map(|(_, name)| *name)
    }

    /// Does the work unless a signal arrives. What cannot be left off halfway is none for this.
    ///
    /// # Errors
    /// The name of the signal.
    pub async fn unless<T>(&mut self, work: impl Future<Output = T>) -> Result<T, &'static str> {
        let rings = self
            .waiting
            .iter_mut()
            .map(|signal| Box::pin(signal.recv()));
        let rings = futures_util::future::select_all(rings);
        let done = tokio::select! {
            done = work => Some(done),
            _ = rings => None,
        };
        match (self.rang(), done) {
            (None, Some(done)) => Ok(done),
            (Some(name), _) => Err(name),
            (None, None) => Err("a signal"),
        }
    }
}

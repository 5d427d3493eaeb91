//! When the engine itself died: undo what its events say is, or may be, in place.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::engine::Timing;
use crate::faults::{self, FaultDriver};
use crate::model::state::RunState;
use crate::model::undo::Undo;

/// Between two attempts.
const PAUSE: Duration = Duration::from_millis(500);

/// Undoes every step whose fault is, or may be, in place, and proves it gone.
///
/// Returns what could not be proven gone before the undo's deadline; empty: nothing is in place.
pub async fn rescue(
    state: &RunState,
    drivers: &[Arc<dyn FaultDriver>],
    timing: Timing,
) -> Vec<String> {
    let mut unproven = Vec::new();
    for (step, record) in state.in_place() {
        match (&record.undo, drivers.get(step)) {
            (Some(undo), Some(driver)) => {
                let settled = if record.confirmed_at_ms.is_some() {
                    Writes::Answered
                } else {
                    Writes::MayBeUnderWay
                };
                unproven.extend(undo_until_gone(undo, driver, settled, timing).await);
            }
            (Some(undo), None) => unproven.push(undo.summary()),
            (None, _) => unproven.push(format!("step {}, of which no undo is known", step + 1)),
        }
    }
    unproven
}

/// Whether a write of the dead engine may still land.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writes {
    /// The fault was seen in, so every write had been answered.
    Answered,
    /// One may be on its way.
    MayBeUnderWay,
}

/// What remains when the time is over; empty: gone, and nothing can land any more.
async fn undo_until_gone(
    undo: &Undo,
    driver: &Arc<dyn FaultDriver>,
    writes: Writes,
    timing: Timing,
) -> Vec<String> {
    let landed_by = match writes {
        Writes::Answered => Instant::now(),
        Writes::MayBeUnderWay => Instant::now() + faults::write_limit(undo).as_duration(),
    };
    let deadline = landed_by.max(Instant::now() + timing.undo_within);
    loop {
        // The answer of the undo does not matter: the world is asked right after.
        let _ = driver.revert(undo).await;
        let remaining = match driver.verify_gone(undo).await {
            Ok(absence) => absence.remaining,
            Err(_) => vec![undo.summary()],
        };
        if remaining.is_empty() && Instant::now() >= landed_by {
            return remaining;
        }
        if Instant::now() >= deadline {
            return remaining;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

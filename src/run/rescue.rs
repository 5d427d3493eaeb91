//! When the engine itself died: undo what its events say is, or may be, in place.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::engine::Timing;
use crate::faults::FaultDriver;
use crate::model::state::RunState;

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
        let (Some(undo), Some(driver)) = (&record.undo, drivers.get(step)) else {
            continue;
        };
        let deadline = Instant::now() + timing.undo_within;
        loop {
            // The answer of the undo does not matter: the world is asked right after.
            let _ = driver.revert(undo).await;
            match driver.verify_gone(undo).await {
                Ok(absence) if absence.remaining.is_empty() => break,
                Ok(_) | Err(_) if Instant::now() < deadline => tokio::time::sleep(PAUSE).await,
                Ok(absence) => {
                    unproven.extend(absence.remaining);
                    break;
                }
                Err(_) => {
                    unproven.push(undo.summary());
                    break;
                }
            }
        }
    }
    unproven
}

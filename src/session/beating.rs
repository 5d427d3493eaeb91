//! Reminds the engine to give a sign of life, and notices that the machine slept.

use std::time::Duration;

use tokio::task::JoinHandle;

use crate::model::units::Span;
use crate::run::{Clock, Input, Operator};

/// Between two signs of life.
const EVERY: Duration = Duration::from_millis(500);

/// Less is the two clocks being read one after the other.
const SHORTEST_SLEEP: Duration = Duration::from_secs(1);

/// The engine takes each sign out of its own queue: one that hangs gives none.
pub(super) fn beat(operator: Operator) -> JoinHandle<()> {
    tokio::spawn(async move {
        let mut slept = Clock::asleep();
        loop {
            tokio::time::sleep(EVERY).await;
            let now = Clock::asleep();
            let gap = now.saturating_sub(slept);
            if gap >= SHORTEST_SLEEP {
                slept = now;
                let ms = Span::of(gap).as_millis();
                if operator.send(Input::Slept { ms }).is_err() {
                    return;
                }
            }
            if operator.send(Input::Beat).is_err() {
                return;
            }
        }
    })
}

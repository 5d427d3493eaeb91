//! Reminds the engine to give a sign of life, and notices that the machine slept or that this process
//! stood still.

use std::time::Duration;

use tokio::time::Instant;

use crate::model::units::Span;
use crate::run::{Input, Operator};

/// Between two signs of life.
const EVERY: Duration = Duration::from_millis(500);

/// Less is the two clocks being read one after the other.
const SHORTEST_SLEEP: Duration = Duration::from_secs(1);

/// Less is a machine with much to do.
const SHORTEST_STANDSTILL: Duration = Duration::from_secs(3);

/// Until the run is over. The engine takes each sign out of its own queue: one that hangs gives none.
/// `asleep` says how long the machine has slept since whenever.
pub(super) async fn beat(operator: Operator, mut asleep: impl FnMut() -> Duration) {
    let mut slept = asleep();
    let mut latest = Instant::now();
    loop {
        tokio::time::sleep(EVERY).await;
        let now = asleep();
        let gap = now.saturating_sub(slept);
        let mut found = Vec::new();
        if gap >= SHORTEST_SLEEP {
            slept = now;
            let ms = Span::of(gap).as_millis();
            found.push(Input::Slept { ms });
        }
        // By a clock that stands still while the machine sleeps.
        let still = latest.elapsed().saturating_sub(EVERY);
        latest = Instant::now();
        if still >= SHORTEST_STANDSTILL {
            let ms = Span::of(still).as_millis();
            found.push(Input::StoodStill { ms });
        }
        found.push(Input::Beat);
        if found.into_iter().any(|input| operator.send(input).is_err()) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use tokio::sync::mpsc::UnboundedReceiver;

    use super::*;
    use crate::run::operator;

    /// What is sent until so many beats were.
    async fn until_beats(count: usize, inputs: &mut UnboundedReceiver<Input>) -> Vec<Input> {
        let mut seen = Vec::new();
        while seen.iter().filter(|input| **input == Input::Beat).count() < count {
            seen.push(inputs.recv().await.unwrap());
        }
        seen.retain(|input| *input != Input::Beat);
        seen
    }

    #[tokio::test(start_paused = true)]
    async fn a_sleep_is_told_once_and_small_differences_of_the_clocks_are_none() {
        let asleep = Arc::new(AtomicU64::new(5_000));
        let read = Arc::clone(&asleep);
        let (own, mut inputs) = operator();
        tokio::spawn(beat(own, move || {
            Duration::from_millis(read.load(Ordering::SeqCst))
        }));
        assert_eq!(until_beats(3, &mut inputs).await, []);
        for (by_now, told) in [
            (5_999, vec![]),
            (3_605_000, vec![Input::Slept { ms: 3_600_000 }]),
            (3_605_600, vec![]),
            // Two short ones are a long one.
            (3_606_200, vec![Input::Slept { ms: 1_200 }]),
            // A clock that went back is no sleep.
            (0, vec![]),
        ] {
            asleep.store(by_now, Ordering::SeqCst);
            assert_eq!(until_beats(2, &mut inputs).await, told, "{by_now}");
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_process_that_stood_still_says_for_how_long() {
        let (own, mut inputs) = operator();
        tokio::spawn(beat(own, || Duration::ZERO));
        assert_eq!(until_beats(2, &mut inputs).await, []);
        tokio::time::advance(Duration::from_secs(8)).await;
        let told = until_beats(2, &mut inputs).await;
        let [Input::StoodStill { ms }] = told[..] else {
            panic!("{told:?}");
        };
        assert!((7_500..=8_000).contains(&ms), "{ms}");
    }
}

//! Chance that comes out of a seed: the same seed, the same throws.

use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// One stream of throws.
#[derive(Debug, Clone)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of this number; streams of one seed say nothing about each other.
    pub fn of(seed: u64, stream: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(stream);
        Self(random)
    }

    /// Happens so many times in a thousand.
    pub fn happens(&mut self, in_thousand: u32) -> bool {
        self.0.random_range(0..1_000) < in_thousand
    }

    /// One of these.
    pub fn pick<T: Clone>(&mut self, all: &[T]) -> T {
        all[self.0.random_range(0..all.len())].clone()
    }

    /// A number below this one, which is above 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0.random_range(0..bound)
    }

    /// A small number more often than a large one.
    pub fn small(&mut self, bound: u64) -> u64 {
        let first = self.below(bound);
        first.min(self.below(bound))
    }

    /// So many milliseconds at most, to a whole one.
    pub fn within(&mut self, most_ms: u64) -> Duration {
        Duration::from_millis(self.below(most_ms + 1))
    }
}

//! The figures: how many drills hit each phase, and how long it took until nothing was left.

use std::collections::BTreeMap;
use std::fmt;

use super::aim::Aim;
use super::drill::Found;

/// The columns, in the order of a run.
const PHASES: [&str; 11] = [
    "not begun",
    "baseline",
    "between steps",
    "preparing",
    "injecting",
    "confirming",
    "observing",
    "undoing",
    "verifying gone",
    "recovering",
    "settled",
];

#[derive(Default)]
pub struct Table {
    hits: BTreeMap<&'static str, BTreeMap<&'static str, usize>>,
    clean_ms: BTreeMap<&'static str, Vec<u64>>,
    drilled: usize,
    failed: usize,
}

impl Table {
    pub fn take(&mut self, aim: &Aim, found: &Found) {
        self.drilled += 1;
        let words = aim.blow.words();
        let hits = self.hits.entry(words).or_default();
        *hits.entry(found.phase).or_default() += 1;
        if let Some(ms) = found.clean_after_ms {
            self.clean_ms.entry(words).or_default().push(ms);
        }
    }

    /// How often this blow found a run in this phase.
    pub fn hits(&self, blow: &str, phase: &str) -> usize {
        let hits = self.hits.get(blow).and_then(|hits| hits.get(phase));
        hits.copied().unwrap_or(0)
    }

    pub fn fail(&mut self) {
        self.drilled += 1;
        self.failed += 1;
    }

    pub fn is_clean(&self) -> bool {
        self.failed == 0 && self.drilled > 0
    }
}

fn quantile(sorted: &[u64], of: f64) -> u64 {
    let place = (sorted.len() as f64 * of).ceil() as usize;
    sorted.get(place.saturating_sub(1)).copied().unwrap_or(0)
}

impl fmt::Display for Table {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:<16}", "hit while")?;
        for blow in self.hits.keys() {
            write!(formatter, "  {blow}")?;
        }
        for phase in PHASES {
            if self.hits.values().all(|hits| !hits.contains_key(phase)) {
                continue;
            }
            write!(formatter, "\n{phase:<16}")?;
            for (blow, hits) in &self.hits {
                let count = hits.get(phase).copied().unwrap_or(0);
                write!(formatter, "  {count:>width$}", width = blow.len())?;
            }
        }
        for (blow, times) in &self.clean_ms {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            write!(
                formatter,
                "\n{blow}: {} of {} left something, gone after p50 {} ms, p99 {} ms, max {} ms",
                sorted.len(),
                self.hits[blow].values().sum::<usize>(),
                quantile(&sorted, 0.5),
                quantile(&sorted, 0.99),
                sorted.last().unwrap_or(&0),
            )?;
        }
        let clean = self.drilled - self.failed;
        write!(formatter, "\n{clean} of {} clean", self.drilled)
    }
}

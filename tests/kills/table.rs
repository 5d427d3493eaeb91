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
        let blows: Vec<_> = self.hits.keys().collect();
        writeln!(formatter, "\n{:<24} hit while", "")?;
        for phase in PHASES {
            let counts = blows
                .iter()
                .map(|blow| self.hits[*blow].get(phase).unwrap_or(&0));
            let counts: Vec<_> = counts.copied().collect();
            if counts.iter().sum::<usize>() == 0 {
                continue;
            }
            write!(formatter, "{phase:<24}")?;
            for (blow, count) in blows.iter().zip(counts) {
                write!(formatter, " {count:>4} {blow}")?;
            }
            writeln!(formatter)?;
        }
        writeln!(formatter)?;
        for (blow, times) in &self.clean_ms {
            let mut sorted = times.clone();
            sorted.sort_unstable();
            writeln!(
                formatter,
                "{blow:<24} {:>4} left something; gone after p50 {} ms, p99 {} ms, max {} ms",
                sorted.len(),
                quantile(&sorted, 0.5),
                quantile(&sorted, 0.99),
                sorted.last().unwrap_or(&0),
            )?;
        }
        let clean = self.drilled - self.failed;
        write!(formatter, "{clean} of {} clean", self.drilled)
    }
}

//! What was run before, as far as rules about doses go by it.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::ids::{Digest, RunId};
use super::outcome::Outcome;
use super::units::Percent;

/// The runs that are known and that concern a plan, newest first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct History {
    /// Runs that ended, and whose journal is whole.
    pub runs: Vec<PastRun>,
}

impl History {
    /// How many runs travel with a plan.
    pub const MOST_CARRIED: usize = 50;

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Its newest runs: what a plan carries to whoever judges it elsewhere.
    #[must_use]
    pub fn newest(&self) -> Self {
        let runs = self.runs.iter().take(Self::MOST_CARRIED);
        Self {
            runs: runs.cloned().collect(),
        }
    }

    /// These runs and those, each once, newest first. Of a run that both know, ours counts: we have
    /// looked at its journal.
    pub fn with<'a>(&'a self, others: &'a Self) -> Vec<&'a PastRun> {
        let unknown = |run: &&PastRun| !self.runs.iter().any(|ours| ours.run == run.run);
        let others = others.runs.iter().filter(unknown);
        let mut all: Vec<&PastRun> = self.runs.iter().chain(others).collect();
        all.sort_by_key(|run| std::cmp::Reverse(run.ended));
        all
    }

    /// Nothing was run yet.
    pub fn none() -> &'static Self {
        static NONE: History = History { runs: Vec::new() };
        &NONE
    }
}

/// A run that ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PastRun {
    /// Its id.
    pub run: RunId,
    /// Where it was, as the policy names it.
    pub environment: String,
    /// When it ended.
    pub ended: Timestamp,
    /// How it ended.
    pub outcome: Outcome,
    /// What it broke, in order.
    pub doses: Vec<Dose>,
}

/// How much of a fault: the same fault may come in many doses.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Dose {
    /// Which fault: the digest of everything about it but its dose and the address of its platform.
    pub fault: Digest,
    /// The share of what it could touch that it touches.
    pub share: Percent,
}

/// What a history is asked about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Subject {
    /// Where.
    pub environment: String,
    /// Which faults.
    pub faults: Vec<Digest>,
}

impl Subject {
    /// Whether a run was there and broke one of these.
    pub fn concerns(&self, run: &PastRun) -> bool {
        let mut doses = run.doses.iter();
        run.environment == self.environment && doses.any(|dose| self.faults.contains(&dose.fault))
    }
}

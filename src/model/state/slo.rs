//! What a run has seen of one SLO: its latest reading, its worst ones, how long it breached.

use std::collections::VecDeque;

use crate::model::phase::Phase;
use crate::model::sample::{Reading, SloState};
use crate::model::slo::Slo;

/// How many readings an SLO's history keeps for the sparkline.
pub const HISTORY: usize = 600;

/// What is known about an SLO.
#[derive(Debug, Clone, PartialEq)]
pub struct SloRecord {
    /// The SLO.
    pub slo: Slo,
    /// The latest state; `None`: never read.
    pub state: Option<SloState>,
    /// The latest reading.
    pub reading: Option<Reading>,
    /// How long the current breach, or blindness, has lasted.
    pub streak_ms: u64,
    /// Values of the last readings with the run's milliseconds, oldest first.
    pub history: VecDeque<(u64, f64)>,
    /// Readings so far.
    pub samples: u64,
    /// Readings without a value.
    pub blind_samples: u64,
    /// The worst value of the baseline.
    pub baseline_worst: Option<f64>,
    /// The worst value while a fault was in, or being undone.
    pub fault_worst: Option<f64>,
    /// The worst value of the whole run.
    pub worst: Option<f64>,
    /// Milliseconds spent breaching, from sample to sample.
    pub breaching_ms: u64,
    /// Readings that were due while an earlier one was still under way.
    pub missed: u64,
    /// When the latest reading arrived.
    pub latest_at_ms: Option<u64>,
}

/// One reading, judged, with its time.
pub(super) struct Seen<'a> {
    pub(super) at_ms: u64,
    pub(super) reading: &'a Reading,
    pub(super) state: SloState,
    pub(super) streak_ms: u64,
}

impl SloRecord {
    pub(super) fn new(slo: Slo) -> Self {
        Self {
            slo,
            state: None,
            reading: None,
            streak_ms: 0,
            history: VecDeque::new(),
            samples: 0,
            blind_samples: 0,
            baseline_worst: None,
            fault_worst: None,
            worst: None,
            breaching_ms: 0,
            missed: 0,
            latest_at_ms: None,
        }
    }

    pub(super) fn take(&mut self, phase: Option<Phase>, seen: &Seen<'_>) {
        let at_ms = seen.at_ms;
        if let (Some(SloState::Breaching), Some(before)) = (self.state, self.latest_at_ms) {
            self.breaching_ms = (self.breaching_ms).saturating_add(at_ms.saturating_sub(before));
        }
        self.state = Some(seen.state);
        self.streak_ms = seen.streak_ms;
        self.samples += 1;
        self.latest_at_ms = Some(at_ms);
        self.reading = Some(seen.reading.clone());
        match seen.reading.value() {
            None => self.blind_samples += 1,
            Some(value) => {
                if self.history.len() == HISTORY {
                    self.history.pop_front();
                }
                self.history.push_back((at_ms, value));
                let objective = self.slo.objective;
                let keep = |worst: &mut Option<f64>| {
                    if worst.is_none_or(|so_far| objective.is_worse(value, so_far)) {
                        *worst = Some(value);
                    }
                };
                keep(&mut self.worst);
                match phase {
                    Some(Phase::Baseline) => keep(&mut self.baseline_worst),
                    Some(
                        Phase::Injecting
                        | Phase::Confirming
                        | Phase::Observing
                        | Phase::Undoing
                        | Phase::Verifying,
                    ) => keep(&mut self.fault_worst),
                    None
                    | Some(
                        Phase::Preflight
                        | Phase::Between
                        | Phase::AwaitingGo
                        | Phase::Preparing
                        | Phase::Recovering
                        | Phase::Settled
                        | Phase::Stuck,
                    ) => {}
                }
            }
        }
    }
}

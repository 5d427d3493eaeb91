//! The state machine of a run, as a table.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Where a run is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Nothing has happened yet.
    Preflight,
    /// The SLOs are watched before any fault.
    Baseline,
    /// No fault is in; the next step, or the end, is due.
    Between,
    /// A person has to say go.
    AwaitingGo,
    /// The world is read once more and the undo is written down.
    Preparing,
    /// The fault is being put in.
    Injecting,
    /// The world is asked whether the fault is in.
    Confirming,
    /// The fault is in and the SLOs are watched.
    Observing,
    /// The fault is being taken out.
    Undoing,
    /// The world is asked whether the fault is gone.
    Verifying,
    /// Nothing is in place; the SLOs are given time to come back.
    Recovering,
    /// The end.
    Settled,
    /// The end, with something in place or unproven.
    Stuck,
}

impl Phase {
    /// Every phase.
    pub const ALL: [Self; 13] = [
        Self::Preflight,
        Self::Baseline,
        Self::Between,
        Self::AwaitingGo,
        Self::Preparing,
        Self::Injecting,
        Self::Confirming,
        Self::Observing,
        Self::Undoing,
        Self::Verifying,
        Self::Recovering,
        Self::Settled,
        Self::Stuck,
    ];

    /// The word, as shown everywhere.
    pub fn word(self) -> &'static str {
        match self {
            Self::Preflight => "preflight",
            Self::Baseline => "baseline",
            Self::Between => "between steps",
            Self::AwaitingGo => "awaiting go",
            Self::Preparing => "preparing",
            Self::Injecting => "injecting",
            Self::Confirming => "confirming",
            Self::Observing => "observing",
            Self::Undoing => "undoing",
            Self::Verifying => "verifying gone",
            Self::Recovering => "recovering",
            Self::Settled => "settled",
            Self::Stuck => "stuck",
        }
    }

    /// Nothing follows by the run's own doing; what is stuck somebody else may still take over.
    pub fn is_end(self) -> bool {
        matches!(self, Self::Settled | Self::Stuck)
    }

    /// The phase that this trigger leads to.
    ///
    /// # Errors
    /// A pair that the table does not have.
    pub fn next(self, trigger: Trigger) -> Result<Self, IllegalTransition> {
        TRANSITIONS
            .iter()
            .find(|(from, by, _)| *from == self && *by == trigger)
            .map(|(_, _, to)| *to)
            .ok_or(IllegalTransition {
                from: self,
                trigger,
            })
    }
}

/// What moves a run from one phase to the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Trigger {
    /// The run starts.
    Begin,
    /// The SLOs held through the baseline.
    BaselineHeld,
    /// They did not.
    BaselineBroken,
    /// A person asked to wait before the next step.
    PauseAsked,
    /// A person said go.
    Go,
    /// A step is due.
    NextStep,
    /// No step is left, or an earlier end was decided.
    StepsOver,
    /// The undo is on disk.
    UndoRecorded,
    /// The world, or the disk, said no before anything was sent.
    NotPrepared,
    /// Every request of the fault was answered.
    Injected,
    /// A request of the fault failed.
    InjectFailed,
    /// The fault was seen in place.
    Confirmed,
    /// It was not, or only in part.
    NotConfirmed,
    /// The hold is over.
    HoldOver,
    /// A rollback SLO lost its patience.
    Tripped,
    /// The fault was in and is no longer.
    FaultLost,
    /// Every request of the undo was answered.
    UndoSent,
    /// The fault was seen to be out.
    Gone,
    /// It was not.
    NotGone,
    /// The undo's own deadline passed.
    UndoDeadline,
    /// The SLOs are back.
    Recovered,
    /// They are not, and the time is over.
    RecoveryOver,
    /// A person or a signal.
    Abort,
    /// Another process goes on where the run's own stopped.
    TakenOver,
}

/// A pair that the table does not have: a bug in the engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct IllegalTransition {
    /// Where the run was.
    pub from: Phase,
    /// What tried to move it.
    pub trigger: Trigger,
}

impl fmt::Display for IllegalTransition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "no way out of {:?} by {:?}",
            self.from, self.trigger
        )
    }
}

impl std::error::Error for IllegalTransition {}

/// Every way from one phase to another; there are no others.
pub const TRANSITIONS: &[(Phase, Trigger, Phase)] = &[
    (Phase::Preflight, Trigger::Begin, Phase::Baseline),
    (Phase::Preflight, Trigger::Abort, Phase::Settled),
    (Phase::Baseline, Trigger::BaselineHeld, Phase::Between),
    (Phase::Baseline, Trigger::BaselineBroken, Phase::Settled),
    (Phase::Baseline, Trigger::Abort, Phase::Settled),
    (Phase::Between, Trigger::PauseAsked, Phase::AwaitingGo),
    (Phase::Between, Trigger::NextStep, Phase::Preparing),
    (Phase::Between, Trigger::StepsOver, Phase::Recovering),
    (Phase::Between, Trigger::NotPrepared, Phase::Settled),
    (Phase::Between, Trigger::Abort, Phase::Settled),
    (Phase::AwaitingGo, Trigger::Go, Phase::Preparing),
    (Phase::AwaitingGo, Trigger::BaselineBroken, Phase::Settled),
    (Phase::AwaitingGo, Trigger::Tripped, Phase::Recovering),
    (Phase::AwaitingGo, Trigger::Abort, Phase::Settled),
    (Phase::Preparing, Trigger::UndoRecorded, Phase::Injecting),
    (Phase::Preparing, Trigger::NotPrepared, Phase::Between),
    (Phase::Preparing, Trigger::Abort, Phase::Between),
    (Phase::Injecting, Trigger::Injected, Phase::Confirming),
    (Phase::Injecting, Trigger::InjectFailed, Phase::Undoing),
    (Phase::Injecting, Trigger::Tripped, Phase::Undoing),
    (Phase::Injecting, Trigger::Abort, Phase::Undoing),
    (Phase::Confirming, Trigger::Confirmed, Phase::Observing),
    (Phase::Confirming, Trigger::NotConfirmed, Phase::Undoing),
    (Phase::Confirming, Trigger::Tripped, Phase::Undoing),
    (Phase::Confirming, Trigger::Abort, Phase::Undoing),
    (Phase::Observing, Trigger::HoldOver, Phase::Undoing),
    (Phase::Observing, Trigger::Tripped, Phase::Undoing),
    (Phase::Observing, Trigger::FaultLost, Phase::Undoing),
    (Phase::Observing, Trigger::Abort, Phase::Undoing),
    (Phase::Undoing, Trigger::UndoSent, Phase::Verifying),
    (Phase::Undoing, Trigger::UndoDeadline, Phase::Stuck),
    (Phase::Verifying, Trigger::Gone, Phase::Between),
    (Phase::Verifying, Trigger::NotGone, Phase::Undoing),
    (Phase::Recovering, Trigger::Recovered, Phase::Settled),
    (Phase::Recovering, Trigger::RecoveryOver, Phase::Settled),
    (Phase::Recovering, Trigger::Abort, Phase::Settled),
    // Whoever takes a run over begins with an undo where a fault may be in, and else ends it. Stuck is
    // an end that a person can still make better.
    (Phase::Preflight, Trigger::TakenOver, Phase::Settled),
    (Phase::Baseline, Trigger::TakenOver, Phase::Settled),
    (Phase::Between, Trigger::TakenOver, Phase::Settled),
    (Phase::AwaitingGo, Trigger::TakenOver, Phase::Settled),
    (Phase::Preparing, Trigger::TakenOver, Phase::Settled),
    (Phase::Injecting, Trigger::TakenOver, Phase::Undoing),
    (Phase::Confirming, Trigger::TakenOver, Phase::Undoing),
    (Phase::Observing, Trigger::TakenOver, Phase::Undoing),
    (Phase::Undoing, Trigger::TakenOver, Phase::Undoing),
    (Phase::Verifying, Trigger::TakenOver, Phase::Undoing),
    (Phase::Recovering, Trigger::TakenOver, Phase::Settled),
    (Phase::Stuck, Trigger::TakenOver, Phase::Undoing),
];

/// The phases that an abort does not move, and why.
pub const NO_ABORT: &[(Phase, &str)] = &[
    (Phase::Undoing, "an undo is never cut short"),
    (Phase::Verifying, "an undo is never cut short"),
    (Phase::Settled, "the run has ended"),
    (Phase::Stuck, "the run has ended"),
];

/// The table as a Mermaid state diagram, for the docs.
pub fn diagram() -> String {
    let mut lines = vec![
        "stateDiagram-v2".to_owned(),
        "    [*] --> Preflight".to_owned(),
    ];
    for (from, trigger, to) in TRANSITIONS {
        lines.push(format!("    {from:?} --> {to:?}: {trigger:?}"));
    }
    for end in Phase::ALL.iter().filter(|phase| phase.is_end()) {
        lines.push(format!("    {end:?} --> [*]"));
    }
    lines.join("\n") + "\n"
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    fn reachable_without_undoing(from: Phase) -> HashSet<Phase> {
        let mut seen = HashSet::from([from]);
        let mut open = vec![from];
        while let Some(phase) = open.pop() {
            for (_, _, to) in TRANSITIONS.iter().filter(|(start, _, _)| *start == phase) {
                if *to != Phase::Undoing && seen.insert(*to) {
                    open.push(*to);
                }
            }
        }
        seen
    }

    #[test]
    fn the_diagram_in_the_docs_is_the_table() {
        let page = include_str!("../../docs/phases.md");
        let drawn = format!("```mermaid\n{}```\n", diagram());
        assert!(
            page.contains(&drawn),
            "docs/phases.md should hold:\n{drawn}"
        );
    }

    #[test]
    fn no_pair_stands_twice() {
        let pairs: HashSet<_> = TRANSITIONS.iter().map(|(from, by, _)| (from, by)).collect();
        assert_eq!(pairs.len(), TRANSITIONS.len());
    }

    #[test]
    fn the_only_way_into_injecting_is_a_recorded_undo() {
        let ways: Vec<_> = TRANSITIONS
            .iter()
            .filter(|(_, _, to)| *to == Phase::Injecting)
            .collect();
        assert_eq!(
            ways,
            [&(Phase::Preparing, Trigger::UndoRecorded, Phase::Injecting)]
        );
    }

    #[test]
    fn from_injecting_no_path_ends_without_undoing() {
        let seen = reachable_without_undoing(Phase::Injecting);
        assert!(seen.iter().all(|phase| !phase.is_end()), "{seen:?}");
    }

    #[test]
    fn stuck_comes_only_from_undoing() {
        let from: HashSet<_> = TRANSITIONS
            .iter()
            .filter(|(_, _, to)| *to == Phase::Stuck)
            .map(|(from, _, _)| *from)
            .collect();
        assert_eq!(from, HashSet::from([Phase::Undoing]));
    }

    #[test]
    fn every_phase_can_be_aborted_or_says_why_not() {
        for phase in Phase::ALL {
            let aborts = phase.next(Trigger::Abort).is_ok();
            let excused = NO_ABORT.iter().any(|(excused, _)| *excused == phase);
            assert!(aborts != excused, "{phase:?}");
        }
    }

    #[test]
    fn every_phase_but_the_end_can_be_taken_over_and_a_fault_is_undone_then() {
        for phase in Phase::ALL {
            let undoing = [Phase::Undoing, Phase::Verifying, Phase::Stuck];
            let may_be_in = reachable_without_undoing(Phase::Injecting).contains(&phase)
                || undoing.contains(&phase);
            let expected = if may_be_in {
                Some(Phase::Undoing)
            } else {
                (phase != Phase::Settled).then_some(Phase::Settled)
            };
            assert_eq!(phase.next(Trigger::TakenOver).ok(), expected, "{phase:?}");
        }
    }

    #[test]
    fn every_phase_is_reached_and_only_ends_have_no_way_out() {
        for phase in Phase::ALL {
            let entered = TRANSITIONS.iter().any(|(_, _, to)| *to == phase);
            assert!(entered || phase == Phase::Preflight, "{phase:?}");
            let left = TRANSITIONS
                .iter()
                .any(|(from, by, _)| *from == phase && *by != Trigger::TakenOver);
            assert_eq!(left, !phase.is_end(), "{phase:?}");
        }
    }
}

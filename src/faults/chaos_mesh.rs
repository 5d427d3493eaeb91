//! Chaos Mesh: documents may name it; this build says plainly that it cannot drive it yet.

use super::ChaosMeshFault;
use crate::model::problem::{Problem, ProblemKind};

/// The answer to every Chaos Mesh fault.
pub(super) fn not_yet(fault: &ChaosMeshFault) -> Problem {
    Problem::new(
        ProblemKind::Absent,
        format!(
            "this version cannot drive Chaos Mesh ({}) yet",
            fault.chaos_kind
        ),
    )
    .hint("it drives the LocalStack Chaos API; `chaos init` writes such an experiment")
}

//! A scripted world for tests and simulations of the engine.

use crate::model::problem::{Problem, ProblemKind};

/// A scripted fault outside a simulation.
pub(super) fn no_world(name: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("the scripted fault `{name}` exists only in a simulation"),
    )
}

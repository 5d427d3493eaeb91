//! Prometheus: documents may name it; this build says plainly that it cannot read it yet.

use crate::model::problem::{Problem, ProblemKind};

/// The answer to every PromQL query.
pub(super) fn not_yet(query: &str) -> Problem {
    Problem::new(
        ProblemKind::Absent,
        format!("this version cannot read Prometheus yet (query `{query}`)"),
    )
    .hint("use a `traffic` or a `command` SLO")
}

//! Writes down what one step does in a cluster: the targets, the very object, its undo.

use super::super::{ChaosMeshFault, Owner, Prepared};
use crate::clients::Clients;
use crate::model::problem::{Problem, ProblemKind};

/// One line of what the fault does.
pub(super) fn summary(fault: &ChaosMeshFault) -> String {
    let action = fault.spec["action"].as_str();
    match action {
        Some(action) => format!("{} {action} of Chaos Mesh", fault.chaos_kind),
        None => format!("{} of Chaos Mesh", fault.chaos_kind),
    }
}

/// Reads the cluster and says what the fault would be.
pub(super) async fn prepare(
    _clients: &Clients,
    fault: &ChaosMeshFault,
    _owner: &Owner,
) -> Result<Prepared, Problem> {
    Err(Problem::new(
        ProblemKind::Absent,
        format!(
            "this version cannot drive Chaos Mesh ({}) yet",
            fault.chaos_kind
        ),
    ))
}

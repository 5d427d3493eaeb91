//! Whether a fault is in or out, by what the cluster says now: the object, its records, its targets.

use crate::clients::KubeContext;
use crate::model::chaos_mesh::ChaosMeshUndo;
use crate::model::problem::Problem;
use crate::model::request::{Absence, Proof};

/// How many of the targets carry the fault: the records of Chaos Mesh by id, and the pods by uid.
pub(super) async fn confirm(_: &KubeContext, _: &ChaosMeshUndo) -> Result<Proof, Problem> {
    unimplemented!()
}

/// Whether the object is gone and its targets are as they were.
pub(super) async fn verify_gone(_: &KubeContext, _: &ChaosMeshUndo) -> Result<Absence, Problem> {
    unimplemented!()
}

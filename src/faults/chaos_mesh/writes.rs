//! The only requests that change something in a cluster: one POST, and one DELETE for it.

use super::super::Injection;
use crate::clients::KubeContext;
use crate::model::chaos_mesh::ChaosMeshUndo;

/// Creates the object, exactly as the undo has it, with strict field validation.
pub(super) async fn inject(_context: &KubeContext, _undo: &ChaosMeshUndo) -> Injection {
    unimplemented!()
}

/// Deletes the object, if it is there, is ours and is not being deleted yet; waits for nothing.
pub(super) async fn revert(_context: &KubeContext, _undo: &ChaosMeshUndo) -> Injection {
    unimplemented!()
}

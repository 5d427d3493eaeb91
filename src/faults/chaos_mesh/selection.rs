//! Which pods a fault goes into: the selector is resolved here, pod by pod, so that what a plan shows is
//! what is hit.

use serde_json::Value;

use crate::clients::KubeContext;
use crate::model::chaos_mesh::TargetPod;
use crate::model::problem::Problem;
use crate::model::units::Percent;

/// What a selector found.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Selection {
    /// The chosen pods, sorted by namespace and name.
    pub(super) chosen: Vec<TargetPod>,
    /// How many could have been chosen: running, and not on their way out.
    pub(super) candidates: usize,
    /// Pods that the selector finds and that were left out, each with why: `shop/cart-7 (Pending)`.
    pub(super) left_out: Vec<String>,
}

/// Resolves a selector of Chaos Mesh (contract: its `selector` field) as its controller would, but for
/// pods that are not running or on their way out, which it would pick and never inject. Of n candidates
/// `ceil(n * share)` are chosen, the same ones each time for one seed, and those of a smaller share are
/// among those of a larger one.
///
/// # Errors
/// The cluster does not answer or does not let us look; a selector that cannot be resolved; no pod.
pub(super) async fn select(
    _context: &KubeContext,
    _namespace: &str,
    _selector: &Value,
    _share: Percent,
    _seed: &str,
) -> Result<Selection, Problem> {
    unimplemented!()
}

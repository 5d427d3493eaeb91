//! Whether the evidence of a run can be kept and believed: asked before the first fault.

use super::Desk;
use crate::clients::Clients;
use crate::error::Failure;
use crate::plan::Plan;

/// Nothing is written to the world.
pub(super) async fn preflight(
    _desk: &Desk,
    _plan: &Plan,
    _clients: &Clients,
) -> Result<(), Failure> {
    Ok(())
}

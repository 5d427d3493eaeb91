//! What is asked of a cluster itself: who it is, and the lock of a namespace that a run holds.
//!
//! Called by `plan` (identity) and `commands` (lock). Nothing else here is written to a cluster than
//! the one Lease that is the lock.

mod answers;
mod asking;
mod identity;
pub mod lease;

pub use identity::identify;

//! What is asked of a cluster itself: who it is, what time it is there, and the lock of a
//! namespace that a run holds.
//!
//! Called by `plan` (identity) and `commands` (time, lock). Nothing else here is written to a cluster than
//! the one Lease that is the lock.

mod answers;
mod asking;
mod identity;
pub mod lease;
mod time;

pub use identity::identify;
pub use time::told_time;

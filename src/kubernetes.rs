//! What is asked of a cluster: who it is, what time it is there, the lock of a namespace that a run
//! holds, and objects of any kind.
//!
//! Called by `plan` (identity), `commands` (time, lock), `faults` and `metrics` (objects). By itself it
//! writes nothing but the one Lease that is the lock.

mod answers;
mod asking;
mod identity;
pub mod lease;
mod objects;
mod time;

pub use asking::{Reply, Verb};
pub use identity::identify;
pub use objects::{Depth, ObjectPath, each, get, refused, send};
pub use time::told_time;

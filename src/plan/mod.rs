//! Experiments: load, resolve against the world, digest, compare.

mod digest;
pub mod document;
mod drift;
mod resolve;
pub mod variables;

pub use digest::{StoredPlan, canonical};
pub use drift::{Difference, differences};
pub use resolve::{DocumentSource, Plan, PlannedStep, PolicyIdentity, Resolution, resolve};

//! Experiments: load, resolve against the world, digest, compare.
//!
//! Loading goes `source` → `parse` (a spanned `tree`) → `substitute` → `decode` → `experiment`;
//! every stage adds to one list of `problems`, so that a reader sees all of them at once.

mod access;
pub(crate) mod decode;
mod digest;
pub mod document;
mod drift;
mod experiment;
pub(crate) mod fields;
mod gauges;
mod hidden;
pub mod load;
mod offsets;
mod parse;
mod places;
pub mod problems;
mod queries;
mod rehearse;
mod resolve;
mod scalar;
pub mod schema;
mod secrets;
mod shapes;
pub mod source;
mod sources;
mod steps;
mod substitute;
mod syntax;
pub mod template;
pub(crate) mod tree;
pub mod variables;
pub(crate) mod words;

pub use digest::{StoredPlan, canonical};
pub use document::{Experiment, Step};
pub use drift::{Difference, Topic, differences};
pub use load::{Loaded, load_experiment};
pub use problems::{DocumentError, DocumentProblem};
pub use rehearse::rehearse;
pub use resolve::{DocumentSource, Plan, PlannedStep, PolicyIdentity, Resolution, draft, resolve};
pub use schema::experiment_schema;
pub use secrets::unusable_secrets;
pub use source::{Source, read_locked, read_source};
pub use tree::Spans;
pub use variables::{UsedVariable, VariableSource, Variables, parse_flag, read_variable_file};

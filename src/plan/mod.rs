//! Experiments: load, resolve against the world, digest.
//!
//! Loading goes `source` → `parse` (a spanned `tree`) → `substitute` → `decode` → `experiment`;
//! every stage adds to one list of `problems`, so that a reader sees all of them at once.

pub(crate) mod decode;
pub mod document;
mod experiment;
pub(crate) mod fields;
mod gauges;
pub mod load;
mod offsets;
mod parse;
pub mod problems;
mod scalar;
pub mod schema;
mod shapes;
pub mod source;
mod steps;
mod substitute;
mod syntax;
pub(crate) mod tree;
pub mod variables;
pub(crate) mod words;

pub use load::{Loaded, load_experiment};
pub use problems::{DocumentError, DocumentProblem};
pub use schema::experiment_schema;
pub use source::{Source, read_source};
pub use tree::Spans;
pub use variables::{UsedVariable, VariableSource, Variables, parse_flag, read_variable_file};

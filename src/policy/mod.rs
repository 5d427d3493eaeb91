//! What is never allowed, what needs whom, how far a fault may go: code that explains itself.
//!
//! `evaluate` finds, `admit` decides. An `AdmittedPlan` is the only thing a run takes, and `admit` is
//! the only way to one.

mod admit;
mod built_in;
mod finding;
mod rules;

pub use admit::{Admission, AdmittedPlan, Refusal, admit};
pub use built_in::{Policy, built_in};
pub use finding::{Finding, Severity};
pub use rules::{Facts, OwnSandbox, RULES, Rule, evaluate};

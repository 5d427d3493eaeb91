//! What is never allowed, what needs whom, how far a fault may go: code that explains itself.
//!
//! `evaluate` finds, `admit` decides. An `AdmittedPlan` is the only thing a run takes, and `admit` is
//! the only way to one.

mod admit;
mod advice;
mod built_in;
mod calendar;
mod document;
mod finding;
mod hosts;
mod reading;
mod rules;
mod schema;
mod shapes;
mod standing;
mod template;
mod weigh;

pub use admit::{Admission, AdmittedPlan, Refusal, admit, answer, made_under};
pub use advice::{Advice, advice};
pub use built_in::{BUILT_IN, built_in};
pub use document::{
    ApprovalNeed, ApprovalRules, Attendance, BlastRadius, DayOfWeek, Environment, Freeze,
    HostPattern, KubernetesProof, Limits, LocalStackProof, Moment, Permission, Policy, Production,
    Proof, RequiredPresence, SignersFile, Window,
};
pub use finding::{Finding, Severity};
pub use reading::{ReadFile, load_policy};
pub use rules::{Facts, OwnSandbox, RULES, Rule, evaluate, proof};
pub use schema::policy_schema;
pub use standing::{Halt, Said, Standing};
pub use template::{FirstPolicy, first_policy, way_out};
pub use weigh::{Granted, Scales};

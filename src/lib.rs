//! Guided game days: plan a fault, have a person approve exactly that plan, inject it while SLOs
//! are watched, undo it and prove it gone.
//!
//! The layers, from the bottom up; each knows only those above it in this list:
//!
//! | layer | what it is |
//! |---|---|
//! | [`model`] | the words of the domain: pure data and pure functions |
//! | [`clients`] | HTTP clients and those of Kubernetes, made once |
//! | [`kubernetes`] | who a cluster is, and the lock of its namespaces |
//! | [`faults`], [`metrics`] | platforms that faults go in through, sources that SLOs are read from |
//! | [`plan`] | documents: load, resolve, digest |
//! | [`policy`] | rules, and the only way to an `AdmittedPlan` |
//! | [`run`] | the engine; knows no terminal and no file |
//! | [`journal`], [`report`], [`view`] | evidence on disk, as a document, on a screen |
//! | [`session`] | joins a run to its journal and views |
//! | [`guardian`] | the detached process, and going on with a run where its own stopped |
//! | [`commands`] | wiring, one file a verb |
//!
//! | to add | open |
//! |---|---|
//! | a fault platform | `faults/`: a module, a variant of `Fault` |
//! | a metric source | `metrics/`: a file, a variant of `Metric` |
//! | a policy rule | `policy/rules/`: a file, a line in `RULES` |
//! | a report format | `report/`: a file, a variant of `ReportFormat` |
//! | a subcommand | `commands/`: a file, a variant in `cli.rs`, an arm |
//! | an event or a phase | `model/`: the variant or row; exhaustive matches name the rest |

pub mod cli;
pub mod clients;
pub mod commands;
mod completing;
pub mod error;
pub mod exit;
pub mod faults;
pub mod guardian;
pub mod journal;
pub mod kubernetes;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod policy;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod session;
pub mod settings;
pub mod signing;
pub mod view;

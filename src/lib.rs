//! Guided game days: plan a fault, have a person approve exactly that plan, inject it while SLOs
//! are watched, undo it and prove it gone.

pub mod clients;
pub mod faults;
pub mod journal;
pub mod metrics;
pub mod model;
pub mod plan;
pub mod policy;
pub mod report;
pub mod run;
pub mod sandbox;
pub mod view;

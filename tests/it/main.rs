//! The one integration binary.

mod architecture;
mod cli;
mod command;
mod documents;
mod dying;
mod endings;
mod engine;
mod examples;
mod journal;
mod localstack;
mod plans;
mod policy;
mod project;
mod prometheus;
mod promql;
mod rehearsal;
mod reports;
mod sandbox;
mod support;
mod traffic;
mod truth;
mod views;

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
mod judgement;
mod localstack;
mod persons;
mod plans;
mod policy;
mod project;
mod prometheus;
mod promql;
mod rehearsal;
mod reports;
mod sandbox;
mod scrape;
mod support;
mod timing;
mod traffic;
mod truth;
mod views;

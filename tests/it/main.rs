//! The one integration binary.

mod architecture;
mod cli;
mod command;
mod documents;
mod engine;
mod examples;
mod journal;
mod localstack;
mod plans;
mod policy;
mod project;
mod reports;
mod sandbox;
mod support;
mod traffic;
mod views;

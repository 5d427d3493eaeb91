//! The one integration binary.

mod command;
mod documents;
mod dying;
mod endings;
mod engine;
mod journal;
mod localstack;
mod plans;
mod policy;
mod reports;
mod sandbox;
mod support;
mod traffic;
mod truth;
mod views;

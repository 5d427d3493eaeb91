//! The one integration binary.

mod architecture;
mod command;
mod documents;
mod engine;
mod journal;
mod localstack;
mod project;
mod reports;
mod sandbox;
mod support;
mod traffic;
mod views;

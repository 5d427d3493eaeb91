//! The one integration binary.

mod cli;
mod command;
mod documents;
mod engine;
mod journal;
mod localstack;
mod reports;
mod sandbox;
mod support;
mod traffic;
mod views;

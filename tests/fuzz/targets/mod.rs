//! The targets, by what they read.

mod answers;
mod approvals;
mod completions;
mod documents;
mod journals;
mod pages;
mod plans;
mod words;

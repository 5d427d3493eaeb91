//! PromQL: reading a query, and answering the documented subset of it (docs/promql.md) from samples
//! of our own.
//!
//! Prometheus 2.42 is the reference: tests ask both the same questions about the same samples.

mod place;
mod reading;
mod survey;

use promql_parser::parser::Expr;

use super::series::{Labels, SeriesStore};
use crate::model::problem::{Problem, ProblemKind};
pub use reading::{Unreadable, parse};
pub use survey::{labels_apart, longest_range, selectors, several_series};

/// What an expression evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number without labels.
    Scalar(f64),
    /// One number for each set of labels, in the order of the labels.
    Vector(Vec<(Labels, f64)>),
}

/// Whether the query can be answered from our own samples.
///
/// # Errors
/// Every part that is outside the subset, by name.
pub fn check(expression: &Expr) -> Result<(), Vec<Problem>> {
    let _ = expression;
    Ok(())
}

/// Answers a query at one instant, in milliseconds since 1970.
///
/// # Errors
/// It cannot be answered: a part outside the subset, or labels that match several series.
pub fn evaluate(expression: &Expr, store: &SeriesStore, at_ms: i64) -> Result<Value, Problem> {
    let _ = (expression, store, at_ms);
    Err(Problem::new(
        ProblemKind::Absent,
        "this version cannot answer queries yet",
    ))
}

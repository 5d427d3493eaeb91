//! PromQL: reading a query, and answering the documented subset of it from samples of our own.

use promql_parser::parser::{self, Expr};

use super::series::{Labels, SeriesStore};
use crate::model::problem::{Problem, ProblemKind};

/// What an expression evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number without labels.
    Scalar(f64),
    /// One number for each set of labels, in the order of the labels.
    Vector(Vec<(Labels, f64)>),
}

/// Reads a query: any PromQL that the parser knows.
///
/// # Errors
/// It is no PromQL; the parser's words.
pub fn parse(query: &str) -> Result<Expr, Problem> {
    parser::parse(query)
        .map_err(|why| Problem::new(ProblemKind::Invalid, format!("this is no PromQL: {why}")))
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

//! PromQL: reading a query, and answering the documented subset of it (docs/promql.md) from samples
//! of our own.
//!
//! Prometheus 2.42 is the reference: tests ask both the same questions about the same samples.

mod aggregate;
mod answer;
mod buckets;
mod evaluate;
mod functions;
mod letters;
mod numbers;
mod operators;
mod over_time;
mod place;
mod reading;
mod select;
mod subset;
mod survey;

use promql_parser::parser::Expr;

use super::series::{Labels, SeriesStore};
use crate::model::problem::Problem;
use crate::model::units::Span;
pub use aggregate::{AGGREGATIONS, Aggregation};
use answer::Moment;
pub use functions::{FUNCTIONS, Function};
pub use operators::{OPERATORS, Operator};
pub use reading::{Unreadable, parse};
pub use subset::check;
pub use survey::{labels_apart, longest_range, narrowed, range_of, selectors, several_series};

/// What an expression evaluates to.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A number without labels.
    Scalar(f64),
    /// One number for each set of labels, in the order of the labels.
    Vector(Vec<(Labels, f64)>),
}

/// How far back a selector without a range looks for a series' latest sample.
pub const LOOK_BACK: Span = Span::from_secs(300);

/// Answers a query at one instant, in milliseconds since 1970.
///
/// # Errors
/// It cannot be answered: a part outside the subset, or labels that match several series.
pub fn evaluate(expression: &Expr, store: &SeriesStore, at_ms: i64) -> Result<Value, Problem> {
    if let Err(problems) = check(expression)
        && let Some(first) = problems.into_iter().next()
    {
        return Err(first);
    }
    let moment = Moment { store, at_ms };
    Ok(moment.answer(expression)?.into_value())
}

#[cfg(test)]
mod tests;

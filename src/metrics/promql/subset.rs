//! What of PromQL can be answered from our own samples, and how the rest is refused: by its name,
//! with a way out.

use std::fmt::Display;

use promql_parser::parser::token::TokenType;
use promql_parser::parser::value::ValueType;
use promql_parser::parser::{
    AggregateExpr, BinModifier, BinaryExpr, Call, Expr, VectorMatchCardinality, VectorSelector,
};

use super::aggregate::{AGGREGATIONS, Aggregation};
use super::functions::{FUNCTIONS, Function};
use super::operators::{OPERATORS, Operator};
use super::survey::parts;
use crate::model::problem::{Problem, ProblemKind};

/// Whether the query can be answered from our own samples.
///
/// # Errors
/// Every part that is outside the subset, by name, each once.
pub fn check(expression: &Expr) -> Result<(), Vec<Problem>> {
    let mut problems = Vec::new();
    match expression.value_type() {
        ValueType::Matrix => problems.push(refused(
            "a range",
            "take a number of it, as in `rate(…[1m])` or `avg_over_time(…[1m])`",
        )),
        ValueType::Vector | ValueType::Scalar | ValueType::String => {}
    }
    refuse(expression, &mut problems);
    if problems.is_empty() {
        Ok(())
    } else {
        Err(problems)
    }
}

fn refuse(expression: &Expr, problems: &mut Vec<Problem>) {
    let own = match expression {
        Expr::Call(call) => of_call(call).into_iter().collect(),
        Expr::Aggregate(aggregate) => of_aggregate(aggregate).into_iter().collect(),
        Expr::Binary(binary) => of_binary(binary),
        Expr::VectorSelector(selector) => of_selector(selector),
        Expr::MatrixSelector(selector) => of_selector(&selector.vs),
        Expr::Subquery(_) => vec![refused(
            "a subquery (`[…:…]`)",
            "use a range of one selector, as in `max_over_time(…[5m])`",
        )],
        Expr::StringLiteral(text) => vec![refused(
            &format!("the text {:?}", text.val),
            "compare labels in the selector, as in `{code=\"500\"}`",
        )],
        Expr::Extension(_) => vec![refused("an extension of the parser", "write it out")],
        Expr::Unary(_) | Expr::Paren(_) | Expr::NumberLiteral(_) => Vec::new(),
    };
    for problem in own {
        if !problems.contains(&problem) {
            problems.push(problem);
        }
    }
    for part in parts(expression) {
        refuse(part, problems);
    }
}

fn of_call(call: &Call) -> Option<Problem> {
    let name = call.func.name;
    if function(name).is_some() {
        return None;
    }
    let what = format!("the function `{name}`");
    Some(if name.starts_with("histogram_") {
        refused(
            &format!("{what}, which is for native histograms,"),
            "use `histogram_quantile` of the `_bucket` series, or divide the rates of `_sum` and `_count`",
        )
    } else {
        refused(&what, "use one of the functions in docs/promql.md")
    })
}

fn of_aggregate(aggregate: &AggregateExpr) -> Option<Problem> {
    if aggregation(aggregate.op).is_some() {
        return None;
    }
    let names: Vec<_> = AGGREGATIONS.iter().map(|known| known.name).collect();
    Some(refused(
        &format!("the aggregation `{}`", aggregate.op),
        &format!("use one of {}", names.join(", ")),
    ))
}

fn of_binary(binary: &BinaryExpr) -> Vec<Problem> {
    let mut problems = Vec::new();
    if operator(binary.op).is_none() {
        let what = format!("the operator `{}`", binary.op);
        problems.push(refused(&what, "use one of the operators in docs/promql.md"));
    }
    let one_to_one = "aggregate the side that has several series, so that each has one partner";
    if let Some(modifier) = &binary.modifier {
        match &modifier.card {
            VectorMatchCardinality::ManyToOne(_) => {
                problems.push(refused("`group_left`", one_to_one));
            }
            VectorMatchCardinality::OneToMany(_) => {
                problems.push(refused("`group_right`", one_to_one));
            }
            VectorMatchCardinality::OneToOne | VectorMatchCardinality::ManyToMany => {}
        }
        if is_filled(modifier) {
            problems.push(refused("`fill`", "write `or vector(0)` after that side"));
        }
    }
    problems
}

fn is_filled(modifier: &BinModifier) -> bool {
    modifier.fill_values.lhs.is_some() || modifier.fill_values.rhs.is_some()
}

fn of_selector(selector: &VectorSelector) -> Vec<Problem> {
    let mut problems = Vec::new();
    if selector.offset.is_some() {
        let way = "leave it out: no more of the past is kept than the longest range needs";
        problems.push(refused("`offset`", way));
    }
    if selector.at.is_some() {
        problems.push(refused("`@`", "leave it out: queries are about now"));
    }
    if !selector.matchers.or_matchers.is_empty() {
        let way = "join two selectors with the operator `or`";
        problems.push(refused("`or` between matchers", way));
    }
    problems
}

fn refused(what: &str, way_out: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("{what} cannot be answered from pages alone"),
    )
    .hint(format!(
        "{way_out}; or read this SLO from `prometheus`, which answers all of PromQL"
    ))
}

/// A part that `check` would have refused.
pub(super) fn unknown(part: &impl Display) -> Problem {
    refused(&format!("`{part}`"), "see docs/promql.md")
}

pub(super) fn function(name: &str) -> Option<&'static Function> {
    FUNCTIONS.iter().find(|function| function.name == name)
}

pub(super) fn aggregation(token: TokenType) -> Option<&'static Aggregation> {
    let mut all = AGGREGATIONS.iter();
    all.find(|aggregation| aggregation.token == token.id())
}

pub(super) fn operator(token: TokenType) -> Option<&'static Operator> {
    OPERATORS
        .iter()
        .find(|operator| operator.token == token.id())
}

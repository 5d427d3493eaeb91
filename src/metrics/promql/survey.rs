//! What a query looks at, without answering it: how far back, at which series; and how series differ.

use std::collections::{BTreeMap, BTreeSet};

use promql_parser::label::{MatchOp, Matcher};
use promql_parser::parser::{Expr, VectorSelector};

use super::answer::{LabelSet, borrowed_labels};
use crate::metrics::series::Labels;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// The longest range of the query (`[5m]`), a subquery's (`[1h:1m]`) included; `None`: it has none.
pub fn longest_range(expression: &Expr) -> Option<Span> {
    let ranges = ranges(expression).into_iter();
    ranges.map(|(_, range)| range).max()
}

/// The longest range that the query takes of a selector, as `selectors` tells it; `None`: it takes the
/// latest samples alone.
pub fn range_of(expression: &Expr, selector: &VectorSelector) -> Option<Span> {
    let ranges = ranges(expression).into_iter();
    let its_own = ranges.filter(|(taken, _)| taken.is_some_and(|taken| bare(taken) == *selector));
    its_own.map(|(_, range)| range).max()
}

/// Every range of the query, each with the selector that it is taken of; a subquery's has none.
fn ranges(expression: &Expr) -> Vec<(Option<&VectorSelector>, Span)> {
    let own = match expression {
        Expr::MatrixSelector(taken) => Some((Some(&taken.vs), Span::of(taken.range))),
        Expr::Subquery(subquery) => Some((None, Span::of(subquery.range))),
        Expr::Aggregate(_)
        | Expr::Unary(_)
        | Expr::Binary(_)
        | Expr::Paren(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::VectorSelector(_)
        | Expr::Call(_)
        | Expr::Extension(_) => None,
    };
    let below = parts(expression).into_iter().flat_map(ranges);
    own.into_iter().chain(below).collect()
}

/// Name and matchers, without offset and `@`.
fn bare(selector: &VectorSelector) -> VectorSelector {
    VectorSelector::new(selector.name.clone(), selector.matchers.clone())
}

/// The selectors of the query, each once, in the order in which they appear: name and matchers,
/// without range, offset and `@`. The text of one stands for itself in another query.
pub fn selectors(expression: &Expr) -> Vec<VectorSelector> {
    let mut found = Vec::new();
    collect_selectors(expression, &mut found);
    found
}

fn collect_selectors(expression: &Expr, found: &mut Vec<VectorSelector>) {
    let own = match expression {
        Expr::VectorSelector(selector) => Some(selector),
        Expr::MatrixSelector(selector) => Some(&selector.vs),
        Expr::Aggregate(_)
        | Expr::Unary(_)
        | Expr::Binary(_)
        | Expr::Paren(_)
        | Expr::Subquery(_)
        | Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::Call(_)
        | Expr::Extension(_) => None,
    };
    if let Some(selector) = own {
        let bare = bare(selector);
        if !found.contains(&bare) {
            found.push(bare);
        }
    }
    for part in parts(expression) {
        collect_selectors(part, found);
    }
}

/// The selector of one of a selector's series, by the labels that a result tells of it.
pub fn narrowed<'l>(
    selector: &VectorSelector,
    labels: impl IntoIterator<Item = (&'l str, &'l str)>,
) -> VectorSelector {
    let equal = |(name, value): (&str, &str)| Matcher::new(MatchOp::Equal, name, value);
    let mut one = selector.clone();
    one.matchers.matchers.extend(labels.into_iter().map(equal));
    one
}

/// The expressions that an expression is made of, from left to right.
pub(super) fn parts(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::Aggregate(aggregate) => {
            let parameter = aggregate.param.as_deref();
            parameter.into_iter().chain([&*aggregate.expr]).collect()
        }
        Expr::Unary(unary) => vec![&unary.expr],
        Expr::Binary(binary) => vec![&binary.lhs, &binary.rhs],
        Expr::Paren(paren) => vec![&paren.expr],
        Expr::Subquery(subquery) => vec![&subquery.expr],
        Expr::Call(call) => call.args.args.iter().map(|part| &**part).collect(),
        Expr::Extension(extension) => extension.expr.children().iter().collect(),
        Expr::NumberLiteral(_)
        | Expr::StringLiteral(_)
        | Expr::VectorSelector(_)
        | Expr::MatrixSelector(_) => Vec::new(),
    }
}

/// The names of the labels by which these series differ, in their order. A label that a series
/// lacks is an empty one, as everywhere in PromQL.
pub fn labels_apart(series: &[Labels]) -> Vec<String> {
    let sets: Vec<_> = series.iter().map(borrowed_labels).collect();
    let apart = apart(&sets).into_iter();
    apart.map(str::to_owned).collect()
}

pub(super) fn apart<'a>(sets: &[LabelSet<'a>]) -> BTreeSet<&'a str> {
    let mut seen: BTreeMap<&str, (&str, usize)> = BTreeMap::new();
    let mut apart = BTreeSet::new();
    for (name, value) in sets.iter().flatten() {
        let (first, count) = seen.entry(name).or_insert((value, 0));
        *count += 1;
        if first != value {
            apart.insert(*name);
        }
    }
    let lacking = seen
        .into_iter()
        .filter(|(_, (_, count))| *count < sets.len());
    apart.extend(lacking.map(|(name, _)| name));
    apart
}

/// What is said where one series was asked for and these came: by which labels they differ, and how
/// to make one of them.
pub fn several_series(series: &[Labels]) -> Problem {
    let apart = labels_apart(series);
    let labels: Vec<_> = apart.iter().map(|name| format!("`{name}`")).collect();
    let message = format!(
        "the query answers with {} series where one is needed; they differ in {}",
        series.len(),
        labels.join(", ")
    );
    let without: Vec<_> = apart
        .iter()
        .map(String::as_str)
        .filter(|name| *name != "__name__")
        .collect();
    Problem::new(ProblemKind::Invalid, message).hint(format!(
        "aggregate them, as in `sum without ({}) (…)`, or choose one with a matcher such as `{}=\"…\"`",
        without.join(", "),
        apart.first().map_or("job", String::as_str)
    ))
}

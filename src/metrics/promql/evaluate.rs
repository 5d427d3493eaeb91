//! Walks the syntax tree and works out each part of it.

use promql_parser::parser::{AggregateExpr, BinaryExpr, Call, Expr, UnaryExpr};

use super::answer::{Answer, Moment, misplaced, unique};
use super::operators::Matching;
use super::subset;
use crate::model::problem::Problem;

impl<'a> Moment<'a> {
    /// What an expression evaluates to.
    pub(super) fn answer(self, expression: &Expr) -> Result<Answer<'a>, Problem> {
        match expression {
            Expr::NumberLiteral(number) => Ok(Answer::Scalar(number.val)),
            Expr::Paren(paren) => self.answer(&paren.expr),
            Expr::VectorSelector(selector) => Ok(Answer::Vector(self.latest(selector))),
            Expr::Unary(unary) => self.negative(unary),
            Expr::Aggregate(aggregate) => self.aggregate(aggregate),
            Expr::Binary(binary) => self.binary(binary),
            Expr::Call(call) => self.call(call),
            Expr::MatrixSelector(_)
            | Expr::Subquery(_)
            | Expr::StringLiteral(_)
            | Expr::Extension(_) => Err(misplaced("a range or a text is no value")),
        }
    }

    fn negative(self, unary: &UnaryExpr) -> Result<Answer<'a>, Problem> {
        match self.answer(&unary.expr)? {
            Answer::Scalar(value) => Ok(Answer::Scalar(-value)),
            Answer::Vector(samples) => {
                let negative = samples.into_iter().map(|sample| {
                    let value = -sample.value;
                    sample.renamed(value)
                });
                unique(negative.collect()).map(Answer::Vector)
            }
        }
    }

    fn aggregate(self, aggregate: &AggregateExpr) -> Result<Answer<'a>, Problem> {
        let samples = self.answer(&aggregate.expr)?.vector()?;
        let known =
            subset::aggregation(aggregate.op).ok_or_else(|| subset::unknown(&aggregate.op))?;
        Ok(Answer::Vector(
            known.of(samples, aggregate.modifier.as_ref()),
        ))
    }

    fn binary(self, binary: &BinaryExpr) -> Result<Answer<'a>, Problem> {
        let left = self.answer(&binary.lhs)?;
        let right = self.answer(&binary.rhs)?;
        let known = subset::operator(binary.op).ok_or_else(|| subset::unknown(&binary.op))?;
        known.of(left, right, &Matching::new(binary.modifier.as_ref()))
    }

    fn call(self, call: &Call) -> Result<Answer<'a>, Problem> {
        let known =
            subset::function(call.func.name).ok_or_else(|| subset::unknown(&call.func.name))?;
        known.of(&call.args.args, self)
    }
}

//! Operators: arithmetic, comparisons and sets, between numbers, vectors, or one of each.

use std::collections::{BTreeMap, BTreeSet};

use promql_parser::label::Labels as Names;
use promql_parser::parser::token::{
    T_ADD, T_DIV, T_EQLC, T_GTE, T_GTR, T_LAND, T_LOR, T_LSS, T_LTE, T_LUNLESS, T_MOD, T_MUL,
    T_NEQ, T_POW, T_SUB, TokenId,
};
use promql_parser::parser::{BinModifier, LabelModifier};

use super::aggregate::group_labels;
use super::answer::{Answer, LabelSet, Sample, drop_name, unique, written};
use super::survey::apart;
use crate::model::problem::{Problem, ProblemKind};

/// An operator between two expressions.
pub struct Operator {
    /// How it is written.
    pub sign: &'static str,
    /// What it does, for the documentation.
    pub does: &'static str,
    /// A use of it.
    pub example: &'static str,
    pub(super) token: TokenId,
    work: Work,
}

/// What an operator does with its two sides.
#[derive(Clone, Copy)]
enum Work {
    /// A new number, which is no longer the metric that it came from.
    Arithmetic(fn(f64, f64) -> f64),
    /// Keeps the left number where it holds; with `bool`, tells whether it holds.
    Comparison(fn(&f64, &f64) -> bool),
    /// Left series that are on the right too.
    And,
    /// Left series, and right ones that are not on the left.
    Or,
    /// Left series that are not on the right.
    Unless,
}

/// Every operator that can be answered.
pub const OPERATORS: &[Operator] = &[
    arithmetic("+", T_ADD, "sum", "queue_length + 1", |a, b| a + b),
    arithmetic("-", T_SUB, "difference", "queue_length - 1", |a, b| a - b),
    arithmetic("*", T_MUL, "product", "queue_length * 2", |a, b| a * b),
    arithmetic(
        "/",
        T_DIV,
        "quotient; by zero it is infinite, or NaN for zero by zero",
        "sum(rate(errors_total[1m])) / sum(rate(requests_total[1m]))",
        |a, b| a / b,
    ),
    arithmetic(
        "%",
        T_MOD,
        "remainder, with the sign of the left side",
        "queue_length % 2",
        |a, b| a % b,
    ),
    arithmetic("^", T_POW, "power", "queue_length ^ 2", f64::powf),
    comparison("==", T_EQLC, "equal", "queue_length == 3", f64::eq),
    comparison("!=", T_NEQ, "not equal", "queue_length != 3", f64::ne),
    comparison(">", T_GTR, "more", "queue_length > 3", f64::gt),
    comparison("<", T_LSS, "less", "queue_length < 3", f64::lt),
    comparison(">=", T_GTE, "at least", "queue_length >= 3", f64::ge),
    comparison("<=", T_LTE, "at most", "queue_length <= bool 3", f64::le),
    Operator {
        sign: "and",
        does: "left series that have a match on the right",
        example: "queue_length and on (pod) up",
        token: T_LAND,
        work: Work::And,
    },
    Operator {
        sign: "or",
        does: "left series, and those on the right that have no match on the left",
        example: "sum(rate(errors_total[1m])) or vector(0)",
        token: T_LOR,
        work: Work::Or,
    },
    Operator {
        sign: "unless",
        does: "left series that have no match on the right",
        example: "queue_length unless on (pod) up == 0",
        token: T_LUNLESS,
        work: Work::Unless,
    },
];

const fn arithmetic(
    sign: &'static str,
    token: TokenId,
    does: &'static str,
    example: &'static str,
    work: fn(f64, f64) -> f64,
) -> Operator {
    Operator {
        sign,
        does,
        example,
        token,
        work: Work::Arithmetic(work),
    }
}

const fn comparison(
    sign: &'static str,
    token: TokenId,
    does: &'static str,
    example: &'static str,
    work: fn(&f64, &f64) -> bool,
) -> Operator {
    Operator {
        sign,
        does,
        example,
        token,
        work: Work::Comparison(work),
    }
}

/// What a comparison gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The left number where it holds, nothing where it does not.
    Kept,
    /// 1 where it holds, 0 where it does not (`bool`).
    Told,
}

/// How the series of two sides find each other.
pub(super) struct Matching {
    outcome: Outcome,
    labels: LabelModifier,
}

impl Matching {
    /// As the query says it; by all labels where it says nothing.
    pub(super) fn new(modifier: Option<&BinModifier>) -> Self {
        let told = modifier.is_some_and(|modifier| modifier.return_bool);
        let labels = modifier.and_then(|modifier| modifier.matching.clone());
        Self {
            outcome: if told { Outcome::Told } else { Outcome::Kept },
            labels: labels.unwrap_or(LabelModifier::Exclude(Names::new(Vec::new()))),
        }
    }

    /// What a series is found by.
    fn key<'a>(&self, sample: &Sample<'a>) -> LabelSet<'a> {
        let mut labels = sample.labels.clone();
        group_labels(&mut labels, &self.labels);
        labels
    }
}

impl Operator {
    /// Works out both sides.
    ///
    /// # Errors
    /// A series that matches several, or several that end up with the same labels.
    pub(super) fn of<'a>(
        &self,
        left: Answer<'a>,
        right: Answer<'a>,
        matching: &Matching,
    ) -> Result<Answer<'a>, Problem> {
        let samples = match (left, right) {
            (Answer::Scalar(left), Answer::Scalar(right)) => {
                let value = self.numbers(left, right, Outcome::Told);
                return Ok(Answer::Scalar(value.unwrap_or(f64::NAN)));
            }
            (Answer::Vector(left), Answer::Scalar(right)) => {
                self.each(left, matching.outcome, |value| (value, right))
            }
            (Answer::Scalar(left), Answer::Vector(right)) => {
                self.each(right, matching.outcome, |value| (left, value))
            }
            (Answer::Vector(left), Answer::Vector(right)) => match self.work {
                Work::Arithmetic(_) | Work::Comparison(_) => self.pairs(left, right, matching)?,
                Work::And => keep(left, &keys(&right, matching), Side::In, matching),
                Work::Unless => keep(left, &keys(&right, matching), Side::Out, matching),
                Work::Or => {
                    let known = keys(&left, matching);
                    let more = keep(right, &known, Side::Out, matching);
                    left.into_iter().chain(more).collect()
                }
            },
        };
        unique(samples).map(Answer::Vector)
    }

    /// Works out two numbers; `None`: the comparison does not hold.
    fn numbers(&self, left: f64, right: f64, outcome: Outcome) -> Option<f64> {
        match self.work {
            Work::Arithmetic(work) => Some(work(left, right)),
            Work::Comparison(holds) => match (outcome, holds(&left, &right)) {
                (Outcome::Told, holds) => Some(f64::from(u8::from(holds))),
                (Outcome::Kept, true) => Some(left),
                (Outcome::Kept, false) => None,
            },
            // Sets are of vectors: the parser refuses them between numbers.
            Work::And | Work::Or | Work::Unless => None,
        }
    }

    /// A vector and a number: what a comparison keeps is the vector's, on whichever side it stands.
    fn each<'a>(
        &self,
        samples: Vec<Sample<'a>>,
        outcome: Outcome,
        sides: impl Fn(f64) -> (f64, f64),
    ) -> Vec<Sample<'a>> {
        let work = |sample: Sample<'a>| {
            let (left, right) = sides(sample.value);
            let value = self.numbers(left, right, outcome)?;
            Some(if self.keeps_name(outcome) {
                sample
            } else {
                sample.renamed(value)
            })
        };
        samples.into_iter().filter_map(work).collect()
    }

    /// Whether the result is still the metric on the left.
    fn keeps_name(&self, outcome: Outcome) -> bool {
        matches!(self.work, Work::Comparison(_)) && outcome == Outcome::Kept
    }

    /// Two vectors, one to one.
    fn pairs<'a>(
        &self,
        left: Vec<Sample<'a>>,
        right: Vec<Sample<'a>>,
        matching: &Matching,
    ) -> Result<Vec<Sample<'a>>, Problem> {
        if left.is_empty() {
            return Ok(left);
        }
        let mut partners: BTreeMap<LabelSet<'a>, Sample<'a>> = BTreeMap::new();
        for sample in right {
            let key = matching.key(&sample);
            if let Some(other) = partners.get(&key) {
                return Err(self.several(&key, "right", [other, &sample]));
            }
            partners.insert(key, sample);
        }
        let mut taken: BTreeMap<LabelSet<'a>, Sample<'a>> = BTreeMap::new();
        let mut results = Vec::new();
        for sample in left {
            let key = matching.key(&sample);
            let partner = partners.get(&key);
            let value = partner
                .and_then(|partner| self.numbers(sample.value, partner.value, matching.outcome));
            let Some(value) = value else {
                continue;
            };
            if let Some(other) = taken.get(&key) {
                return Err(self.several(&key, "left", [other, &sample]));
            }
            taken.insert(key, sample.clone());
            results.push(self.joined(sample, value, matching));
        }
        Ok(results)
    }

    /// The left series as the result: what the two sides did not have to share is left out.
    fn joined<'a>(&self, mut sample: Sample<'a>, value: f64, matching: &Matching) -> Sample<'a> {
        if !self.keeps_name(matching.outcome) {
            drop_name(&mut sample.labels);
        }
        match &matching.labels {
            LabelModifier::Include(_) => group_labels(&mut sample.labels, &matching.labels),
            LabelModifier::Exclude(ignored) => sample
                .labels
                .retain(|(name, _)| !ignored.labels.iter().any(|label| label == name)),
        }
        sample.value = value;
        sample
    }

    fn several(&self, key: &LabelSet<'_>, side: &str, found: [&Sample<'_>; 2]) -> Problem {
        let sets = found.map(|sample| sample.labels.clone());
        let names = apart(&sets).into_iter();
        let names: Vec<_> = names.map(|name| format!("`{name}`")).collect();
        let message = format!(
            "the labels {} match several series on the {side} side of `{}`, which differ in {}",
            written(key),
            self.sign,
            names.join(", ")
        );
        Problem::new(ProblemKind::Invalid, message).hint(
            "aggregate that side until one series is left for each match, as in `sum by (job) (…)`",
        )
    }
}

/// Which series a set operator keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    In,
    Out,
}

fn keys<'a>(samples: &[Sample<'a>], matching: &Matching) -> BTreeSet<LabelSet<'a>> {
    samples.iter().map(|sample| matching.key(sample)).collect()
}

fn keep<'a>(
    samples: Vec<Sample<'a>>,
    known: &BTreeSet<LabelSet<'a>>,
    side: Side,
    matching: &Matching,
) -> Vec<Sample<'a>> {
    let is_kept = |sample: &Sample<'a>| known.contains(&matching.key(sample)) == (side == Side::In);
    samples.into_iter().filter(is_kept).collect()
}

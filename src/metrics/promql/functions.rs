//! The functions that can be answered: one row each, which the documentation repeats.

use promql_parser::parser::Expr;

use super::answer::{Answer, Moment, Sample, misplaced, unique};
use super::select::Window;
use super::{buckets, numbers, over_time};
use crate::model::problem::Problem;

/// A function.
pub struct Function {
    /// Its name in a query.
    pub name: &'static str,
    /// What it does, for the documentation.
    pub does: &'static str,
    /// A use of it.
    pub example: &'static str,
    work: Work,
}

/// How a function is worked out.
enum Work {
    /// One number of each series' samples in a range.
    Range(fn(&Window) -> Option<f64>),
    /// The same, and what comes out is still the metric.
    RangeOfMetric(fn(&Window) -> Option<f64>),
    /// Each number by itself.
    Each(fn(f64) -> f64),
    /// Each number by itself, with numbers that follow it.
    EachWith(fn(f64, &[f64]) -> Option<f64>),
    /// In a way of its own, from its arguments.
    Own(for<'a> fn(Vec<Answer<'a>>, Moment<'a>) -> Result<Answer<'a>, Problem>),
}

/// Every function that can be answered.
pub const FUNCTIONS: &[Function] = &[
    range(
        "rate",
        "increase of a counter per second",
        "rate(requests_total[1m])",
        over_time::rate,
    ),
    range(
        "increase",
        "increase of a counter over the range",
        "increase(requests_total[1m])",
        over_time::increase,
    ),
    range(
        "irate",
        "increase of a counter per second, between its last two samples in the range",
        "irate(requests_total[1m])",
        over_time::irate,
    ),
    range(
        "delta",
        "difference of a gauge over the range",
        "delta(queue_length[1m])",
        over_time::delta,
    ),
    range(
        "idelta",
        "difference between the last two samples in the range",
        "idelta(queue_length[1m])",
        over_time::idelta,
    ),
    range(
        "resets",
        "how often a counter fell in the range",
        "resets(requests_total[5m])",
        over_time::resets,
    ),
    range(
        "changes",
        "how often the value changed in the range",
        "changes(queue_length[5m])",
        over_time::changes,
    ),
    range(
        "avg_over_time",
        "mean of the samples in the range",
        "avg_over_time(queue_length[1m])",
        over_time::avg,
    ),
    range(
        "min_over_time",
        "smallest sample in the range",
        "min_over_time(queue_length[1m])",
        over_time::min,
    ),
    range(
        "max_over_time",
        "largest sample in the range",
        "max_over_time(queue_length[1m])",
        over_time::max,
    ),
    range(
        "sum_over_time",
        "sum of the samples in the range",
        "sum_over_time(queue_length[1m])",
        over_time::sum,
    ),
    range(
        "count_over_time",
        "how many samples are in the range",
        "count_over_time(queue_length[1m])",
        over_time::count,
    ),
    Function {
        name: "last_over_time",
        does: "latest sample in the range; the metric's name stays",
        example: "last_over_time(queue_length[1m])",
        work: Work::RangeOfMetric(over_time::last),
    },
    own(
        "histogram_quantile",
        "quantile of classic histograms: linear within a bucket, at most the highest finite bound",
        "histogram_quantile(0.99, sum by (le) (rate(latency_seconds_bucket[1m])))",
        histogram_quantile,
    ),
    each("abs", "without its sign", "abs(queue_length - 3)", f64::abs),
    each(
        "sgn",
        "-1, 0 or 1, by its sign",
        "sgn(queue_length - 3)",
        numbers::sign,
    ),
    each(
        "ceil",
        "up to a whole number",
        "ceil(queue_length / 2)",
        f64::ceil,
    ),
    each(
        "floor",
        "down to a whole number",
        "floor(queue_length / 2)",
        f64::floor,
    ),
    each("sqrt", "square root", "sqrt(queue_length)", f64::sqrt),
    each("exp", "e to its power", "exp(queue_length)", f64::exp),
    each("ln", "natural logarithm", "ln(queue_length)", f64::ln),
    each("log2", "binary logarithm", "log2(queue_length)", f64::log2),
    each(
        "log10",
        "decimal logarithm",
        "log10(queue_length)",
        f64::log10,
    ),
    each_with(
        "round",
        "to the nearest multiple (of 1 unless said), halves upwards",
        "round(queue_length / 2, 0.5)",
        |value, more| {
            let multiple = more.first().copied().unwrap_or(1.0);
            Some(numbers::rounded(value, multiple))
        },
    ),
    each_with(
        "clamp",
        "no less than the first bound and no more than the second; nothing where the second is below the first",
        "clamp(queue_length, 1, 5)",
        |value, bounds| match bounds {
            [least, most] if most < least => None,
            [least, most] => Some(numbers::larger(*least, numbers::smaller(*most, value))),
            _ => None,
        },
    ),
    each_with(
        "clamp_min",
        "no less than the bound",
        "clamp_min(queue_length, 1)",
        |value, bounds| Some(numbers::larger(*bounds.first()?, value)),
    ),
    each_with(
        "clamp_max",
        "no more than the bound",
        "clamp_max(queue_length, 5)",
        |value, bounds| Some(numbers::smaller(*bounds.first()?, value)),
    ),
    own(
        "vector",
        "the number as a series without labels",
        "sum(rate(errors_total[1m])) or vector(0)",
        |arguments, _| {
            let [value] = taken(arguments)?;
            let value = value.scalar()?;
            let labels = Vec::new();
            Ok(Answer::Vector(vec![Sample { labels, value }]))
        },
    ),
    own(
        "scalar",
        "the number of a single series; NaN where there are none or several",
        "scalar(sum(queue_length))",
        |arguments, _| {
            let [samples] = taken(arguments)?;
            Ok(Answer::Scalar(match samples.vector()?.as_slice() {
                [sample] => sample.value,
                _ => f64::NAN,
            }))
        },
    ),
    own(
        "time",
        "the instant that is asked about, in seconds since 1970",
        "time() - last_success_timestamp_seconds",
        |_, moment| Ok(Answer::Scalar(moment.at_ms as f64 / 1_000.0)),
    ),
];

const fn range(
    name: &'static str,
    does: &'static str,
    example: &'static str,
    work: fn(&Window) -> Option<f64>,
) -> Function {
    Function {
        name,
        does,
        example,
        work: Work::Range(work),
    }
}

const fn each(
    name: &'static str,
    does: &'static str,
    example: &'static str,
    work: fn(f64) -> f64,
) -> Function {
    Function {
        name,
        does,
        example,
        work: Work::Each(work),
    }
}

const fn each_with(
    name: &'static str,
    does: &'static str,
    example: &'static str,
    work: fn(f64, &[f64]) -> Option<f64>,
) -> Function {
    Function {
        name,
        does,
        example,
        work: Work::EachWith(work),
    }
}

const fn own(
    name: &'static str,
    does: &'static str,
    example: &'static str,
    work: for<'a> fn(Vec<Answer<'a>>, Moment<'a>) -> Result<Answer<'a>, Problem>,
) -> Function {
    Function {
        name,
        does,
        example,
        work: Work::Own(work),
    }
}

impl Function {
    /// Works it out.
    ///
    /// # Errors
    /// Those of its arguments; several series that end up with the same labels.
    pub(super) fn of<'a>(
        &self,
        arguments: &[Box<Expr>],
        moment: Moment<'a>,
    ) -> Result<Answer<'a>, Problem> {
        let samples = match self.work {
            Work::Range(work) => {
                let values = over(arguments, moment, work)?.into_iter();
                values
                    .map(|sample| {
                        let value = sample.value;
                        sample.renamed(value)
                    })
                    .collect()
            }
            Work::RangeOfMetric(work) => over(arguments, moment, work)?,
            Work::Each(work) => {
                let [samples] = taken(answers(arguments, moment)?)?;
                let samples = samples.vector()?.into_iter();
                samples
                    .map(|sample| {
                        let value = work(sample.value);
                        sample.renamed(value)
                    })
                    .collect()
            }
            Work::EachWith(work) => {
                let mut all = answers(arguments, moment)?.into_iter();
                let samples = all
                    .next()
                    .ok_or_else(|| misplaced("an argument is missing"))?
                    .vector()?
                    .into_iter();
                let more = all.map(Answer::scalar).collect::<Result<Vec<_>, _>>()?;
                samples
                    .filter_map(|sample| {
                        let value = work(sample.value, &more)?;
                        Some(sample.renamed(value))
                    })
                    .collect()
            }
            Work::Own(work) => return work(answers(arguments, moment)?, moment),
        };
        unique(samples).map(Answer::Vector)
    }
}

fn answers<'a>(arguments: &[Box<Expr>], moment: Moment<'a>) -> Result<Vec<Answer<'a>>, Problem> {
    let each = arguments.iter().map(|argument| moment.answer(argument));
    each.collect()
}

/// So many arguments; the parser lets no other number of them through.
fn taken<const COUNT: usize>(arguments: Vec<Answer<'_>>) -> Result<[Answer<'_>; COUNT], Problem> {
    arguments
        .try_into()
        .map_err(|_| misplaced("a function has too few or too many arguments"))
}

fn over<'a>(
    arguments: &[Box<Expr>],
    moment: Moment<'a>,
    work: fn(&Window) -> Option<f64>,
) -> Result<Vec<Sample<'a>>, Problem> {
    match arguments.first().map(|argument| bare(argument)) {
        Some(Expr::MatrixSelector(selector)) => Ok(moment.over(selector, work)),
        _ => Err(misplaced("a range such as `[5m]` is missing")),
    }
}

/// Without the parentheses around it.
fn bare(expression: &Expr) -> &Expr {
    let mut inner = expression;
    while let Expr::Paren(paren) = inner {
        inner = &paren.expr;
    }
    inner
}

fn histogram_quantile<'a>(
    arguments: Vec<Answer<'a>>,
    _: Moment<'a>,
) -> Result<Answer<'a>, Problem> {
    let [quantile, samples] = taken(arguments)?;
    let found = buckets::quantiles(quantile.scalar()?, samples.vector()?);
    unique(found).map(Answer::Vector)
}

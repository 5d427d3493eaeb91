//! What parts of a query evaluate to while it is being answered: labels stay borrowed from the store.

use super::Value;
use crate::metrics::series::{Labels, SeriesStore};
use crate::model::problem::{Problem, ProblemKind};

/// The label that holds the metric's name.
pub(super) const NAME: &str = "__name__";

/// The labels of a series as pairs of name and value, in the order of the names, none empty.
pub(super) type LabelSet<'a> = Vec<(&'a str, &'a str)>;

/// The samples, and the instant that they are asked about, in milliseconds since 1970.
#[derive(Clone, Copy)]
pub(super) struct Moment<'a> {
    pub(super) store: &'a SeriesStore,
    pub(super) at_ms: i64,
}

/// One series of a vector.
#[derive(Debug, Clone)]
pub(super) struct Sample<'a> {
    pub(super) labels: LabelSet<'a>,
    pub(super) value: f64,
}

impl Sample<'_> {
    /// The same with another value and without the metric's name: it is no longer that metric.
    pub(super) fn renamed(mut self, value: f64) -> Self {
        drop_name(&mut self.labels);
        self.value = value;
        self
    }
}

/// What a part evaluates to.
#[derive(Debug, Clone)]
pub(super) enum Answer<'a> {
    Scalar(f64),
    Vector(Vec<Sample<'a>>),
}

impl<'a> Answer<'a> {
    /// The number; the parser lets nothing else stand where a scalar is needed.
    pub(super) fn scalar(self) -> Result<f64, Problem> {
        match self {
            Self::Scalar(value) => Ok(value),
            Self::Vector(_) => Err(misplaced("a vector stands where a number is needed")),
        }
    }

    /// The series; the parser lets nothing else stand where a vector is needed.
    pub(super) fn vector(self) -> Result<Vec<Sample<'a>>, Problem> {
        match self {
            Self::Vector(samples) => Ok(samples),
            Self::Scalar(_) => Err(misplaced("a number stands where a vector is needed")),
        }
    }

    /// For the outside: owned, and in the order of the labels.
    pub(super) fn into_value(self) -> Value {
        match self {
            Self::Scalar(value) => Value::Scalar(value),
            Self::Vector(mut samples) => {
                samples.sort_by(|one, other| one.labels.cmp(&other.labels));
                let owned = samples.into_iter();
                Value::Vector(
                    owned
                        .map(|sample| (owned_labels(&sample.labels), sample.value))
                        .collect(),
                )
            }
        }
    }
}

/// A part that cannot stand where it does.
pub(super) fn misplaced(message: &str) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

/// Takes the metric's name away.
pub(super) fn drop_name(labels: &mut LabelSet<'_>) {
    labels.retain(|(name, _)| *name != NAME);
}

/// The labels of a series of the store. An empty one is the same as none.
pub(super) fn borrowed_labels(labels: &Labels) -> LabelSet<'_> {
    let pairs = labels.iter();
    pairs
        .map(|(name, value)| (name.as_str(), value.as_str()))
        .filter(|(_, value)| !value.is_empty())
        .collect()
}

/// The labels for the outside.
pub(super) fn owned_labels(labels: &LabelSet<'_>) -> Labels {
    let pairs = labels.iter();
    pairs
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect()
}

/// As it is written in a query: `{code="500"}`.
pub(super) fn written(labels: &LabelSet<'_>) -> String {
    let pairs: Vec<_> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value:?}"))
        .collect();
    format!("{{{}}}", pairs.join(", "))
}

/// The samples, if no two have the same labels; puts them in the order of the labels.
///
/// # Errors
/// The labels that several have.
pub(super) fn unique(mut samples: Vec<Sample<'_>>) -> Result<Vec<Sample<'_>>, Problem> {
    samples.sort_by(|one, other| one.labels.cmp(&other.labels));
    let twice = samples
        .windows(2)
        .find(|pair| pair[0].labels == pair[1].labels);
    match twice {
        None => Ok(samples),
        Some(pair) => Err(Problem::new(
            ProblemKind::Invalid,
            format!(
                "the labels {} match several series once the metric's name is dropped",
                written(&pair[0].labels)
            ),
        )
        .hint(
            "name one metric in the selector, or aggregate what it finds, as in `sum by (job) (…)`",
        )),
    }
}

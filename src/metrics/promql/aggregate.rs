//! `sum`, `avg`, `min`, `max` and `count`: one number of each group of series.

use std::collections::BTreeMap;

use promql_parser::parser::LabelModifier;
use promql_parser::parser::token::{T_AVG, T_COUNT, T_MAX, T_MIN, T_SUM, TokenId};

use super::answer::{LabelSet, NAME, Sample};
use super::numbers::Mean;

/// A way to make one number of many.
pub struct Aggregation {
    /// Its name in a query.
    pub name: &'static str,
    /// What it does, for the documentation.
    pub does: &'static str,
    /// A use of it.
    pub example: &'static str,
    pub(super) token: TokenId,
    work: fn(&[f64]) -> f64,
}

/// Every aggregation that can be answered.
pub const AGGREGATIONS: &[Aggregation] = &[
    Aggregation {
        name: "sum",
        does: "the sum of each group",
        example: "sum by (code) (requests_total)",
        token: T_SUM,
        work: |values| values.iter().sum(),
    },
    Aggregation {
        name: "avg",
        does: "the mean of each group",
        example: "avg without (pod) (queue_length)",
        token: T_AVG,
        work: |values| {
            let mean = values.iter().copied().fold(Mean::default(), Mean::with);
            mean.value()
        },
    },
    Aggregation {
        name: "min",
        does: "the smallest of each group; NaN only where all are",
        example: "min(queue_length)",
        token: T_MIN,
        work: |values| values.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
    },
    Aggregation {
        name: "max",
        does: "the largest of each group; NaN only where all are",
        example: "max by (pod) (queue_length)",
        token: T_MAX,
        work: |values| values.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
    },
    Aggregation {
        name: "count",
        does: "how many series each group has",
        example: "count(queue_length > 3)",
        token: T_COUNT,
        work: |values| values.len() as f64,
    },
];

impl Aggregation {
    /// Groups the series, all in one without a modifier, and makes one of each group. No series, no
    /// group.
    pub(super) fn of<'a>(
        &self,
        samples: Vec<Sample<'a>>,
        modifier: Option<&LabelModifier>,
    ) -> Vec<Sample<'a>> {
        let mut groups: BTreeMap<LabelSet<'a>, Vec<f64>> = BTreeMap::new();
        for mut sample in samples {
            match modifier {
                None => sample.labels.clear(),
                Some(modifier) => group_labels(&mut sample.labels, modifier),
            }
            groups.entry(sample.labels).or_default().push(sample.value);
        }
        let whole = groups.into_iter().map(|(labels, values)| Sample {
            labels,
            value: (self.work)(&values),
        });
        whole.collect()
    }
}

/// Leaves those labels that tell groups apart: `by` and `on` name them; `without` and `ignoring`
/// name the others, to which the metric's name always belongs.
pub(super) fn group_labels(labels: &mut LabelSet<'_>, modifier: &LabelModifier) {
    match modifier {
        LabelModifier::Include(named) => {
            labels.retain(|(name, _)| named.labels.iter().any(|label| label == name));
        }
        LabelModifier::Exclude(named) => {
            labels.retain(|(name, _)| {
                *name != NAME && !named.labels.iter().any(|label| label == name)
            });
        }
    }
}

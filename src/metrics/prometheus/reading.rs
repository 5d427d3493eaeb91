//! From a result to the one number that an SLO is judged by.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use prometheus_http_query::response::{Data, Sample};

use super::trouble::Trouble;
use crate::model::sample::Reading;

/// Label names that are listed, at most.
const MOST_LABELS: usize = 5;

/// Characters of a label's name that are shown, at most.
const LONGEST_NAME: usize = 60;

/// The number in a result; `None`: the query finds nothing.
///
/// # Errors
/// It is several numbers.
pub(super) fn number(data: &Data) -> Result<Option<Sample>, Trouble> {
    match data {
        Data::Scalar(sample) => Ok(Some(*sample)),
        Data::Vector(series) => match series.as_slice() {
            [] => Ok(None),
            [one] => Ok(Some(*one.sample())),
            several => Err(several_series(several.iter().map(|one| one.metric()))),
        },
        Data::Matrix(_) => Err(Trouble::Unjudgeable {
            why: "the query returns a range of samples, not one number".to_owned(),
            way_out: "wrap it in a function over time, such as `rate(…)` or `avg_over_time(…)`"
                .to_owned(),
        }),
    }
}

/// A query that returns more than one series.
fn several_series<'s>(series: impl Iterator<Item = &'s HashMap<String, String>>) -> Trouble {
    Trouble::Unjudgeable {
        why: differing(series),
        way_out: "wrap the query in `sum(…)`, `max(…)` or another aggregation".to_owned(),
    }
}

/// How many series there are, and by which labels they differ.
pub(super) fn differing<'s>(series: impl Iterator<Item = &'s HashMap<String, String>>) -> String {
    let all: Vec<_> = series.collect();
    let mut values: BTreeMap<&str, BTreeSet<Option<&str>>> = BTreeMap::new();
    for name in all.iter().flat_map(|labels| labels.keys()) {
        values.entry(name).or_default();
    }
    for (name, values) in &mut values {
        values.extend(
            all.iter()
                .map(|labels| labels.get(*name).map(String::as_str)),
        );
    }
    let differing: Vec<_> = values
        .iter()
        .filter(|(_, values)| values.len() > 1)
        .map(|(name, _)| format!("`{}`", printable(name)))
        .collect();
    let shown = differing.iter().take(MOST_LABELS).cloned();
    let mut names = shown.collect::<Vec<_>>().join(", ");
    if differing.len() > MOST_LABELS {
        let more = differing.len() - MOST_LABELS;
        names.push_str(&format!(" and {more} more"));
    }
    format!("{} series that differ in {names}", all.len())
}

/// A label's name may be any text since Prometheus 3.
fn printable(name: &str) -> String {
    let plain = name.chars().filter(|letter| !letter.is_control());
    plain.take(LONGEST_NAME).collect()
}

/// What a number means for an SLO. What the server warns of may be the very reason that there is
/// none.
pub(super) fn reading(number: Option<f64>, warnings: &[String]) -> Reading {
    let why = match number {
        Some(number) if number.is_finite() => return Reading::Value(number),
        Some(number) if number.is_nan() => "the query's value is NaN".to_owned(),
        Some(number) if number > 0.0 => "the query's value is +Inf".to_owned(),
        Some(_) => "the query's value is -Inf".to_owned(),
        None => "the query finds nothing".to_owned(),
    };
    Reading::NoData {
        why: match warnings.first() {
            None => why,
            Some(warning) => format!("{why} (warning: {warning})"),
        },
    }
}

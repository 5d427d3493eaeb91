//! What an answer means, in words: a number that is none, no series at all.

use std::collections::BTreeSet;

use super::query::Query;
use super::selector::Selector;
use super::window::{Last, Page, Window};
use crate::model::sample::Reading;

/// Names that are listed, at most.
const MOST_NAMES: usize = 5;
/// Likeness from which on a name is offered for another; 1 is the same.
const ALIKE: f64 = 0.87;

/// What a number means for an SLO.
pub(super) fn reading(value: f64) -> Reading {
    let spelled = match value {
        value if value.is_nan() => "NaN",
        f64::INFINITY => "+Inf",
        f64::NEG_INFINITY => "-Inf",
        finite => return Reading::Value(finite),
    };
    Reading::NoData {
        why: format!("the query's value is {spelled}"),
    }
}

/// Why a query finds nothing while all its pages can be read.
pub(super) fn nothing(window: &Window, query: &Query, now_ms: i64) -> String {
    let unread = |page: &Page| matches!(page.last, Last::None);
    if window.pages.iter().all(unread) {
        return "no page has been read yet".to_owned();
    }
    let reads = |selector| window.concerned(selector).map(|page| page.reads).max();
    let mut comparing = query.selectors.iter().filter(|one| one.least > 1);
    if comparing.any(|selector| reads(selector) == Some(1)) {
        return "one read of the page so far, a rate needs two".to_owned();
    }
    for selector in &query.selectors {
        let found = window.found(selector, now_ms);
        if found.is_empty() {
            return missing(window, selector);
        }
        if let Some(range) = selector.range
            && found.iter().all(|samples| *samples < selector.least)
        {
            return format!(
                "`{}[{range}]` holds fewer than two samples",
                selector.written
            );
        }
    }
    "the query finds nothing".to_owned()
}

/// A selector without any series, and what it may have been meant to be.
pub(super) fn missing(window: &Window, selector: &Selector) -> String {
    let pages: Vec<_> = window.concerned(selector).collect();
    if pages.is_empty() {
        return format!("`{}` excludes every page by its labels", selector.written);
    }
    if pages.iter().any(|page| page.has(selector)) {
        return format!(
            "no series `{}`; the page has the metric, but not with these labels",
            selector.written
        );
    }
    let metrics: BTreeSet<_> = pages.iter().flat_map(|page| &page.metrics).collect();
    let like = near(selector, &metrics);
    let page = match like.is_empty() {
        true => "has nothing by a name like it".to_owned(),
        false => format!("has {}", listed(like)),
    };
    format!("no series `{}`; the page {page}", selector.written)
}

/// The names that a selector's is most like, the likest first.
fn near<'m>(selector: &Selector, metrics: &BTreeSet<&'m String>) -> Vec<&'m str> {
    let wanted = selector
        .written
        .split(['{', ' '])
        .next()
        .unwrap_or_default();
    let mut like: Vec<_> = metrics
        .iter()
        .map(|metric| (strsim::jaro_winkler(wanted, metric), metric.as_str()))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    like.sort_by(|one, other| other.0.total_cmp(&one.0));
    like.truncate(3);
    like.into_iter().map(|(_, metric)| metric).collect()
}

fn listed(names: Vec<&str>) -> String {
    let shown = names.iter().take(MOST_NAMES);
    let mut list = shown
        .map(|name| format!("`{name}`"))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MOST_NAMES {
        list.push_str(&format!(" and {} more", names.len() - MOST_NAMES));
    }
    list
}

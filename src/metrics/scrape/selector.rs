//! The selectors of a query: which series each of them asks for, and how far back.

use std::collections::VecDeque;
use std::time::Duration;

use promql_parser::label::Matcher;
use promql_parser::parser::{Expr, VectorSelector};
use promql_parser::util::{ExprVisitor, walk_expr};

use super::super::promql::LOOK_BACK;
use super::super::series::{Keeps, Labels, Point};
use crate::model::units::Span;

const NAME: &str = "__name__";

/// Series that we write ourselves after every read, of pages that cannot be read, too.
pub(super) const UP: &str = "up";
pub(super) const DURATION: &str = "scrape_duration_seconds";

/// Functions that compare two samples of a range; the others take what there is.
const COMPARING: &[&str] = &["rate", "irate", "increase", "delta", "idelta"];

/// One selector of a query.
pub(super) struct Selector {
    /// As it stands in the query.
    pub(super) written: String,
    /// The brackets behind it (`[30s]`), if it has any.
    pub(super) range: Option<Span>,
    /// How many samples its range has to hold at least.
    pub(super) least: usize,
    /// How much of the past it needs.
    pub(super) reach: Span,
    name: Option<String>,
    /// A series is meant if it satisfies all of these.
    matchers: Vec<Matcher>,
}

impl Selector {
    /// Every selector of a query, in the order of the text.
    pub(super) fn all(expression: &Expr) -> Vec<Self> {
        let mut found = Found::default();
        match walk_expr(&mut found, expression) {
            Ok(_) => found.selectors,
            Err(never) => match never {},
        }
    }

    fn new(selector: &VectorSelector, range: Option<Duration>, least: usize) -> Self {
        let range = range.map(Span::of);
        Self {
            written: selector.to_string(),
            range,
            least,
            reach: range.unwrap_or(LOOK_BACK),
            name: selector.name.clone(),
            matchers: selector.matchers.matchers.clone(),
        }
    }

    /// The metric that it names, if it names one.
    pub(super) fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// How much of its series has to be kept.
    pub(super) fn keeps(&self) -> Keeps {
        Keeps::Milliseconds(milliseconds(self.reach))
    }

    /// Whether it asks for the series with these labels.
    pub(super) fn matches(&self, labels: &Labels) -> bool {
        let value = |name: &str| labels.get(name).map_or("", String::as_str);
        self.names(value(NAME))
            && self
                .all_match(|matcher| matcher.name == NAME || matcher.is_match(value(&matcher.name)))
    }

    /// How many of a series' samples it finds: those in its range, or else the latest one.
    pub(super) fn counts(&self, points: &VecDeque<Point>, now_ms: i64) -> usize {
        let since = now_ms.saturating_sub(milliseconds(self.reach));
        let within = |point: &&Point| (since..=now_ms).contains(&point.at_ms);
        let mut within = points.iter().rev().filter(within);
        match self.range {
            Some(_) => within.filter(|point| point.value.is_some()).count(),
            None => within.next().and_then(|latest| latest.value).iter().count(),
        }
    }

    /// Whether it may ask for a metric of this name.
    pub(super) fn names(&self, metric: &str) -> bool {
        self.name.as_ref().is_none_or(|name| name == metric)
            && self.all_match(|matcher| matcher.name != NAME || matcher.is_match(metric))
    }

    /// Whether it may ask for series that have these labels, whatever else they have.
    pub(super) fn may_concern(&self, fixed: &Labels) -> bool {
        self.all_match(|matcher| {
            let value = fixed.get(&matcher.name);
            value.is_none_or(|value| matcher.is_match(value))
        })
    }

    /// Whether it asks for nothing but what we write ourselves.
    pub(super) fn is_of_our_own(&self) -> bool {
        let name = self.name.as_deref();
        name == Some(UP) || name == Some(DURATION)
    }

    fn all_match(&self, satisfied: impl Fn(&Matcher) -> bool) -> bool {
        self.matchers.iter().all(satisfied)
    }
}

fn milliseconds(span: Span) -> i64 {
    i64::try_from(span.as_millis()).unwrap_or(i64::MAX)
}

#[derive(Default)]
struct Found {
    /// What the function that was met last needs of its range.
    least: usize,
    selectors: Vec<Selector>,
}

impl ExprVisitor for Found {
    type Error = std::convert::Infallible;

    fn pre_visit(&mut self, expression: &Expr) -> Result<bool, Self::Error> {
        if let Expr::Call(call) = expression {
            self.least = if COMPARING.contains(&call.func.name) {
                2
            } else {
                1
            };
        }
        if let Expr::VectorSelector(selector) = expression {
            self.selectors.push(Selector::new(selector, None, 1));
        }
        if let Expr::MatrixSelector(selector) = expression {
            let found = Selector::new(&selector.vs, Some(selector.range), self.least);
            self.selectors.push(found);
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::promql;

    fn of(query: &str) -> Vec<Selector> {
        Selector::all(&promql::parse(query).expect("it is PromQL"))
    }

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        pairs
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect()
    }

    fn seconds(count: u64) -> Span {
        Span::from_secs(count)
    }

    #[test]
    fn every_selector_is_found_with_how_far_it_looks_back() {
        let found = of(
            "sum by (job) (rate(a{b=\"c\"}[30s])) / on () (d or vector(0)) > abs(-max_over_time(e[1m]))",
        );
        let found: Vec<_> = found
            .iter()
            .map(|one| (one.written.as_str(), one.range, one.least, one.reach))
            .collect();
        assert_eq!(
            found,
            [
                ("a{b=\"c\"}", Some(seconds(30)), 2, seconds(30)),
                ("d", None, 1, seconds(300)),
                ("e", Some(seconds(60)), 1, seconds(60)),
            ]
        );
    }

    #[test]
    fn a_selector_asks_for_what_satisfies_its_matchers() {
        let series = labels(&[("__name__", "a"), ("code", "503")]);
        for (query, matches) in [
            ("a", true),
            ("b", false),
            ("a{code=~\"5..\"}", true),
            ("a{code=~\"5.\"}", false),
            ("a{code!~\"5..\"}", false),
            ("a{code!=\"\"}", true),
            ("a{pod=\"\"}", true),
            ("a{pod!=\"\"}", false),
            ("{__name__=~\"a|b\"}", true),
            ("{__name__=\"b\"}", false),
        ] {
            assert_eq!(of(query)[0].matches(&series), matches, "{query}");
        }
    }

    #[test]
    fn a_selector_concerns_every_page_that_it_does_not_exclude() {
        let page = labels(&[("instance", "shop:80")]);
        for (query, concerns) in [
            ("a", true),
            ("a{pod=\"x\"}", true),
            ("a{instance=\"shop:80\"}", true),
            ("a{instance!=\"shop:80\"}", false),
            ("a{instance=~\"cart.*\"}", false),
        ] {
            assert_eq!(of(query)[0].may_concern(&page), concerns, "{query}");
        }
    }
}

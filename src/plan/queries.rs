//! Reads what a `query` asks, and of whom.

use super::decode::Cursor;
use super::fields::Fields;
use crate::metrics::{Metric, promql};
use promql_parser::parser::value::ValueType;

const ASK_PROMETHEUS: &str =
    "try the query where it is answered: the page of Prometheus underlines as you type";
const ASK_THE_TABLE: &str = "docs/promql.md lists, with examples, what can be asked of a page";

/// Who answers a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Answerer {
    Prometheus,
    Scrape,
}

const ANSWERERS: &[(&str, Answerer)] = &[
    ("prometheus", Answerer::Prometheus),
    ("scrape", Answerer::Scrape),
];

impl Answerer {
    fn word(self) -> &'static str {
        match self {
            Self::Prometheus => "prometheus",
            Self::Scrape => "scrape",
        }
    }

    fn metric(self, query: String) -> Metric {
        match self {
            Self::Prometheus => Metric::Prometheus(query),
            Self::Scrape => Metric::Scrape(query),
        }
    }
}

/// The query of an SLO; `declares` tells which sources the document has.
pub(super) fn read(
    slo: &Fields<'_>,
    cursor: &Cursor<'_>,
    declares: &dyn Fn(&str) -> bool,
) -> Option<Metric> {
    let answerer = answerer(slo, cursor, declares);
    let query = query(cursor, answerer);
    Some(answerer?.metric(query?))
}

fn answerer(
    slo: &Fields<'_>,
    query: &Cursor<'_>,
    declares: &dyn Fn(&str) -> bool,
) -> Option<Answerer> {
    if slo.has("from") {
        let from = slo.optional("from")?;
        let answerer = from.word(ANSWERERS)?;
        let word = answerer.word();
        if !declares(word) {
            from.report(
                format!("`from` names `metrics.{word}`, and the document has none"),
                way_out(answerer),
            );
        }
        return Some(answerer);
    }
    match (declares("prometheus"), declares("scrape")) {
        (true, false) => Some(Answerer::Prometheus),
        (false, true) => Some(Answerer::Scrape),
        (true, true) => {
            query.report(
                "two sources could answer this query",
                "say which: `from: prometheus` or `from: scrape`",
            );
            None
        }
        (false, false) => {
            query.report(
                "`query` reads from `metrics.prometheus` or `metrics.scrape`, and the document has neither",
                way_out(Answerer::Prometheus),
            );
            None
        }
    }
}

fn way_out(answerer: Answerer) -> &'static str {
    match answerer {
        Answerer::Prometheus => "add `metrics: {prometheus: {url: \"http://127.0.0.1:9090\"}}`",
        Answerer::Scrape => {
            "add `metrics: {scrape: {targets: [{url: \"http://127.0.0.1:8080/metrics\"}]}}`"
        }
    }
}

fn query(cursor: &Cursor<'_>, answerer: Option<Answerer>) -> Option<String> {
    let text = cursor.filled_text()?;
    let expression = match promql::parse(text) {
        Ok(expression) => expression,
        Err(why) => {
            report_unreadable(cursor, why, answerer);
            return None;
        }
    };
    let kind = match expression.value_type() {
        ValueType::Vector | ValueType::Scalar => None,
        ValueType::Matrix => Some((
            "every value of a range",
            "put a function around it: `max_over_time(…[1m])`, `rate(…[1m])`",
        )),
        ValueType::String => Some((
            "a text",
            "write a query for a number: text in quotes is text",
        )),
    };
    if let Some((what, help)) = kind {
        cursor.report(
            format!("this query gives {what}, and an SLO needs one number"),
            help,
        );
        return None;
    }
    if answerer == Some(Answerer::Scrape)
        && let Err(refusals) = promql::check(&expression)
    {
        for refusal in refusals {
            cursor.report(refusal.message, refusal.hint.unwrap_or_default());
        }
        return None;
    }
    Some(text.to_owned())
}

fn report_unreadable(cursor: &Cursor<'_>, why: promql::Unreadable, answerer: Option<Answerer>) {
    let usual = match answerer {
        Some(Answerer::Scrape) => ASK_THE_TABLE,
        Some(Answerer::Prometheus) | None => ASK_PROMETHEUS,
    };
    let help = why.problem.hint.as_deref().unwrap_or(usual);
    // The query is what stands here without the white space around it.
    let whole = cursor.raw().unwrap_or_default();
    let before = whole.len() - whole.trim_start().len();
    match why.range {
        Some(range) => {
            let part = before + range.start..before + range.end;
            cursor.report_part(&part, why.problem.message, help);
        }
        None => cursor.report(why.problem.message, help),
    }
}

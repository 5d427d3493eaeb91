//! Reads the SLOs and what they read; the sources that they read from are read by `sources`.

use std::collections::BTreeMap;
use std::collections::BTreeSet;

use serde_json_path::JsonPath;

use super::decode::Cursor;
use super::document::GaugedSlo;
use super::fields::Fields;
use super::sources::{DEFAULT_TIMEOUT, MILLISECOND, MINUTE};
use super::{queries, sources};
use crate::metrics::{CommandMetric, Metric, MetricSpecs, Quantile, TrafficMetric};
use crate::model::slo::{Reaction, Slo};
use crate::model::units::{Objective, Span, Unit};

pub(super) const SLO_KEYS: &[&str] = &[
    "name",
    "query",
    "from",
    "traffic",
    "command",
    "objective",
    "for",
    "noDataFor",
    "onBreach",
    "onNoData",
    "every",
];
pub(super) const COMMAND_KEYS: &[&str] = &["argv", "json", "timeout"];
pub(super) const FIGURE_KEYS: &[&str] = &["latency", "status"];
const READS: &[&str] = &["query", "traffic", "command"];

const REACTIONS: &[(&str, Reaction)] = &[
    ("rollback", Reaction::Rollback),
    ("record", Reaction::Record),
];
const QUANTILES: &[(&str, Quantile)] = &[
    ("p50", Quantile::P50),
    ("p90", Quantile::P90),
    ("p95", Quantile::P95),
    ("p99", Quantile::P99),
    ("p999", Quantile::P999),
    ("max", Quantile::Max),
];

const DEFAULT_BLIND_PATIENCE: Span = Span::from_secs(30);
const DEFAULT_EVERY: Span = Span::from_secs(1);

const A_DAY: Span = Span::from_secs(24 * 3_600);

/// The sources and the SLOs of a document.
pub(super) fn read(document: &Fields<'_>) -> Option<(MetricSpecs, Vec<GaugedSlo>)> {
    let declared = document
        .optional("metrics")
        .and_then(|cursor| cursor.fields(sources::METRICS_KEYS));
    let specs = declared.as_ref().map(sources::read).unwrap_or_default();
    let declares = |key: &str| declared.as_ref().is_some_and(|fields| fields.has(key));
    let slos = document
        .required(
            "slos",
            "slos: [{name: …, traffic: errorRate, objective: \"< 1%\"}]",
        )
        .and_then(|cursor| read_slos(&cursor, &declares));
    Some((specs, slos?))
}

fn read_slos(cursor: &Cursor<'_>, declares: &dyn Fn(&str) -> bool) -> Option<Vec<GaugedSlo>> {
    let items = cursor.items()?;
    let total = items.len();
    let slos: Vec<_> = items
        .iter()
        .filter_map(|item| slo(item, declares))
        .collect();
    report_doubles(&items);
    if slos.len() < total {
        return None;
    }
    if !slos.iter().any(|gauged| gauged.slo.is_gate()) {
        cursor.report(
            "nothing could end this run: no SLO has `onBreach: rollback`",
            "let at least one SLO end the run when it breaches: `onBreach: rollback`",
        );
    }
    Some(slos)
}

/// Names that come twice, in any list whose items have a `name`.
pub(super) fn report_doubles(items: &[Cursor<'_>]) {
    let mut seen: BTreeMap<&str, Cursor<'_>> = BTreeMap::new();
    let mut told = BTreeSet::new();
    for item in items.iter().filter(|item| item.is_map()) {
        let name = item.free_fields().and_then(|fields| {
            fields
                .all()
                .find(|(key, _)| *key == "name")
                .map(|(_, value)| value)
        });
        let Some((text, name)) = name.and_then(|name| Some((name.raw()?.trim(), name))) else {
            continue;
        };
        match seen.get(text) {
            Some(first) if told.insert(name.path().to_owned()) => name.report_with(
                format!("the name `{text}` is taken"),
                "give each its own name: events and reports tell them apart by it",
                Some((first, "first here")),
            ),
            Some(_) => {}
            None => {
                seen.insert(text, name);
            }
        }
    }
}

fn slo(cursor: &Cursor<'_>, declares: &dyn Fn(&str) -> bool) -> Option<GaugedSlo> {
    let fields = cursor.fields(SLO_KEYS)?;
    let name = fields
        .required("name", "name: error-rate")
        .and_then(|cursor| cursor.line());
    let metric = fields
        .one_of(READS, "traffic: errorRate")
        .and_then(|read| metric(&fields, read, declares));
    let objective = fields.required("objective", "objective: \"< 1%\"");
    let objective = objective.and_then(|cursor| objective_for(&cursor, metric.as_ref()));
    let span = |key: &str, limits| fields.optional(key).and_then(|cursor| cursor.span(limits));
    let reaction = |key: &str| {
        fields
            .optional(key)
            .and_then(|cursor| cursor.word(REACTIONS))
    };
    let patience = span("for", Span::ZERO..=A_DAY);
    let blind_patience = span("noDataFor", Span::ZERO..=A_DAY);
    let every = span("every", Span::from_millis(100)..=Span::from_secs(300));
    let on_breach = reaction("onBreach");
    let on_no_data = reaction("onNoData");
    let metric = metric?;
    let slo = Slo {
        name: name?.to_owned(),
        reads: metric.words(),
        objective: objective?,
        patience: patience.unwrap_or(Span::ZERO),
        blind_patience: blind_patience.unwrap_or(DEFAULT_BLIND_PATIENCE),
        on_breach: on_breach.unwrap_or_default(),
        on_no_data: on_no_data.unwrap_or_default(),
        every: every.unwrap_or(DEFAULT_EVERY),
    };
    Some(GaugedSlo { slo, metric })
}

fn metric(
    slo: &Fields<'_>,
    (key, cursor): (&str, Cursor<'_>),
    declares: &dyn Fn(&str) -> bool,
) -> Option<Metric> {
    if key == "query" {
        return queries::read(slo, &cursor, declares);
    }
    if let Some(from) = slo.optional("from") {
        from.report(
            format!("`from` says who answers a `query`, and this SLO reads from `{key}`"),
            "take it away",
        );
    }
    if key == "command" {
        return command(&cursor).map(Metric::Command);
    }
    if !declares("traffic") {
        cursor.report(
            "`traffic` reads from `metrics.traffic`, and the document has none",
            "add `metrics: {traffic: {url: \"http://127.0.0.1:8080/\"}}`",
        );
    }
    figure(&cursor).map(Metric::Traffic)
}

fn figure(cursor: &Cursor<'_>) -> Option<TrafficMetric> {
    if !cursor.is_map() {
        return figure_word(cursor);
    }
    let fields = cursor.fields(FIGURE_KEYS)?;
    match fields.one_of(FIGURE_KEYS, "latency: p99")? {
        ("latency", value) => value.word(QUANTILES).map(TrafficMetric::Latency),
        (_, value) => value.parsed().map(TrafficMetric::Status),
    }
}

fn figure_word(cursor: &Cursor<'_>) -> Option<TrafficMetric> {
    // The two that need a value are often written without one.
    match cursor.raw() {
        Some("latency") => {
            cursor.report("which latency?", "write `traffic: {latency: p99}`");
            None
        }
        Some("status") => {
            cursor.report(
                "which status?",
                "write `traffic: {status: 503}` or `{status: 5xx}`",
            );
            None
        }
        Some(_) | None => cursor
            .word(&[
                ("errorRate", TrafficFigure::ErrorRate),
                ("throughput", TrafficFigure::Throughput),
            ])
            .map(TrafficFigure::metric),
    }
}

#[derive(Clone, Copy)]
enum TrafficFigure {
    ErrorRate,
    Throughput,
}

impl TrafficFigure {
    fn metric(self) -> TrafficMetric {
        match self {
            Self::ErrorRate => TrafficMetric::ErrorRate,
            Self::Throughput => TrafficMetric::Throughput,
        }
    }
}

fn command(cursor: &Cursor<'_>) -> Option<CommandMetric> {
    if cursor.is_list() {
        return Some(CommandMetric {
            argv: argv(cursor)?,
            json: None,
            timeout: DEFAULT_TIMEOUT,
        });
    }
    if !cursor.is_map() {
        cursor.report(
            "`command` is a list of program and arguments: no shell takes it apart",
            "write `command: [queue-depth, --json]`",
        );
        return None;
    }
    let fields = cursor.fields(COMMAND_KEYS)?;
    let argv = fields
        .required("argv", "argv: [queue-depth, --json]")
        .and_then(|cursor| self::argv(&cursor));
    let json = fields.optional("json").map(|cursor| json_path(&cursor));
    let timeout = fields
        .optional("timeout")
        .and_then(|cursor| cursor.span(MILLISECOND..=MINUTE));
    Some(CommandMetric {
        argv: argv?,
        json: match json {
            Some(path) => Some(path?),
            None => None,
        },
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
    })
}

fn argv(cursor: &Cursor<'_>) -> Option<Vec<String>> {
    let items = cursor.items()?;
    let words: Vec<_> = items
        .iter()
        .filter_map(|item| item.literal().map(str::to_owned))
        .collect();
    if let Some(program) = words.first().filter(|program| program.trim().is_empty()) {
        items[0].report(
            format!("`{program}` is no program"),
            "write its name or its path",
        );
        return None;
    }
    (words.len() == items.len()).then_some(words)
}

fn json_path(cursor: &Cursor<'_>) -> Option<String> {
    let text = cursor.filled_text()?;
    match JsonPath::parse(text) {
        Ok(_) => Some(text.to_owned()),
        Err(why) => {
            cursor.report(
                format!(
                    "`{text}` is no JSON path: it breaks at character {}",
                    why.position()
                ),
                "write one as RFC 9535 has it: `$.queue.depth`, `$.items[0].age`",
            );
            None
        }
    }
}

fn objective_for(cursor: &Cursor<'_>, metric: Option<&Metric>) -> Option<Objective> {
    let objective: Objective = cursor.parsed()?;
    let Some((metric, unit)) = metric.and_then(|metric| Some((metric, metric.natural_unit()?)))
    else {
        return Some(objective);
    };
    if objective.unit() == unit {
        return Some(objective);
    }
    let (is, example) = match unit {
        Unit::Percent => ("a share", "< 1%"),
        Unit::Duration => ("a duration", "< 800ms"),
        Unit::Number => ("a bare number", ">= 3"),
    };
    cursor.report(
        format!("`{objective}` does not fit: {} is {is}", metric.words()),
        format!("write one such as `objective: \"{example}\"`"),
    );
    None
}

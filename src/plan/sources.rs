//! Reads the metric sources of a document: traffic, Prometheus, and pages that are scraped.

use std::collections::BTreeMap;

use super::access::{self, header_name, header_value};
use super::decode::Cursor;
use super::experiment::http_url;
use super::fields::Fields;
use crate::metrics::{MetricSpecs, PrometheusSpec, ScrapeSpec, ScrapeTarget, TrafficSpec};
use crate::model::units::Span;

pub(super) const METRICS_KEYS: &[&str] = &["traffic", "prometheus", "scrape"];
pub(super) const TRAFFIC_KEYS: &[&str] = &[
    "url",
    "method",
    "headers",
    "body",
    "rate",
    "timeout",
    "maxInFlight",
    "window",
];
pub(super) const PROMETHEUS_KEYS: &[&str] = &["url", "timeout", "auth", "headers", "tls"];
pub(super) const SCRAPE_KEYS: &[&str] = &["targets", "every", "timeout", "auth", "headers", "tls"];
pub(super) const TARGET_KEYS: &[&str] = &["url", "labels"];

const METHODS: &[(&str, &str)] = &[
    ("GET", "GET"),
    ("HEAD", "HEAD"),
    ("POST", "POST"),
    ("PUT", "PUT"),
    ("PATCH", "PATCH"),
    ("DELETE", "DELETE"),
    ("OPTIONS", "OPTIONS"),
];

const LEAST_RATE: f64 = 0.01;
const MOST_RATE: f64 = 10_000.0;
const MOST_IN_FLIGHT: u32 = 10_000;
const DEFAULT_RATE: f64 = 10.0;
const DEFAULT_IN_FLIGHT: u32 = 256;
pub(super) const DEFAULT_TIMEOUT: Span = Span::from_secs(5);
const DEFAULT_WINDOW: Span = Span::from_secs(10);
const DEFAULT_SCRAPE: Span = Span::from_secs(1);

pub(super) const MILLISECOND: Span = Span::from_millis(1);
const TENTH: Span = Span::from_millis(100);
const SECOND: Span = Span::from_secs(1);
pub(super) const MINUTE: Span = Span::from_secs(60);

/// The declared sources; one that is missing although its key is there has been told about.
pub(super) fn read(fields: &Fields<'_>) -> MetricSpecs {
    MetricSpecs {
        traffic: fields
            .optional("traffic")
            .and_then(|cursor| traffic(&cursor)),
        prometheus: fields
            .optional("prometheus")
            .and_then(|cursor| prometheus(&cursor)),
        scrape: fields.optional("scrape").and_then(|cursor| scrape(&cursor)),
    }
}

fn traffic(cursor: &Cursor<'_>) -> Option<TrafficSpec> {
    let fields = cursor.fields(TRAFFIC_KEYS)?;
    let url = fields
        .required("url", "url: \"http://127.0.0.1:8080/orders/{id}\"")
        .and_then(|cursor| http_url(&cursor));
    let method = fields
        .optional("method")
        .and_then(|cursor| cursor.word(METHODS));
    let headers = fields
        .optional("headers")
        .and_then(|cursor| plain_headers(&cursor));
    let body = fields.optional("body").and_then(|cursor| cursor.text());
    let rate = fields
        .optional("rate")
        .and_then(|cursor| cursor.number(LEAST_RATE..=MOST_RATE));
    let timeout = fields
        .optional("timeout")
        .and_then(|cursor| cursor.span(MILLISECOND..=MINUTE));
    let in_flight = fields
        .optional("maxInFlight")
        .and_then(|cursor| cursor.whole(1..=MOST_IN_FLIGHT));
    let window = fields
        .optional("window")
        .and_then(|cursor| cursor.span(SECOND..=Span::from_secs(600)));
    Some(TrafficSpec {
        url: url?.0.to_owned(),
        method: method.unwrap_or("GET").to_owned(),
        headers: headers.unwrap_or_default(),
        body: body.map(str::to_owned),
        rate: rate.unwrap_or(DEFAULT_RATE),
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        max_in_flight: in_flight.unwrap_or(DEFAULT_IN_FLIGHT) as usize,
        window: window.unwrap_or(DEFAULT_WINDOW),
    })
}

fn plain_headers(cursor: &Cursor<'_>) -> Option<BTreeMap<String, String>> {
    let fields = cursor.free_fields()?;
    for (name, value) in fields.all() {
        header_name(name, &value);
        if let Some(text) = value.text() {
            header_value(name, text, &value);
        }
    }
    cursor.text_map()
}

fn prometheus(cursor: &Cursor<'_>) -> Option<PrometheusSpec> {
    let fields = cursor.fields(PROMETHEUS_KEYS)?;
    let url = fields
        .required("url", "url: \"http://127.0.0.1:9090\"")
        .and_then(|cursor| base_url(&cursor));
    let timeout = fields
        .optional("timeout")
        .and_then(|cursor| cursor.span(TENTH..=MINUTE));
    let access = access::read(&fields, url.iter().map(String::as_str));
    Some(PrometheusSpec {
        url: url?,
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT),
        access: access?,
    })
}

/// The URL below which an API lives, without a slash at its end.
fn base_url(cursor: &Cursor<'_>) -> Option<String> {
    let (text, url) = http_url(cursor)?;
    let path = url.path().trim_end_matches('/');
    if url.query().is_some() || url.fragment().is_some() || path.ends_with("/api/v1") {
        let path = path.strip_suffix("/api/v1").unwrap_or(path);
        cursor.report(
            format!("`{text}` is more than the address of a server"),
            format!(
                "write the part before `/api/v1`: `{}{path}`",
                url.origin().ascii_serialization()
            ),
        );
        return None;
    }
    Some(text.trim_end_matches('/').to_owned())
}

fn scrape(cursor: &Cursor<'_>) -> Option<ScrapeSpec> {
    let fields = cursor.fields(SCRAPE_KEYS)?;
    let targets = fields
        .required(
            "targets",
            "targets: [{url: \"http://127.0.0.1:8080/metrics\"}]",
        )
        .and_then(|cursor| targets(&cursor));
    let every = fields
        .optional("every")
        .and_then(|cursor| cursor.span(TENTH..=MINUTE))
        .unwrap_or(DEFAULT_SCRAPE);
    let timeout = fields.optional("timeout").and_then(|cursor| {
        let timeout = cursor.span(TENTH..=MINUTE)?;
        if timeout > every {
            cursor.report(
                format!("a page is read every {every}, and none is waited for longer than that"),
                format!("write at most `timeout: {every}`, or a longer `every`"),
            );
        }
        Some(timeout)
    });
    let urls = targets.iter().flatten().map(|target| target.url.as_str());
    let access = access::read(&fields, urls);
    Some(ScrapeSpec {
        targets: targets?,
        every,
        timeout: timeout.unwrap_or(DEFAULT_TIMEOUT.min(every)),
        access: access?,
    })
}

fn targets(cursor: &Cursor<'_>) -> Option<Vec<ScrapeTarget>> {
    let items = cursor.items()?;
    let mut seen: BTreeMap<String, Cursor<'_>> = BTreeMap::new();
    let targets: Vec<_> = items
        .iter()
        .filter_map(|item| target(item, &mut seen))
        .collect();
    (targets.len() == items.len()).then_some(targets)
}

fn target<'t>(
    cursor: &Cursor<'t>,
    seen: &mut BTreeMap<String, Cursor<'t>>,
) -> Option<ScrapeTarget> {
    let fields = cursor.fields(TARGET_KEYS)?;
    let url = fields.required("url", "url: \"http://127.0.0.1:8080/metrics\"");
    let labels = fields.optional("labels").and_then(|cursor| labels(&cursor));
    let place = url?;
    let (text, url) = http_url(&place)?;
    if url.fragment().is_some() {
        place.report(
            format!("`{text}` has a part behind `#`, which no server sees"),
            "take that part away",
        );
    }
    if let Some(first) = seen.get(url.as_str()) {
        place.report_with(
            format!("the page `{text}` is read already"),
            "keep one of the two: each of its series would come twice",
            Some((first, "first here")),
        );
    }
    seen.entry(url.into()).or_insert(place);
    Some(ScrapeTarget {
        url: text.to_owned(),
        labels: labels.unwrap_or_default(),
    })
}

/// Labels that every series of a page gets, `instance` and `job` among them, as in the
/// `static_configs` of Prometheus.
fn labels(cursor: &Cursor<'_>) -> Option<BTreeMap<String, String>> {
    for (name, value) in cursor.free_fields()?.all() {
        let letter = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let first = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
        if !first || !name.chars().all(letter) {
            value.report(
                format!("`{name}` is no name of a label"),
                "use letters, digits and `_`, and no digit first",
            );
        } else if name.starts_with("__") {
            value.report(
                format!("`{name}` is a name that Prometheus keeps for itself"),
                "take the `__` away",
            );
        }
    }
    cursor.text_map()
}

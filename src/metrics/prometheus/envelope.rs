//! What stands around a result in the API's JSON: whether it succeeded, and what it warns of.

use prometheus_http_query::response::Data;
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::refusal;
use super::trouble::Trouble;
use crate::metrics::access::Caller;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Envelope {
    status: Status,
    data: Option<Data>,
    error_type: Option<String>,
    error: Option<String>,
    warnings: Option<Vec<String>>,
    infos: Option<Vec<String>>,
    /// VictoriaMetrics, where some of its storage did not answer.
    #[serde(default)]
    is_partial: bool,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
enum Status {
    Success,
    Error,
}

/// What a good answer holds.
pub(super) struct Opened {
    /// The result.
    pub(super) data: Data,
    /// What the server warns of; one printable line each.
    pub(super) warnings: Vec<String>,
    /// How much of the storage it is from.
    pub(super) extent: Extent,
}

/// How much of the storage a result is from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    /// All of it, as far as the server says.
    Whole,
    /// Some of it did not answer.
    Part,
}

/// The result in a body that came with a good status, and what is said about it.
///
/// # Errors
/// It is no result, or one that is neither a vector, a matrix nor a number.
pub(super) fn open(body: &[u8], address: &str, caller: &Caller) -> Result<Opened, Trouble> {
    let envelope: Envelope = match serde_json::from_slice(body) {
        Ok(envelope) => envelope,
        Err(_) => return Err(no_number(body).unwrap_or_else(|| no_api(body, address, caller))),
    };
    match (envelope.status, envelope.data) {
        (Status::Success, Some(data)) => {
            let told = envelope.warnings.into_iter().chain(envelope.infos);
            let warnings = told.flatten().map(|text| caller.quoted(&text)).collect();
            let extent = match envelope.is_partial {
                true => Extent::Part,
                false => Extent::Whole,
            };
            Ok(Opened {
                data,
                warnings,
                extent,
            })
        }
        (Status::Success, None) => Err(no_api(body, address, caller)),
        (Status::Error, _) => {
            let text = envelope.error.unwrap_or_default();
            let text = caller.quoted(&text);
            Err(match envelope.error_type.as_deref() {
                Some("bad_data") => refusal::bad_query(&text),
                _ => Trouble::passing(format!("Prometheus answers with an error: {text}")),
            })
        }
    }
}

#[derive(Deserialize)]
struct Named {
    data: NamedResult,
}

#[derive(Deserialize)]
struct NamedResult {
    #[serde(rename = "resultType")]
    kind: String,
}

#[derive(Deserialize)]
struct Histograms {
    data: HistogramResult,
}

#[derive(Deserialize)]
struct HistogramResult {
    result: Vec<HistogramSeries>,
}

#[derive(Deserialize)]
struct HistogramSeries {
    histogram: Option<IgnoredAny>,
    histograms: Option<IgnoredAny>,
}

/// A result that is no number by its very type.
fn no_number(body: &[u8]) -> Option<Trouble> {
    let named: Named = serde_json::from_slice(body).ok()?;
    if named.data.kind == "string" {
        return Some(Trouble::Unjudgeable {
            why: "the query returns a text".to_owned(),
            way_out: "write one that returns a number".to_owned(),
        });
    }
    let series: Histograms = serde_json::from_slice(body).ok()?;
    let mut series = series.data.result.iter();
    let found = series.any(|one| one.histogram.is_some() || one.histograms.is_some());
    found.then(|| Trouble::Unjudgeable {
        why: "the query returns a native histogram".to_owned(),
        way_out: "wrap it in `histogram_quantile(…)`, `histogram_count(…)` or `histogram_sum(…)`"
            .to_owned(),
    })
}

fn no_api(body: &[u8], address: &str, caller: &Caller) -> Trouble {
    let found = match refusal::first_words(body) {
        None => "nothing".to_owned(),
        Some(words) => format!("`{}`", caller.quoted(&words)),
    };
    Trouble::Passing {
        why: format!("{address} does not answer as Prometheus does: {found}"),
        way_out: Some("the API is looked for at `/api/v1` below the URL".to_owned()),
    }
}

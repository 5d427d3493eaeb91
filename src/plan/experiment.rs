//! Reads an experiment's head: who, what claim, where.

use url::Url;

use super::decode::Cursor;
use super::document::{Experiment, KubernetesWorld, LocalStackWorld, Worlds};
use super::fields::Fields;
use super::{gauges, steps};
use crate::model::ids::Name;
use crate::model::units::Span;

// `on` is safe as a key here: by YAML 1.2, which we read, it is plain text and no boolean.
pub(super) const KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "hypothesis",
    "environment",
    "on",
    "metrics",
    "slos",
    "baseline",
    "steps",
    "recovery",
];
pub(super) const METADATA_KEYS: &[&str] = &["name", "labels"];
pub(super) const ON_KEYS: &[&str] = &["kubernetes", "localstack"];
pub(super) const KUBERNETES_KEYS: &[&str] = &["context", "namespace"];
pub(super) const LOCALSTACK_KEYS: &[&str] = &["endpoint", "region"];
pub(super) const BASELINE_KEYS: &[&str] = &["for"];
pub(super) const RECOVERY_KEYS: &[&str] = &["within"];

pub(super) const DEFAULT_BASELINE: Span = Span::from_secs(10);
pub(super) const DEFAULT_RECOVERY: Span = Span::from_secs(60);

const SHORTEST: Span = Span::from_millis(1);
const A_DAY: Span = Span::from_secs(24 * 3_600);

/// The experiment of a document whose kind has been checked.
pub(super) fn read(document: &Fields<'_>) -> Option<Experiment> {
    let fields = document.cursor().fields(KEYS)?;
    // Every part is read before any is missed: a reader wants all problems at once.
    let metadata = fields
        .required("metadata", "metadata: {name: my-experiment}")
        .and_then(|cursor| cursor.fields(METADATA_KEYS));
    let name: Option<Name> = metadata
        .as_ref()
        .and_then(|metadata| metadata.required("name", "name: my-experiment"))
        .and_then(|cursor| cursor.parsed_text());
    let labels = metadata
        .and_then(|metadata| metadata.optional("labels"))
        .and_then(|cursor| cursor.text_map());
    let hypothesis = fields
        .required("hypothesis", "hypothesis: what you expect to stay true")
        .and_then(|cursor| cursor.filled_text());
    let environment = fields
        .required("environment", "environment: sandbox")
        .and_then(|cursor| cursor.line());
    let on = fields
        .required(
            "on",
            "on: {localstack: {endpoint: \"http://127.0.0.1:4566\"}}",
        )
        .and_then(|cursor| worlds(&cursor));
    let gauges = gauges::read(&fields);
    let baseline = duration_in(&fields, "baseline", BASELINE_KEYS);
    let steps = fields
        .required("steps", "steps: [{name: …, fault: …, hold: 30s}]")
        .and_then(|cursor| steps::read(&cursor, on.as_ref()));
    let recovery = duration_in(&fields, "recovery", RECOVERY_KEYS);
    let (metrics, slos) = gauges?;
    let mut experiment = Experiment {
        name: name?,
        labels: labels.unwrap_or_default(),
        hypothesis: hypothesis?.to_owned(),
        environment: environment?.to_owned(),
        on: on?,
        metrics,
        slos,
        baseline: baseline.unwrap_or(DEFAULT_BASELINE),
        steps: steps?,
        recovery_within: recovery.unwrap_or(DEFAULT_RECOVERY),
    };
    experiment.place_faults();
    Some(experiment)
}

/// `baseline: {for: 10s}` and `recovery: {within: 60s}`: a map with one duration.
fn duration_in(fields: &Fields<'_>, key: &str, keys: &'static [&'static str]) -> Option<Span> {
    let inner = keys[0];
    fields
        .optional(key)?
        .fields(keys)?
        .required(inner, &format!("{inner}: 30s"))?
        .span(SHORTEST..=A_DAY)
}

fn worlds(cursor: &Cursor<'_>) -> Option<Worlds> {
    let fields = cursor.fields(ON_KEYS)?;
    if fields.all().next().is_none() {
        cursor.report(
            "`on` names no place",
            "add `kubernetes: {context: …, namespace: …}` or `localstack: {endpoint: …}`",
        );
        return None;
    }
    let kubernetes = fields.optional("kubernetes");
    let localstack = fields.optional("localstack");
    Some(Worlds {
        kubernetes: match kubernetes {
            Some(cursor) => Some(self::kubernetes(&cursor)?),
            None => None,
        },
        localstack: match localstack {
            Some(cursor) => Some(self::localstack(&cursor)?),
            None => None,
        },
    })
}

fn kubernetes(cursor: &Cursor<'_>) -> Option<KubernetesWorld> {
    let fields = cursor.fields(KUBERNETES_KEYS)?;
    let context = fields.optional("context").and_then(|cursor| cursor.line());
    let namespace: Option<Name> = fields
        .optional("namespace")
        .and_then(|cursor| cursor.parsed_text());
    Some(KubernetesWorld {
        context: context.map(str::to_owned),
        namespace: namespace.map(String::from),
    })
}

fn localstack(cursor: &Cursor<'_>) -> Option<LocalStackWorld> {
    let fields = cursor.fields(LOCALSTACK_KEYS)?;
    let endpoint = fields.required("endpoint", "endpoint: \"http://127.0.0.1:4566\"");
    let region = fields.optional("region").and_then(|cursor| cursor.line());
    Some(LocalStackWorld {
        endpoint: endpoint.and_then(|cursor| endpoint_url(&cursor))?,
        region: region.map(str::to_owned),
    })
}

/// The base URL of a server, without a slash at its end.
fn endpoint_url(cursor: &Cursor<'_>) -> Option<String> {
    let (text, url) = http_url(cursor)?;
    if !matches!(url.path(), "" | "/") || url.query().is_some() || url.fragment().is_some() {
        cursor.report(
            format!("`{text}` is more than the address of a server"),
            format!(
                "write only scheme, host and port: `{}`",
                url.origin().ascii_serialization()
            ),
        );
        return None;
    }
    Some(text.trim_end_matches('/').to_owned())
}

/// An absolute `http` or `https` URL without a user's name or password: what stands in a document
/// is shown and recorded.
pub(super) fn http_url<'t>(cursor: &Cursor<'t>) -> Option<(&'t str, Url)> {
    let text = cursor.filled_text()?;
    let example = "write one such as `http://127.0.0.1:4566`";
    let url = match Url::parse(text) {
        Ok(url) => url,
        Err(why) => {
            cursor.report(format!("`{text}` is no URL: {why}"), example);
            return None;
        }
    };
    if !matches!(url.scheme(), "http" | "https") || url.host().is_none() {
        cursor.report(format!("`{text}` is no http or https URL"), example);
        return None;
    }
    if !url.username().is_empty() || url.password().is_some() {
        let name = cursor.name();
        cursor.report(
            format!("{name} holds a user's name or password"),
            "take it out: plans and journals show this URL",
        );
        return None;
    }
    Some((text, url))
}

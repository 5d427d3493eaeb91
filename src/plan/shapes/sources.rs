//! The shape of the metric sources as they are written.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};

use crate::model::units::Span;

/// The sources that SLOs read from.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
pub(super) struct Metrics {
    /// Requests that are sent while the run lasts.
    traffic: Option<Traffic>,
    /// A Prometheus server, or anything with its HTTP API.
    prometheus: Option<Prometheus>,
    /// Pages of metrics that are read without a server.
    scrape: Option<Scrape>,
}

/// Requests at a steady rate; a slow target is not spared.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Traffic {
    /// An http or https URL; {id} becomes the request's unique id.
    #[schemars(regex(pattern = "^https?://"))]
    url: String,
    /// The HTTP method.
    #[schemars(extend("default" = "GET"))]
    method: Option<Method>,
    /// Extra headers.
    headers: Option<BTreeMap<String, String>>,
    /// The body; {id} becomes the request's unique id.
    body: Option<String>,
    /// Requests a second.
    #[schemars(range(min = 0.01, max = 10000), extend("default" = 10))]
    rate: Option<f64>,
    /// A request that takes longer has failed. From 1ms to 60s.
    #[schemars(extend("default" = "5s"))]
    timeout: Option<Span>,
    /// Requests under way at once, at most.
    #[schemars(range(min = 1, max = 10000), extend("default" = 256))]
    max_in_flight: Option<u32>,
    /// Figures are over this much of the past. From 1s to 10m.
    #[schemars(extend("default" = "10s"))]
    window: Option<Span>,
}

/// An HTTP method.
#[derive(JsonSchema)]
#[schemars(rename_all = "UPPERCASE")]
#[expect(dead_code, reason = "only its shape is used")]
enum Method {
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
    Options,
}

/// A Prometheus server, or anything with its HTTP API.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Prometheus {
    /// The URL below which /api/v1 is, such as http://127.0.0.1:9090.
    #[schemars(regex(pattern = "^https?://"))]
    url: String,
    /// An answer that takes longer is none. From 100ms to 60s.
    #[schemars(extend("default" = "5s"))]
    timeout: Option<Span>,
    /// Who asks.
    auth: Option<Auth>,
    /// Extra headers, such as the tenant: X-Scope-OrgID. Secrets may stand in their values.
    headers: Option<BTreeMap<String, String>>,
    /// Certificates; without them those that this machine trusts.
    tls: Option<Tls>,
}

/// Pages in the OpenMetrics or Prometheus text format; queries on them are a subset of PromQL.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Scrape {
    /// The pages.
    #[schemars(length(min = 1))]
    targets: Vec<ScrapeTarget>,
    /// Time between two reads of each page. From 100ms to 60s.
    #[schemars(extend("default" = "1s"))]
    every: Option<Span>,
    /// A page that takes longer is not read. From 100ms to every, by default every and at most 5s.
    timeout: Option<Span>,
    /// Who asks.
    auth: Option<Auth>,
    /// Extra headers. Secrets may stand in their values.
    headers: Option<BTreeMap<String, String>>,
    /// Certificates; without them those that this machine trusts.
    tls: Option<Tls>,
}

/// A page of metrics.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct ScrapeTarget {
    /// Such as http://127.0.0.1:8080/metrics.
    #[schemars(regex(pattern = "^https?://"))]
    url: String,
    /// Labels that each of its series gets; instance is the page's host and port without one here.
    labels: Option<BTreeMap<String, String>>,
}

/// Who asks.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Auth {
    /// A name and a password.
    Basic(Basic),
    /// A token.
    Bearer(Bearer),
}

/// A token.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Bearer {
    /// A file, read again for every request.
    File(AbsolutePath),
    /// A secret.
    Token(SecretName),
}

/// A name and a password.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Basic {
    /// The name.
    #[schemars(length(min = 1, max = 100))]
    username: String,
    /// The password.
    password: SecretName,
}

/// PEM files.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1, "dependentRequired" = {"certificate": ["key"], "key": ["certificate"]}))]
#[expect(dead_code, reason = "only its shape is used")]
struct Tls {
    /// Certificates that the server's may come from, instead of those that this machine trusts.
    ca: Option<AbsolutePath>,
    /// Our own certificate, with its chain.
    certificate: Option<AbsolutePath>,
    /// The private key of our certificate.
    key: Option<AbsolutePath>,
}

/// What a secret looks like where nothing else may stand.
pub(in super::super) const SECRET_PATTERN: &str = r"^\$\{secret:[A-Z_][A-Z0-9_]*\}$";

/// The name of a secret.
struct SecretName;

impl JsonSchema for SecretName {
    fn schema_name() -> Cow<'static, str> {
        "SecretName".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A secret by its name, ${secret:NAME}: its value is in CHAOS_SECRET_NAME, or in the file that CHAOS_SECRET_NAME_FILE names.",
            "type": "string",
            "pattern": SECRET_PATTERN
        })
    }
}

/// A path that means the same from every folder.
struct AbsolutePath;

impl JsonSchema for AbsolutePath {
    fn schema_name() -> Cow<'static, str> {
        "AbsolutePath".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An absolute path.",
            "type": "string",
            "pattern": r"^\s*/"
        })
    }
}

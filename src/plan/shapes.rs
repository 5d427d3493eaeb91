//! The shape of an experiment as it is written.
//!
//! These types are never filled: the decoder reads the tree by itself, since it has to say where and
//! why. A test in `schema` holds the two together, key for key.

mod sources;

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use self::sources::Metrics;
pub(super) use self::sources::SECRET_PATTERN;
use super::steps::CHAOS_KINDS;
use crate::metrics::{Quantile, StatusClass};
use crate::model::localstack::FaultRule;
use crate::model::slo::Reaction;
use crate::model::units::{Objective, Percent, Span};

/// An experiment of a game day: a hypothesis, where, what to break, and which SLOs must hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
pub(super) struct Experiment {
    /// Always chaos/v1.
    #[schemars(extend("const" = "chaos/v1"))]
    api_version: String,
    /// Always Experiment.
    #[schemars(extend("const" = "Experiment"))]
    kind: String,
    /// What it is called.
    metadata: Metadata,
    /// What you expect to stay true while the fault is in.
    #[schemars(length(min = 1))]
    hypothesis: String,
    /// Where, by a name that the policy file knows.
    #[schemars(length(min = 1, max = 100))]
    environment: String,
    /// The platforms that are touched: at least one.
    on: On,
    /// The sources that SLOs read from.
    metrics: Option<Metrics>,
    /// The readings that must hold. At least one must have onBreach: rollback.
    #[schemars(length(min = 1))]
    slos: Vec<Slo>,
    /// How long the SLOs are watched before the first fault.
    #[schemars(extend("default" = {"for": "10s"}))]
    baseline: Option<Baseline>,
    /// What is broken, in order; each step is undone before the next.
    #[schemars(length(min = 1))]
    steps: Vec<Step>,
    /// How soon after the undo the SLOs must hold again.
    #[schemars(extend("default" = {"within": "60s"}))]
    recovery: Option<Recovery>,
}

/// What the experiment is called.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Metadata {
    /// A DNS label: at most 63 lower-case letters, digits and inner hyphens.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"))]
    name: String,
    /// Names and texts of your own, for reports.
    labels: Option<BTreeMap<String, String>>,
}

/// The platforms that are touched.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
#[expect(dead_code, reason = "only its shape is used")]
struct On {
    /// A cluster with Chaos Mesh.
    kubernetes: Option<Kubernetes>,
    /// A LocalStack with the Chaos API.
    localstack: Option<LocalStack>,
}

/// A cluster.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Kubernetes {
    /// A context of the kubeconfig; the current one without it.
    #[schemars(length(min = 1, max = 100))]
    context: Option<String>,
    /// The namespace; that of the context without it.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"))]
    namespace: Option<String>,
}

/// A LocalStack.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct LocalStack {
    /// Scheme, host and port, such as http://127.0.0.1:4566.
    #[schemars(regex(pattern = "^https?://[^/@?#]+/?$"))]
    endpoint: String,
    /// The AWS region that is written into rules without one.
    #[schemars(length(min = 1, max = 100))]
    region: Option<String>,
}

/// A reading with an objective. It reads from exactly one of query, traffic and command.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    extend("oneOf" = [{"required": ["query"]}, {"required": ["traffic"]}, {"required": ["command"]}])
)]
#[expect(dead_code, reason = "only its shape is used")]
struct Slo {
    /// Unique within the experiment.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// A PromQL query that gives one value; needs metrics.prometheus or metrics.scrape.
    #[schemars(length(min = 1))]
    query: Option<String>,
    /// Who answers the query; needed where both are declared.
    from: Option<From>,
    /// A figure of the traffic; needs metrics.traffic.
    traffic: Option<Figure>,
    /// A program whose output is the reading.
    command: Option<Command>,
    /// What the value has to satisfy.
    objective: Objective,
    /// How long a breach must last before it counts; 0s: the first breaching reading.
    #[schemars(rename = "for", extend("default" = "0s"))]
    patience: Option<Span>,
    /// How long there may be no reading before it counts.
    #[schemars(extend("default" = "30s"))]
    no_data_for: Option<Span>,
    /// What a breach does.
    #[schemars(extend("default" = "rollback"))]
    on_breach: Option<Reaction>,
    /// What missing readings do.
    #[schemars(extend("default" = "rollback"))]
    on_no_data: Option<Reaction>,
    /// Time between two readings. From 100ms to 5m.
    #[schemars(extend("default" = "1s"))]
    every: Option<Span>,
}

/// Who answers a query.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum From {
    /// The server under metrics.prometheus.
    Prometheus,
    /// The pages under metrics.scrape.
    Scrape,
}

/// A figure of the traffic, over its window.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Figure {
    /// Share of the requests that failed; its objective is a percentage.
    ErrorRate,
    /// Answers a second; its objective is a bare number.
    Throughput,
    /// Latency from the intended start; its objective is a duration.
    Latency(Quantile),
    /// Answers with a status (503) or a class of them (5xx); its objective is a bare number.
    Status(Status),
}

/// A status, with or without quotes.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its shape is used")]
enum Status {
    Number(#[schemars(range(min = 100, max = 599))] u16),
    Word(StatusClass),
}

/// A program and its arguments. No shell takes them apart; chaos as the program is this very one.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its shape is used")]
enum Command {
    /// Program and arguments.
    Short(#[schemars(length(min = 1))] Vec<Word>),
    /// The same with more to say.
    Long(LongCommand),
}

/// A program whose output is the reading.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct LongCommand {
    /// Program and arguments.
    #[schemars(length(min = 1))]
    argv: Vec<Word>,
    /// Where the number stands in JSON output (RFC 9535); without it the output is the number.
    #[schemars(regex(pattern = "^\\$"))]
    json: Option<String>,
    /// From 1ms to 60s.
    #[schemars(extend("default" = "5s"))]
    timeout: Option<Span>,
}

/// An argument: any scalar, as it is written.
struct Word;

impl JsonSchema for Word {
    fn schema_name() -> Cow<'static, str> {
        "Word".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "An argument, as it is written.",
            "type": ["string", "number", "boolean"]
        })
    }
}

/// How long the SLOs are watched before the first fault.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Baseline {
    /// From 1ms to 24h.
    #[schemars(rename = "for")]
    watched_for: Span,
}

/// How soon after the undo the SLOs must hold again.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Recovery {
    /// From 1ms to 24h.
    within: Span,
}

/// One fault, held for a while and undone.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Step {
    /// Unique within the experiment.
    #[schemars(length(min = 1, max = 100))]
    name: String,
    /// What is broken.
    fault: Fault,
    /// Chaos Mesh only, and needed there: the share of the pods that the selector finds, or rising rungs.
    blast_radius: Option<BlastRadius>,
    /// For how long. From 1ms to 24h; the policy may allow less.
    hold: Span,
}

/// What is broken: one platform.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Fault {
    /// Rules, a latency, or both, through the LocalStack Chaos API.
    Localstack(LocalStackFault),
    /// One Chaos Mesh object.
    ChaosMesh(ChaosMesh),
}

/// Rules, a latency, or both.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
#[expect(dead_code, reason = "only its shape is used")]
struct LocalStackFault {
    /// Which calls fail, how often and how. The description of a rule is ours: it tells our rules from others'.
    #[schemars(length(min = 1))]
    faults: Option<Vec<FaultRule>>,
    /// Added to every call to every service: whole milliseconds.
    latency: Option<Span>,
}

/// A share of the pods, or rising shares.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only its shape is used")]
enum BlastRadius {
    /// One share.
    Share(Percent),
    /// Rising rungs, each judged before the next.
    Rungs(#[schemars(length(min = 1))] Vec<Percent>),
}

/// The kind and its own spec fields.
struct ChaosMesh;

impl JsonSchema for ChaosMesh {
    fn schema_name() -> Cow<'static, str> {
        "ChaosMesh".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let kinds: Map<String, Value> = CHAOS_KINDS
            .iter()
            .map(|kind| {
                let spec = json!({
                    "description": format!("The fields of {kind}'s spec, as Chaos Mesh documents them."),
                    "type": "object",
                    "minProperties": 1
                });
                ((*kind).to_owned(), spec)
            })
            .collect();
        json_schema!({
            "description": "A Chaos Mesh kind and its own spec fields.",
            "type": "object",
            "properties": kinds,
            "minProperties": 1,
            "maxProperties": 1,
            "additionalProperties": false
        })
    }
}

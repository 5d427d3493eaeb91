//! The JSON Schema of an experiment, for editors.
//!
//! The types here mirror the YAML and are never filled: the decoder reads the tree by itself, since
//! it has to say where and why. A test holds the two together, key for key.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::steps::CHAOS_KINDS;
use crate::metrics::{Quantile, StatusClass};
use crate::model::localstack::FaultRule;
use crate::model::slo::Reaction;
use crate::model::units::{Objective, Percent, Span};

/// What a value looks like that holds a variable.
const VARIABLE_PATTERN: &str = r"\$\{[A-Za-z_][A-Za-z0-9_]*(:-[^}]*)?\}";

/// The JSON Schema (draft 2020-12) of an experiment as it is written, variables included.
pub fn experiment_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Experiment>().to_value();
    forbid_null(&mut schema);
    allow_variables(&mut schema);
    schema["$defs"]["Variable"] = json!({
        "description": "A value that is filled in when the experiment is planned: ${NAME} or ${NAME:-default}.",
        "type": "string",
        "pattern": VARIABLE_PATTERN,
    });
    schema
}

/// A missing key is optional, a key without a value is a mistake; the derive knows only one of the two.
fn forbid_null(schema: &mut Value) {
    if let Value::Object(object) = schema {
        if let Some(Value::Array(types)) = object.get_mut("type") {
            types.retain(|one| one != "null");
            if let [only] = types.as_slice() {
                let only = only.clone();
                object.insert("type".to_owned(), only);
            }
        }
        let is_null = |one: &Value| *one == json!({"type": "null"});
        if let Some(Value::Array(choices)) = object.get_mut("anyOf")
            && choices.iter().any(is_null)
        {
            choices.retain(|one| !is_null(one));
            if let [Value::Object(only)] = choices.as_slice() {
                let only = only.clone();
                object.remove("anyOf");
                object.extend(only);
            }
        }
        if object.get("default") == Some(&Value::Null) {
            object.remove("default");
        }
    }
    each_part(schema, forbid_null);
}

/// Wherever a value has a form of its own, a variable may stand instead: it has none yet.
fn allow_variables(schema: &mut Value) {
    each_part(schema, allow_variables);
    let Value::Object(object) = schema else {
        return;
    };
    let formed = ["pattern", "const", "enum"]
        .iter()
        .any(|key| object.contains_key(*key))
        || matches!(object.get("type"), Some(Value::String(kind)) if kind == "number" || kind == "integer")
        || is_closed_words(object);
    if !formed {
        return;
    }
    let mut outer = Map::new();
    for key in ["title", "description", "default"] {
        if let Some(value) = object.remove(key) {
            outer.insert(key.to_owned(), value);
        }
    }
    let inner = std::mem::take(object);
    outer.insert(
        "anyOf".to_owned(),
        json!([inner, {"$ref": "#/$defs/Variable"}]),
    );
    *object = outer;
}

/// A choice among words: `allow_variables` has wrapped each word before it comes to the choice, and
/// with several alternatives that take a variable, "exactly one" would no longer hold.
fn is_closed_words(object: &mut Map<String, Value>) -> bool {
    let Some(Value::Array(choices)) = object.get_mut("oneOf") else {
        return false;
    };
    let mut words = false;
    for choice in choices {
        let unwrapped = choice.get("anyOf").and_then(|any| any.get(0)).cloned();
        if let Some(Value::Object(mut word)) = unwrapped {
            if let Some(description) = choice.get("description") {
                word.insert("description".to_owned(), description.clone());
            }
            *choice = Value::Object(word);
            words = true;
        }
    }
    words
}

/// Goes on into the parts of a schema that are schemas themselves.
fn each_part(schema: &mut Value, change: fn(&mut Value)) {
    let Value::Object(object) = schema else {
        return;
    };
    for (key, value) in object {
        match (key.as_str(), value) {
            ("properties" | "$defs", Value::Object(parts)) => parts.values_mut().for_each(change),
            ("oneOf" | "anyOf" | "allOf", Value::Array(parts)) => parts.iter_mut().for_each(change),
            ("items" | "additionalProperties", part) => change(part),
            _ => {}
        }
    }
}

/// An experiment of a game day: a hypothesis, where, what to break, and which SLOs must hold.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Experiment {
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

/// The sources that SLOs read from.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Metrics {
    /// Requests that are sent while the run lasts.
    traffic: Option<Traffic>,
    /// A Prometheus server.
    prometheus: Option<Prometheus>,
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

/// A Prometheus server.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Prometheus {
    /// Base URL, such as http://127.0.0.1:9090.
    #[schemars(regex(pattern = "^https?://"))]
    url: String,
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
    /// A PromQL query that gives one value; needs metrics.prometheus.
    #[schemars(length(min = 1))]
    query: Option<String>,
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

#[cfg(test)]
mod tests {
    use super::super::{experiment, gauges, steps};
    use super::*;

    fn keys(schema: &Value, pointer: &str) -> Vec<String> {
        let properties = schema.pointer(pointer).and_then(|at| at.get("properties"));
        let properties = properties.and_then(Value::as_object);
        let mut keys: Vec<_> = properties
            .unwrap_or_else(|| panic!("no properties at {pointer}"))
            .keys()
            .cloned()
            .collect();
        keys.sort();
        keys
    }

    fn sorted(keys: &[&str]) -> Vec<String> {
        let mut keys: Vec<_> = keys.iter().map(|key| (*key).to_owned()).collect();
        keys.sort();
        keys
    }

    #[test]
    fn the_decoder_and_the_schema_know_the_same_keys() {
        let schema = experiment_schema();
        for (pointer, known) in [
            ("", experiment::KEYS),
            ("/$defs/Metadata", experiment::METADATA_KEYS),
            ("/$defs/On", experiment::ON_KEYS),
            ("/$defs/Kubernetes", experiment::KUBERNETES_KEYS),
            ("/$defs/LocalStack", experiment::LOCALSTACK_KEYS),
            ("/$defs/Baseline", experiment::BASELINE_KEYS),
            ("/$defs/Recovery", experiment::RECOVERY_KEYS),
            ("/$defs/Metrics", gauges::METRICS_KEYS),
            ("/$defs/Traffic", gauges::TRAFFIC_KEYS),
            ("/$defs/Prometheus", gauges::PROMETHEUS_KEYS),
            ("/$defs/Slo", gauges::SLO_KEYS),
            ("/$defs/LongCommand", gauges::COMMAND_KEYS),
            ("/$defs/Step", steps::STEP_KEYS),
            ("/$defs/LocalStackFault", steps::LOCALSTACK_FAULT_KEYS),
            ("/$defs/FaultRule", steps::RULE_KEYS),
            ("/$defs/FaultError", steps::ERROR_KEYS),
            ("/$defs/ChaosMesh", steps::CHAOS_KINDS),
        ] {
            assert_eq!(keys(&schema, pointer), sorted(known), "{pointer}");
        }
        let platforms = ["/$defs/Fault/oneOf/0", "/$defs/Fault/oneOf/1"];
        let platforms = platforms.map(|pointer| keys(&schema, pointer));
        assert_eq!(platforms.concat(), steps::FAULT_KEYS);
    }

    #[test]
    fn every_key_is_described_and_none_takes_null() {
        let schema = experiment_schema();
        let definitions = schema["$defs"].as_object().expect("definitions");
        for (name, definition) in definitions {
            let described = definition.get("description").is_some();
            assert!(described, "{name} has no description");
            for (key, property) in definition["properties"].as_object().into_iter().flatten() {
                assert!(
                    property.get("description").is_some(),
                    "{name}.{key} has no description"
                );
            }
        }
        assert!(!schema.to_string().contains("\"null\""), "{schema:#}");
    }
}

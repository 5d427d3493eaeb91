//! The shape of a policy as it is written.
//!
//! These types are never filled: the decoder reads the tree by itself, since it has to say where and
//! why. A test in `schema` holds the two together, key for key.

use std::borrow::Cow;
use std::collections::BTreeMap;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde_json::json;

use crate::model::units::{Percent, Span};

/// What may be broken where, who has to say yes, and how far a fault may go.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
pub(super) struct Policy {
    /// Always chaos/v1.
    #[schemars(extend("const" = "chaos/v1"))]
    api_version: String,
    /// Always Policy.
    #[schemars(extend("const" = "Policy"))]
    kind: String,
    /// What it is called.
    metadata: Metadata,
    /// What holds in every environment that does not say otherwise, field by field.
    defaults: Option<Defaults>,
    /// The names that an experiment may have under environment.
    #[schemars(extend("minProperties" = 1))]
    environments: BTreeMap<String, Environment>,
    /// What is taken for production, which nothing may touch.
    production: Option<Production>,
    /// Namespaces that no fault may touch; kube-system, kube-public and kube-node-lease always are.
    protected_namespaces: Option<Vec<Text>>,
    /// Hosts that nothing may touch, in whatever environment.
    denied_hosts: Option<Vec<Host>>,
    /// Where variables of a document may come from besides --var and --var-file.
    variables: Option<Variables>,
    /// Secrets by name, and where each may be sent.
    secrets: Option<BTreeMap<String, Secret>>,
}

/// What the policy is called.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Metadata {
    /// A DNS label: at most 63 lower-case letters, digits and inner hyphens.
    #[schemars(regex(pattern = "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$"))]
    name: String,
}

/// What holds in every environment that does not say otherwise.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Defaults {
    /// What approvals a plan needs.
    approval: Option<Approval>,
    /// Longest and shortest, most and least.
    limits: Option<Limits>,
    /// SLOs that can end the run.
    gates: Option<Gates>,
    /// How wide a fault may be.
    blast_radius: Option<BlastRadius>,
    /// How often one dose may be held before another is due.
    same_dose: Option<SameDose>,
    /// When a run may begin; empty or missing: always.
    windows: Option<Vec<Window>>,
    /// When no run may begin.
    freezes: Option<Vec<Freeze>>,
    /// Whether a run may begin with no person at a terminal.
    unattended: Option<Permission>,
}

/// An environment: what proves it, and what is allowed in it.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Environment {
    /// What proves that a plan is about this environment and no other.
    proof: Proof,
    /// What the traffic generator may ask and pages may be read from.
    traffic: Option<Traffic>,
    /// What approvals a plan needs.
    approval: Option<Approval>,
    /// Longest and shortest, most and least.
    limits: Option<Limits>,
    /// SLOs that can end the run.
    gates: Option<Gates>,
    /// How wide a fault may be.
    blast_radius: Option<BlastRadius>,
    /// How often one dose may be held before another is due.
    same_dose: Option<SameDose>,
    /// When a run may begin; empty or missing: always.
    windows: Option<Vec<Window>>,
    /// When no run may begin.
    freezes: Option<Vec<Freeze>>,
    /// Whether a run may begin with no person at a terminal.
    unattended: Option<Permission>,
}

/// What proves an environment. A platform that is not named may not be touched in it.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
#[expect(dead_code, reason = "only its shape is used")]
struct Proof {
    /// Which clusters; everything that stands there must hold.
    kubernetes: Option<Kubernetes>,
    /// Which LocalStacks.
    localstack: Option<LocalStack>,
}

/// Which clusters; everything that stands there must hold.
#[derive(JsonSchema)]
#[schemars(
    rename_all = "camelCase",
    deny_unknown_fields,
    extend("minProperties" = 1)
)]
#[expect(dead_code, reason = "only its shape is used")]
struct Kubernetes {
    /// One of these fits the context's name, which anybody can choose.
    #[schemars(length(min = 1))]
    contexts: Option<Vec<Text>>,
    /// One of these is the uid of the namespace kube-system.
    #[schemars(length(min = 1))]
    cluster_uids: Option<Vec<Text>>,
    /// One of these fits the host of the API server.
    #[schemars(length(min = 1))]
    api_hosts: Option<Vec<Host>>,
    /// The namespace has all of these labels; values are patterns.
    #[schemars(extend("minProperties" = 1))]
    namespace_labels: Option<BTreeMap<String, Text>>,
}

/// Which LocalStacks.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct LocalStack {
    /// One of these fits the endpoint.
    #[schemars(length(min = 1))]
    hosts: Vec<Host>,
}

/// What the traffic generator may ask and pages may be read from.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Traffic {
    /// Hosts; without the key, this machine.
    hosts: Vec<Host>,
}

/// What approvals a plan needs.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Approval {
    /// What counts as an approval.
    #[schemars(extend("default" = "confirm"))]
    mode: Option<Mode>,
    /// How many, each by another person.
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    count: Option<u32>,
    /// Who may approve: user names, or principals of the keys; empty or missing: everybody.
    approvers: Option<Vec<Text>>,
    /// Whether whoever made the plan may approve it.
    #[schemars(extend("default" = "allowed"))]
    requester: Option<Permission>,
    /// The other way of saying it: true is requester: denied.
    distinct_from_requester: Option<bool>,
    /// For how long an approval counts at most. From 1s to 30d.
    #[schemars(extend("default" = "30m"))]
    expires_after: Option<Span>,
    /// Whether an approval counts for one run only.
    #[schemars(extend("default" = false))]
    single_use: Option<bool>,
    /// The file of allowed signers, from this file's folder: needed with mode: signed, and what they sign counts with mode: confirm.
    #[schemars(length(min = 1))]
    signers: Option<String>,
    /// With mode: signed, only FIDO keys that were touched.
    #[schemars(extend("default" = false))]
    require_touch: Option<bool>,
    /// With mode: signed, only FIDO keys that knew who touched them.
    #[schemars(extend("default" = false))]
    require_verify: Option<bool>,
}

/// What counts as an approval.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Mode {
    /// No approval is needed.
    None,
    /// A person types the experiment's name at a terminal.
    Confirm,
    /// The same, and an SSH key signs it.
    Signed,
}

/// Yes or no.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Permission {
    /// It may.
    Allowed,
    /// It may not.
    Denied,
}

/// Longest and shortest, most and least.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Limits {
    /// The longest hold of a step. From 1ms to 1d.
    #[schemars(extend("default" = "15m"))]
    hold: Option<Span>,
    /// The longest injected latency: slow and hung must be told apart. From 1ms to 1h.
    #[schemars(extend("default" = "30s"))]
    latency: Option<Span>,
    /// The shortest baseline. From 0s to 1d.
    #[schemars(extend("default" = "1s"))]
    baseline: Option<Span>,
    /// The most requests a second that the traffic generator may send.
    #[schemars(range(min = 0, max = 10_000), extend("default" = 1000))]
    traffic_rate: Option<f64>,
}

/// SLOs that can end the run.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Gates {
    /// How many SLOs with onBreach: rollback an experiment needs.
    #[schemars(range(min = 1, max = 100), extend("default" = 1))]
    at_least: u32,
}

/// How wide a fault may be.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct BlastRadius {
    /// No wider than this.
    #[schemars(extend("default" = "100%"))]
    ceiling: Option<Percent>,
    /// Rungs, narrowest first: what is wider than one needs a run that held at that one.
    ladder: Option<Vec<Percent>>,
    /// How old that run may be. From 1h to 366d.
    #[schemars(extend("default" = "30d"))]
    not_older_than: Option<Span>,
}

/// How often one dose may be held before another is due.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct SameDose {
    /// So many held runs of a fault at one dose.
    #[schemars(range(min = 1, max = 1_000))]
    at_most: u32,
}

/// When a run may begin.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Window {
    /// Days of the week; without the key, every day.
    #[schemars(length(min = 1))]
    days: Option<Vec<Day>>,
    /// From this time of the clock on.
    from: ClockTime,
    /// Before this time; on the next day if it is no later than from.
    to: ClockTime,
    /// IANA name of a time zone, such as Europe/Berlin.
    #[schemars(length(min = 1, max = 100))]
    time_zone: String,
}

/// A day of the week.
#[derive(JsonSchema)]
#[schemars(rename_all = "lowercase")]
#[expect(dead_code, reason = "only its shape is used")]
enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// When no run may begin: whole days.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Freeze {
    /// The first day.
    from: CalendarDate,
    /// The last day.
    to: CalendarDate,
    /// IANA name of a time zone, such as Europe/Berlin.
    #[schemars(length(min = 1, max = 100))]
    time_zone: String,
    /// Why, for whoever is refused.
    #[schemars(length(min = 1, max = 100))]
    reason: Option<String>,
}

/// What is taken for production.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Production {
    /// Words that mark a name wherever they stand as a word of their own.
    #[schemars(extend("default" = ["prod", "production", "prd", "live"]))]
    words: Option<Vec<Text>>,
    /// Patterns that mark a name as a whole.
    patterns: Option<Vec<Text>>,
    /// What is marked and may be touched all the same, once a person has typed its name.
    named: Option<Vec<Text>>,
}

/// Where variables of a document may come from besides --var and --var-file.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase", deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Variables {
    /// Patterns over the names of variables that the shell's environment may fill.
    from_environment: Vec<Text>,
}

/// Where a secret may be sent.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
#[expect(dead_code, reason = "only its shape is used")]
struct Secret {
    /// To these hosts and no other.
    #[schemars(length(min = 1))]
    hosts: Vec<Host>,
}

/// A text with a form of its own, which the derive cannot know.
macro_rules! form {
    ($name:ident, $description:expr, $pattern:expr) => {
        struct $name;

        impl JsonSchema for $name {
            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "description": json!($description),
                    "type": "string",
                    "pattern": json!($pattern)
                })
            }
        }
    };
}

form!(
    Text,
    "A text; where a pattern is meant, * stands for any letters, ? for one, {a,b} for either.",
    "\\S"
);
form!(
    Host,
    "A host, with a port or with any: *.example.com, 10.0.0.5:4566, [::1]:4566, or loopback, which is this machine.",
    "^[^\\s/@]+$"
);
form!(
    ClockTime,
    "Hours and minutes, from 00:00 to 23:59.",
    "^([01][0-9]|2[0-3]):[0-5][0-9]$"
);
form!(
    CalendarDate,
    "Year, month and day: 2026-12-20.",
    "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
);

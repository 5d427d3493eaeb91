//! What differs between a plan and the world, or between two plans, in words that a person reads.

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use super::resolve::{Plan, PolicyIdentity};
use super::variables::UsedVariable;
use crate::faults::Prepared;
use crate::model::chaos_mesh::{NAME_PLACEHOLDER, RUN_LABEL};
use crate::model::request::Request;
use crate::model::target::Target;
use crate::model::undo::Undo;

/// What a difference is about; differences of one topic are shown together, in this order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// The cluster, its API server, the namespace and its labels.
    Cluster,
    /// A fault platform: its address, its session, its version.
    Platform,
    /// The rules that the plan is judged by.
    Policy,
    /// The values that filled the document.
    Variables,
    /// The document.
    Experiment,
    /// The targets and their share.
    Targets,
    /// The literal requests that put a fault in.
    Requests,
    /// The literal requests that take it out.
    UndoRequests,
    /// What a reader should know.
    Notes,
}

impl Topic {
    /// Whether a difference makes it another plan. A note is about what stands around it, such as the
    /// rules of others, which may come and go as long as they do not meet ours: that the drivers judge.
    pub fn binds(self) -> bool {
        self != Self::Notes
    }

    /// The words that stand above its differences.
    pub fn heading(self) -> &'static str {
        match self {
            Self::Cluster => "the cluster",
            Self::Platform => "the platform",
            Self::Policy => "the policy",
            Self::Variables => "variables",
            Self::Experiment => "the experiment",
            Self::Targets => "what is touched",
            Self::Requests => "what is sent",
            Self::UndoRequests => "what undoes it",
            Self::Notes => "what to know",
        }
    }
}

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// What it is about.
    pub topic: Topic,
    /// Where, in words: `step 1, session`.
    pub place: String,
    /// What the plan has; `None`: nothing.
    pub planned: Option<Value>,
    /// What is there now; `None`: nothing.
    pub found: Option<Value>,
}

impl Difference {
    /// Only says where, or which instance: an URL, a session.
    pub fn is_an_address(&self) -> bool {
        let is_url = |value: &Option<Value>| {
            let text = value.as_ref().and_then(Value::as_str);
            text.is_some_and(|text| text.starts_with("http://") || text.starts_with("https://"))
        };
        let is_session = self.topic == Topic::Platform && self.place.ends_with("session");
        is_session || (is_url(&self.planned) && is_url(&self.found))
    }

    /// What was planned, and what is now.
    pub fn sides(&self) -> [String; 2] {
        [side(self.planned.as_ref()), side(self.found.as_ref())]
    }
}

fn side(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => "nothing".to_owned(),
        Some(Value::String(text)) => format!("`{text}`"),
        Some(other) => format!("`{other}`"),
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [planned, found] = self.sides();
        write!(formatter, "{}: planned {planned}, now {found}", self.place)
    }
}

/// What differs in meaning between two plans: everything but who made them, when, what the SLOs read
/// at that time, and the text that the meaning was read from. Sorted by topic.
pub fn differences(planned: &Plan, found: &Plan) -> Vec<Difference> {
    let mut all = Found::default();
    all.compare(Topic::Cluster, &planned.cluster, &found.cluster);
    if !planned.policy.is_same(&found.policy) {
        let [planned, found] = [planned, found].map(|plan| PolicyIdentity {
            path: None,
            ..plan.policy.clone()
        });
        all.compare(Topic::Policy, &planned, &found);
    }
    let [before, now] = [planned, found].map(|plan| filled_in(&plan.variables));
    all.values(Topic::Variables, &before, &now);
    all.compare(Topic::Experiment, &planned.experiment, &found.experiment);
    for (index, pair) in planned.steps.iter().zip(&found.steps).enumerate() {
        all.place = vec![format!("step {}", index + 1)];
        let [planned, found] = [&pair.0.prepared, &pair.1.prepared];
        all.prepared(planned, found);
        all.compare(Topic::Notes, &planned.warnings, &found.warnings);
    }
    all.differences.sort_by_key(|difference| difference.topic);
    all.differences
}

/// What differs between two looks at the world for one step. Tags and what others own are left out:
/// the first holds the run's id, the second may change as long as it doesn't touch ours, which the
/// driver judges.
pub(super) fn between_prepared(planned: &Prepared, found: &Prepared) -> Vec<Difference> {
    let mut all = Found::default();
    all.prepared(planned, found);
    all.differences
}

/// What was found so far, and where one looks.
#[derive(Default)]
struct Found {
    place: Vec<String>,
    differences: Vec<Difference>,
}

impl Found {
    fn prepared(&mut self, planned: &Prepared, found: &Prepared) {
        self.compare(Topic::Platform, &planned.world, &found.world);
        self.targets(&planned.targets, &found.targets);
        let share = |prepared: &Prepared| Value::String(prepared.blast_radius.clone());
        self.within("share", |all| {
            all.values(Topic::Targets, &share(planned), &share(found));
        });
        self.compare(Topic::Requests, &fault_of(planned), &fault_of(found));
        let [before, now] = [planned, found].map(|one| nameless(one, &one.requests));
        self.compare(Topic::Requests, &before, &now);
        let [before, now] = [planned, found].map(|one| nameless(one, &one.undo_requests));
        self.compare(Topic::UndoRequests, &before, &now);
    }

    /// Those that are gone and those that are new; their order means nothing.
    fn targets(&mut self, planned: &[Target], found: &[Target]) {
        let told = |target: &Target| Value::String(target.to_string());
        for gone in planned.iter().filter(|target| !found.contains(target)) {
            self.within("target", |all| {
                all.add(Topic::Targets, Some(&told(gone)), None);
            });
        }
        for new in found.iter().filter(|target| !planned.contains(target)) {
            self.within("target", |all| {
                all.add(Topic::Targets, None, Some(&told(new)));
            });
        }
    }

    fn compare(&mut self, topic: Topic, planned: &impl Serialize, found: &impl Serialize) {
        let value = |value| without_tags(value);
        let planned = value(serde_json::to_value(planned).unwrap_or_default());
        let found = value(serde_json::to_value(found).unwrap_or_default());
        self.values(topic, &planned, &found);
    }

    fn values(&mut self, topic: Topic, planned: &Value, found: &Value) {
        match (planned, found) {
            (Value::Object(left), Value::Object(right)) => {
                let new = right.keys().filter(|key| !left.contains_key(*key));
                for key in left.keys().chain(new) {
                    self.within(key, |all| {
                        all.sides(topic, left.get(key), right.get(key));
                    });
                }
            }
            (Value::Array(left), Value::Array(right)) => {
                for index in 0..left.len().max(right.len()) {
                    let list = self.place.pop();
                    let place = numbered(topic, list.as_deref(), index + 1);
                    self.within(&place, |all| {
                        all.sides(topic, left.get(index), right.get(index));
                    });
                    self.place.extend(list);
                }
            }
            (one, other) if one == other => {}
            (one, other) => self.add(topic, Some(one), Some(other)),
        }
    }

    fn sides(&mut self, topic: Topic, planned: Option<&Value>, found: Option<&Value>) {
        match (planned, found) {
            (Some(one), Some(other)) => self.values(topic, one, other),
            (one, other) => self.add(topic, one, other),
        }
    }

    fn within(&mut self, place: &str, look: impl FnOnce(&mut Self)) {
        self.place.push(place.to_owned());
        look(self);
        self.place.pop();
    }

    fn add(&mut self, topic: Topic, planned: Option<&Value>, found: Option<&Value>) {
        let told = self.place.iter().filter(|place| !is_a_wrapper(place));
        let mut above = "";
        let told = told.map(|place| match (topic, above) {
            // Somebody chose these names.
            (Topic::Variables, _) | (_, "labels" | "namespaceLabels") => place.clone(),
            (_, _) => {
                above = place;
                spoken(place)
            }
        });
        let told: Vec<String> = told.collect();
        let place = match (topic, told.as_slice()) {
            (_, []) => topic.heading().to_owned(),
            (Topic::Cluster, [uid]) if uid == "uid" => "cluster uid".to_owned(),
            (_, told) => told.join(", "),
        };
        self.differences.push(Difference {
            topic,
            place,
            planned: planned.cloned(),
            found: found.cloned(),
        });
    }
}

/// Each variable with its value and where it came from: `2s (--var)`.
fn filled_in(variables: &BTreeMap<String, UsedVariable>) -> Value {
    let told = variables.iter().map(|(name, used)| {
        let told = format!("{} ({})", used.value, used.source);
        (name.clone(), Value::String(told))
    });
    Value::Object(told.collect())
}

/// Requests without what only a run has: the name of its Chaos Mesh object, and its id on it.
fn nameless(prepared: &Prepared, requests: &[Request]) -> Vec<Request> {
    let Undo::ChaosMesh(undo) = &prepared.undo else {
        return requests.to_vec();
    };
    let nameless = |request: &Request| {
        let mut request = request.clone();
        if let Some(url) = request.url.strip_suffix(&undo.name) {
            request.url = format!("{url}{NAME_PLACEHOLDER}");
        }
        if let Some(metadata) = request
            .body
            .as_mut()
            .and_then(|body| body.get_mut("metadata"))
        {
            metadata["name"] = Value::String(NAME_PLACEHOLDER.to_owned());
            metadata["labels"][RUN_LABEL] = Value::Null;
        }
        request
    };
    requests.iter().map(nameless).collect()
}

/// The fault of a scripted world, which no request tells.
fn fault_of(prepared: &Prepared) -> Option<&str> {
    match &prepared.undo {
        Undo::LocalStack(_) | Undo::ChaosMesh(_) => None,
        Undo::Simulated(undo) => Some(&undo.fault),
    }
}

/// `step 2`, `SLO 1`: what a person calls the part of a list.
fn numbered(topic: Topic, list: Option<&str>, number: usize) -> String {
    let one = match (list, topic) {
        (Some("steps"), _) => "step",
        (Some("slos"), _) => "SLO",
        (Some("faults"), _) => "rule",
        (Some("targets"), _) => "target",
        (Some("body"), _) => "rule",
        (_, Topic::Requests | Topic::UndoRequests) => "request",
        (_, Topic::Notes) => "note",
        (Some(list), _) => return format!("{list} {number}"),
        (None, _) => "part",
    };
    match one {
        // The step that one looks in stands before it, and was taken for the name of the list.
        "request" | "note" => match list {
            Some(step) if step.starts_with("step ") => format!("{step}, {one} {number}"),
            Some(_) | None => format!("{one} {number}"),
        },
        other => format!("{other} {number}"),
    }
}

/// Levels that a program needs and a person does not.
fn is_a_wrapper(place: &str) -> bool {
    ["slo", "fault", "localStack", "chaosMesh"].contains(&place)
}

/// `blastRadius` as `blast radius`; what is written otherwise, or was chosen by somebody, stays.
fn spoken(place: &str) -> String {
    let camel = place.starts_with(|c: char| c.is_ascii_lowercase())
        && place.chars().all(|c| c.is_ascii_alphabetic());
    if !camel {
        return place.to_owned();
    }
    let mut words = String::new();
    for letter in place.chars() {
        if letter.is_ascii_uppercase() {
            words.push(' ');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words.replace("api ", "API ")
}

/// Our rules without their description, which holds the run's id.
fn without_tags(value: Value) -> Value {
    match value {
        Value::Object(fields) => {
            let fields = fields.into_iter().filter(|(key, value)| {
                let tag = value
                    .as_str()
                    .is_some_and(|text| text.starts_with(crate::model::localstack::OWNER_PREFIX));
                !(key == "description" && tag)
            });
            let fields = fields.map(|(key, value)| (key, without_tags(value)));
            Value::Object(fields.collect())
        }
        Value::Array(items) => items.into_iter().map(without_tags).collect(),
        other @ (Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_)) => other,
    }
}

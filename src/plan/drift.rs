//! What differs between a plan and the world, or between two plans, in lines that a person reads.

use std::fmt;

use serde_json::Value;

use super::resolve::Plan;
use crate::faults::Prepared;
use crate::model::undo::Undo;

/// One difference.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// Where: `steps[0].world.session`.
    pub path: String,
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
        self.path.ends_with(".session") || (is_url(&self.planned) && is_url(&self.found))
    }
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let show = |value: &Option<Value>| match value {
            None => "nothing".to_owned(),
            Some(Value::String(text)) => format!("`{text}`"),
            Some(other) => format!("`{other}`"),
        };
        write!(
            formatter,
            "{}: planned {}, now {}",
            self.path,
            show(&self.planned),
            show(&self.found)
        )
    }
}

/// What differs in meaning between two plans: everything but who made them, when, what the SLOs read
/// at that time, and the text that the meaning was read from.
pub fn differences(planned: &Plan, found: &Plan) -> Vec<Difference> {
    let mut all = Vec::new();
    let experiment = |plan: &Plan| serde_json::to_value(&plan.experiment).unwrap_or_default();
    compare(
        "experiment",
        &experiment(planned),
        &experiment(found),
        &mut all,
    );
    let variables = |plan: &Plan| serde_json::to_value(&plan.variables).unwrap_or_default();
    compare(
        "variables",
        &variables(planned),
        &variables(found),
        &mut all,
    );
    if !planned.policy.is_same(&found.policy) {
        let policy = |plan: &Plan| serde_json::json!({"name": plan.policy.name, "digest": plan.policy.digest});
        compare("policy", &policy(planned), &policy(found), &mut all);
    }
    let cluster = |plan: &Plan| serde_json::to_value(&plan.cluster).unwrap_or_default();
    compare("cluster", &cluster(planned), &cluster(found), &mut all);
    for (index, pair) in planned.steps.iter().zip(&found.steps).enumerate() {
        for mut difference in between_prepared(&pair.0.prepared, &pair.1.prepared) {
            difference.path = format!("steps[{index}].{}", difference.path);
            all.push(difference);
        }
    }
    all
}

/// What differs between two looks at the world for one step. Tags and what others own are left out:
/// the first holds the run's id, the second may change as long as it doesn't touch ours, which the
/// driver judges.
pub(super) fn between_prepared(planned: &Prepared, found: &Prepared) -> Vec<Difference> {
    let mut all = Vec::new();
    compare("", &comparable(planned), &comparable(found), &mut all);
    all
}

fn comparable(prepared: &Prepared) -> Value {
    let mut value = serde_json::json!({
        "world": prepared.world,
        "targets": prepared.targets,
        "blastRadius": prepared.blast_radius,
    });
    match &prepared.undo {
        Undo::LocalStack(undo) => {
            value["rules"] = undo.rules.iter().cloned().map(without_tag).collect();
            value["latency"] = serde_json::to_value(undo.latency).unwrap_or_default();
        }
        Undo::Simulated(undo) => value["fault"] = Value::String(undo.fault.clone()),
    }
    value
}

fn without_tag(mut rule: Value) -> Value {
    if let Some(fields) = rule.as_object_mut() {
        fields.remove("description");
    }
    rule
}

fn compare(path: &str, planned: &Value, found: &Value, all: &mut Vec<Difference>) {
    let below = |key: &str| {
        if path.is_empty() {
            key.to_owned()
        } else {
            format!("{path}.{key}")
        }
    };
    match (planned, found) {
        (Value::Object(left), Value::Object(right)) => {
            for (key, value) in left {
                match right.get(key) {
                    Some(other) => compare(&below(key), value, other, all),
                    None => all.push(difference(&below(key), Some(value), None)),
                }
            }
            for (key, value) in right.iter().filter(|(key, _)| !left.contains_key(*key)) {
                all.push(difference(&below(key), None, Some(value)));
            }
        }
        (Value::Array(left), Value::Array(right)) => {
            for index in 0..left.len().max(right.len()) {
                let place = format!("{path}[{index}]");
                match (left.get(index), right.get(index)) {
                    (Some(one), Some(other)) => compare(&place, one, other, all),
                    (one, other) => all.push(difference(&place, one, other)),
                }
            }
        }
        (one, other) if one == other => {}
        (one, other) => all.push(difference(path, Some(one), Some(other))),
    }
}

fn difference(path: &str, planned: Option<&Value>, found: Option<&Value>) -> Difference {
    Difference {
        path: path.to_owned(),
        planned: planned.cloned(),
        found: found.cloned(),
    }
}

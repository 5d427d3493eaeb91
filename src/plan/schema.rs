//! The JSON Schema of an experiment, for editors: made from `shapes`, then told what the derive
//! cannot know.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use super::shapes::{Experiment, SECRET_PATTERN};

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
pub(crate) fn forbid_null(schema: &mut Value) {
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

/// Wherever a value has a form of its own, a variable may stand instead: it has none yet. Only a
/// secret cannot come out of one.
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
    let is_secret = object.get("pattern") == Some(&json!(SECRET_PATTERN));
    if !formed || is_secret {
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

#[cfg(test)]
mod tests {
    use super::super::{access, experiment, gauges, sources, steps};
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
            ("/$defs/Metrics", sources::METRICS_KEYS),
            ("/$defs/Traffic", sources::TRAFFIC_KEYS),
            ("/$defs/Prometheus", sources::PROMETHEUS_KEYS),
            ("/$defs/Scrape", sources::SCRAPE_KEYS),
            ("/$defs/ScrapeTarget", sources::TARGET_KEYS),
            ("/$defs/Basic", access::BASIC_KEYS),
            ("/$defs/Tls", access::TLS_KEYS),
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
        for (choice, known) in [
            ("Fault", steps::FAULT_KEYS),
            ("Auth", access::AUTH_KEYS),
            ("Bearer", access::BEARER_KEYS),
        ] {
            let both = [0, 1].map(|at| keys(&schema, &format!("/$defs/{choice}/oneOf/{at}")));
            assert_eq!(both.concat(), known, "{choice}");
        }
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

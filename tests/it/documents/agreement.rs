//! The schema and the decoder are written apart, so they are held together here.

use chaos_gameday::plan::{Source, Variables, experiment_schema, load_experiment};
use jsonschema::Validator;
use serde_json::{Value, json};

use super::{fixtures, source};

/// Maps whose keys are the writer's own.
pub(crate) const FREE: &[&str] = &["/labels", "/headers", "Chaos"];

/// The document read by somebody else's parser, as an editor would.
pub(crate) fn as_json(source: &Source) -> Option<Value> {
    let mut document: serde_yaml::Value = serde_yaml::from_str(&source.text).ok()?;
    document.apply_merge().ok()?;
    serde_json::to_value(document).ok()
}

fn validator() -> Validator {
    jsonschema::validator_for(&experiment_schema()).expect("a valid schema")
}

/// JSON is YAML.
fn loads(document: &Value) -> bool {
    load_experiment(&source(&document.to_string()), &Variables::default()).is_ok()
}

#[test]
fn the_schema_takes_what_loads_and_refuses_every_wrong_shape() {
    let schema = validator();
    for (name, source) in fixtures("good") {
        let document = as_json(&source).expect("good YAML");
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{name}");
    }
    for (name, source) in fixtures("bad") {
        let reason = source.text.split(':').next().unwrap_or_default().to_owned();
        let valid = as_json(&source).map(|document| schema.is_valid(&document));
        match reason.as_str() {
            "# shape" => assert_eq!(valid, Some(false), "{name}"),
            "# meaning" => assert_eq!(valid, Some(true), "{name}"),
            "# yaml" => {}
            other => panic!("{name} does not say why it is bad: {other}"),
        }
    }
}

/// The JSON pointers of everything in a document, but of nothing whose keys are the writer's own.
pub(crate) fn pointers(value: &Value, above: &str, free: &[&str], found: &mut Vec<String>) {
    if free.iter().any(|end| above.ends_with(end)) {
        return;
    }
    match value {
        Value::Object(map) => {
            for (key, below) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                found.push(format!("{above}/{key}"));
                pointers(below, &format!("{above}/{key}"), free, found);
            }
        }
        Value::Array(items) => {
            for (index, below) in items.iter().enumerate() {
                found.push(format!("{above}/{index}"));
                pointers(below, &format!("{above}/{index}"), free, found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The document with the value at a pointer changed.
pub(crate) fn with(document: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = document.clone();
    *changed.pointer_mut(pointer).expect("a pointer into it") = value;
    changed
}

/// The document without what is at a pointer.
pub(crate) fn without(document: &Value, pointer: &str) -> Value {
    let (above, key) = pointer.rsplit_once('/').expect("a pointer");
    let mut changed = document.clone();
    match changed.pointer_mut(above).expect("a pointer into it") {
        Value::Object(map) => {
            map.remove(&key.replace("~1", "/").replace("~0", "~"));
        }
        Value::Array(items) => {
            items.remove(key.parse().expect("an index"));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            panic!("nothing is below {above}")
        }
    }
    changed
}

#[test]
fn whatever_is_changed_in_a_good_document_what_still_loads_is_still_valid() {
    let schema = validator();
    for (name, source) in fixtures("good") {
        let document = as_json(&source).expect("good YAML");
        assert!(loads(&document), "{name} as JSON");
        let mut all = Vec::new();
        pointers(&document, "", FREE, &mut all);
        assert!(all.len() > 30, "{name} has only {} parts", all.len());
        for pointer in &all {
            let shorter = without(&document, pointer);
            if loads(&shorter) {
                assert!(schema.is_valid(&shorter), "{name} without {pointer}");
            }
            for other in [
                json!(5),
                json!("word"),
                json!("12s"),
                json!([]),
                json!({}),
                json!(true),
            ] {
                let changed = with(&document, pointer, other.clone());
                if loads(&changed) {
                    assert!(
                        schema.is_valid(&changed),
                        "{name} with {other} at {pointer}"
                    );
                }
            }
        }
    }
}

#[test]
fn both_refuse_a_key_without_a_value_and_a_key_that_does_not_exist() {
    let schema = validator();
    for (name, source) in fixtures("good") {
        let document = as_json(&source).expect("good YAML");
        let mut all = Vec::new();
        pointers(&document, "", FREE, &mut all);
        for pointer in &all {
            let empty = with(&document, pointer, Value::Null);
            assert!(!loads(&empty), "{name} loads with null at {pointer}");
            assert!(
                !schema.is_valid(&empty),
                "{name} is valid with null at {pointer}"
            );
            let Some(Value::Object(map)) = document.pointer(pointer) else {
                continue;
            };
            if FREE.iter().any(|end| pointer.ends_with(end)) {
                continue;
            }
            let mut larger = map.clone();
            larger.insert("zzz".to_owned(), json!(1));
            let larger = with(&document, pointer, Value::Object(larger));
            assert!(!loads(&larger), "{name} loads with zzz at {pointer}");
            assert!(
                !schema.is_valid(&larger),
                "{name} is valid with zzz at {pointer}"
            );
        }
    }
}

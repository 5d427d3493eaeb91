//! The schema and the decoder are written apart, so they are held together here.

use std::fs;

use chaos_gameday::plan::Source;
use chaos_gameday::policy::policy_schema;
use jsonschema::Validator;
use serde_json::{Value, json};

use super::{FULL, example, load, load_with, source};
use crate::documents::agreement::{as_json, pointers, with, without};

/// Maps whose keys are the writer's own.
const FREE: &[&str] = &["/environments", "/namespaceLabels", "/secrets"];

fn validator() -> Validator {
    jsonschema::validator_for(&policy_schema()).expect("a valid schema")
}

fn json_of(source: &Source) -> Value {
    as_json(source).expect("good YAML")
}

/// JSON is YAML.
fn loads(document: &Value) -> bool {
    load(&document.to_string()).is_ok()
}

#[test]
fn the_committed_schema_is_the_one_that_is_printed() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/policy.schema.json");
    let committed = fs::read_to_string(path).expect("a readable schema");
    let printed = format!("{:#}\n", policy_schema());
    assert_eq!(
        committed, printed,
        "`chaos schema policy > examples/policy.schema.json`"
    );
}

#[test]
fn the_schema_takes_what_loads() {
    let schema = validator();
    let (text, keys) = example();
    assert!(load_with(&text, &keys).is_ok());
    for text in [FULL, &text] {
        let document = json_of(&source(text));
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new());
    }
}

#[test]
fn whatever_is_changed_what_still_loads_is_still_valid() {
    let schema = validator();
    let document = json_of(&source(FULL));
    assert!(loads(&document), "as JSON");
    let mut all = Vec::new();
    pointers(&document, "", &[], &mut all);
    assert!(all.len() > 100, "only {} parts", all.len());
    for pointer in &all {
        let shorter = without(&document, pointer);
        if loads(&shorter) {
            assert!(schema.is_valid(&shorter), "without {pointer}");
        }
        for other in [json!(5), json!("word"), json!([]), json!({}), json!(true)] {
            let changed = with(&document, pointer, other.clone());
            if loads(&changed) {
                assert!(schema.is_valid(&changed), "with {other} at {pointer}");
            }
        }
    }
}

#[test]
fn both_refuse_a_key_without_a_value_and_a_key_that_does_not_exist() {
    let schema = validator();
    let document = json_of(&source(FULL));
    let mut all = Vec::new();
    pointers(&document, "", &[], &mut all);
    for pointer in &all {
        let empty = with(&document, pointer, Value::Null);
        assert!(!loads(&empty), "loads with null at {pointer}");
        assert!(!schema.is_valid(&empty), "valid with null at {pointer}");
        let Some(Value::Object(map)) = document.pointer(pointer) else {
            continue;
        };
        if FREE.iter().any(|end| pointer.ends_with(end)) {
            continue;
        }
        let mut larger = map.clone();
        larger.insert("zzz".to_owned(), json!(1));
        let larger = with(&document, pointer, Value::Object(larger));
        assert!(!loads(&larger), "loads with zzz at {pointer}");
        assert!(!schema.is_valid(&larger), "valid with zzz at {pointer}");
    }
}

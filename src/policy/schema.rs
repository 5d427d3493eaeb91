//! The JSON Schema of a policy, for editors.

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::shapes::Policy;
use crate::plan::schema::forbid_null;

/// The JSON Schema (draft 2020-12) of a policy as it is written.
pub fn policy_schema() -> Value {
    let generator = SchemaSettings::draft2020_12().into_generator();
    let mut schema = generator.into_root_schema_for::<Policy>().to_value();
    forbid_null(&mut schema);
    schema
}

#[cfg(test)]
mod tests {
    use super::super::reading::{self, approval, calendar, environment};
    use super::*;

    fn keys(schema: &Value, pointer: &str) -> Vec<String> {
        let properties = schema.pointer(pointer).and_then(|at| at.get("properties"));
        let properties = properties.and_then(Value::as_object);
        let properties = properties.unwrap_or_else(|| panic!("no properties at {pointer}"));
        let mut keys: Vec<_> = properties.keys().cloned().collect();
        keys.sort();
        keys
    }

    #[test]
    fn the_decoder_and_the_schema_know_the_same_keys() {
        let schema = policy_schema();
        for (pointer, known) in [
            ("", reading::KEYS),
            ("/$defs/Metadata", reading::METADATA_KEYS),
            ("/$defs/Production", reading::PRODUCTION_KEYS),
            ("/$defs/Variables", reading::VARIABLES_KEYS),
            ("/$defs/Secret", reading::SECRET_KEYS),
            ("/$defs/Defaults", environment::DEFAULTS_KEYS),
            ("/$defs/Environment", environment::ENVIRONMENT_KEYS),
            ("/$defs/Proof", environment::PROOF_KEYS),
            ("/$defs/Kubernetes", environment::KUBERNETES_KEYS),
            ("/$defs/LocalStack", environment::LOCALSTACK_KEYS),
            ("/$defs/Traffic", environment::TRAFFIC_KEYS),
            ("/$defs/Limits", environment::LIMITS_KEYS),
            ("/$defs/Gates", environment::GATES_KEYS),
            ("/$defs/BlastRadius", environment::BLAST_RADIUS_KEYS),
            ("/$defs/SameDose", environment::SAME_DOSE_KEYS),
            ("/$defs/Approval", approval::APPROVAL_KEYS),
            ("/$defs/Window", calendar::WINDOW_KEYS),
            ("/$defs/Freeze", calendar::FREEZE_KEYS),
        ] {
            let mut known: Vec<_> = known.iter().map(|key| (*key).to_owned()).collect();
            known.sort();
            assert_eq!(keys(&schema, pointer), known, "{pointer}");
        }
    }

    #[test]
    fn every_key_is_described_and_none_takes_null() {
        let schema = policy_schema();
        let definitions = schema["$defs"].as_object().expect("definitions");
        for (name, definition) in definitions.iter().chain([(&String::new(), &schema)]) {
            assert!(definition.get("description").is_some(), "{name}");
            for (key, property) in definition["properties"].as_object().into_iter().flatten() {
                assert!(property.get("description").is_some(), "{name}.{key}");
            }
        }
        assert!(!schema.to_string().contains("\"null\""), "{schema:#}");
    }
}

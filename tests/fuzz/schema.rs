//! Documents that a JSON Schema takes: every shape that is allowed, whether anybody writes it or not.

use proptest::strategy::{Strategy, ValueTree};
use proptest::string::string_regex;
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};
use serde_json::{Map, Value, json};

/// Deeper parts are left out where they may be.
const DEEPEST: usize = 12;

/// A document of a schema for each of so many seeds.
pub fn documents(schema: &Value, count: u8) -> Vec<Vec<u8>> {
    let all = (0..count).map(|seed| {
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &[seed; 32]);
        let mut maker = Maker {
            root: schema,
            runner: TestRunner::new_with_rng(Config::default(), rng),
        };
        maker.value(schema, 0).to_string().into_bytes()
    });
    all.collect()
}

struct Maker<'s> {
    root: &'s Value,
    runner: TestRunner,
}

impl<'s> Maker<'s> {
    fn below(&mut self, limit: usize) -> usize {
        self.drawn(&(0..limit.max(1)))
    }

    fn drawn<S: Strategy>(&mut self, strategy: &S) -> S::Value {
        let tree = strategy.new_tree(&mut self.runner);
        tree.expect("a strategy without conditions").current()
    }

    fn value(&mut self, schema: &'s Value, depth: usize) -> Value {
        if let Some(path) = schema["$ref"].as_str() {
            let found = self.root.pointer(path.trim_start_matches('#'));
            return self.value(found.expect("a reference into the schema"), depth);
        }
        if let Some(value) = schema.get("const") {
            return value.clone();
        }
        for choice in ["enum", "oneOf", "anyOf"] {
            if let Some(some) = schema[choice].as_array() {
                let one = &some[self.below(some.len())];
                return match choice {
                    "enum" => one.clone(),
                    _ => self.both(schema, one, depth),
                };
            }
        }
        match schema["type"].as_str() {
            Some("object") => self.object(schema, depth),
            Some("array") => self.array(schema, depth),
            Some("string") => self.text(schema),
            Some("integer") => json!(self.below(100)),
            Some("number") => json!(self.below(1_000) as f64 / 8.0),
            Some("boolean") => json!(self.below(2) == 1),
            _ => Value::Null,
        }
    }

    /// A choice of a map may name only some of its keys.
    fn both(&mut self, schema: &'s Value, one: &'s Value, depth: usize) -> Value {
        let chosen = self.value(one, depth);
        match (schema.get("properties"), chosen) {
            (Some(_), Value::Object(some)) => {
                let mut map = self.object(schema, depth);
                if let Value::Object(map) = &mut map {
                    map.extend(some);
                }
                map
            }
            (Some(_), _) => self.object(schema, depth),
            (None, chosen) => chosen,
        }
    }

    fn object(&mut self, schema: &'s Value, depth: usize) -> Value {
        let mut map = Map::new();
        let required = schema["required"].as_array();
        let needs = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
        for (name, inner) in schema["properties"].as_object().into_iter().flatten() {
            let wanted = depth < DEEPEST && self.below(3) > 0;
            if needs(name) || wanted {
                map.insert(name.clone(), self.value(inner, depth + 1));
            }
        }
        let free = &schema["additionalProperties"];
        if free.is_object() || schema["minProperties"].is_u64() && map.is_empty() {
            for _ in 0..=self.below(2) {
                let key = self.drawn(&"[a-z]{1,6}");
                map.insert(key, self.value(free, depth + 1));
            }
        }
        Value::Object(map)
    }

    fn array(&mut self, schema: &'s Value, depth: usize) -> Value {
        let count = 1 + self.below(2);
        Value::Array(
            (0..count)
                .map(|_| self.value(&schema["items"], depth + 1))
                .collect(),
        )
    }

    fn text(&mut self, schema: &Value) -> Value {
        let Some(pattern) = schema["pattern"].as_str() else {
            return Value::from(self.drawn(&"[a-z0-9 ]{1,12}"));
        };
        let bare = pattern.trim_start_matches('^').trim_end_matches('$');
        let text = string_regex(bare).map(|pattern| self.drawn(&pattern));
        Value::from(text.unwrap_or_default())
    }
}

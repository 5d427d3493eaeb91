//! What the webhooks of Chaos Mesh would fill in, written out: where they are down or bypassed nobody
//! does it, and a fault with `jitter` left out fails for ever (seen on a running controller of 2.8).

use serde_json::{Map, Value, json};

/// A default: where it stands, and what it is. It is written where the block around it is there.
type Default = (&'static [&'static str], &'static str, fn() -> Value);

const NETWORK: &[Default] = &[
    (&[], "direction", || json!("to")),
    (&["delay"], "jitter", || json!("0ms")),
    (&["delay"], "correlation", || json!("0")),
    (&["delay", "reorder"], "correlation", || json!("0")),
    (&["loss"], "correlation", || json!("0")),
    (&["duplicate"], "correlation", || json!("0")),
    (&["corrupt"], "correlation", || json!("0")),
];

fn of(kind: &str) -> &'static [Default] {
    match kind {
        "NetworkChaos" => NETWORK,
        "IOChaos" => &[(&[], "percent", || json!(100))],
        "TimeChaos" => &[(&[], "clockIds", || json!(["CLOCK_REALTIME"]))],
        "JVMChaos" => &[(&[], "port", || json!(9277))],
        "BlockChaos" => &[
            (&["delay"], "jitter", || json!("0ms")),
            (&["delay"], "correlation", || json!("0")),
        ],
        _ => &[],
    }
}

/// The spec of a kind with every default written out.
pub(super) fn written_out(kind: &str, spec: &Map<String, Value>) -> Map<String, Value> {
    let mut spec = Value::Object(spec.clone());
    for (blocks, field, value) in of(kind) {
        let mut at = Some(&mut spec);
        for block in *blocks {
            at = at.and_then(|at| at.get_mut(*block));
        }
        if let Some(Value::Object(fields)) = at {
            let entry = fields.entry(*field);
            entry.or_insert_with(value);
        }
    }
    // It was made as one above.
    spec.as_object().cloned().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(kind: &str, spec: Value) -> Value {
        Value::Object(written_out(kind, spec.as_object().unwrap()))
    }

    #[test]
    fn a_delay_says_all_that_it_means() {
        let spec = json!({"action": "delay", "delay": {"latency": "90ms", "correlation": "25"}});
        assert_eq!(
            written("NetworkChaos", spec),
            json!({
                "action": "delay",
                "delay": {"latency": "90ms", "correlation": "25", "jitter": "0ms"},
                "direction": "to",
            })
        );
    }

    #[test]
    fn a_block_that_is_not_there_stays_away() {
        let spec = json!({"action": "partition"});
        let expected = json!({"action": "partition", "direction": "to"});
        assert_eq!(written("NetworkChaos", spec), expected);
        let clocks = json!({"timeOffset": "-1h", "clockIds": ["CLOCK_REALTIME"]});
        assert_eq!(written("TimeChaos", json!({"timeOffset": "-1h"})), clocks);
        assert_eq!(written("PodChaos", json!({"a": 1})), json!({"a": 1}));
    }
}

//! The digest of a policy is over what it means: other words for the same make no other policy, and
//! one changed figure does.

use proptest::prelude::*;
use serde_json::{Map, Value};

use super::{FULL, KEYS, changed, load_with, loaded};

/// Lists in which the order says something.
const ORDERED: &[&str] = &["ladder"];

/// The document with its keys, and the items of its lists, in another order.
fn shuffled(value: &Value, key: &str, dice: &mut impl FnMut(usize) -> usize) -> Value {
    match value {
        Value::Object(map) => {
            let mut entries: Vec<_> = map.iter().collect();
            let mut other = Vec::new();
            while !entries.is_empty() {
                let (key, below) = entries.remove(dice(entries.len()));
                other.push((key.clone(), shuffled(below, key, dice)));
            }
            // Written by hand below: a map of JSON would sort its keys again.
            Value::Array(
                other
                    .into_iter()
                    .map(|(key, value)| Value::Object(Map::from_iter([(key, value)])))
                    .chain([Value::Null])
                    .collect(),
            )
        }
        Value::Array(items) => {
            let mut items: Vec<_> = items.iter().map(|item| shuffled(item, "", dice)).collect();
            if !ORDERED.contains(&key) {
                for at in (1..items.len()).rev() {
                    items.swap(at, dice(at + 1));
                }
            }
            Value::Array(items)
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// YAML in flow style, with blanks, line breaks and comments where they mean nothing.
fn written(value: &Value, gap: &mut impl FnMut() -> &'static str) -> String {
    match value {
        Value::Array(items) if items.last() == Some(&Value::Null) => {
            let entries: Vec<_> = items[..items.len() - 1]
                .iter()
                .filter_map(Value::as_object)
                .flatten()
                .map(|(key, value)| {
                    let key = Value::from(key.as_str());
                    format!("{}{key}: {}{}", gap(), gap(), written(value, gap))
                })
                .collect();
            format!("{{{}{}}}", entries.join(","), gap())
        }
        Value::Array(items) => {
            let items: Vec<_> = items
                .iter()
                .map(|item| format!("{}{}", gap(), written(item, gap)))
                .collect();
            format!("[{}{}]", items.join(","), gap())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            value.to_string()
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn order_and_white_space_mean_nothing(seeds in prop::collection::vec(any::<usize>(), 64)) {
        let mut at = 0;
        let mut next = move || {
            at += 1;
            seeds[at % seeds.len()].rotate_left(u32::try_from(at % 31).expect("small"))
        };
        let document: Value = serde_yaml::from_str(FULL).expect("YAML");
        let other = shuffled(&document, "", &mut |most| next() % most);
        let gaps = ["", " ", "\n ", "\n # a comment\n   ", "  "];
        let mut round = 0;
        let text = written(&other, &mut || {
            round += 1;
            gaps[(round * 7) % gaps.len()]
        });
        let (policy, same) = (loaded(FULL), loaded(&text));
        prop_assert_eq!(&same, &policy, "{}", text);
        prop_assert_eq!(same.identity(), policy.identity());
    }
}

#[test]
fn other_words_for_the_same_are_the_same_policy() {
    let digest = loaded(FULL).identity().digest;
    for (from, to) in [
        ("requester: denied", "distinctFromRequester: true"),
        (
            "      requireTouch: true",
            "      requireVerify: false\n      requireTouch: true",
        ),
        ("[mon, tue, fri]", "[fri, mon, tue, mon]"),
        ("Europe/Berlin", "europe/berlin"),
        ("\"[fd00::5]:6443\"", "\"[fd00:0:0::5]:6443\""),
        ("keys/allowed_signers", "./elsewhere/allowed_signers"),
        (
            "{from: \"22:00\"",
            "{days: [mon, tue, wed, thu, fri, sat, sun], from: \"22:00\"",
        ),
        ("hold: 10m", "hold: 600s"),
        ("ceiling: 50%", "ceiling: 50.0%"),
        ("words: [prod, live]", "words: [Live, PROD]"),
        ("chaos-mesh]", "chaos-mesh, kube-system]"),
        ("5d3a2b1c", "5D3A2B1C"),
        (
            "    windows: []",
            "    sameDose: {atMost: 3}\n    windows: []",
        ),
        ("gates: {atLeast: 1}", "gates: {atLeast: 1} # one is enough"),
    ] {
        let same = loaded(&changed(FULL, from, to)).identity().digest;
        assert_eq!(same, digest, "{from} as {to}");
    }
}

#[test]
fn one_changed_figure_is_another_policy() {
    let policy = loaded(FULL);
    let digest = policy.identity().digest;
    for (from, to) in [
        ("name: payments", "name: payment"),
        ("count: 2", "count: 1"),
        ("expiresAfter: 20m", "expiresAfter: 21m"),
        ("singleUse: true", "singleUse: false"),
        ("hold: 10m", "hold: 9m"),
        ("latency: 10s", "latency: 11s"),
        ("baseline: 5s", "baseline: 6s"),
        ("trafficRate: 200", "trafficRate: 201"),
        ("atLeast: 2", "atLeast: 3"),
        ("ceiling: 50%", "ceiling: 51%"),
        ("[10%, 25%, 50%]", "[10%, 50%]"),
        ("notOlderThan: 20d", "notOlderThan: 21d"),
        ("atMost: 3", "atMost: 4"),
        ("[mon, tue, fri]", "[mon, tue]"),
        ("16:30", "16:31"),
        ("timeZone: UTC", "timeZone: Europe/London"),
        ("2027-01-06", "2027-01-07"),
        ("end of the year", "the end of the year"),
        ("unattended: denied", "unattended: allowed"),
        ("stage]", "stages]"),
        ("0c1f3e8d2b47", "0c1f3e8d2b48"),
        ("\"*.example.com\", ", ""),
        ("6443", "6444"),
        ("stage: staging", "stage: staged"),
        (
            "localstack.staging.example.com:4566",
            "localstack.staging.example.com",
        ),
        (
            "[loopback, \"*.staging.example.com\"]",
            "[\"*.staging.example.com\"]",
        ),
        ("mode: signed", "mode: confirm"),
        ("[alice, ", "[alicia, "),
        ("requester: denied", "requester: allowed"),
        ("requireTouch", "requireVerify"),
        ("  local:", "  laptop:"),
        ("    windows: []\n", ""),
        ("[prod, live]", "[prod]"),
        ("*-prd-*", "*-prd"),
        ("named: [prod-copy]", "named: []"),
        ("chaos-mesh", "chaos"),
        ("*.bank.example.org", "bank.example.org"),
        ("AWS_REGION", "AWS_PROFILE"),
        ("other.example.com:8443", "other.example.com"),
        ("TOKEN:", "TOKENS:"),
    ] {
        let text = changed(FULL, from, to);
        // Where nothing has to be signed, nothing may be wanted of a key.
        let text = match to {
            "mode: confirm" => changed(&text, "      requireTouch: true\n", ""),
            _ => text,
        };
        let other = loaded(&text).identity().digest;
        assert_ne!(other, digest, "{from} as {to}");
    }
    let other =
        load_with(FULL, &format!("{KEYS}{}", KEYS.replace("alice", "bob"))).expect("it loads");
    assert_ne!(other.identity().digest, digest, "a key more");
    assert!(!policy.identity().is_same(&other.identity()));
}

#[test]
fn where_it_lies_is_no_part_of_what_it_says() {
    let policy = loaded(FULL);
    let mut elsewhere = policy.clone();
    elsewhere.path = Some("/elsewhere/chaos-policy.yaml".to_owned());
    assert!(policy.identity().is_same(&elsewhere.identity()));
    assert_ne!(policy.identity(), elsewhere.identity());
}

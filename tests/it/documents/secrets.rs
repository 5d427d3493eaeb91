//! Secrets: where a document may name one, and that nothing else makes or shows one.

use chaos_gameday::plan::{Source, Variables, load_experiment};
use serde_json::{Value, json};

use super::agreement::{FREE, as_json, pointers, with};
use super::{fixtures, messages, rendered, small, source};

/// The ends of the pointers at which a secret may stand.
const PLACES: [&str; 3] = ["/auth/bearer/token", "/auth/basic/password", "/headers/"];

#[test]
fn a_secret_loads_where_it_is_hidden_and_nowhere_else() {
    let mut places = 0;
    for (name, source) in fixtures("good") {
        let document = as_json(&source).expect("good YAML");
        let mut all = Vec::new();
        pointers(&document, "", FREE, &mut all);
        for above in ["/metrics/prometheus/headers", "/metrics/scrape/headers"] {
            let names = document.pointer(above).and_then(Value::as_object);
            all.extend(
                names
                    .into_iter()
                    .flat_map(|names| names.keys().map(|name| format!("{above}/{name}"))),
            );
        }
        for pointer in &all {
            let changed = with(&document, pointer, json!("${secret:NAME}"));
            let found = messages(&self::source(&changed.to_string()), &Variables::default());
            let hidden = !pointer.starts_with("/metrics/traffic")
                && PLACES.iter().any(|place| pointer.contains(place));
            assert_eq!(found.is_empty(), hidden, "{name} {pointer}: {found:?}");
            places += usize::from(hidden);
        }
    }
    assert_eq!(places, 5);
}

#[test]
fn a_parsed_document_holds_the_name_and_only_the_name() {
    let loaded = fixtures("good")
        .into_iter()
        .find(|(name, _)| name == "metrics-everywhere")
        .map(|(_, source)| load_experiment(&source, &Variables::default()).expect("it loads"))
        .expect("the fixture");
    insta::assert_json_snapshot!(loaded.experiment.metrics, @r#"
    {
      "traffic": null,
      "prometheus": {
        "url": "https://metrics.example.com/prometheus",
        "timeout": "10s",
        "access": {
          "auth": {
            "basic": {
              "username": "grafana",
              "password": "${secret:PROM_PASSWORD}"
            }
          },
          "headers": {
            "X-Key": "key ${secret:KEY_1} of ${secret:_KEY2}",
            "X-Scope-OrgID": "shop"
          },
          "tls": {
            "ca": "/etc/ssl/our-ca.pem",
            "certificate": "/etc/chaos/client.pem",
            "key": "/etc/chaos/client.key"
          }
        }
      },
      "scrape": {
        "targets": [
          {
            "url": "http://127.0.0.1:7700/metrics",
            "labels": {
              "instance": "one",
              "job": "orders"
            }
          },
          {
            "url": "https://127.0.0.1:7700/metrics?zone=b"
          }
        ],
        "every": "2s",
        "timeout": "1s500ms",
        "access": {
          "auth": {
            "bearer": {
              "file": "/var/run/secrets/token"
            }
          },
          "headers": {
            "x-plain": "a b"
          },
          "tls": {
            "ca": "/etc/ssl/our-ca.pem"
          }
        }
      }
    }
    "#);
    assert!(loaded.used.is_empty());
}

#[test]
fn a_variable_cannot_reach_for_a_secret() {
    let prometheus = |headers: &str| {
        small(
            "{traffic: {",
            &format!(
                "{{prometheus: {{url: \"http://127.0.0.1:9090\", headers: {headers}}}, traffic: {{"
            ),
        )
    };
    let made = "a variable, or `$${`, makes the name of a secret here";
    for (value, text) in [
        ("${secret:TOKEN}", "${V}"),
        ("${sec", "${V}ret:TOKEN}"),
        ("${secret:B}", "${secret:A} ${V}"),
    ] {
        let source = prometheus(&format!("{{X-Key: \"{text}\"}}"));
        let variables = Variables::default().with_flag("V", value);
        assert_eq!(messages(&source, &variables), [made], "{text}");
    }
    // Where no secret may stand, it is text like any other.
    let source = small("It holds.", "'${V}'");
    let variables = Variables::default().with_flag("V", "${secret:TOKEN}");
    let loaded = load_experiment(&source, &variables).expect("it loads");
    assert_eq!(loaded.experiment.hypothesis, "${secret:TOKEN}");
}

#[test]
fn a_secret_and_a_variable_may_share_a_header() {
    let source = small(
        "{traffic: {",
        "{prometheus: {url: \"http://127.0.0.1:9090\", headers: {X-Key: \"${V:-a} ${secret:TOKEN}\"}}, traffic: {",
    );
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    let spec = loaded.experiment.metrics.prometheus.expect("Prometheus");
    assert_eq!(
        spec.access.headers["X-Key"].as_written(),
        "a ${secret:TOKEN}"
    );
    assert_eq!(spec.access.headers["X-Key"].names(), ["TOKEN"]);
}

/// Everything that an error says, drawn and as data.
fn shown(source: &Source, variables: &Variables) -> String {
    let error = load_experiment(source, variables).expect_err("a problem");
    rendered(&error) + &serde_json::to_string(error.problems()).expect("JSON")
}

#[test]
fn no_error_shows_a_credential_that_stands_in_the_document_in_plain_text() {
    let access = |access: &str| {
        let prometheus = format!(
            "{{prometheus: {{url: \"http://127.0.0.1:9090\", {access}}}, oops: 1, traffic: {{"
        );
        small("{traffic: {", &prometheus)
    };
    let long = "hunter22".repeat(100);
    for text in [
        access("auth: {basic: {username: u, password: hunter22}}"),
        access("auth: {basic: {username: u, passwort: hunter22}}"),
        access("auth: {basic: {username: u, password: &p 'hunter22'}}, headers: {X: *p}"),
        access("auth: {bearer: hunter22}"),
        access(&format!("auth: {{bearer: {long}}}")),
        access("auth: {bearer: {token: [hunter22]}}"),
        access("auth: {bearer: {token: \"${V:-hunter22}\"}}"),
        access("auth: {bearer: {token: \"${secret:A} hunter22\"}}"),
        access("headers: {Authorization: Basic hunter22}"),
        access("tls: {ca: 'https://u:hunter22@example.com'}"),
        // No structure can be made of these.
        access("auth: {basic: {username: u, password: 'hunter22}}"),
        access("auth: {bearer: {\"token\": hunter22"),
    ] {
        let shown = shown(&text, &Variables::default());
        assert!(shown.contains("***"), "{shown}");
        assert!(!shown.contains("hunter"), "{shown}");
    }
    let filled = access("auth: {bearer: \"${V}\"}");
    let variables = Variables::default().with_flag("V", "hunter22");
    let shown = shown(&filled, &variables);
    assert!(!shown.contains("hunter"), "{shown}");
    // What names a secret is shown: it helps, and says nothing.
    assert!(shown.contains("bearer: \"${V}\""), "{shown}");
}

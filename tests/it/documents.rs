//! Loading of experiment documents: what loads, and what is said about the rest.
//!
//! A fixture in `bad/` says in its first line why it is bad: `shape` (the schema sees it too),
//! `meaning` (only the decoder sees it) or `yaml` (it is no tree that a schema could be held against).
//! What a reader sees is in `bad/NAME.snap`.

mod abuse;
pub(crate) mod agreement;
mod secrets;
mod sources;
mod variables;

use std::fs;
use std::path::{Path, PathBuf};

use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::plan::{
    DocumentError, Source, Variables, experiment_schema, load_experiment, read_source,
};
use miette::{GraphicalReportHandler, GraphicalTheme};

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/documents");

/// Every document of a folder, by name.
fn fixtures(folder: &str) -> Vec<(String, Source)> {
    let mut paths: Vec<PathBuf> = fs::read_dir(format!("{FIXTURES}/{folder}"))
        .expect("a folder of fixtures")
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    paths.sort();
    let fixture = |path: &Path| {
        let name = path
            .file_stem()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let text = read_source(path).expect("a readable fixture").text;
        let source = Source {
            name: format!("{name}.yaml"),
            text,
        };
        (name, source)
    };
    paths.iter().map(|path| fixture(path)).collect()
}

fn source(text: &str) -> Source {
    Source {
        name: "experiment.yaml".to_owned(),
        text: text.to_owned(),
    }
}

/// What a reader without colours sees on 80 columns.
fn rendered(error: &DocumentError) -> String {
    let mut shown = String::new();
    GraphicalReportHandler::new_themed(GraphicalTheme::unicode_nocolor())
        .with_width(80)
        .render_report(&mut shown, error)
        .expect("writing into a String");
    shown
}

#[test]
fn every_good_document_loads() {
    for (name, source) in fixtures("good") {
        if let Err(error) = load_experiment(&source, &Variables::default()) {
            panic!("{name}\n{}", rendered(&error));
        }
    }
}

#[test]
fn every_bad_document_is_answered_as_recorded() {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(format!("{FIXTURES}/bad"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    for (name, source) in fixtures("bad") {
        let error = load_experiment(&source, &Variables::default())
            .err()
            .unwrap_or_else(|| panic!("{name} loads"));
        settings.bind(|| insta::assert_snapshot!(name.as_str(), rendered(&error)));
    }
}

/// A small document that loads.
const SMALL: &str = r#"apiVersion: chaos/v1
kind: Experiment
metadata: {name: example}
hypothesis: It holds.
environment: sandbox
on: {localstack: {endpoint: "http://127.0.0.1:4566"}}
metrics: {traffic: {url: "http://127.0.0.1:8080/"}}
slos: [{name: errors, traffic: errorRate, objective: "< 1%"}]
steps: [{name: down, fault: {localstack: {faults: [{service: kinesis}]}}, hold: 30s}]
"#;

fn small(from: &str, to: &str) -> Source {
    assert!(SMALL.contains(from), "{from} is not in the small document");
    source(&SMALL.replacen(from, to, 1))
}

/// The messages, or nothing when it loads.
fn messages(source: &Source, variables: &Variables) -> Vec<String> {
    let error = load_experiment(source, variables).err();
    let problems = error.iter().flat_map(DocumentError::problems);
    problems.map(|problem| problem.message.clone()).collect()
}

/// The place of the one problem.
fn place(source: &Source) -> (usize, usize, String) {
    let error = load_experiment(source, &Variables::default()).expect_err("a bad document");
    let [problem] = error.problems() else {
        panic!("{}", rendered(&error));
    };
    (problem.line, problem.column, problem.path.clone())
}

#[test]
fn the_example_of_the_manual_means_what_it_says() {
    let (_, source) = fixtures("good")
        .into_iter()
        .find(|(name, _)| name == "product-example")
        .expect("the example");
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    insta::assert_json_snapshot!(loaded.experiment, @r##"
    {
      "name": "redis-latency",
      "labels": {
        "owner": "payments",
        "service": "checkout"
      },
      "hypothesis": "With 300 ms to Redis for a tenth of the pods, checkout errors stay under 1 %.",
      "environment": "staging",
      "on": {
        "kubernetes": {
          "context": "staging-eu",
          "namespace": "checkout"
        },
        "localstack": null
      },
      "metrics": {
        "traffic": null,
        "prometheus": {
          "url": "http://127.0.0.1:9090",
          "timeout": "5s"
        }
      },
      "slos": [
        {
          "slo": {
            "name": "error-rate",
            "reads": "prometheus sum(rate(http_requests_total{code=~\"5..\"}[30s])) / sum(rate(http_requests_total[30s]))",
            "objective": "< 1%",
            "patience": "30s",
            "blindPatience": "30s",
            "onBreach": "rollback",
            "onNoData": "rollback",
            "every": "1s"
          },
          "metric": {
            "prometheus": "sum(rate(http_requests_total{code=~\"5..\"}[30s])) / sum(rate(http_requests_total[30s]))"
          }
        }
      ],
      "baseline": "10s",
      "steps": [
        {
          "name": "slow redis",
          "fault": {
            "chaosMesh": {
              "context": "staging-eu",
              "namespace": "checkout",
              "chaosKind": "NetworkChaos",
              "spec": {
                "action": "delay",
                "delay": {
                  "jitter": "25ms",
                  "latency": "300ms"
                },
                "selector": {
                  "labelSelectors": {
                    "app": "checkout"
                  }
                }
              },
              "blastRadius": "10%",
              "hold": "3m",
              "position": 0
            }
          },
          "hold": "3m"
        }
      ],
      "recoveryWithin": "1m"
    }
    "##);
}

#[test]
fn defaults_are_those_of_the_manual() {
    let loaded = load_experiment(&source(SMALL), &Variables::default()).expect("it loads");
    let experiment = loaded.experiment;
    insta::assert_json_snapshot!(experiment.metrics, @r##"
    {
      "traffic": {
        "url": "http://127.0.0.1:8080/",
        "method": "GET",
        "headers": {},
        "body": null,
        "rate": 10.0,
        "timeout": "5s",
        "maxInFlight": 256,
        "window": "10s"
      },
      "prometheus": null
    }
    "##);
    insta::assert_json_snapshot!(experiment.slos, @r##"
    [
      {
        "slo": {
          "name": "errors",
          "reads": "traffic error rate",
          "objective": "< 1%",
          "patience": "0s",
          "blindPatience": "30s",
          "onBreach": "rollback",
          "onNoData": "rollback",
          "every": "1s"
        },
        "metric": {
          "traffic": "errorRate"
        }
      }
    ]
    "##);
    assert_eq!(experiment.baseline.to_string(), "10s");
    assert_eq!(experiment.recovery_within.to_string(), "1m");
}

#[test]
fn a_rule_without_a_region_gets_that_of_the_platform() {
    let source = small(r#"4566"}"#, r#"4566/", region: eu-west-1}"#);
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    let fault = serde_json::to_value(&loaded.experiment.steps[0].fault).expect("JSON");
    assert_eq!(fault["localStack"]["faults"][0]["region"], "eu-west-1");
    assert_eq!(fault["localStack"]["endpoint"], "http://127.0.0.1:4566");
}

#[test]
fn merge_keys_fill_in_what_is_not_written_and_the_earlier_map_wins() {
    let source = small(
        "slos: [{name: errors,",
        r#"slos:
  - &one {name: one, traffic: errorRate, objective: "< 1%", for: 1s}
  - &two {name: two, traffic: throughput, objective: "> 2", for: 2s, every: 2s}
  - {<<: [*one, *two], name: both}
  - {<<: *two, name: errors,"#,
    );
    let source = Source {
        text: source.text.replace(
            r#"errors, traffic: errorRate, objective: "< 1%"}]"#,
            "errors}",
        ),
        ..source
    };
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    let slos: Vec<_> = loaded
        .experiment
        .slos
        .iter()
        .map(|gauged| {
            let slo = &gauged.slo;
            format!(
                "{} {} {} {} {}",
                slo.name, slo.reads, slo.objective, slo.patience, slo.every
            )
        })
        .collect();
    assert_eq!(
        slos,
        [
            "one traffic error rate < 1% 1s 1s",
            "two traffic throughput > 2 2s 2s",
            "both traffic error rate < 1% 1s 2s",
            "errors traffic throughput > 2 2s 2s",
        ]
    );
}

#[test]
fn places_are_counted_in_characters_and_survive_line_ends_and_byte_order_marks() {
    let wrong = small(
        "It holds.\nenvironment: sandbox",
        "Größe – ✓.\nenvironment: {a: ü, hold: [✓]}",
    );
    assert_eq!(place(&wrong), (5, 1, "environment".to_owned()));
    let wrong = small("name: down", r#""name": "✓✓", "hödl": 1"#);
    assert_eq!(place(&wrong), (9, 24, "steps[0][\"hödl\"]".to_owned()));
    for text in [
        wrong.text.replace('\n', "\r\n"),
        format!("\u{feff}{}", wrong.text),
        format!("---\n{}...\n", wrong.text).replacen("---\n", "--- # a comment\n", 1),
    ] {
        let (line, column, _) = place(&source(&text));
        assert_eq!((line.min(9), column), (9, 24), "{text:?}");
    }
}

#[test]
fn a_key_called_on_is_text_and_so_is_every_word_of_yaml_1_1() {
    let source = small("environment: sandbox", "environment: off");
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    assert_eq!(loaded.experiment.environment, "off");
    let schema = experiment_schema();
    assert!(schema["properties"]["on"].is_object());
}

#[test]
fn control_characters_reach_no_terminal() {
    let raw = source(&SMALL.replace("It holds", "It \u{1b}[2J holds"));
    assert_eq!(
        messages(&raw, &Variables::default()),
        ["YAML allows no character U+001B"]
    );
    let escaped = small("It holds.", r#""\e[2J""#);
    assert_eq!(
        messages(&escaped, &Variables::default()),
        ["`hypothesis` holds a control character"]
    );
    let variables = Variables::default().with_flag("HOLD", "\u{1b}[2J");
    let filled = small("30s", r#""${HOLD}""#);
    assert_eq!(
        messages(&filled, &variables),
        [r"`\u{1b}[2J` is no duration"]
    );
}

#[test]
fn places_of_a_loaded_document_can_be_pointed_at() {
    let source = small(
        "{service: kinesis}",
        "{service: kinesis, operation: 'PutRecord'}",
    );
    let loaded = load_experiment(&source, &Variables::default()).expect("it loads");
    let at = |path: &str| loaded.spans.nearest(path).map(|range| &source.text[range]);
    let rule = "steps[0].fault.localstack.faults[0]";
    assert_eq!(at(&format!("{rule}.operation")), Some("'PutRecord'"));
    assert_eq!(at(&format!("{rule}.region")), Some("service"));
    assert_eq!(at("steps[0].fault"), Some("fault"));
    assert_eq!(at("nowhere"), None);
    assert_eq!(loaded.spans.find(&format!("{rule}.region")), None);
    let finding =
        Problem::new(ProblemKind::Invalid, "`PutRecord` is too bold").hint("name another");
    let error = DocumentError::at_places(
        &source,
        &loaded.spans,
        [(format!("{rule}.operation"), finding)],
    );
    insta::assert_snapshot!(rendered(&error), @r##"
      × experiment.yaml cannot be used: 1 problem

    Error: 
      × `PutRecord` is too bold
       ╭─[experiment.yaml:9:82]
     8 │ slos: [{name: errors, traffic: errorRate, objective: "< 1%"}]
     9 │ steps: [{name: down, fault: {localstack: {faults: [{service: kinesis, operation: 'PutRecord'}]}}, hold: 30s}]
       ·                                                                                  ───────────
       ╰────
      help: name another
    "##);
}

#[test]
fn more_problems_than_anybody_reads_are_counted() {
    let rules = "{servcie: x}, ".repeat(300);
    let source = small("{service: kinesis}", &rules);
    let error = load_experiment(&source, &Variables::default())
        .expect_err("300 misspelt keys, and 299 rules that say the same");
    assert_eq!(error.problems().len(), 100);
    assert_eq!(
        error.to_string(),
        "experiment.yaml cannot be used: 599 problems, the first 100 follow"
    );
}

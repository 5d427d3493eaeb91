//! Experiments, policies and files of variables.

use std::collections::BTreeMap;

use chaos_gameday::model::problem::{Problem, ProblemKind};
use chaos_gameday::plan::{
    Experiment, Variables, experiment_schema, load_experiment, parse_flag, read_variable_file,
};
use chaos_gameday::policy::{advice, load_policy, policy_schema};

use crate::corpus;
use crate::documents::{check_error, check_shown, printer, source};
use crate::harness::Target;
use crate::input::Corpus;
use crate::schema;

const WORDS: &[&str] = &[
    "apiVersion: chaos/v1\n",
    "kind: Experiment\n",
    "kind: Policy\n",
    "metadata: {name: x}\n",
    "steps:\n",
    "slos:\n",
    "hold: 1s\n",
    "objective: \"< 1%\"\n",
    "localstack:",
    "chaosMesh:",
    "prometheus:",
    "auth: {bearer: {token: \"${secret:T}\"}}\n",
    "password: hunter2\n",
    "token:",
    "${A}",
    "${A:-b}",
    "${secret:T}",
    "1s",
    "10%",
    "366d",
    "!= 0",
    "http://u:p@h/",
    "{{",
    "*.b",
    "{a,b}",
    "[!a]",
    "**",
    "2026-02-30",
    "25:00",
    "Mon",
    "Europe/Berlin",
    "&a [*a]",
    "? [a]\n",
    "!!str 1",
    "!!binary x",
    "%YAML 1.2\n",
    "|+2\n",
    ">-\n",
];

fn corpus(seeds: Vec<Vec<u8>>) -> Corpus {
    Corpus {
        seeds,
        words: WORDS,
        largest: 1 << 20,
        between: b"",
    }
}

#[test]
fn an_experiment_loads_or_says_why_not() {
    let mut seeds = corpus::files("examples", ".yaml");
    seeds.extend(corpus::files("examples/prometheus", ".yaml"));
    seeds.extend(corpus::files("tests/fixtures/documents/good", ".yaml"));
    seeds.extend(corpus::files("tests/fixtures/documents/bad", ".yaml"));
    seeds.extend(schema::documents(&experiment_schema(), 40));
    let variables = || Variables::default().with_file("vars", values());
    Target {
        name: "experiment",
        corpus: corpus(seeds),
        cases: 60,
        holds: &|input| {
            let Some(source) = source(input) else { return };
            match load_experiment(&source, &variables()) {
                Err(error) => check_error(&source, &error),
                Ok(loaded) => {
                    // A plan holds it, and is read again by whoever approves and runs it.
                    let text = serde_json::to_string(&loaded.experiment).expect("JSON");
                    let again: Experiment = serde_json::from_str(&text).expect("it comes back");
                    assert_eq!(again, loaded.experiment);
                    let _place = loaded.spans.nearest("steps[0].fault.localstack.faults[1]");
                }
            }
        },
    }
    .run();
}

fn values() -> BTreeMap<String, String> {
    let pairs = [
        ("A", "1s"),
        ("ENDPOINT", "http://127.0.0.1:4566"),
        ("NAME", "a: [b"),
    ];
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .into()
}

#[test]
fn a_policy_loads_or_says_why_not() {
    let mut seeds = corpus::files("examples/policy", ".yaml");
    seeds.extend(schema::documents(&policy_schema(), 40));
    let times = [
        "-009999-01-02T01:59:59Z",
        "2026-03-29T01:30:00Z",
        "9999-12-30T22:00:00Z",
    ];
    let times = times.map(|time| time.parse().expect("a time"));
    Target {
        name: "policy",
        corpus: corpus(seeds),
        cases: 60,
        holds: &|input| {
            let Some(source) = source(input) else { return };
            let files = |_: &str| Err(Problem::new(ProblemKind::Absent, "none here").hint("none"));
            match load_policy(&source, &files) {
                Err(error) => check_error(&source, &error),
                Ok(policy) => {
                    for now in times {
                        let advice = advice(&policy, now);
                        let (printer, written) = printer();
                        chaos_gameday::view::policy::show(&printer, &policy, &advice);
                        check_shown(&written.text());
                    }
                    let host = "http://a-staging.example.com:4566";
                    for environment in policy.environments.keys() {
                        assert!(policy.environment(environment).is_some(), "{environment}");
                    }
                    let _either = policy
                        .denied_hosts
                        .iter()
                        .any(|denied| denied.matches(host));
                }
            }
        },
    }
    .run();
}

#[test]
fn variables_are_read_or_say_why_not() {
    let seeds: [&[u8]; 4] = [
        b"NAME: value\nOTHER: 5\nEMPTY:\n",
        b"A: &a x\nB: *a\nC: !!str 1\n",
        b"\"QUOTED\": 'it''s'\nBLOCK: |\n  one\n  two\n",
        b"{A: 1, B: 1e309, C: 0x10, D: ~, E: true}\n",
    ];
    Target {
        name: "variables",
        corpus: corpus(seeds.map(<[u8]>::to_vec).into()),
        cases: 60,
        holds: &|input| {
            let Some(source) = source(input) else { return };
            match read_variable_file(&source) {
                Ok(values) => {
                    for (name, value) in &values {
                        let flag = parse_flag(&format!("{name}={value}"));
                        assert_eq!(flag, Ok((name.clone(), value.clone())));
                    }
                }
                Err(problem) => assert!(problem.hint.is_some(), "{problem}"),
            }
            if let Err(problem) = parse_flag(&source.text) {
                assert!(problem.hint.is_some(), "{problem}");
            }
        },
    }
    .run();
}

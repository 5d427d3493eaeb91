//! The examples are planned and run, and end as their README says.

use std::collections::VecDeque;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::metrics::Metric;
use chaos_gameday::model::approval::Person;
use chaos_gameday::model::ids::Digest;
use chaos_gameday::model::units::Span;
use chaos_gameday::plan::{
    DocumentSource, Loaded, Resolution, Source, Variables, draft, experiment_schema,
    load_experiment, read_source, resolve,
};
use chaos_gameday::policy::{Facts, Finding, OwnSandbox, built_in, evaluate};
use chaos_gameday::sandbox::{AppVersion, Sandbox};
use serde_json::Value;

use crate::support::examples::{Elsewhere, FOLDER, Row, Shell, files, story, table};
use crate::support::prometheus::{self, Prometheus};
use crate::support::sandbox::{Bench, answer};

/// Short enough for a test, long enough for every fault to hurt and every patience to end.
const SHORT: [&str; 4] = ["--var", "HOLD=6s", "--var", "BASELINE=2s"];
/// So many runs at once leave the machine room to keep their time.
const AT_ONCE: usize = 9;
/// Nobody waits longer than this for an example on its defaults.
const LONGEST: Span = Span::from_secs(45);

fn example(file: &str, variables: &Variables) -> (Source, Loaded) {
    let source = read_source(Path::new(&format!("{FOLDER}/{file}"))).expect("a readable file");
    let loaded = match load_experiment(&source, variables) {
        Ok(loaded) => loaded,
        Err(error) => panic!("{file}: {error:?}"),
    };
    (source, loaded)
}

fn variables_of(sandbox: &Sandbox) -> Variables {
    Variables::default()
        .with_flag("SANDBOX_APP", sandbox.app_url())
        .with_flag("SANDBOX_AWS", sandbox.aws_url())
}

/// What the policy says about an example that was resolved against this sandbox.
async fn findings(file: &str, bench: &Bench, own: Option<&OwnSandbox>) -> Vec<Finding> {
    let (source, loaded) = example(file, &variables_of(&bench.sandbox));
    let policy = built_in();
    let document = DocumentSource {
        digest: Digest::of(source.text.as_bytes()),
        name: source.name,
        text: source.text,
    };
    let with = Resolution {
        requester: Person {
            user: "sam".to_owned(),
            host: "desk".to_owned(),
        },
        now: jiff::Timestamp::UNIX_EPOCH,
        policy: policy.identity(),
        replay_of: None,
    };
    let plan = resolve(
        draft(loaded.experiment, document, loaded.used, with),
        &bench.clients,
    )
    .await;
    evaluate(&Facts {
        sandbox: own,
        ..Facts::about(
            &plan.unwrap_or_else(|problem| panic!("{file}: {problem:?}")),
            &policy,
        )
    })
}

#[tokio::test]
async fn every_example_is_planned_and_wants_approval_only_outside_an_own_sandbox() {
    let bench = Bench::start(AppVersion::Fragile).await;
    let own = OwnSandbox {
        app_url: bench.sandbox.app_url().to_owned(),
        aws_url: bench.sandbox.aws_url().to_owned(),
    };
    for file in files() {
        let at_home = findings(&file, &bench, Some(&own)).await;
        assert_eq!(at_home, Vec::new(), "{file}");
        let elsewhere = findings(&file, &bench, None).await;
        let rules: Vec<_> = elsewhere.iter().map(|found| found.rule.as_str()).collect();
        assert_eq!(rules, ["approval"], "{file}");
    }
}

#[test]
fn every_example_stands_in_the_table_under_its_own_name_and_takes_under_a_minute() {
    let mut listed: Vec<_> = table().into_iter().map(|row| row.file).collect();
    listed.sort();
    assert_eq!(listed, files());
    for row in table() {
        let (_, loaded) = example(&row.file, &Variables::default());
        let experiment = loaded.experiment;
        assert_eq!(format!("{}.yaml", experiment.name), row.file);
        let command = format!("chaos run --sandbox examples/{}", row.file);
        assert_eq!(row.command, command);
        let holds: u64 = experiment
            .steps
            .iter()
            .map(|step| step.hold.as_millis())
            .sum();
        let least = Span::from_millis(experiment.baseline.as_millis() + holds);
        assert!(least <= LONGEST, "{} takes {least} and more", row.file);
    }
}

#[test]
fn editors_find_the_schema_that_chaos_prints_and_it_takes_every_example() {
    let committed = fs::read_to_string(format!("{FOLDER}/experiment.schema.json"));
    let printed = Shell::new().run(["schema"]);
    assert_eq!(committed.expect("a committed schema"), printed.stdout);
    let schema = jsonschema::validator_for(&experiment_schema()).expect("a valid schema");
    for file in files() {
        let (source, _) = example(&file, &Variables::default());
        let first = source.text.lines().next();
        let points_there = "# yaml-language-server: $schema=./experiment.schema.json";
        assert_eq!(first, Some(points_there), "{file}");
        let document: Value = serde_yaml::from_str(&source.text).expect("good YAML");
        let errors: Vec<_> = schema
            .iter_errors(&document)
            .map(|error| format!("{} {error}", error.instance_path()))
            .collect();
        assert_eq!(errors, Vec::<String>::new(), "{file}");
    }
}

/// The example that is not run on a sandbox of its own, since a Prometheus has to know its ports.
const BY_PROMETHEUS: &str = "prometheus/stream-down.yaml";

#[tokio::test]
async fn the_example_for_prometheus_is_planned_and_wants_approval() {
    let bench = Bench::start(AppVersion::Fragile).await;
    let found = findings(BY_PROMETHEUS, &bench, None).await;
    let rules: Vec<_> = found.iter().map(|found| found.rule.as_str()).collect();
    assert_eq!(rules, ["approval"]);
    let (source, loaded) = example(BY_PROMETHEUS, &Variables::default());
    let server = loaded.experiment.metrics.prometheus.expect("a Prometheus");
    assert_eq!(server.url, "http://127.0.0.1:9090");
    let first = source.text.lines().next();
    let points_there = "# yaml-language-server: $schema=../experiment.schema.json";
    assert_eq!(first, Some(points_there));
    let schema = jsonschema::validator_for(&experiment_schema()).expect("a valid schema");
    let document: Value = serde_yaml::from_str(&source.text).expect("good YAML");
    assert!(schema.is_valid(&document));
}

#[tokio::test]
async fn the_queries_of_the_example_have_answers_in_a_prometheus_set_up_as_its_readme_says() {
    if prometheus::is_missing() {
        return;
    }
    let shell = Shell::new();
    let sandbox = Elsewhere::start(&shell);
    let file = format!("{FOLDER}/prometheus/prometheus.yml");
    let config = fs::read_to_string(file).expect("a readable configuration");
    let page = fs::read_to_string(format!("{FOLDER}/README.md")).expect("a readable page");
    // The interval too: without it a server scrapes once a minute, and the queries look back 5 s.
    let (_, all) = config.split_once("global:\n").expect("a section");
    assert!(page.contains(all), "the README shows another set-up");
    let (_, scraped) = config.split_once("scrape_configs:\n").expect("a section");
    let address = sandbox.app_url.trim_start_matches("http://");
    let server = Prometheus::start(&scraped.replace("127.0.0.1:7700", address)).await;
    let (_, loaded) = example(BY_PROMETHEUS, &Variables::default());
    for gauged in loaded.experiment.slos {
        let Metric::Prometheus(query) = &gauged.metric else {
            panic!("{} asks somebody else", gauged.slo.name);
        };
        let answered = async || server.query(query, None).await["result"][0]["value"][1].clone();
        let deadline = tokio::time::Instant::now() + Duration::from_secs(20);
        while answered().await != "0" {
            let late = tokio::time::Instant::now() > deadline;
            assert!(!late, "{query} has no answer: {}", answered().await);
            tokio::time::sleep(Duration::from_millis(200)).await;
        }
    }
    let variables = [
        format!("SANDBOX_APP={}", sandbox.app_url),
        format!("SANDBOX_AWS={}", sandbox.aws_url),
        format!("PROMETHEUS={}", server.url),
    ];
    let file = format!("examples/{BY_PROMETHEUS}");
    let variables = variables.iter().flat_map(|one| ["--var", one]);
    let planned = shell.run(["plan", &file].into_iter().chain(variables));
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
}

/// Types the command of a row for one version and says how it ended, with its exit code.
fn end_of(row: &Row, app: &str) -> (String, Option<i32>) {
    let shell = Shell::new();
    let typed = row.command.split(' ').skip(1);
    let finished = shell.run(typed.chain(["--app", app, "-o", "json"]).chain(SHORT));
    (story(&finished), finished.code)
}

/// The exit code that the README promises for an outcome.
fn code_of(story: &str) -> Option<i32> {
    match story.split([' ', ',']).next() {
        Some("held") => Some(0),
        Some("deviated") => Some(1),
        Some(_) | None => None,
    }
}

/// One file on one version, with what the table says about it.
struct Promise<'a> {
    row: &'a Row,
    app: &'static str,
    end: &'a str,
}

impl Promise<'_> {
    /// Runs it; `None`: it ended as promised, else what was seen instead.
    fn broken(&self) -> Option<String> {
        let (story, code) = end_of(self.row, self.app);
        let kept = story == self.end && code == code_of(self.end);
        let Row { file, .. } = self.row;
        let said = (!kept).then(|| format!("{file} on {}: {story}, exit {code:?}", self.app));
        said.map(|said| format!("{said}; the table says {}", self.end))
    }
}

/// Runs everything that is due, several at once; returns what did not end as promised.
fn run_all<'a>(due: VecDeque<Promise<'a>>) -> Vec<Promise<'a>> {
    let due = Mutex::new(due);
    let next = || {
        due.lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop_front()
    };
    let work = || {
        let promises = std::iter::from_fn(next);
        promises
            .filter(|promise| promise.broken().is_some())
            .collect()
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_ONCE).map(|_| scope.spawn(work)).collect();
        let broken = workers.into_iter().flat_map(|worker| {
            let broken: Vec<_> = worker.join().expect("a worker only runs and compares");
            broken
        });
        broken.collect()
    })
}

#[test]
fn every_example_ends_on_both_versions_as_the_table_says() {
    let rows = table();
    let fixed = rows.iter().map(|row| Promise {
        row,
        app: "fixed",
        end: &row.fixed,
    });
    let fragile = rows.iter().map(|row| Promise {
        row,
        app: "fragile",
        end: &row.fragile,
    });
    // The fixed version first: it holds, so its runs last longest.
    let due: VecDeque<_> = fixed.chain(fragile).collect();
    assert_eq!(due.len(), 2 * files().len());
    // On a busy machine even the fixed version can be starved of time. What ended otherwise runs
    // again, alone, before it counts.
    let broken: Vec<_> = run_all(due).iter().filter_map(Promise::broken).collect();
    assert_eq!(broken, Vec::<String>::new());
}

#[test]
fn replaying_a_deviation_on_the_fixed_version_holds_and_shows_both_runs() {
    let shell = Shell::new();
    let file = "examples/stream-down.yaml";
    let before = shell.run(["run", "--sandbox", file].into_iter().chain(SHORT));
    assert_eq!(before.code, Some(1), "{}", before.stderr);
    let after = shell.run(["replay", "last", "--sandbox", "--app", "fixed"]);
    assert_eq!(after.code, Some(0), "{}", after.stderr);
    let outcomes = after.stdout.lines().find(|line| line.contains("outcome "));
    let words: Vec<_> = outcomes.unwrap_or_default().split_whitespace().collect();
    assert_eq!(
        words,
        ["outcome", "deviated", "held", "better"],
        "{}",
        after.stdout
    );
}

#[tokio::test]
async fn a_plan_for_a_sandbox_elsewhere_is_not_run_unapproved_and_touches_nothing() {
    let shell = Shell::new();
    let sandbox = Elsewhere::start(&shell);
    let app = format!("SANDBOX_APP={}", sandbox.app_url);
    let aws = format!("SANDBOX_AWS={}", sandbox.aws_url);
    let file = "examples/stream-down.yaml";
    let planned = shell.run(["plan", "-q", file, "--var", &app, "--var", &aws]);
    assert_eq!(planned.code, Some(0), "{}", planned.stderr);
    let run = shell.run(["run", planned.stdout.trim()]);
    assert_eq!(run.code, Some(4), "{}", run.stderr);
    assert_eq!(shell.kept("plans").len(), 1);
    assert_eq!(shell.kept("runs"), Vec::<PathBuf>::new());
    let clients = Clients::new().expect("clients can be made");
    let look = |url: String| answer(clients.http(&url).get(url.clone()));
    let faults = look(format!("{}/_localstack/chaos/faults", sandbox.aws_url)).await;
    assert_eq!(faults, (200, serde_json::json!([])));
    let (_, figures) = look(format!("{}/status", sandbox.app_url)).await;
    assert_eq!(figures["accepted"], 0, "an order was sent: {figures}");
}

//! What is typed and what is read: commands, files and things that are no files.

use rustix::fs::{CWD, FileType, Mode, mknodat};
use tokio::time::{Duration, Instant};

use super::{FOR_THE_SANDBOX, Scene, experiment, one_rule};
use crate::support::process::{Place, Running};
use chaos_gameday::metrics::Metric;
use chaos_gameday::plan::{Variables, load_experiment, read_source};

#[tokio::test]
async fn what_cannot_be_typed_is_a_usage_error() {
    let place = Place::new();
    for args in [
        &["plan", "--unknown"][..],
        &["fly"],
        &["plan"],
        &["run"],
        &[],
        &["report"],
        &["completions", "tcsh"],
        &["run", "x.yaml", "--undo-timeout", "soon"],
        &["replay", "last", "--speed", "2"],
        &["replay", "last", "--view", "--speed", "-1"],
        &["run", "x.yaml", "--app", "fixed"],
        &["plan", "-q", "-v", "x.yaml"],
        &["man", "fly"],
        &["plan", "x.yaml", "--state-dir"],
    ] {
        let ended = place.chaos(args).await;
        assert_eq!(ended.status.code(), Some(2), "{args:?}: {}", ended.stderr);
        assert_eq!(ended.stdout, "", "{args:?}");
        assert!(!ended.stderr.is_empty(), "{args:?}");
    }
}

/// Plans a path; asserts that it is refused soon and with a hint, and returns what was said.
async fn refused(place: &Place, path: &str) -> String {
    let begun = Instant::now();
    let ended = place.chaos(&["plan", path]).await.exits(2).tells("hint:");
    assert!(begun.elapsed() < Duration::from_secs(5), "{path}: slow");
    assert_eq!(ended.stdout, "", "{path}");
    ended.stderr
}

#[tokio::test]
async fn what_is_no_document_is_refused_quickly_with_the_next_move() {
    let place = Place::new();
    std::fs::create_dir(place.path("folder")).unwrap();
    let pipe = place.path("pipe.yaml");
    mknodat(CWD, &pipe, FileType::Fifo, Mode::RWXU, 0).unwrap();
    let large = std::fs::File::create(place.path("large.yaml")).unwrap();
    large.set_len(50 * 1024 * 1024).unwrap();
    std::fs::write(place.path("latin.yaml"), b"kind: Caf\xe9\n").unwrap();
    place.write("empty.yaml", "");
    place.write("other.yaml", "apiVersion: v1\nkind: Pod\n");
    for (path, words) in [
        ("nowhere.yaml", "there is no file `nowhere.yaml`"),
        ("folder", "is a folder, not a document"),
        ("pipe.yaml", "is a pipe, not a file"),
        ("/dev/zero", "is a device, not a file"),
        ("large.yaml", "is too large for a document"),
        ("latin.yaml", "is no UTF-8 text"),
    ] {
        let said = refused(&place, path).await;
        assert!(said.contains(words), "{path}: {said}");
    }
    for path in ["empty.yaml", "other.yaml"] {
        let ended = place.chaos(&["plan", path]).await.exits(2);
        assert!(ended.stderr.contains(path), "{}", ended.stderr);
    }
    // The same words whichever command reads the file.
    let run = place.chaos(&["run", "pipe.yaml"]).await.exits(2);
    run.tells("is a pipe, not a file");
    assert!(!place.state().exists());
}

#[tokio::test]
async fn every_error_of_a_document_is_shown_at_once_at_its_place() {
    let place = Place::new();
    let text = experiment("http://127.0.0.1:4566", "http://127.0.0.1:1/", one_rule())
        .replace("hypothesis:", "hypothesys:")
        .replace("\"< 50%\"", "\"under 50%\"")
        .replace("for: 300ms", "for: 300 parsecs")
        .replace("operation: PutRecord", "operaton: PutRecord");
    place.write("bad.yaml", &text);
    let ended = place.chaos(&["plan", "bad.yaml"]).await.exits(2);
    assert_eq!(ended.stdout, "");
    for words in [
        "hypothesys",
        "hypothesis",
        "under 50%",
        "300 parsecs",
        "operaton",
        "operation",
        "bad.yaml",
    ] {
        assert!(
            ended.stderr.contains(words),
            "no `{words}` in\n{}",
            ended.stderr
        );
    }
    assert!(!place.state().exists());
}

#[tokio::test]
async fn variables_come_from_flags_before_files_and_bad_ones_are_told() {
    let scene = Scene::new().await;
    scene.place.write("vars.yaml", "HOLD: 3s\nBASELINE: 2s\n");
    let args = [
        "plan",
        "stream-down.yaml",
        "-o",
        "json",
        "--var-file",
        "vars.yaml",
        "--var",
        "HOLD=4s",
    ];
    let plan = scene.place.chaos(&args).await.exits(0).json();
    assert_eq!(plan["plan"]["variables"]["HOLD"]["value"], "4s", "{plan:#}");
    assert_eq!(
        plan["plan"]["variables"]["BASELINE"]["value"], "2s",
        "{plan:#}"
    );
    for variable in ["HOLD", "=3s", "HOLD=forever"] {
        let args = ["plan", "stream-down.yaml", "--var", variable];
        scene.place.chaos(&args).await.exits(2);
    }
}

#[tokio::test]
async fn a_plan_is_run_as_it_was_approved_and_flags_that_would_change_it_are_refused() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    scene.place.write("vars.yaml", "HOLD: 3s\n");
    for flags in [
        &["--var", "HOLD=3s"][..],
        &["--var-file", "vars.yaml"],
        &["--rehearse", "1h"],
        &["--sandbox"],
    ] {
        let args = [&["run", plan.as_str()][..], flags].concat();
        let ended = scene.place.chaos(&args).await.exits(2);
        ended
            .tells("is a plan, which is run as it is")
            .tells("hint:");
    }
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn what_must_not_be_touched_is_denied_and_no_plan_is_kept() {
    let place = Place::new();
    let elsewhere = experiment("http://127.0.0.1:1", "http://127.0.0.1:1/", one_rule());
    for (name, text) in [
        (
            "env.yaml",
            elsewhere.replace("environment: local", "environment: production"),
        ),
        ("hold.yaml", elsewhere.replace("${HOLD:-1s}", "16m")),
    ] {
        let scene = Scene::new().await;
        let text = text.replace(
            "http://127.0.0.1:1\"",
            &format!("{}\"", scene.localstack.url),
        );
        place.write(name, &text);
        let ended = place.chaos(&["plan", name]).await.exits(3);
        ended.tells("the policy denies this plan");
        let quiet = place.chaos(&["plan", "-q", name]).await.exits(3);
        assert_eq!(quiet.stdout, "");
        let run = place.chaos(&["run", name]).await.exits(3);
        run.tells("the policy denies this plan");
        assert_eq!(scene.localstack.writes(), Vec::<String>::new());
    }
}

#[tokio::test]
async fn a_denied_plan_leaves_nothing_in_the_store_whichever_command_made_it() {
    let scene = Scene::new().await;
    let text = std::fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    scene.place.write(
        "denied.yaml",
        &text.replace("environment: local", "environment: prod"),
    );
    scene.place.chaos(&["plan", "denied.yaml"]).await.exits(3);
    scene.place.chaos(&["run", "denied.yaml"]).await.exits(3);
    assert!(!scene.place.state().exists());
}

#[tokio::test]
async fn init_writes_what_plan_accepts_and_overwrites_nothing() {
    let scene = Scene::new().await;
    let place = &scene.place;
    let (url, traffic) = (scene.localstack.url.clone(), scene.target.url("/orders"));
    let args = [
        "init",
        "--yes",
        "--endpoint",
        &url,
        "--traffic",
        &traffic,
        "--name",
        "first",
    ];
    place
        .chaos(&args)
        .await
        .exits(0)
        .tells("wrote first.yaml")
        .tells("next: chaos plan first.yaml");
    place
        .chaos(&["plan", "first.yaml"])
        .await
        .exits(0)
        .prints("first");
    let written = std::fs::read(place.path("first.yaml")).unwrap();
    for again in [&args[..], &["init", "--yes", "first.yaml"]] {
        place
            .chaos(again)
            .await
            .exits(2)
            .tells("nothing is ever overwritten");
        assert_eq!(std::fs::read(place.path("first.yaml")).unwrap(), written);
    }
    // Without a terminal nobody is asked, flag or no flag.
    place
        .chaos(&["init", "second.yaml", "--name", "second"])
        .await
        .exits(0)
        .tells("next: chaos run --sandbox second.yaml");
    let aws = format!("SANDBOX_AWS={url}");
    let args = ["plan", "second.yaml", "--var", &aws];
    place.chaos(&args).await.exits(0);
    for bad in [
        &["--name", "Not A Label"][..],
        &["--probability", "7"],
        &["--endpoint", "nonsense"],
    ] {
        let args = [&["init", "--yes", "third.yaml"][..], bad].concat();
        let ended = place.chaos(&args).await.exits(2).tells("error: ");
        assert!(!ended.stderr.contains("third.yaml"), "{}", ended.stderr);
        assert!(!place.path("third.yaml").exists(), "{bad:?}");
    }
}

#[tokio::test]
async fn init_takes_traffic_of_somebody_else_for_a_localstack_of_theirs() {
    let place = Place::new();
    for (file, traffic, next, environment) in [
        (
            "theirs.yaml",
            "http://127.0.0.1:8080/orders",
            "chaos plan",
            "local",
        ),
        (
            "ours.yaml",
            "http://127.0.0.1:7700/orders",
            "chaos run --sandbox",
            "sandbox",
        ),
    ] {
        let args = ["init", "--yes", file, "--traffic", traffic];
        let next = format!("next: {next} {file}");
        place.chaos(&args).await.exits(0).tells(&next);
        let written = std::fs::read_to_string(place.path(file)).unwrap();
        assert!(
            written.contains(&format!("environment: {environment}\n")),
            "{written}"
        );
    }
    place
        .chaos(&["init", "--yes", "nowhere/x.yaml"])
        .await
        .exits(2)
        .tells("there is no folder nowhere")
        .tells("mkdir -p nowhere");
}

#[tokio::test]
async fn init_asks_prometheus_what_it_is_told_to_ask() {
    let place = Place::new();
    let init = |file: &'static str, flags: &[&str], url: Option<&str>| {
        let mut command = place.command(&[&["init", "--yes", file][..], flags].concat());
        command.envs(url.map(|url| ("PROMETHEUS_URL", url)));
        Running::of(command).ended()
    };
    let query = ["--query", "sum(rate(lost{item=\"tea\"}[30s]))"];
    let here = init("here.yaml", &query, None).await.exits(0);
    assert!(!here.stderr.contains("asked anything"), "{}", here.stderr);
    let objective = [
        "--objective",
        "== 0",
        "--prometheus",
        "https://typed.example.com/a",
    ];
    let typed = [&query[..], &objective].concat();
    let url = Some("http://127.0.0.1:9191");
    init("typed.yaml", &typed, url).await.exits(0);
    init("set.yaml", &query, url).await.exits(0);
    let unasked = init("unasked.yaml", &[], url).await.exits(0);
    unasked
        .tells("http://127.0.0.1:9191 is not asked anything in it: give it a query with --query");
    for (file, expected) in [
        ("here.yaml", Some(("http://127.0.0.1:9090", "< 1%"))),
        ("typed.yaml", Some(("https://typed.example.com/a", "== 0"))),
        ("set.yaml", Some(("http://127.0.0.1:9191", "< 1%"))),
        ("unasked.yaml", None),
    ] {
        let source = read_source(&place.path(file)).unwrap();
        let loaded = load_experiment(&source, &Variables::default()).unwrap();
        let spec = loaded.experiment.metrics.prometheus;
        let asked = loaded.experiment.slos.iter().find(|gauged| {
            gauged.metric == Metric::Prometheus("sum(rate(lost{item=\"tea\"}[30s]))".to_owned())
        });
        let found = spec
            .zip(asked)
            .map(|(spec, asked)| (spec.url, asked.slo.objective.to_string()));
        let expected = expected.map(|(url, objective)| (url.to_owned(), objective.to_owned()));
        assert_eq!(found, expected, "{file}");
    }
    for bad in [
        &["--query", "sum(rate(lost[30s])"][..],
        &["--query", "up", "--objective", "rather few"],
        &["--objective", "== 0"],
        &["--query", "up", "--prometheus", "127.0.0.1:9090"],
    ] {
        init("bad.yaml", bad, None).await.exits(2).tells("error: ");
        assert!(!place.path("bad.yaml").exists(), "{bad:?}");
    }
}

#[tokio::test]
async fn a_document_with_problems_has_one_headline() {
    let place = Place::new();
    let bad = FOR_THE_SANDBOX
        .replace("hold:", "hodl:")
        .replace("kind: Experiment", "kind: Experiment\nkid: 1");
    place.write("bad.yaml", &bad);
    let told = place.chaos(&["plan", "bad.yaml"]).await.exits(2).stderr;
    assert!(
        told.starts_with("error: bad.yaml cannot be used: "),
        "{told}"
    );
    assert!(!told.contains("Error:"), "{told}");
    assert!(told.matches('×').count() >= 2, "{told}");
    assert!(told.contains("bad.yaml:"), "{told}");
}

#[tokio::test]
async fn a_schema_is_json_that_accepts_the_example() {
    let place = Place::new();
    let schema = place.chaos(&["schema"]).await.exits(0).json();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/stream-down.yaml");
    let example = std::fs::read_to_string(example).unwrap();
    let example: serde_json::Value = serde_yaml::from_str(&example).unwrap();
    assert!(validator.is_valid(&example));
    assert!(!validator.is_valid(&serde_json::json!({"kind": "Experiment"})));
}

//! What is found out of a cluster before a run begins there, and what becomes of its lock where none does.
//! The API server is a scripted one, so no control plane is needed.

use std::time::Duration;

use rustix::process::Signal;
use serde_json::json;

use crate::cli::{approve, experiment};
use crate::support::apiserver::{Say, Scripted, status};
use crate::support::localstack::{Misfit, Quirk};
use crate::support::process::Place;
use crate::support::pty::{self, CTRL_C, Terminal};
use crate::support::target::{Behaviour, Target};

const GET: &str = "GET /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";
const CREATE: &str = "POST /apis/coordination.k8s.io/v1/namespaces/shop/leases";
const UPDATE: &str = "PUT /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";
const DELETE: &str = "DELETE /apis/coordination.k8s.io/v1/namespaces/shop/leases/chaos-run";

const QUESTION: &str = "anything else to refuse";

/// A question waits for a key right after it was shown.
const WHILE_A_KEY_IS_AWAITED: Duration = Duration::from_millis(150);
const BETWEEN_LOOKS: Duration = Duration::from_millis(10);

/// The Lease, as whoever may write it gets it back.
fn kept() -> Say {
    let metadata = json!({"name": "chaos-run", "namespace": "shop", "resourceVersion": "1"});
    Say::Json(200, json!({"metadata": metadata, "spec": {}}))
}

/// A place with an experiment on a scripted cluster and a scripted LocalStack.
struct Scene {
    place: Place,
    server: Scripted,
    localstack: Misfit,
    _target: Target,
}

impl Scene {
    async fn new() -> Self {
        Self::with_update(&[kept()]).await
    }

    /// Its API server answers so to whoever renews a Lease.
    async fn with_update(answers: &[Say]) -> Self {
        let server = Scripted::start(&[
            (GET, &[status(404, "not found")]),
            (CREATE, &[kept()]),
            (UPDATE, answers),
            (DELETE, &[kept()]),
        ])
        .await;
        server.is_ahead_by(0);
        let localstack = Misfit::start(Vec::new()).await;
        let target = Target::start(Behaviour::Answer(vec![200])).await;
        let place = Place::new();
        let rules = "{service: kinesis, operation: PutRecord}";
        let text = experiment(&localstack.url, &target.url("/orders"), rules);
        let named = "on:\n  kubernetes: {namespace: shop}\n";
        place.write("game.yaml", &text.replacen("on:\n", named, 1));
        let scene = Self {
            place,
            server,
            localstack,
            _target: target,
        };
        scene.log_in(&scene.server.kubeconfig("kind-odd"));
        scene
    }

    fn log_in(&self, kubeconfig: &str) {
        let folder = self.place.home().join(".kube");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("config"), kubeconfig).unwrap();
    }

    /// What was asked of the Lease, in order.
    fn locking(&self) -> Vec<String> {
        let heard = self.server.heard().into_iter();
        heard.filter(|line| line.contains("/leases")).collect()
    }

    fn lock_files(&self) -> Vec<u64> {
        let folder = std::fs::read_dir(self.place.runtime()).unwrap();
        let files = folder.map(|file| file.unwrap().metadata().unwrap());
        files
            .filter(|file| file.is_file())
            .map(|file| file.len())
            .collect()
    }

    /// It locked, and gave everything back.
    #[track_caller]
    fn assert_given_back(&self) {
        assert_eq!(self.locking(), [GET, CREATE, UPDATE, DELETE]);
        let files = self.lock_files();
        assert!(!files.is_empty(), "it took no lock on this machine");
        assert!(files.iter().all(|length| *length == 0), "{files:?}");
        assert_eq!(self.localstack.writes(), Vec::<String>::new());
        assert_eq!(self.place.store().runs().unwrap(), [], "no run was begun");
    }
}

#[tokio::test]
async fn the_clock_of_an_api_server_is_told_when_it_is_off_and_refused_when_it_is_far_off() {
    let scene = Scene::new().await;
    let words = |server: &Scripted, way: &str| {
        format!("the clock of the API server {} is {way}", server.url)
    };
    let planned = scene
        .place
        .chaos(&["plan", "-q", "game.yaml"])
        .await
        .exits(0);
    assert!(!planned.stderr.contains("clock"), "{}", planned.stderr);
    let plan = planned.stdout.trim();
    approve(&scene.place, plan);

    scene.server.is_ahead_by(-600);
    let planned = scene.place.chaos(&["plan", "game.yaml"]).await.exits(0);
    planned.tells(&format!(
        "a run would be refused now: {}",
        words(&scene.server, "10m behind this machine's")
    ));
    let refused = scene.place.chaos(&["run", plan]).await.exits(3);
    refused
        .tells(&words(&scene.server, "10m behind this machine's"))
        .tells("nothing was injected");
    assert_eq!(scene.locking(), Vec::<String>::new(), "it locked");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());

    scene.server.is_ahead_by(20);
    let run = scene.place.chaos(&["run", plan]).await.exits(0);
    let told = words(&scene.server, "20s ahead of this machine's");
    // Before the run, and as a line of its record.
    assert_eq!(run.stderr.matches(&told).count(), 2, "{}", run.stderr);
}

#[tokio::test]
async fn a_question_that_is_refused_or_broken_off_gives_the_locks_back_at_once() {
    if pty::is_missing() {
        return;
    }
    for (end, code) in [
        ("no\r", 4),
        (CTRL_C, 4),
        ("SIGINT", 5),
        ("SIGTERM", 5),
        ("SIGHUP", 5),
        ("SIGQUIT", 5),
    ] {
        let scene = Scene::new().await;
        let mut terminal = Terminal::start(&scene.place, &["run", "game.yaml"]);
        terminal.shows(QUESTION).await;
        assert_eq!(
            scene.locking(),
            [GET, CREATE, UPDATE],
            "it is locked meanwhile"
        );
        let signal = match end {
            "SIGINT" => Some(Signal::INT),
            "SIGTERM" => Some(Signal::TERM),
            "SIGHUP" => Some(Signal::HUP),
            "SIGQUIT" => Some(Signal::QUIT),
            _ => None,
        };
        let before = match signal {
            None => {
                terminal.types(end).await;
                None
            }
            Some(signal) => {
                tokio::time::sleep(WHILE_A_KEY_IS_AWAITED).await;
                terminal.signals(signal);
                Some(format!("ended by {end} before the run began"))
            }
        };
        let (status, shown) = terminal.ended().await;
        assert_eq!(status.code(), Some(code), "{end}: {shown}");
        if let Some(words) = before {
            assert!(shown.contains(&words), "{shown}");
        }
        scene.assert_given_back();
    }
}

#[tokio::test]
async fn a_terminal_that_closes_at_the_question_gives_the_locks_back() {
    if pty::is_missing() {
        return;
    }
    let scene = Scene::new().await;
    let mut terminal = Terminal::start(&scene.place, &["run", "game.yaml"]);
    terminal.shows(QUESTION).await;
    let status = terminal.hangs_up().await;
    assert!(matches!(status.code(), Some(4 | 5)), "{status}");
    scene.assert_given_back();
}

/// The world is looked at before anybody is asked, and here it does not answer.
#[tokio::test]
async fn a_signal_before_the_question_gives_the_locks_back() {
    let scene = Scene::with_update(&[Say::Busy(1), kept()]).await;
    let planned = scene
        .place
        .chaos(&["plan", "-q", "game.yaml"])
        .await
        .exits(0);
    let plan = planned.stdout.trim();
    approve(&scene.place, plan);
    let mut run = scene.place.start(&["run", "-v", plan]);
    // While the Lease is being taken; what was planned is looked at before that.
    while !scene.locking().iter().any(|line| line == CREATE) {
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
    let hangs = Quirk::Hangs("/_localstack/chaos/faults");
    scene.localstack.inner().quirks.push(hangs);
    run.says("is locked by its Lease").await;
    run.signal(Signal::TERM);
    let ended = run.ended().await.exits(5);
    ended.tells("ended by SIGTERM before the run began");
    assert_eq!(scene.locking(), [GET, CREATE, UPDATE, UPDATE, DELETE]);
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

/// A program that asks for credentials does something: nobody who only looks at evidence starts it.
#[tokio::test]
async fn commands_that_ask_no_cluster_start_no_credential_plugin() {
    let scene = Scene::new().await;
    let planned = scene
        .place
        .chaos(&["plan", "-q", "game.yaml"])
        .await
        .exits(0);
    let plan = planned.stdout.trim().to_owned();
    approve(&scene.place, &plan);
    scene.place.chaos(&["run", &plan]).await.exits(0);
    let started = scene.place.path("started");
    let exec = json!({
        "apiVersion": "client.authentication.k8s.io/v1",
        "interactiveMode": "Never",
        "command": "/bin/sh",
        "args": ["-c", format!("touch {}; exit 1", started.display())],
    });
    let text = scene.server.kubeconfig("kind-odd");
    let with_plugin = text.replace("{\"token\":\"t\"}", &json!({"exec": exec}).to_string());
    assert_ne!(text, with_plugin);
    scene.log_in(&with_plugin);
    for command in [
        &["show", &plan][..],
        &["show", "last"],
        &["show", &plan, "--explain"],
        &["runs"],
        &["report", "last"],
        &["approve", "--list"],
        &["policy", "check"],
        &["replay", "last", "--view", "--speed", "max"],
    ] {
        let ended = scene.place.chaos(command).await;
        assert_ne!(
            ended.status.code(),
            Some(70),
            "{command:?}: {}",
            ended.stderr
        );
        assert!(!started.exists(), "{command:?} asked for credentials");
    }
    scene.place.chaos(&["plan", "game.yaml"]).await.exits(3);
    assert!(started.exists(), "a plan does ask");
}

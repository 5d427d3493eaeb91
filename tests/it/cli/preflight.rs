//! What is found amiss before anything is injected: a state folder that takes no evidence, and clocks.

use std::process::Command as Blocking;

use axum::Router;
use axum::body::Body;
use axum::extract::Request;
use axum::http::header::{DATE, HOST};
use axum::response::Response;
use chaos_gameday::clients::Clients;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;
use tokio::net::TcpListener;
use tokio::process::Command;

use super::{Scene, approve, report};
use crate::support::process::Running;

/// The same command, in a shell that prepared the ground for it.
fn after(scene: &Scene, ground: &str, args: &[&str]) -> Command {
    let mut command = Command::new("/bin/sh");
    command
        .args([
            "-c",
            &format!("{ground} && exec \"$0\" \"$@\""),
            env!("CARGO_BIN_EXE_chaos"),
        ])
        .args(args);
    scene.place.surround(&mut command);
    command
}

/// Whether this user may mount something where nobody else sees it.
#[expect(clippy::print_stderr, reason = "a test that is skipped says so")]
fn may_mount() -> bool {
    let tried = Blocking::new("unshare")
        .args(["-rm", "mount", "-t", "tmpfs", "tmpfs", "/mnt"])
        .output();
    let may = tried.is_ok_and(|tried| tried.status.success());
    if !may {
        eprintln!("skipped: this user may not mount a file system of his own");
    }
    may
}

/// A run whose state folder lies on a small file system, which nobody else sees and which goes with it.
fn on_a_disk(scene: &Scene, options: &str, plan: &str) -> Running {
    let state = scene.place.state();
    let state = state.to_str().unwrap();
    let inside = format!(
        "mkdir /tmp/kept.$$ && cp -a {state}/. /tmp/kept.$$ && mount -t tmpfs -o size=512m,mode=700 tmpfs {state} \
         && cp -a /tmp/kept.$$/. {state} && rm -r /tmp/kept.$$ && mount -o remount,{options} {state}"
    );
    let mut command = Command::new("unshare");
    command
        .args(["-rm", "/bin/sh", "-c"])
        .arg(format!("{inside} && exec \"$0\" run {plan}"))
        .arg(env!("CARGO_BIN_EXE_chaos"));
    scene.place.surround(&mut command);
    Running::of(command)
}

#[tokio::test]
async fn a_disk_that_takes_no_evidence_is_refused_before_anything_is_sent() {
    if !may_mount() {
        return;
    }
    for (options, words) in [
        ("size=40m", "MiB are free on the disk of"),
        ("size=512m,nr_inodes=20", "more files fit on the disk of"),
        ("ro", "Read-only file system"),
    ] {
        let scene = Scene::new().await;
        let plan = scene.approved_plan(&[]).await;
        let refused = on_a_disk(&scene, options, &plan).ended().await.exits(8);
        let refused = refused.tells(words).tells("--state-dir");
        assert!(!refused.stderr.contains("baseline"), "{}", refused.stderr);
        assert_eq!(scene.localstack.writes(), Vec::<String>::new(), "{options}");
    }
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let run = on_a_disk(&scene, "size=100m", &plan).ended().await.exits(0);
    // Before the run, and as a line of its record.
    let words = "of 64 MiB that a run needs";
    assert_eq!(run.stderr.matches(words).count(), 2, "{}", run.stderr);
}

#[tokio::test]
async fn a_limit_of_the_process_is_refused_before_it_kills_it() {
    let scene = Scene::new().await;
    let plan = scene.approved_plan(&[]).await;
    let run = Running::of(after(&scene, "ulimit -f 100", &["run", &plan]));
    let refused = run.ended().await.exits(8);
    refused
        .tells("no file of this process may be larger than")
        .tells("ulimit -f unlimited");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

#[tokio::test]
async fn a_state_folder_that_cannot_be_written_is_refused_before_anybody_is_asked() {
    let scene = Scene::new().await;
    scene.plan(&[]).await;
    let state = scene.place.state();
    // Root writes everywhere, so something else stands in the way.
    let probe = format!("mv {0} {0}.kept && ln -s /proc/self {0}", state.display());
    let ended = Running::of(after(&scene, &probe, &["run", "stream-down.yaml"]))
        .ended()
        .await;
    ended.exits(8);
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());
}

/// Hands everything on to the scene's LocalStack, and tells another time.
async fn with_clock(scene: &Scene, off: SignedDuration) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let behind = scene.localstack.url.clone();
    let client = Clients::new().unwrap().http(&behind).clone();
    let router = Router::new().fallback(move |request: Request| {
        let (client, behind) = (client.clone(), behind.clone());
        async move { hand_on(&client, &behind, request, off).await }
    });
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    url
}

#[expect(
    clippy::disallowed_methods,
    reason = "its time is the wall clock's, and some"
)]
async fn hand_on(
    client: &reqwest::Client,
    behind: &str,
    request: Request,
    off: SignedDuration,
) -> Response {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1 << 20).await.unwrap();
    let mut headers = head.headers;
    headers.remove(HOST);
    let url = format!("{behind}{}", head.uri);
    let asked = client.request(head.method, url).headers(headers).body(body);
    let answer = asked.send().await.unwrap();
    let time = (Timestamp::now() + off).strftime("%a, %d %b %Y %H:%M:%S GMT");
    let told = Response::builder()
        .status(answer.status())
        .header("content-type", "application/json")
        .header(DATE, time.to_string());
    told.body(Body::from(answer.bytes().await.unwrap()))
        .unwrap()
}

/// The plan of a scene whose LocalStack's clock is off by so many seconds, and what planning said.
async fn planned_with_clock(scene: &Scene, seconds: i64) -> (String, String) {
    let url = with_clock(scene, SignedDuration::from_secs(seconds)).await;
    let text = std::fs::read_to_string(scene.place.path("stream-down.yaml")).unwrap();
    let text = text.replace(&scene.localstack.url, &url);
    scene.place.write("stream-down.yaml", &text);
    let mut command = scene
        .place
        .command(&["plan", "-o", "json", "stream-down.yaml"]);
    // No words of a clock depend on where somebody lives.
    command
        .env("LC_ALL", "de_DE.UTF-8")
        .env("TZ", "Asia/Kolkata");
    let planned = Running::of(command).ended().await.exits(0);
    let id = scene.place.store().plans().unwrap()[0].to_string();
    approve(&scene.place, &id);
    (id, planned.stderr)
}

#[tokio::test]
async fn a_clock_that_is_off_is_told_and_one_that_is_far_off_is_refused() {
    let scene = Scene::new().await;
    let (plan, said) = planned_with_clock(&scene, 20).await;
    let ahead = |said: &str| {
        let line = said
            .lines()
            .find(|line| line.contains("the clock of LocalStack"));
        line.is_some_and(|line| line.contains("s ahead of this machine's"))
    };
    assert!(ahead(&said), "{said}");
    let run = scene.place.chaos(&["run", &plan]).await.exits(0);
    assert!(ahead(&run.stderr), "{}", run.stderr);
    let told: Value = report(&scene.place).await;
    assert!(
        told.to_string().contains("the clock of LocalStack"),
        "{told}"
    );

    let scene = Scene::new().await;
    let (plan, said) = planned_with_clock(&scene, -600).await;
    assert!(
        said.contains("a run would be refused now: the clock of LocalStack"),
        "{said}"
    );
    let refused = scene.place.chaos(&["run", &plan]).await.exits(3);
    refused
        .tells("behind this machine's; neither approvals nor samples could be judged")
        .tells("nothing was injected");
    assert_eq!(scene.localstack.writes(), Vec::<String>::new());

    let scene = Scene::new().await;
    let (_, said) = planned_with_clock(&scene, 0).await;
    assert!(!said.contains("clock"), "{said}");
}

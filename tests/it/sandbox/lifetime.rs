//! How a sandbox starts, is found and ends.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::model::problem::ProblemKind;
use chaos_gameday::sandbox::{AppVersion, Sandbox, SandboxSettings, status};
use serde_json::json;
use tokio::time::timeout;

use crate::support::sandbox::Bench;

#[tokio::test]
async fn stopping_ends_calls_in_flight_and_frees_the_ports() {
    let bench = Bench::start(AppVersion::Fragile).await;
    bench.effects(json!({"latency": 60_000})).await;
    let hanging = bench
        .aws("DynamoDB_20120810.Scan", "us-east-1")
        .json(&json!({}));
    let hanging = tokio::spawn(hanging.send());
    tokio::time::sleep(Duration::from_millis(50)).await;
    let Bench { sandbox, clients } = bench;
    let url = sandbox.app_url().to_owned();
    timeout(Duration::from_secs(2), sandbox.stop())
        .await
        .unwrap();
    let unanswered = timeout(Duration::from_secs(2), hanging).await.unwrap();
    assert!(unanswered.unwrap().is_err());
    let gone = status(&url, &clients).await.unwrap_err();
    assert_eq!(gone.kind, ProblemKind::Unreachable);
    assert_eq!(gone.message, format!("no sandbox answers at {url}/status"));
    assert_eq!(gone.hint.unwrap(), "start one with `chaos sandbox`");
    let settings = SandboxSettings {
        app: AppVersion::Fixed,
        app_port: port_of(&url),
        aws_port: 0,
        seed: 1,
    };
    let again = Sandbox::start(settings).await.unwrap();
    assert_eq!(again.app_url(), url);
}

#[tokio::test]
async fn dropping_ends_it_too() {
    let bench = Bench::start(AppVersion::Fixed).await;
    bench.status().await;
    let Bench { sandbox, clients } = bench;
    let url = sandbox.app_url().to_owned();
    drop(sandbox);
    let gone = async { while status(&url, &clients).await.is_ok() {} };
    timeout(Duration::from_secs(2), gone).await.unwrap();
}

#[tokio::test]
async fn a_taken_port_is_named_with_its_flag() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let (app_port, aws_port) = (
        port_of(bench.sandbox.app_url()),
        port_of(bench.sandbox.aws_url()),
    );
    let cases = [
        (app_port, 0, "--app-port", app_port),
        (0, aws_port, "--aws-port", aws_port),
    ];
    for (app_port, aws_port, flag, taken) in cases {
        let settings = SandboxSettings {
            app: AppVersion::Fixed,
            app_port,
            aws_port,
            seed: 1,
        };
        let problem = Sandbox::start(settings).await.unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Conflict);
        let message = format!("the sandbox cannot listen on 127.0.0.1:{taken}: ");
        assert!(problem.message.starts_with(&message), "{problem}");
        assert!(problem.hint.unwrap().contains(flag));
    }
}

#[tokio::test]
async fn who_is_no_sandbox_is_told_apart_from_nobody() {
    let bench = Bench::start(AppVersion::Fixed).await;
    let stranger = status(bench.sandbox.aws_url(), &bench.clients)
        .await
        .unwrap_err();
    assert_eq!(stranger.kind, ProblemKind::Unexpected);
    let nonsense = status("sandbox", &Clients::new().unwrap())
        .await
        .unwrap_err();
    assert_eq!(nonsense.kind, ProblemKind::Invalid);
    assert_eq!(nonsense.message, "'sandbox/status' is no URL");
}

#[test]
fn app_versions_are_written_as_they_are_read() {
    for app in [AppVersion::Fragile, AppVersion::Fixed] {
        assert_eq!(app.to_string().parse(), Ok(app));
    }
    let problem = "broken".parse::<AppVersion>().unwrap_err();
    assert_eq!(problem.message, "the sandbox has no app version 'broken'");
}

fn port_of(url: &str) -> u16 {
    let (_, port) = url.rsplit_once(':').unwrap();
    port.parse().unwrap()
}

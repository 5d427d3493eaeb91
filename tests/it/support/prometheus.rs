//! A real Prometheus on a loopback port, with a data folder of its own, gone with its handle.
#![expect(clippy::unwrap_used, reason = "a test that cannot start it has failed")]

use std::net::TcpListener;
use std::process::Stdio;
use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use rustix::process::{Signal, kill_process};
use serde_json::Value;
use tempfile::TempDir;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

use super::process::pid_of;

const READY_WITHIN: Duration = Duration::from_secs(30);
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Whether there is no Prometheus here. Says so, and what to install; where every test has to run
/// (`CHAOS_REQUIRE_E2E`), that is a failure.
#[expect(
    clippy::disallowed_methods,
    clippy::print_stderr,
    reason = "a test that is skipped says so, and CI may forbid it"
)]
pub fn is_missing() -> bool {
    let found = std::process::Command::new("prometheus")
        .arg("--version")
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status();
    if found.is_ok_and(|status| status.success()) {
        return false;
    }
    let required = std::env::var_os("CHAOS_REQUIRE_E2E").is_some();
    assert!(!required, "the program `prometheus` is needed");
    eprintln!("skipped: no `prometheus`, install the Debian package prometheus");
    true
}

/// A running server.
pub struct Prometheus {
    child: Child,
    _folder: Arc<TempDir>,
    clients: Clients,
    pub url: String,
}

impl Prometheus {
    /// Starts it with these `scrape_configs` (YAML list items) and waits until it is ready.
    pub async fn start(scrape_configs: &str) -> Self {
        Self::start_with(scrape_configs, &[]).await
    }

    /// The same with more flags on its command line.
    pub async fn start_with(scrape_configs: &str, flags: &[&str]) -> Self {
        Self::start_on(tempfile::tempdir().unwrap(), scrape_configs, flags).await
    }

    /// The same on a folder whose `data` may hold samples already, as `with_history` puts them there.
    pub async fn start_on(folder: TempDir, scrape_configs: &str, flags: &[&str]) -> Self {
        let folder = Arc::new(folder);
        let config = folder.path().join("prometheus.yml");
        let global = "global: {scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 1s}";
        std::fs::write(
            &config,
            format!("{global}\nscrape_configs:\n{scrape_configs}\n"),
        )
        .unwrap();
        // Another process may take the port in between; then it is tried again.
        for _ in 0..5 {
            let port = free_port();
            let child = Command::new("prometheus")
                .arg(format!("--config.file={}", config.display()))
                .arg(format!(
                    "--storage.tsdb.path={}",
                    folder.path().join("data").display()
                ))
                .arg(format!("--web.listen-address=127.0.0.1:{port}"))
                .arg("--log.level=error")
                .args(flags)
                .stdin(Stdio::null())
                .stdout(Stdio::null())
                .stderr(Stdio::null())
                .kill_on_drop(true)
                .spawn()
                .unwrap();
            let mut server = Self {
                child,
                _folder: Arc::clone(&folder),
                clients: Clients::new().unwrap(),
                url: format!("http://127.0.0.1:{port}"),
            };
            if server.becomes_ready().await {
                return server;
            }
        }
        panic!("prometheus did not become ready");
    }

    /// Waits until a query finds something: it is some seconds before a new server scrapes.
    pub async fn finds(&self, query: &str) {
        let deadline = Instant::now() + READY_WITHIN;
        while self.query(query, None).await["result"] == Value::Array(Vec::new()) {
            assert!(Instant::now() < deadline, "`{query}` never finds anything");
            sleep(BETWEEN_LOOKS).await;
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, signal: Signal) {
        kill_process(pid_of(&self.child), signal).unwrap();
    }

    async fn becomes_ready(&mut self) -> bool {
        let deadline = Instant::now() + READY_WITHIN;
        while Instant::now() < deadline {
            if self.child.try_wait().unwrap().is_some() {
                return false;
            }
            let url = format!("{}/-/ready", self.url);
            let ready = self
                .clients
                .http(&url)
                .get(&url)
                .timeout(BETWEEN_LOOKS * 20);
            if ready
                .send()
                .await
                .is_ok_and(|answer| answer.status().is_success())
            {
                return true;
            }
            sleep(BETWEEN_LOOKS).await;
        }
        false
    }

    /// The `data` of an instant query at a time in milliseconds since 1970; `None`: now.
    pub async fn query(&self, query: &str, at_ms: Option<i64>) -> Value {
        let mut url = url::Url::parse(&format!("{}/api/v1/query", self.url)).unwrap();
        url.query_pairs_mut().append_pair("query", query);
        if let Some(at_ms) = at_ms {
            let time = format!("{}.{:03}", at_ms.div_euclid(1_000), at_ms.rem_euclid(1_000));
            url.query_pairs_mut().append_pair("time", &time);
        }
        let asked = self.clients.http(url.as_str()).get(url.as_str());
        let answer = asked.timeout(READY_WITHIN).send().await.unwrap();
        let body: Value = answer.json().await.unwrap();
        assert_eq!(body["status"], "success", "{query}: {body}");
        body["data"].clone()
    }
}

/// A folder to start on with this past: a page in the OpenMetrics format whose samples have times.
pub async fn with_history(page: &str) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("history.txt");
    std::fs::write(&file, page).unwrap();
    let loaded = Command::new("promtool")
        .args(["tsdb", "create-blocks-from", "openmetrics"])
        .arg(&file)
        .arg(folder.path().join("data"))
        .output()
        .await
        .unwrap();
    assert!(loaded.status.success(), "{loaded:?}");
    folder
}

fn free_port() -> u16 {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    listener.local_addr().unwrap().port()
}

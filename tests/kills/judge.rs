//! The platform's own word on what is in place: the sandbox is a process of its own, and is asked
//! directly, not on the way that the run takes.

use std::net::TcpListener;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use chaos_gameday::clients::Clients;
use tokio::process::{Child, Command};
use tokio::time::{Instant, sleep};

const UP_WITHIN: Duration = Duration::from_secs(20);

/// Rules and a latency of somebody else, which stand before and after every run.
const FOREIGN: &str = r#"[{"service":"sqs","region":"eu-west-1","probability":0.5,"description":"not ours"},{"service":"kinesis","operation":"PutRecord","region":"ap-south-1","error":{"statusCode":429,"code":"Theirs"}}]"#;
const FOREIGN_LATENCY: &str = r#"{"latency":3}"#;

/// A sandbox in a process of its own.
pub struct Judge {
    pub app: String,
    /// Host and port of its AWS services.
    pub aws: String,
    clients: std::sync::Arc<Clients>,
    before: Seen,
    _sandbox: Child,
}

/// What stands there: rules and effects, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub rules: String,
    pub effects: String,
}

impl Judge {
    pub async fn start(home: &Path, clients: std::sync::Arc<Clients>) -> Result<Self, String> {
        let [app, aws] = free_ports();
        let mut command = Command::new(env!("CARGO_BIN_EXE_chaos"));
        command
            .args(["sandbox", "--app", "fixed"])
            .args([
                "--app-port",
                &app.to_string(),
                "--aws-port",
                &aws.to_string(),
            ])
            .env_clear()
            .env("HOME", home)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .kill_on_drop(true);
        let sandbox = command.spawn().map_err(|why| why.to_string())?;
        let mut judge = Self {
            app: format!("http://127.0.0.1:{app}"),
            aws: format!("127.0.0.1:{aws}"),
            clients,
            before: Seen {
                rules: String::new(),
                effects: String::new(),
            },
            _sandbox: sandbox,
        };
        let begun = Instant::now();
        while judge.ask("GET", "faults", "").await.is_err() {
            if begun.elapsed() > UP_WITHIN {
                return Err("the sandbox never answered".to_owned());
            }
            sleep(Duration::from_millis(20)).await;
        }
        judge.ask("PATCH", "faults", FOREIGN).await?;
        judge.ask("POST", "effects", FOREIGN_LATENCY).await?;
        judge.before = judge.look().await?;
        Ok(judge)
    }

    async fn ask(&self, method: &str, what: &str, body: &'static str) -> Result<String, String> {
        let url = format!("http://{}/_localstack/chaos/{what}", self.aws);
        let method = method.parse().unwrap();
        let request = self.clients.http(&url).request(method, url);
        let request = request.timeout(Duration::from_secs(5));
        let request = request
            .header("Content-Type", "application/json")
            .body(body);
        let answer = request.send().await.map_err(|why| why.to_string())?;
        answer.text().await.map_err(|why| why.to_string())
    }

    pub async fn look(&self) -> Result<Seen, String> {
        Ok(Seen {
            rules: self.ask("GET", "faults", "").await?,
            effects: self.ask("GET", "effects", "").await?,
        })
    }

    /// Nothing but what stood there before.
    pub async fn is_clean(&self) -> Result<bool, String> {
        Ok(self.look().await? == self.before)
    }

    /// That nothing but what stood there before does.
    pub async fn find_clean(&self) -> Result<(), String> {
        let now = self.look().await?;
        match now == self.before {
            true => Ok(()),
            false => Err(format!("left in place: {now:?}\nbefore: {:?}", self.before)),
        }
    }
}

/// Two that were free a moment ago.
fn free_ports() -> [u16; 2] {
    let listeners = [0, 1].map(|_| TcpListener::bind("127.0.0.1:0").unwrap());
    listeners.map(|listener| listener.local_addr().unwrap().port())
}

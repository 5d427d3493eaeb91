//! The embedded practice environment: a small real order pipeline whose calls to "AWS" go through
//! the same Chaos API contract as LocalStack's. To the engine it is a target like any other.
//!
//! HTTP API → stream → table → metric, every hop over HTTP on loopback, nothing to install.

mod app;
mod aws_client;
mod chaos_api;
mod edge;
mod fixed;
mod fragile;
mod histogram;
mod in_memory;
mod ledger;
mod life;
mod metrics_page;
mod rules;
mod stores;

use std::fmt;
use std::net::Ipv4Addr;
use std::str::FromStr;
use std::time::Duration;

use serde_json::Value;
use tokio::net::TcpListener;

use crate::clients::Clients;
use crate::model::problem::{Problem, ProblemKind};
use app::App;
use aws_client::AwsClient;
use edge::Edge;
use life::LifeOwner;

pub use in_memory::InMemory;

/// Where the order pipeline listens unless told otherwise.
pub const DEFAULT_APP_PORT: u16 = 7700;
/// Where the "AWS" edge with the Chaos API listens unless told otherwise.
pub const DEFAULT_AWS_PORT: u16 = 7701;
/// How long a sandbox may take to say how it is.
const STATUS_TIMEOUT: Duration = Duration::from_secs(5);

/// Which version of the order pipeline runs; they differ only in how they handle failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AppVersion {
    /// Unbounded immediate retries, a blocking middle hop, swallowed errors.
    Fragile,
    /// Bounded retries with jitter, honest refusals, a dead-letter queue.
    Fixed,
}

impl fmt::Display for AppVersion {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Fragile => "fragile",
            Self::Fixed => "fixed",
        })
    }
}

impl FromStr for AppVersion {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        match text {
            "fragile" => Ok(Self::Fragile),
            "fixed" => Ok(Self::Fixed),
            other => Err(Problem::new(
                ProblemKind::Invalid,
                format!("the sandbox has no app version '{other}'"),
            )
            .hint("use `fragile` or `fixed`")),
        }
    }
}

/// What a sandbox is started with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SandboxSettings {
    /// The version of the pipeline.
    pub app: AppVersion,
    /// Port of the pipeline's HTTP API; 0 for any free one.
    pub app_port: u16,
    /// Port of the "AWS" edge; 0 for any free one.
    pub aws_port: u16,
    /// Where all its randomness starts: dice of fault rules, jitter of retries, order ids.
    pub seed: u64,
}

/// A running sandbox. Dropping it ends everything that it runs.
#[derive(Debug)]
pub struct Sandbox {
    app_url: String,
    aws_url: String,
    owner: LifeOwner,
}

impl Sandbox {
    /// Binds both ports on loopback and starts the pipeline.
    ///
    /// # Errors
    /// A port is taken or may not be bound (the message names it, the hint its flag), or no HTTP
    /// client can be made.
    pub async fn start(settings: SandboxSettings) -> Result<Self, Problem> {
        let clients = Clients::new()?;
        let (aws_listener, aws_url) = bind(settings.aws_port, "--aws-port").await?;
        let (app_listener, app_url) = bind(settings.app_port, "--app-port").await?;
        let (owner, life) = LifeOwner::new();
        let edge = Edge::new(settings.app, settings.seed, life.clone());
        life.serve(aws_listener, edge.router());
        let aws = AwsClient::new(&clients, &aws_url);
        let app = App::new(settings.app, aws, settings.seed);
        life.serve(app_listener, app.start(&life));
        Ok(Self {
            app_url,
            aws_url,
            owner,
        })
    }

    /// Where orders are posted, without a slash at its end.
    pub fn app_url(&self) -> &str {
        &self.app_url
    }

    /// Where the "AWS" edge and its Chaos API are, without a slash at its end.
    pub fn aws_url(&self) -> &str {
        &self.aws_url
    }

    /// Ends everything that the sandbox runs and waits until it is gone; its ports are free then.
    pub async fn stop(self) {
        self.owner.end().await;
    }
}

async fn bind(port: u16, flag: &str) -> Result<(TcpListener, String), Problem> {
    let cannot = |why: std::io::Error| {
        let kind = if why.kind() == std::io::ErrorKind::AddrInUse {
            ProblemKind::Conflict
        } else {
            ProblemKind::Refused
        };
        Problem::new(
            kind,
            format!("the sandbox cannot listen on 127.0.0.1:{port}: {why}"),
        )
        .hint(format!(
            "choose another port with `{flag}`, or 0 for any free one"
        ))
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port))
        .await
        .map_err(cannot)?;
    let address = listener.local_addr().map_err(cannot)?;
    Ok((listener, format!("http://{address}")))
}

/// What the pipeline behind a URL says about itself: the JSON of its `/status` page.
///
/// # Errors
/// The URL is none, nobody answers there, or who answers is no sandbox.
pub async fn status(app_url: &str, clients: &Clients) -> Result<Value, Problem> {
    let url = format!("{}/status", app_url.trim_end_matches('/'));
    let request = clients.http(&url).get(&url).timeout(STATUS_TIMEOUT);
    let response = request.send().await.map_err(|why| unanswered(&url, &why))?;
    let code = response.status();
    let stranger = || {
        let message = format!("{url} answered {code}, but not as a sandbox does");
        Problem::new(ProblemKind::Unexpected, message)
            .hint("give the app URL that `chaos sandbox` printed")
    };
    let status: Value = response.json().await.map_err(|_| stranger())?;
    if code.is_success() && status["app"].is_string() {
        Ok(status)
    } else {
        Err(stranger())
    }
}

fn unanswered(url: &str, why: &reqwest::Error) -> Problem {
    if why.is_builder() {
        return Problem::new(ProblemKind::Invalid, format!("'{url}' is no URL"))
            .hint(format!("write it as http://127.0.0.1:{DEFAULT_APP_PORT}"));
    }
    let message = if why.is_timeout() {
        format!("{url} did not answer in {} s", STATUS_TIMEOUT.as_secs())
    } else {
        format!("no sandbox answers at {url}")
    };
    Problem::new(ProblemKind::Unreachable, message).hint("start one with `chaos sandbox`")
}

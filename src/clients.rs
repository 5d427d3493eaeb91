//! HTTP clients, made once from plain values.

use std::time::Duration;

use crate::model::problem::{Problem, ProblemKind};

/// How long a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The clients that drivers and metric sources share.
#[derive(Debug, Clone)]
pub struct Clients {
    http: reqwest::Client,
}

impl Clients {
    /// Makes the clients; no connection is opened yet.
    ///
    /// No redirect is followed: a control request must never reach another server than the one that
    /// was planned. Each request sets its own time-out; there is no request without one.
    ///
    /// # Errors
    /// The TLS set-up of this machine cannot be used.
    pub fn new() -> Result<Self, Problem> {
        // A second installation reports an error that means "there is one already": all we need.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let http = reqwest::Client::builder()
            .connect_timeout(CONNECT_TIMEOUT)
            .redirect(reqwest::redirect::Policy::none())
            .user_agent(concat!("chaos-gameday/", env!("CARGO_PKG_VERSION")))
            .build()
            .map_err(|why| {
                Problem::new(
                    ProblemKind::Unexpected,
                    format!("no HTTP client can be made here: {why}"),
                )
                .hint("check SSL_CERT_FILE and the proxy variables")
            })?;
        Ok(Self { http })
    }

    /// The HTTP client.
    pub fn http(&self) -> &reqwest::Client {
        &self.http
    }
}

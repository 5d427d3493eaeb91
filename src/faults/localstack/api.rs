//! The requests of the Chaos API: one at a time, each with a time-out, a bounded answer and an
//! `Exchange` that tells what was sent and what came back.

use std::time::Duration;

use reqwest::Method;
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::answer::{Answer, Body};
use super::wire::{LONGEST_BODY, Reply, Wire};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Exchange, Request};
use crate::model::units::Span;

/// Says whether it is a LocalStack; the first thing that is asked.
pub(super) const HEALTH: &str = "/_localstack/health";
/// Says which instance it is.
pub(super) const INFO: &str = "/_localstack/info";
/// Says what the licence covers; on some editions only.
pub(super) const LICENCE: &str = "/_localstack/licenseinfo";
/// The list of rules.
pub(super) const FAULTS: &str = "/_localstack/chaos/faults";
/// The one global latency.
pub(super) const EFFECTS: &str = "/_localstack/chaos/effects";

/// One LocalStack.
#[derive(Debug)]
pub(super) struct ChaosApi<'a> {
    wire: &'a dyn Wire,
    endpoint: String,
    patience: Duration,
}

/// A request that was sent, and its answer or why there is none.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) exchange: Exchange,
    pub(super) answer: Result<Answer, Problem>,
}

impl<'a> ChaosApi<'a> {
    /// `patience` must be longer than any latency in place: whether a latency delays the control
    /// paths too is not documented.
    pub(super) fn new(wire: &'a dyn Wire, endpoint: &str, patience: Duration) -> Self {
        Self {
            wire,
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            patience,
        }
    }

    pub(super) fn endpoint(&self) -> &str {
        &self.endpoint
    }

    /// A request, literally as it would be sent.
    pub(super) fn request(&self, method: &Method, path: &str, body: Option<Value>) -> Request {
        Request {
            method: method.to_string(),
            url: format!("{}{path}", self.endpoint),
            body,
        }
    }

    pub(super) async fn get(&self, path: &str) -> Call {
        self.send(Method::GET, path, None).await
    }

    pub(super) async fn send(&self, method: Method, path: &str, body: Option<Value>) -> Call {
        let request = self.request(&method, path, body);
        let begun = Instant::now();
        let reply = self.wire.send(&self.endpoint, &request, self.patience);
        let reply = reply.await;
        let took_ms = Span::of(begun.elapsed()).as_millis();
        Call {
            exchange: Exchange {
                request,
                status: reply.as_ref().ok().map(|reply| reply.status),
                took_ms,
                request_id: reply
                    .as_ref()
                    .ok()
                    .and_then(|reply| reply.request_id.clone()),
            },
            answer: reply.map(answer),
        }
    }
}

fn answer(reply: Reply) -> Answer {
    let body = match reply.body.len() > LONGEST_BODY {
        true => Body::TooLong,
        false => Body::read(&reply.body),
    };
    Answer {
        status: reply.status,
        body,
    }
}

/// Refuses an endpoint that cannot stand before a path: `http:` would make the path's head the host.
///
/// # Errors
/// It is no address of a LocalStack.
pub fn check_endpoint(endpoint: &str) -> Result<(), Problem> {
    let url = Url::parse(endpoint).map_err(|why| no_endpoint(endpoint, &why.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") || !endpoint.contains("://") {
        return Err(no_endpoint(
            endpoint,
            "it starts with neither `http://` nor `https://`",
        ));
    }
    if !url.username().is_empty() || url.password().is_some() {
        // Not repeated here: what is shown is recorded too.
        return Err(no_endpoint(
            "the endpoint",
            "LocalStack asks for no credentials, and they would be recorded",
        ));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(no_endpoint(endpoint, "it has a query or a fragment"));
    }
    Ok(())
}

pub(super) fn no_endpoint(endpoint: &str, why: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("`{endpoint}` is no address of a LocalStack: {why}"),
    )
    .hint("write `on.localstack.endpoint` as in `http://127.0.0.1:4566`")
}

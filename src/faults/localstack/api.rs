//! The HTTP side of the Chaos API: one request at a time, each with a time-out, a bounded answer and
//! an `Exchange` that tells what was sent and what came back. No redirect is ever followed.

use std::time::Duration;

use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};
use serde_json::Value;
use tokio::time::Instant;
use url::Url;

use super::answer::{Answer, Body};
use super::transport;
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

/// More than any list of rules; an answer beyond it comes from something else.
const LONGEST_BODY: usize = 1024 * 1024;

/// Headers in which gateways name a request.
const REQUEST_IDS: &[&str] = &["x-amzn-requestid", "x-amz-request-id", "x-request-id"];

/// One LocalStack.
#[derive(Debug)]
pub(super) struct ChaosApi<'a> {
    http: &'a reqwest::Client,
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
    pub(super) fn new(http: &'a reqwest::Client, endpoint: &str, patience: Duration) -> Self {
        Self {
            http,
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
        let mut builder = self
            .http
            .request(method, &request.url)
            .timeout(self.patience);
        if let Some(body) = &request.body {
            // A server that validates answers 400 to the same JSON under another content type.
            builder = builder
                .header(CONTENT_TYPE, HeaderValue::from_static("application/json"))
                .body(body.to_string());
        }
        let answer = match builder.send().await {
            Ok(response) => read(response).await,
            Err(error) => Err(error),
        };
        let took_ms = Span::of(begun.elapsed()).as_millis();
        let answer = answer.map_err(|error| self.no_answer(&error));
        Call {
            exchange: Exchange {
                request,
                status: answer.as_ref().ok().map(|(answer, _)| answer.status),
                took_ms,
                request_id: answer.as_ref().ok().and_then(|(_, id)| id.clone()),
            },
            answer: answer.map(|(answer, _)| answer),
        }
    }

    fn no_answer(&self, error: &reqwest::Error) -> Problem {
        if error.is_builder() {
            return no_endpoint(&self.endpoint, "it is no URL");
        }
        transport::problem(error, &self.endpoint, self.patience)
    }
}

/// Refuses an endpoint that cannot stand before a path: `http:` would make the path's head the host.
pub(super) fn check_endpoint(endpoint: &str) -> Result<(), Problem> {
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

fn no_endpoint(endpoint: &str, why: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("`{endpoint}` is no address of a LocalStack: {why}"),
    )
    .hint("write `on.localstack.endpoint` as in `http://127.0.0.1:4566`")
}

async fn read(mut response: reqwest::Response) -> Result<(Answer, Option<String>), reqwest::Error> {
    let request_id = request_id(response.headers());
    let status = response.status().as_u16();
    let mut bytes = Vec::new();
    let mut body = None;
    while let Some(chunk) = response.chunk().await? {
        if bytes.len() + chunk.len() > LONGEST_BODY {
            body = Some(Body::TooLong);
            break;
        }
        bytes.extend_from_slice(&chunk);
    }
    let body = body.unwrap_or_else(|| Body::read(&bytes));
    Ok((Answer { status, body }, request_id))
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let value = REQUEST_IDS.iter().find_map(|name| headers.get(*name))?;
    value.to_str().ok().map(ToOwned::to_owned)
}

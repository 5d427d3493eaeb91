//! What carries a request to a LocalStack and brings its answer back: HTTP; in simulations something
//! that loses both on purpose.

use std::fmt;
use std::time::Duration;

use futures_util::future::BoxFuture;
use reqwest::Method;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderValue};

use super::api::no_endpoint;
use super::transport;
use crate::clients::Clients;
use crate::model::problem::Problem;
use crate::model::request::Request;

/// More than any list of rules; an answer beyond it comes from something else.
pub(super) const LONGEST_BODY: usize = 1024 * 1024;

/// Headers in which gateways name a request.
const REQUEST_IDS: &[&str] = &["x-amzn-requestid", "x-amz-request-id", "x-request-id"];

/// What a server answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// The body; what is longer than any answer of a Chaos API is cut off behind that length.
    pub body: Vec<u8>,
    /// The platform's own id for the request, when it gives one.
    pub request_id: Option<String>,
}

/// A way to a LocalStack and back.
///
/// # Guarantees
/// * One request is sent once, and no redirect is followed.
/// * It ends within `patience`, whatever the other side does.
///
/// # Errors
/// There was no answer: `Unreachable`, and what was sent may have been done, or be done yet.
pub trait Wire: fmt::Debug + Send + Sync {
    /// Sends a request to this endpoint, whose URL it carries.
    fn send<'a>(
        &'a self,
        endpoint: &'a str,
        request: &'a Request,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Reply, Problem>>;
}

/// HTTP.
#[derive(Debug)]
pub(super) struct Http(pub(super) Clients);

impl Wire for Http {
    fn send<'a>(
        &'a self,
        endpoint: &'a str,
        request: &'a Request,
        patience: Duration,
    ) -> BoxFuture<'a, Result<Reply, Problem>> {
        Box::pin(async move {
            let method = request.method.parse().unwrap_or(Method::GET);
            let client = self.0.http(endpoint);
            let mut builder = client.request(method, &request.url).timeout(patience);
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
            answer.map_err(|error| match error.is_builder() {
                true => no_endpoint(endpoint, "it is no URL"),
                false => transport::problem(&error, endpoint, patience),
            })
        })
    }
}

async fn read(mut response: reqwest::Response) -> Result<Reply, reqwest::Error> {
    let request_id = request_id(response.headers());
    let status = response.status().as_u16();
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > LONGEST_BODY {
            body.truncate(LONGEST_BODY + 1);
            break;
        }
    }
    Ok(Reply {
        status,
        body,
        request_id,
    })
}

fn request_id(headers: &HeaderMap) -> Option<String> {
    let value = REQUEST_IDS.iter().find_map(|name| headers.get(*name))?;
    value.to_str().ok().map(ToOwned::to_owned)
}

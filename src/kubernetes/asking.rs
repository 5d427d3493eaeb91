//! One request to an API server, and what comes back: within a limit, read as what it is, with the time
//! by the server's own clock.

use std::time::Duration;

use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt as _, Limited};
use jiff::{SignedDuration, Timestamp};
use kube::client::Body;
use serde_json::Value;
use tokio::time::Instant;

use super::answers;
use super::objects::ObjectPath;
use crate::clients::KubeContext;
use crate::model::problem::Problem;

/// How long an API server may take to answer, waits that it asks for included.
pub(super) const ANSWER_WITHIN: Duration = Duration::from_secs(10);
/// A longer answer is not read.
const LONGEST_ANSWER: usize = 16 * 1024 * 1024;

/// What is done to a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verb {
    /// Reads one.
    Get,
    /// Reads many.
    List,
    /// Makes one.
    Create,
    /// Replaces one.
    Update,
    /// Changes parts of one, by a JSON merge patch.
    Patch,
    /// Deletes one.
    Delete,
}

impl Verb {
    /// The word that RBAC has for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Patch => "patch",
            Self::Get => "get",
            Self::List => "list",
            Self::Create => "create",
            Self::Update => "update",
            Self::Delete => "delete",
        }
    }

    /// The HTTP method.
    pub fn method(self) -> Method {
        match self {
            Self::Patch => Method::PATCH,
            Self::Get | Self::List => Method::GET,
            Self::Create => Method::POST,
            Self::Update => Method::PUT,
            Self::Delete => Method::DELETE,
        }
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Patch => "application/merge-patch+json",
            Self::Get | Self::List | Self::Create | Self::Update | Self::Delete => {
                "application/json"
            }
        }
    }
}

/// Something that an API server has, or may have.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Resource {
    /// What the server says about its own version.
    Version,
    /// Every namespace.
    Namespaces,
    /// A namespace.
    Namespace(String),
    /// The Lease of this name in a namespace.
    Lease { namespace: String, name: String },
    /// Any other object, or many of a kind.
    Object(ObjectPath),
}

impl Resource {
    /// What it is called in a rule of RBAC, and where.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Version => "/version".to_owned(),
            Self::Namespaces => "namespaces".to_owned(),
            Self::Namespace(name) => format!("namespaces/{name}"),
            Self::Lease { namespace, name } => {
                format!("leases.coordination.k8s.io/{name} in namespace {namespace}")
            }
            Self::Object(path) => path.to_string(),
        }
    }

    fn accept(&self) -> &'static str {
        match self {
            Self::Object(path) => path.accept(),
            Self::Version | Self::Namespaces | Self::Namespace(_) | Self::Lease { .. } => {
                "application/json"
            }
        }
    }

    fn path(&self, verb: Verb) -> String {
        match self {
            Self::Version => "/version".to_owned(),
            // Names are for a hint; whoever has more namespaces finds the nearest of these.
            Self::Namespaces => "/api/v1/namespaces?limit=500".to_owned(),
            Self::Namespace(name) => format!("/api/v1/namespaces/{name}"),
            Self::Lease { namespace, name } => {
                let all = format!("/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases");
                match verb {
                    Verb::Create | Verb::List => all,
                    Verb::Get | Verb::Update | Verb::Patch | Verb::Delete => {
                        format!("{all}/{name}")
                    }
                }
            }
            Self::Object(path) => path.uri(),
        }
    }
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    /// HTTP status.
    pub status: StatusCode,
    /// The object, or a `Status`; null where the answer was no JSON.
    pub body: Value,
    /// The server's own id for the request (`Audit-Id`).
    pub audit_id: Option<String>,
    /// What the server warned of: an unknown field that it pruned, a version that will go.
    pub warnings: Vec<String>,
    /// The server's clock; `None`: it does not tell the time.
    pub(super) clock: Option<ServerClock>,
    /// How long it wants to be left alone.
    pub retry_after: Option<Duration>,
}

/// The clock of an API server, as it said and as it went on since then. Up to a second behind, since
/// that is how servers tell the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerClock {
    said: Timestamp,
    at: Instant,
}

impl ServerClock {
    fn read(headers: &HeaderMap) -> Option<Self> {
        let date = headers.get(header::DATE)?.to_str().ok()?;
        let said = jiff::fmt::rfc2822::parse(date).ok()?.timestamp();
        Some(Self {
            said,
            at: Instant::now(),
        })
    }

    /// What it said, as it says it.
    pub(super) fn date(self) -> String {
        self.said.strftime("%a, %d %b %Y %H:%M:%S GMT").to_string()
    }

    /// The time there, now.
    pub(super) fn now(self) -> Timestamp {
        let since = SignedDuration::try_from(self.at.elapsed()).unwrap_or(SignedDuration::MAX);
        self.said.checked_add(since).unwrap_or(self.said)
    }
}

/// Asks once, and again where the server answers that it was too busy to look at the request and the
/// wait that it asks for fits into the limit.
///
/// # Errors
/// No answer, or none that makes sense. A refusal is an answer.
pub(super) async fn ask(
    context: &KubeContext,
    verb: Verb,
    resource: &Resource,
    body: Option<&Value>,
) -> Result<Reply, Problem> {
    ask_within(context, (verb, resource), body, ANSWER_WITHIN).await
}

/// The same with another limit.
pub(super) async fn ask_within(
    context: &KubeContext,
    what: (Verb, &Resource),
    body: Option<&Value>,
    within: Duration,
) -> Result<Reply, Problem> {
    let deadline = Instant::now() + within;
    loop {
        let asked = once(context, what, body);
        let reply = match tokio::time::timeout_at(deadline, asked).await {
            Ok(reply) => reply?,
            Err(_) => return Err(context.too_late(within)),
        };
        let busy = reply.status == StatusCode::TOO_MANY_REQUESTS;
        match reply.retry_after {
            Some(pause) if busy && Instant::now() + pause < deadline => {
                tokio::time::sleep(pause).await;
            }
            Some(_) | None => return Ok(reply),
        }
    }
}

async fn once(
    context: &KubeContext,
    (verb, resource): (Verb, &Resource),
    body: Option<&Value>,
) -> Result<Reply, Problem> {
    let sent = body.map(Value::to_string).unwrap_or_default();
    let request = Request::builder()
        .method(verb.method())
        .uri(resource.path(verb))
        .header(header::ACCEPT, resource.accept())
        .header(header::CONTENT_TYPE, verb.content_type())
        .header(
            header::USER_AGENT,
            concat!("chaos-gameday/", env!("CARGO_PKG_VERSION")),
        )
        .body(Body::from(sent.into_bytes()))
        .map_err(|why| context.unanswered(&kube::Error::HttpError(why)))?;
    let response = context.client().send(request).await;
    let response = response.map_err(|why| context.unanswered(&why))?;
    read(context, response).await
}

async fn read(context: &KubeContext, response: Response<Body>) -> Result<Reply, Problem> {
    let (head, body) = response.into_parts();
    let clock = ServerClock::read(&head.headers);
    let retry_after = head.headers.get(header::RETRY_AFTER);
    let retry_after = retry_after.and_then(|text| text.to_str().ok()?.trim().parse().ok());
    let bytes = Limited::new(body, LONGEST_ANSWER).collect().await;
    let bytes = bytes
        .map_err(|why| answers::torn(context, &why.to_string()))?
        .to_bytes();
    let body: Option<Value> = serde_json::from_slice(&bytes).ok();
    if head.status.is_success() && !body.as_ref().is_some_and(Value::is_object) {
        return Err(answers::no_api(context, head.status));
    }
    Ok(Reply {
        status: head.status,
        body: body.unwrap_or_default(),
        audit_id: audit_id(&head.headers),
        warnings: warnings(&head.headers),
        clock,
        retry_after: retry_after.map(Duration::from_secs),
    })
}

fn audit_id(headers: &HeaderMap) -> Option<String> {
    let id = headers.get("audit-id")?.to_str().ok()?;
    Some(id.to_owned())
}

/// RFC 7234, 5.5, as API servers write it: `299 - "unknown field \"spec.x\""`.
fn warnings(headers: &HeaderMap) -> Vec<String> {
    let lines = headers.get_all(header::WARNING).iter();
    let texts = lines.filter_map(|line| {
        let text = line.to_str().ok()?.split_once('"')?.1;
        Some(text.trim_end_matches('"').replace("\\\"", "\""))
    });
    texts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_read_as_servers_write_it() {
        let mut headers = HeaderMap::new();
        assert_eq!(ServerClock::read(&headers), None);
        headers.insert(
            header::DATE,
            "Mon, 30 Nov 2026 12:01:33 GMT".parse().expect("a header"),
        );
        let read = ServerClock::read(&headers).expect("a time");
        assert_eq!(read.said.to_string(), "2026-11-30T12:01:33Z");
        assert_eq!(read.date(), headers[header::DATE]);
        headers.insert(header::DATE, "yesterday".parse().expect("a header"));
        assert_eq!(ServerClock::read(&headers), None);
    }
}

//! Answers of an API server that are no yes, in words that name what is missing and the next move.

use http::StatusCode;
use serde_json::Value;

use super::asking::{Reply, Resource, Verb};
use crate::clients::KubeContext;
use crate::model::problem::{Problem, ProblemKind};

/// What a server says is not quoted beyond this.
const LONGEST_QUOTE: usize = 300;

/// The problem that an answer is which is no yes.
pub(super) fn refusal(
    context: &KubeContext,
    (verb, resource): (Verb, &Resource),
    reply: &Reply,
) -> Problem {
    let server = context.server();
    let said = said(&reply.body);
    let what = format!("{} {}", verb.word(), resource.shown());
    let status = reply.status.as_u16();
    match reply.status {
        StatusCode::UNAUTHORIZED => Problem::new(
            ProblemKind::Refused,
            format!("the API server {server} does not accept our credentials (401{said})"),
        )
        .hint(match context.name() {
            Some(name) => format!(
                "log in again as for kubectl: `kubectl --context {name} version` goes the same way"
            ),
            None => "the token of this pod's service account is not valid there".to_owned(),
        }),
        StatusCode::FORBIDDEN => Problem::new(
            ProblemKind::Refused,
            format!("the API server {server} does not let us {what}{said}"),
        )
        .hint(permission(verb, resource)),
        StatusCode::NOT_FOUND => Problem::new(
            ProblemKind::Absent,
            format!("the API server {server} has no {}{said}", resource.shown()),
        ),
        StatusCode::CONFLICT => Problem::new(
            ProblemKind::Conflict,
            format!(
                "somebody else was quicker to change {}{said}",
                resource.shown()
            ),
        ),
        StatusCode::TOO_MANY_REQUESTS => Problem::new(
            ProblemKind::Unreachable,
            match reply.retry_after {
                Some(pause) => format!(
                    "the API server {server} is too busy and wants to be left alone for {} s",
                    pause.as_secs()
                ),
                None => format!("the API server {server} is too busy"),
            },
        )
        .hint("try again later"),
        other if other.is_server_error() => Problem::new(
            ProblemKind::Unreachable,
            format!("the API server {server} failed to {what} ({status}{said})"),
        )
        .hint("try again; what it is unwell with is in its own log"),
        _ => Problem::new(
            ProblemKind::Unexpected,
            format!("the API server {server} did not {what} ({status}{said})"),
        ),
    }
}

/// The problem that an answer is which no API server gives.
pub(super) fn no_api(context: &KubeContext, status: StatusCode) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!(
            "{} is no API server of Kubernetes: it answers {} with something that is no JSON object",
            context.server(),
            status.as_u16()
        ),
    )
    .hint("look at `server` and `proxy-url` of the context's cluster: a login page, or a proxy, may stand in between")
}

/// The problem that an answer is which lacks what every API server tells.
pub(super) fn incomplete(context: &KubeContext, resource: &Resource, lacks: &str) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!(
            "the API server {} says {} without {lacks}",
            context.server(),
            resource.shown()
        ),
    )
    .hint("is it an API server of Kubernetes? look at `server` of the context's cluster")
}

/// The problem that an answer is which broke off, or does not end.
pub(super) fn torn(context: &KubeContext, why: &str) -> Problem {
    Problem::new(
        ProblemKind::Unreachable,
        format!(
            "the answer of the API server {} broke off: {why}",
            context.server()
        ),
    )
    .hint("try again")
}

/// `: ` and the server's own words, or nothing.
fn said(body: &Value) -> String {
    let message = body
        .get("message")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let line: String = message.chars().take(LONGEST_QUOTE).collect();
    match line.trim() {
        "" => String::new(),
        line => format!(": {line}"),
    }
}

/// What an administrator types so that it is let.
fn permission(verb: Verb, resource: &Resource) -> String {
    match resource {
        Resource::Version => "every user that is logged in has it by the role `system:discovery`, unless somebody took it away".to_owned(),
        Resource::Namespaces | Resource::Namespace(_) => {
            let names = match resource {
                Resource::Namespace(name) => format!(" --resource-name={name}"),
                Resource::Version
                | Resource::Namespaces
                | Resource::Lease { .. }
                | Resource::Object(_) => String::new(),
            };
            let verb = verb.word();
            format!("an administrator allows it: `kubectl create clusterrole chaos-{verb}-namespaces --verb={verb} --resource=namespaces{names}`, bound by `kubectl create clusterrolebinding`")
        }
        Resource::Object(path) => path.permission(verb),
        Resource::Lease { namespace, .. } => format!(
            "an administrator allows it: `kubectl -n {namespace} create role chaos-lock --verb=get,create,update,delete --resource=leases.coordination.k8s.io`, bound by `kubectl -n {namespace} create rolebinding`"
        ),
    }
}

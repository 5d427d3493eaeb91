//! Objects of any kind by their path: read one, read many page by page, create, patch, delete.

use std::fmt;
use std::time::Duration;

use http::StatusCode;
use serde_json::Value;

use super::answers;
use super::asking::{ANSWER_WITHIN, Reply, Resource, Verb, ask_within};
use crate::clients::KubeContext;
use crate::model::problem::Problem;

/// How much of each object is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// All of it.
    Whole,
    /// `metadata` alone (`PartialObjectMetadata` of meta.k8s.io/v1): a tenth of the bytes of a pod.
    Metadata,
}

/// Where an object, or all of a kind, is found at an API server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectPath {
    /// `v1`, `apps/v1`, `chaos-mesh.org/v1alpha1`.
    pub group_version: String,
    /// `pods`; a subresource behind a slash: `selfsubjectaccessreviews`, `deployments/scale`.
    pub plural: String,
    /// `None`: of no namespace, or of all.
    pub namespace: Option<String>,
    /// `None`: all of them.
    pub name: Option<String>,
    /// Names and values of the query, encoded when sent: `("labelSelector", "app=shop")`.
    pub query: Vec<(String, String)>,
    /// How much of each.
    pub depth: Depth,
}

impl ObjectPath {
    /// All of a kind, in all namespaces.
    pub fn of(group_version: &str, plural: &str) -> Self {
        Self {
            group_version: group_version.to_owned(),
            plural: plural.to_owned(),
            namespace: None,
            name: None,
            query: Vec::new(),
            depth: Depth::Whole,
        }
    }

    /// In this namespace.
    #[must_use]
    pub fn within(mut self, namespace: &str) -> Self {
        self.namespace = Some(namespace.to_owned());
        self
    }

    /// Of this name.
    #[must_use]
    pub fn named(mut self, name: &str) -> Self {
        self.name = Some(name.to_owned());
        self
    }

    /// With one more part of the query.
    #[must_use]
    pub fn asking(mut self, name: &str, value: &str) -> Self {
        self.query.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Metadata only.
    #[must_use]
    pub fn metadata(mut self) -> Self {
        self.depth = Depth::Metadata;
        self
    }

    /// Path and query.
    pub fn uri(&self) -> String {
        let root = match self.group_version.contains('/') {
            true => "/apis/",
            false => "/api/",
        };
        let mut uri = format!("{root}{}", self.group_version);
        if let Some(namespace) = &self.namespace {
            uri.push_str(&format!("/namespaces/{namespace}"));
        }
        let (plural, below) = self.plural.split_once('/').unwrap_or((&self.plural, ""));
        uri.push_str(&format!("/{plural}"));
        if let Some(name) = &self.name {
            uri.push_str(&format!("/{name}"));
        }
        if !below.is_empty() {
            uri.push_str(&format!("/{below}"));
        }
        if !self.query.is_empty() {
            let mut query = url::form_urlencoded::Serializer::new(String::new());
            query.extend_pairs(&self.query);
            uri.push_str(&format!("?{}", query.finish()));
        }
        uri
    }

    /// What the answer is to be: a server that is offered a form which does not fit refuses to look for
    /// another (406).
    pub(super) fn accept(&self) -> &'static str {
        match (self.depth, &self.name) {
            (Depth::Whole, _) => "application/json",
            (Depth::Metadata, Some(_)) => {
                "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"
            }
            (Depth::Metadata, None) => {
                "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"
            }
        }
    }

    /// The kind as RBAC calls it: `networkchaos.chaos-mesh.org`, `pods`.
    pub fn resource(&self) -> String {
        match self.group_version.split_once('/') {
            Some((group, _)) => format!("{}.{group}", self.plural),
            None => self.plural.clone(),
        }
    }

    /// What an administrator types so that it is let.
    pub(super) fn permission(&self, verb: Verb) -> String {
        let (verb, resource) = (verb.word(), self.resource());
        match &self.namespace {
            Some(namespace) => format!(
                "an administrator allows it: `kubectl -n {namespace} create role chaos-gameday --verb={verb} --resource={resource}`, bound by `kubectl -n {namespace} create rolebinding`"
            ),
            None => format!(
                "an administrator allows it: `kubectl create clusterrole chaos-gameday --verb={verb} --resource={resource}`, bound by `kubectl create clusterrolebinding`"
            ),
        }
    }
}

impl fmt::Display for ObjectPath {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.resource())?;
        if let Some(name) = &self.name {
            write!(formatter, "/{name}")?;
        }
        match &self.namespace {
            Some(namespace) => write!(formatter, " in namespace {namespace}"),
            None => Ok(()),
        }
    }
}

/// Sends one request; whatever the server answers is an answer.
///
/// # Errors
/// No answer within the limit, or none that makes sense.
pub async fn send(
    context: &KubeContext,
    verb: Verb,
    path: &ObjectPath,
    body: Option<&Value>,
    within: Duration,
) -> Result<Reply, Problem> {
    let resource = Resource::Object(path.clone());
    ask_within(context, (verb, &resource), body, within).await
}

/// The problem that an answer is which is no yes.
pub fn refused(context: &KubeContext, verb: Verb, path: &ObjectPath, reply: &Reply) -> Problem {
    answers::refusal(context, (verb, &Resource::Object(path.clone())), reply)
}

/// Reads one object; `None`: there is none.
///
/// # Errors
/// No answer, or a refusal.
pub async fn get(context: &KubeContext, path: &ObjectPath) -> Result<Option<Value>, Problem> {
    let reply = send(context, Verb::Get, path, None, ANSWER_WITHIN).await?;
    match reply.status {
        status if status.is_success() => Ok(Some(reply.body)),
        StatusCode::NOT_FOUND => Ok(None),
        _ => Err(refused(context, Verb::Get, path, &reply)),
    }
}

/// Objects on one page.
const PAGE: usize = 500;

/// A list that changes under the reader is begun anew so often.
const RESTARTS: usize = 5;

/// Reads all of a kind, page by page; `take` is given each object. Where the server has forgotten the
/// state that a list goes on from (410), the list begins anew, and `take` is given some of them again.
///
/// # Errors
/// No answer, a refusal, or a list that never comes to its end.
pub async fn each(
    context: &KubeContext,
    path: &ObjectPath,
    mut take: impl FnMut(Value),
) -> Result<(), Problem> {
    let first = path.clone().asking("limit", &PAGE.to_string());
    let mut restarts = 0;
    let mut page = first.clone();
    loop {
        let reply = send(context, Verb::List, &page, None, ANSWER_WITHIN).await?;
        if reply.status == StatusCode::GONE && restarts < RESTARTS {
            restarts += 1;
            page = first.clone();
            continue;
        }
        if !reply.status.is_success() {
            return Err(refused(context, Verb::List, path, &reply));
        }
        let mut body = reply.body;
        if let Some(items) = body["items"].as_array_mut() {
            items.drain(..).for_each(&mut take);
        }
        match body["metadata"]["continue"].as_str() {
            Some(token) if !token.is_empty() => page = first.clone().asking("continue", token),
            Some(_) | None => return Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_what_an_api_server_calls_it() {
        let pods = ObjectPath::of("v1", "pods");
        assert_eq!(pods.uri(), "/api/v1/pods");
        let chosen = pods
            .within("shop")
            .asking("labelSelector", "app=cart,tier!=test");
        assert_eq!(
            chosen.uri(),
            "/api/v1/namespaces/shop/pods?labelSelector=app%3Dcart%2Ctier%21%3Dtest"
        );
        let one = ObjectPath::of("chaos-mesh.org/v1alpha1", "podchaos")
            .within("shop")
            .named("c-1");
        assert_eq!(
            one.uri(),
            "/apis/chaos-mesh.org/v1alpha1/namespaces/shop/podchaos/c-1"
        );
        assert_eq!(
            one.to_string(),
            "podchaos.chaos-mesh.org/c-1 in namespace shop"
        );
        let scale = ObjectPath::of("apps/v1", "deployments/scale")
            .within("shop")
            .named("cart");
        assert_eq!(
            scale.uri(),
            "/apis/apps/v1/namespaces/shop/deployments/cart/scale"
        );
    }
}

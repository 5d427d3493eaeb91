//! Who a cluster and a namespace say they are.

use std::collections::BTreeMap;

use http::StatusCode;
use serde_json::Value;

use super::answers;
use super::asking::{Reply, Resource, Verb, ask};
use crate::clients::{Clients, KubeContext, nearest};
use crate::model::cluster::Cluster;
use crate::model::ids::Name;
use crate::model::problem::{Problem, ProblemKind};

/// The namespace that every cluster has from its first minute on, and that no two have with one uid.
const SYSTEM: &str = "kube-system";

/// Asks a cluster who it is. `context` is `None` for the current one, `namespace` for the context's.
///
/// # Errors
/// No such context, no answer, no permission, no such namespace, or one that is being deleted.
pub async fn identify(
    clients: &Clients,
    context: Option<&str>,
    namespace: Option<&str>,
) -> Result<Cluster, Problem> {
    let context = clients.kubernetes(context).await?;
    let namespace = namespace_name(&context, namespace)?;
    let version = version(&context).await?;
    let system = named(&context, SYSTEM).await?;
    let uid = uid_of(&context, SYSTEM, &system)?;
    // kube-system itself was just read.
    let found = match namespace.as_str() {
        SYSTEM => system,
        other => named(&context, other).await?,
    };
    if !found["metadata"]["deletionTimestamp"].is_null() {
        let message = format!(
            "namespace `{namespace}` is being deleted at {}",
            context.server()
        );
        return Err(
            Problem::new(ProblemKind::Absent, message).hint("wait until it is gone and made again")
        );
    }
    let labels: Option<BTreeMap<String, String>> =
        serde_json::from_value(found["metadata"]["labels"].clone()).ok();
    Ok(Cluster {
        context: context.name().map(str::to_owned),
        api_server: context.server().to_owned(),
        uid,
        version,
        namespace_uid: uid_of(&context, namespace.as_str(), &found)?,
        namespace: namespace.into(),
        namespace_labels: labels.unwrap_or_default(),
    })
}

/// The namespace that is meant: what comes from a kubeconfig was not looked at yet.
fn namespace_name(context: &KubeContext, wanted: Option<&str>) -> Result<Name, Problem> {
    let text = wanted.unwrap_or(context.namespace());
    text.parse().map_err(|_| {
        let message = format!("`{text}` cannot be the name of a namespace");
        Problem::new(ProblemKind::Invalid, message)
            .hint("name one with --namespace, or as `on.kubernetes.namespace`")
    })
}

async fn version(context: &KubeContext) -> Result<String, Problem> {
    let reply = ask(context, Verb::Get, &Resource::Version, None).await?;
    let body = yes(context, Verb::Get, &Resource::Version, reply)?;
    let version = body["gitVersion"].as_str().filter(|text| !text.is_empty());
    let version = version.map(str::to_owned);
    version.ok_or_else(|| answers::incomplete(context, &Resource::Version, "`gitVersion`"))
}

async fn named(context: &KubeContext, name: &str) -> Result<Value, Problem> {
    let resource = Resource::Namespace(name.to_owned());
    let reply = ask(context, Verb::Get, &resource, None).await?;
    if reply.status == StatusCode::NOT_FOUND {
        return Err(no_namespace(context, name).await);
    }
    yes(context, Verb::Get, &resource, reply)
}

async fn no_namespace(context: &KubeContext, name: &str) -> Problem {
    let message = format!("there is no namespace `{name}` at {}", context.server());
    let others = others(context).await;
    let hint = match nearest(name, others.iter().map(String::as_str)) {
        Some(nearest) => format!("the nearest is `{nearest}`"),
        None => match context.name() {
            Some(context) => format!("`kubectl --context {context} get namespaces` lists them"),
            None => "`kubectl get namespaces` lists them".to_owned(),
        },
    };
    Problem::new(ProblemKind::Absent, message).hint(hint)
}

/// The names of namespaces, for a hint: whoever may not list them gets none.
async fn others(context: &KubeContext) -> Vec<String> {
    let Ok(reply) = ask(context, Verb::List, &Resource::Namespaces, None).await else {
        return Vec::new();
    };
    let items = reply.body["items"].as_array().into_iter().flatten();
    let names = items.filter_map(|item| item["metadata"]["name"].as_str());
    names.map(str::to_owned).collect()
}

fn uid_of(context: &KubeContext, name: &str, namespace: &Value) -> Result<String, Problem> {
    let uid = namespace["metadata"]["uid"]
        .as_str()
        .filter(|uid| !uid.is_empty());
    uid.map(str::to_owned)
        .ok_or_else(|| answers::incomplete(context, &Resource::Namespace(name.to_owned()), "a uid"))
}

fn yes(
    context: &KubeContext,
    verb: Verb,
    resource: &Resource,
    reply: Reply,
) -> Result<Value, Problem> {
    if reply.status.is_success() {
        return Ok(reply.body);
    }
    Err(answers::refusal(context, (verb, resource), &reply))
}

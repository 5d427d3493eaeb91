//! Whether we may put the fault in, see it, and take it out again, asked before anything is done.

use futures_util::future::try_join_all;
use serde_json::json;

use super::WRITE_WITHIN;
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath, Verb};
use crate::model::problem::{Problem, ProblemKind};

const GROUP: &str = "chaos-mesh.org";

/// What is done to the object: `patch` is for finalizers that a person wants cut.
const ON_THE_OBJECT: [&str; 4] = ["create", "get", "delete", "patch"];

/// One thing that must be allowed.
struct Wanted<'a> {
    verb: &'static str,
    group: &'static str,
    resource: &'a str,
    namespace: &'a str,
    /// What it is for.
    purpose: &'static str,
}

/// Asks by SelfSubjectAccessReview for everything that a fault takes from its first request to its
/// last. `namespace` is the object's; in those of the targets the webhook of Chaos Mesh wants `create`
/// too.
///
/// # Errors
/// What is missing, each with its namespace, and the command that grants it; no answer.
pub(super) async fn check(
    context: &KubeContext,
    plural: &str,
    namespace: &str,
    targets: &[&str],
) -> Result<(), Problem> {
    let mut wanted: Vec<Wanted<'_>> = ON_THE_OBJECT
        .iter()
        .map(|verb| Wanted {
            verb,
            group: GROUP,
            resource: plural,
            namespace,
            purpose: match *verb {
                "delete" => "undo the fault",
                "patch" => "free an object that hangs in its deletion",
                "get" => "see the fault in and out",
                _ => "put the fault in",
            },
        })
        .collect();
    for target in targets {
        if *target != namespace {
            wanted.push(Wanted {
                verb: "create",
                group: GROUP,
                resource: plural,
                namespace: target,
                purpose: "put the fault into its pods",
            });
        }
        wanted.push(Wanted {
            verb: "list",
            group: "",
            resource: "pods",
            namespace: target,
            purpose: "watch the targets",
        });
    }
    let answers = wanted.iter().map(|one| is_allowed(context, one));
    let answers = try_join_all(answers).await?;
    let missing: Vec<&Wanted<'_>> = wanted
        .iter()
        .zip(answers)
        .filter(|(_, allowed)| !allowed)
        .map(|(one, _)| one)
        .collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(refusal(context, &missing, first)),
    }
}

async fn is_allowed(context: &KubeContext, wanted: &Wanted<'_>) -> Result<bool, Problem> {
    let path = ObjectPath::of("authorization.k8s.io/v1", "selfsubjectaccessreviews");
    let body = json!({
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SelfSubjectAccessReview",
        "spec": {"resourceAttributes": {
            "verb": wanted.verb,
            "group": wanted.group,
            "resource": wanted.resource,
            "namespace": wanted.namespace,
        }},
    });
    let reply = kubernetes::send(context, Verb::Create, &path, Some(&body), WRITE_WITHIN).await?;
    if !reply.status.is_success() {
        return Err(kubernetes::refused(context, Verb::Create, &path, &reply));
    }
    Ok(reply.body["status"]["allowed"] == true)
}

fn refusal(context: &KubeContext, missing: &[&Wanted<'_>], first: &Wanted<'_>) -> Problem {
    let words: Vec<String> = missing
        .iter()
        .map(|one| {
            let resource = resource(one);
            format!(
                "{} {resource} in namespace {}, to {}",
                one.verb, one.namespace, one.purpose
            )
        })
        .collect();
    let message = format!(
        "the API server {} does not let us {}",
        context.server(),
        words.join("; ")
    );
    let verbs: Vec<&str> = missing
        .iter()
        .filter(|one| one.namespace == first.namespace && one.resource == first.resource)
        .map(|one| one.verb)
        .collect();
    let namespace = first.namespace;
    let hint = format!(
        "an administrator allows it: `kubectl -n {namespace} create role chaos-gameday --verb={} --resource={}`, bound by `kubectl -n {namespace} create rolebinding`",
        verbs.join(","),
        resource(first)
    );
    Problem::new(ProblemKind::Refused, message).hint(hint)
}

fn resource(wanted: &Wanted<'_>) -> String {
    match wanted.group {
        "" => wanted.resource.to_owned(),
        group => format!("{}.{group}", wanted.resource),
    }
}

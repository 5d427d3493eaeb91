//! Whether Chaos Mesh is there and well: its CRDs, its controller, a daemon on each target's node that
//! speaks the node's container runtime. That its webhooks answer a server dry-run shows.

use std::collections::BTreeSet;

use http::StatusCode;
use serde_json::Value;

use super::WRITE_WITHIN;
use super::pod::Pod;
use crate::clients::KubeContext;
use crate::kubernetes::{self, ObjectPath, Verb};
use crate::model::chaos_mesh::GROUP_VERSION;
use crate::model::problem::{Problem, ProblemKind};

/// Labels of the chart (Chaos Mesh 2.8).
const CONTROLLER: &str =
    "app.kubernetes.io/component=controller-manager,app.kubernetes.io/name=chaos-mesh";
const DAEMON: &str = "app.kubernetes.io/component=chaos-daemon";
/// The controller finds a daemon through EndpointSlices whose names start so.
const SLICES: &str = "chaos-daemon-";

/// What was found out.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Readiness {
    /// The controller's version by its image; `None`: it was not found, or may not be looked at.
    pub(super) version: Option<String>,
    /// What a reader should know and that stops nothing, such as what may not be looked at.
    pub(super) warnings: Vec<String>,
}

/// Looks. `daemon_for` are the targets whose nodes need a daemon.
///
/// # Errors
/// No CRD of the kind; a controller without one ready replica; a node without a daemon, or with one
/// that speaks another container runtime.
pub(super) async fn check(
    context: &KubeContext,
    (plural, namespace): (&str, &str),
    daemon_for: &[Pod],
) -> Result<Readiness, Problem> {
    crd(context, plural, namespace).await?;
    let mut found = Readiness::default();
    controller(context, &mut found).await?;
    if !daemon_for.is_empty() {
        daemons(context, daemon_for, &mut found).await?;
    }
    Ok(found)
}

async fn crd(context: &KubeContext, plural: &str, namespace: &str) -> Result<(), Problem> {
    let path = ObjectPath::of(GROUP_VERSION, plural)
        .within(namespace)
        .metadata()
        .asking("limit", "1");
    let reply = kubernetes::send(context, Verb::List, &path, None, WRITE_WITHIN).await?;
    if reply.status != StatusCode::NOT_FOUND {
        // What we may do is asked in its own place.
        return Ok(());
    }
    let message = format!(
        "there is no Chaos Mesh at {}: it does not know the kind {plural}.chaos-mesh.org",
        context.server()
    );
    Err(Problem::new(ProblemKind::Absent, message).hint(
        "install it (https://chaos-mesh.org/docs/production-installation-using-helm/), or name the context that has it",
    ))
}

/// Objects of a kind in all namespaces; `None`: we may not look.
async fn everywhere(
    context: &KubeContext,
    path: &ObjectPath,
) -> Result<Option<Vec<Value>>, Problem> {
    let mut all = Vec::new();
    let listed = kubernetes::each(context, path, |object| all.push(object)).await;
    match listed {
        Ok(()) => Ok(Some(all)),
        Err(problem) if problem.kind == ProblemKind::Refused => Ok(None),
        Err(problem) => Err(problem),
    }
}

async fn controller(context: &KubeContext, found: &mut Readiness) -> Result<(), Problem> {
    let path = ObjectPath::of("apps/v1", "deployments").asking("labelSelector", CONTROLLER);
    let Some(deployments) = everywhere(context, &path).await? else {
        let words = "whether the controller of Chaos Mesh runs was not looked at: we may not list deployments.apps";
        found.warnings.push(words.to_owned());
        return Ok(());
    };
    let Some(deployment) = deployments.first() else {
        let words = "no Deployment has the labels of Chaos Mesh's controller; a fault goes in only if one runs all the same";
        found.warnings.push(words.to_owned());
        return Ok(());
    };
    found.version = image_version(deployment);
    if deployment["status"]["readyReplicas"].as_u64().unwrap_or(0) > 0 {
        return Ok(());
    }
    let name = deployment["metadata"]["name"].as_str().unwrap_or_default();
    let place = deployment["metadata"]["namespace"]
        .as_str()
        .unwrap_or_default();
    let message = format!(
        "the controller of Chaos Mesh is down: Deployment {name} in namespace {place} has no ready replica"
    );
    let hint = format!("`kubectl -n {place} describe deployment {name}` says why");
    Err(Problem::new(ProblemKind::Unreachable, message).hint(hint))
}

/// `v2.8.3` of `ghcr.io/chaos-mesh/chaos-mesh:v2.8.3@sha256:…`.
fn image_version(deployment: &Value) -> Option<String> {
    let containers = deployment["spec"]["template"]["spec"]["containers"].as_array()?;
    let image = containers.first()?["image"].as_str()?;
    let image = image.split('@').next()?;
    let (_, tag) = image
        .rsplit_once(':')
        .filter(|(_, tag)| !tag.contains('/'))?;
    Some(tag.to_owned())
}

async fn daemons(
    context: &KubeContext,
    targets: &[Pod],
    found: &mut Readiness,
) -> Result<(), Problem> {
    let path = ObjectPath::of("discovery.k8s.io/v1", "endpointslices");
    let Some(slices) = everywhere(context, &path).await? else {
        let words = "whether a chaos-daemon runs on each target's node was not looked at: we may not list endpointslices.discovery.k8s.io";
        found.warnings.push(words.to_owned());
        return Ok(());
    };
    let nodes = nodes_with_daemon(&slices);
    let without: BTreeSet<&str> = targets
        .iter()
        .map(Pod::node)
        .filter(|node| !nodes.contains(*node))
        .collect();
    if !without.is_empty() {
        let without: Vec<&str> = without.into_iter().collect();
        let message = format!("no chaos-daemon runs on {}", without.join(", "));
        return Err(Problem::new(ProblemKind::Absent, message).hint(
            "taints or affinity keep the DaemonSet off; `kubectl get pods -A -o wide -l app.kubernetes.io/component=chaos-daemon` shows where it is",
        ));
    }
    runtimes(context, targets, found).await
}

fn nodes_with_daemon(slices: &[Value]) -> BTreeSet<&str> {
    let slices = slices.iter().filter(|slice| {
        let name = slice["metadata"]["name"].as_str();
        name.is_some_and(|name| name.starts_with(SLICES))
    });
    let endpoints = slices.flat_map(|slice| slice["endpoints"].as_array().into_iter().flatten());
    endpoints
        .filter_map(|endpoint| endpoint["nodeName"].as_str())
        .collect()
}

async fn runtimes(
    context: &KubeContext,
    targets: &[Pod],
    found: &mut Readiness,
) -> Result<(), Problem> {
    let path = ObjectPath::of("apps/v1", "daemonsets").asking("labelSelector", DAEMON);
    let Some(sets) = everywhere(context, &path).await? else {
        let words = "which container runtime the chaos-daemon speaks was not looked at: we may not list daemonsets.apps";
        found.warnings.push(words.to_owned());
        return Ok(());
    };
    let Some(spoken) = sets.iter().find_map(runtime_of) else {
        return Ok(());
    };
    let other = targets.iter().find_map(|pod| {
        let runtime = pod.runtime()?;
        (!is_same_runtime(runtime, spoken)).then_some((pod, runtime))
    });
    let Some((pod, runtime)) = other else {
        return Ok(());
    };
    let message = format!(
        "the chaos-daemon speaks {spoken}, and node {} of pod {} runs {runtime}",
        pod.node(),
        pod.id()
    );
    Err(Problem::new(ProblemKind::Conflict, message).hint(
        "install Chaos Mesh with `chaosDaemon.runtime` and `chaosDaemon.socketPath` of the nodes",
    ))
}

/// The prefix of a container's id is `cri-o`, the daemon's flag says `crio`.
fn is_same_runtime(one: &str, other: &str) -> bool {
    one.replace('-', "") == other.replace('-', "")
}

/// `--runtime X` of the daemon's command or arguments.
fn runtime_of(set: &Value) -> Option<&str> {
    let containers = set["spec"]["template"]["spec"]["containers"].as_array()?;
    containers.iter().find_map(|container| {
        let words = ["command", "args"].into_iter().flat_map(|list| {
            let words = container[list].as_array().into_iter().flatten();
            words.filter_map(Value::as_str)
        });
        let words: Vec<&str> = words.collect();
        let apart = words.windows(2).find(|pair| pair[0] == "--runtime");
        let together = words
            .iter()
            .find_map(|word| word.strip_prefix("--runtime="));
        apart.map(|pair| pair[1]).or(together)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_version_is_the_tag_of_the_image() {
        let of = |image: &str| {
            image_version(
                &json!({"spec": {"template": {"spec": {"containers": [{"image": image}]}}}}),
            )
        };
        assert_eq!(
            of("ghcr.io/chaos-mesh/chaos-mesh:v2.8.3").as_deref(),
            Some("v2.8.3")
        );
        assert_eq!(
            of("registry:5000/chaos-mesh:v2.7.0@sha256:ab").as_deref(),
            Some("v2.7.0")
        );
        assert_eq!(of("registry:5000/chaos-mesh"), None);
    }

    #[test]
    fn a_daemon_says_which_runtime_it_speaks() {
        let of = |container: Value| {
            let set = json!({"spec": {"template": {"spec": {"containers": [container]}}}});
            runtime_of(&set).map(str::to_owned)
        };
        let apart = json!({"command": ["/usr/local/bin/chaos-daemon", "--runtime", "containerd"]});
        assert_eq!(of(apart).as_deref(), Some("containerd"));
        assert_eq!(
            of(json!({"args": ["--runtime=crio"]})).as_deref(),
            Some("crio")
        );
        assert_eq!(of(json!({"args": []})), None);
        assert!(is_same_runtime("cri-o", "crio"));
    }

    #[test]
    fn a_node_has_a_daemon_where_a_slice_of_its_service_says_so() {
        let slices = [
            json!({"metadata": {"name": "chaos-daemon-x"}, "endpoints": [{"nodeName": "n1"}]}),
            json!({"metadata": {"name": "other"}, "endpoints": [{"nodeName": "n2"}]}),
        ];
        assert_eq!(
            nodes_with_daemon(&slices).into_iter().collect::<Vec<_>>(),
            ["n1"]
        );
    }
}

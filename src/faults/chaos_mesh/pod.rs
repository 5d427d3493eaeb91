//! A pod, read whole: what a plan must know of it before a fault goes in.

use serde_json::Value;

use super::kinds::Picks;
use crate::model::chaos_mesh::{ContainerImage, TargetPod};
use crate::model::problem::{Problem, ProblemKind};

/// One pod as the API server has it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Pod(Value);

impl Pod {
    pub(super) fn of(pod: Value) -> Self {
        Self(pod)
    }

    fn text(&self, pointer: &str) -> &str {
        let found = self.0.pointer(pointer).and_then(Value::as_str);
        found.unwrap_or_default()
    }

    /// `shop/cart-7`.
    pub(super) fn id(&self) -> String {
        format!(
            "{}/{}",
            self.text("/metadata/namespace"),
            self.text("/metadata/name")
        )
    }

    /// Its namespace.
    pub(super) fn namespace(&self) -> &str {
        self.text("/metadata/namespace")
    }

    /// Why no fault gets into it; `None`: one does.
    pub(super) fn unfit(&self) -> Option<&str> {
        if !self.0["metadata"]["deletionTimestamp"].is_null() {
            return Some("on its way out");
        }
        match self.text("/status/phase") {
            "Running" => None,
            other => Some(other),
        }
    }

    /// Whether its network is the node's: Chaos Mesh refuses to touch it.
    pub(super) fn has_host_network(&self) -> bool {
        self.0["spec"]["hostNetwork"] == Value::Bool(true)
    }

    /// The node that it runs on.
    pub(super) fn node(&self) -> &str {
        self.text("/spec/nodeName")
    }

    /// The container runtime, as the ids of its containers say: `containerd`; `None`: none has started.
    pub(super) fn runtime(&self) -> Option<&str> {
        let statuses = self.0["status"]["containerStatuses"].as_array()?;
        let ids = statuses
            .iter()
            .filter_map(|status| status["containerID"].as_str());
        ids.filter_map(|id| id.split_once("://"))
            .map(|(runtime, _)| runtime)
            .next()
    }

    /// Its labels, of which a PodDisruptionBudget speaks.
    pub(super) fn labels(&self) -> &Value {
        &self.0["metadata"]["labels"]
    }

    fn containers(&self, list: &str) -> impl Iterator<Item = &Value> {
        self.0["spec"][list].as_array().into_iter().flatten()
    }

    fn container_names(&self) -> impl Iterator<Item = &str> {
        let containers = self.containers("containers");
        containers.filter_map(|container| container["name"].as_str())
    }

    /// The containers that a fault goes into: those that it names, or the first; an init container is
    /// none to Chaos Mesh, a sidecar that is declared as one neither.
    ///
    /// # Errors
    /// It has none of those names.
    fn picked(&self, named: &[&str]) -> Result<Vec<String>, Problem> {
        if named.is_empty() {
            return Ok(self.container_names().take(1).map(str::to_owned).collect());
        }
        let picked: Vec<String> = self
            .container_names()
            .filter(|name| named.contains(name))
            .map(str::to_owned)
            .collect();
        if !picked.is_empty() {
            return Ok(picked);
        }
        let there: Vec<&str> = self.container_names().collect();
        let message = format!("pod {} has no container {}", self.id(), named.join(", "));
        let hint = format!("its containers are {}", there.join(", "));
        Err(Problem::new(ProblemKind::Absent, message).hint(hint))
    }

    /// What the fault touches of it.
    ///
    /// # Errors
    /// It has none of the containers that are named.
    pub(super) fn target(&self, picks: Picks, named: &[&str]) -> Result<TargetPod, Problem> {
        let containers = match picks {
            Picks::Pods | Picks::Cloud | Picks::Machines => Vec::new(),
            Picks::Containers | Picks::Volumes => self.picked(named)?,
        };
        Ok(TargetPod {
            namespace: self.text("/metadata/namespace").to_owned(),
            name: self.text("/metadata/name").to_owned(),
            uid: self.text("/metadata/uid").to_owned(),
            node: self.node().to_owned(),
            containers,
            workload: self.workload(),
        })
    }

    /// What made it. A ReplicaSet of a Deployment is named by the Deployment: its own name is that, a
    /// dash and the hash that stands in the label `pod-template-hash`.
    fn workload(&self) -> Option<String> {
        let owners = self.0["metadata"]["ownerReferences"].as_array()?;
        let owner = owners.iter().find(|owner| owner["controller"] == true)?;
        let (kind, name) = (owner["kind"].as_str()?, owner["name"].as_str()?);
        let hash = self.labels()["pod-template-hash"].as_str();
        let deployment = hash.and_then(|hash| name.strip_suffix(hash)?.strip_suffix('-'));
        match (kind, deployment) {
            ("ReplicaSet", Some(name)) => Some(format!("Deployment/{name}")),
            (kind, _) => Some(format!("{kind}/{name}")),
        }
    }

    /// The images of all its containers, init containers too.
    pub(super) fn images(&self) -> Vec<ContainerImage> {
        let all = self
            .containers("initContainers")
            .chain(self.containers("containers"));
        let images = all.filter_map(|container| {
            Some(ContainerImage {
                namespace: self.text("/metadata/namespace").to_owned(),
                pod: self.text("/metadata/name").to_owned(),
                uid: self.text("/metadata/uid").to_owned(),
                container: container["name"].as_str()?.to_owned(),
                image: container["image"].as_str()?.to_owned(),
            })
        });
        images.collect()
    }

    /// Paths at which a volume of this name is mounted, in these containers.
    pub(super) fn mounts(&self, volume: &str, containers: &[String]) -> Vec<(String, String)> {
        let ours = self.containers("containers").filter_map(|container| {
            let name = container["name"].as_str()?;
            containers
                .iter()
                .any(|one| one == name)
                .then_some((name, container))
        });
        let mounts = ours.flat_map(|(name, container)| {
            let mounts = container["volumeMounts"].as_array().into_iter().flatten();
            mounts
                .filter(|mount| mount["name"] == volume)
                .filter_map(move |mount| {
                    Some((name.to_owned(), mount["mountPath"].as_str()?.to_owned()))
                })
        });
        mounts.collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn pod() -> Pod {
        Pod::of(json!({
            "metadata": {
                "namespace": "shop", "name": "cart-6f-x", "uid": "u1",
                "labels": {"app": "cart", "pod-template-hash": "6f"},
                "ownerReferences": [{"kind": "ReplicaSet", "name": "cart-6f", "controller": true}],
            },
            "spec": {
                "nodeName": "n1",
                "initContainers": [{"name": "setup", "image": "setup:1"}],
                "containers": [
                    {"name": "cart", "image": "cart:7", "volumeMounts": [{"name": "data", "mountPath": "/data"}]},
                    {"name": "proxy", "image": "proxy:2"},
                ],
            },
            "status": {
                "phase": "Running",
                "containerStatuses": [{"containerID": "containerd://abc"}],
                "conditions": [{"type": "Ready", "status": "True"}],
            },
        }))
    }

    #[test]
    fn a_pod_says_whose_it_is_and_where() {
        let target = pod().target(Picks::Pods, &[]).unwrap();
        assert_eq!(target.workload.as_deref(), Some("Deployment/cart"));
        assert_eq!(target.node, "n1");
        assert_eq!(target.containers, Vec::<String>::new());
        assert_eq!(pod().runtime(), Some("containerd"));
        let images: Vec<String> = pod().images().into_iter().map(|one| one.image).collect();
        assert_eq!(images, ["setup:1", "cart:7", "proxy:2"]);
    }

    #[test]
    fn the_first_container_is_picked_unless_some_are_named() {
        let picked = |named: &[&str]| {
            pod()
                .target(Picks::Containers, named)
                .map(|one| one.containers)
        };
        assert_eq!(picked(&[]).unwrap(), ["cart"]);
        assert_eq!(picked(&["proxy"]).unwrap(), ["proxy"]);
        let missing = picked(&["setup"]).unwrap_err();
        assert_eq!(missing.message, "pod shop/cart-6f-x has no container setup");
        assert_eq!(
            missing.hint.as_deref(),
            Some("its containers are cart, proxy")
        );
    }

    #[test]
    fn a_pod_that_takes_no_fault_says_why() {
        let Pod(mut value) = pod();
        assert_eq!(Pod::of(value.clone()).unfit(), None);
        value["status"]["phase"] = json!("Pending");
        assert_eq!(Pod::of(value.clone()).unfit(), Some("Pending"));
        value["metadata"]["deletionTimestamp"] = json!("2026-11-30T00:00:00Z");
        assert_eq!(Pod::of(value).unfit(), Some("on its way out"));
    }
}

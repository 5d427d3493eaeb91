//! What a Chaos Mesh fault leaves in a journal: the object, its targets, and how it is taken back by hand.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// API group and version of every Chaos Mesh kind (Chaos Mesh 2.x).
pub const GROUP_VERSION: &str = "chaos-mesh.org/v1alpha1";

/// The label that names the run that made an object. Never `managed-by`, by which the controller of
/// Chaos Mesh finds, and collects, the children of its schedules.
pub const RUN_LABEL: &str = "chaos-gameday/run";

/// Stands in a plan where a run has the name of its object, which its id makes.
pub const NAME_PLACEHOLDER: &str = "{name}";

/// Everything that is needed to create one Chaos Mesh object, to see it in, to delete it and to see it
/// gone, without the experiment, the plan or the process that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChaosMeshUndo {
    /// Context of the kubeconfig; `None`: the process runs in the cluster.
    pub context: Option<String>,
    /// Base URL of the API server.
    pub server: String,
    /// The uid of the namespace `kube-system`: another cluster under the same context is never touched.
    pub cluster_uid: String,
    /// `NetworkChaos`.
    pub kind: String,
    /// `networkchaos`, as paths and kubectl have it.
    pub plural: String,
    /// The namespace of the object.
    pub namespace: String,
    /// Its name, unique to this step of this run.
    pub name: String,
    /// The object exactly as it is sent with POST.
    pub object: Value,
    /// The pods that it names.
    pub targets: Vec<TargetPod>,
    /// The records that Chaos Mesh must keep once the fault is in.
    pub records: Vec<RecordKey>,
    /// Whether the fault ends in the moment in which it is in: what it did stays done.
    pub one_shot: bool,
    /// The images that the targets had before, where the fault swaps them (pod-failure).
    pub images: Vec<ContainerImage>,
}

/// What tells one record of a Chaos Mesh object from another.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RecordKey {
    /// Which of the kind's selectors picked it: `.`, or `.Target` for the far side of a NetworkChaos.
    pub selector_key: String,
    /// `ns/pod`, `ns/pod/container`, `ns/pod/container/path`.
    pub id: String,
}

/// A pod, as it was when it was chosen.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TargetPod {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub name: String,
    /// Its uid: a pod that comes back under the same name is another one.
    pub uid: String,
    /// The node that it runs on.
    pub node: String,
    /// The containers that the fault goes into; empty: its kind touches the pod as a whole.
    pub containers: Vec<String>,
    /// What it belongs to: `Deployment/cart`; `None`: nothing.
    pub workload: Option<String>,
}

/// The image of one container.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ContainerImage {
    /// The pod's namespace.
    pub namespace: String,
    /// The pod.
    pub pod: String,
    /// The pod's uid.
    pub uid: String,
    /// The container; init containers too.
    pub container: String,
    /// Its image.
    pub image: String,
}

impl ChaosMeshUndo {
    /// `networkchaos.chaos-mesh.org/c-1a2b3c4d in namespace shop`.
    pub fn shown(&self) -> String {
        format!(
            "{}.chaos-mesh.org/{} in namespace {}",
            self.plural, self.name, self.namespace
        )
    }

    /// `kubectl` with everything that tells it where.
    fn kubectl(&self) -> String {
        match &self.context {
            Some(context) => format!("kubectl --context {} -n {}", word(context), self.namespace),
            None => format!("kubectl -n {}", self.namespace),
        }
    }

    fn resource(&self) -> String {
        format!("{}.chaos-mesh.org {}", self.plural, self.name)
    }

    pub(super) fn by_hand(&self) -> Vec<String> {
        vec![format!(
            "{} delete {} --ignore-not-found --wait=false",
            self.kubectl(),
            self.resource()
        )]
    }

    pub(super) fn look_by_hand(&self) -> Vec<String> {
        vec![format!(
            "{} get {} -o yaml",
            self.kubectl(),
            self.resource()
        )]
    }

    pub(super) fn gone_by_hand(&self) -> Vec<String> {
        vec!["the API server answers `NotFound`".to_owned()]
    }

    pub(super) fn summary(&self) -> String {
        let pods = match self.targets.len() {
            0 => String::new(),
            1 => " on 1 pod".to_owned(),
            count => format!(" on {count} pods"),
        };
        format!("{} {}{pods} in {}", self.kind, self.name, self.namespace)
    }
}

fn word(text: &str) -> String {
    super::undo::shell_word(text)
}

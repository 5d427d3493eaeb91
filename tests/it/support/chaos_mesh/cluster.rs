//! What Chaos Mesh needs of a cluster, made by hand: its kinds, the service of its daemon, pods that run.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::support::kubernetes::{ControlPlane, User, request_of};

/// Where the CRDs of Chaos Mesh lie. Those of another place: `CHAOS_MESH_CRDS`.
#[expect(
    clippy::disallowed_methods,
    reason = "where files of others lie is a matter of the environment"
)]
fn folder() -> Option<PathBuf> {
    let named = std::env::var_os("CHAOS_MESH_CRDS").map(PathBuf::from);
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/contracts/chaos-mesh-crds");
    let folder = named.unwrap_or(beside);
    folder.is_dir().then_some(folder)
}

/// The kinds that tests need, where nobody has the real ones: whatever is written is taken.
fn any(kind: &str) -> Value {
    let plural = kind.to_lowercase();
    let mut version = json!({
        "name": "v1alpha1", "served": true, "storage": true,
        "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": true}},
    });
    if kind.starts_with("PodN") {
        version["subresources"] = json!({"status": {}});
    }
    json!({
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": format!("{plural}.chaos-mesh.org")},
        "spec": {
            "group": "chaos-mesh.org",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": plural, "listKind": format!("{kind}List")},
            "versions": [version],
        },
    })
}

fn definitions() -> (Vec<Value>, bool) {
    let kinds = [
        "PodChaos",
        "NetworkChaos",
        "StressChaos",
        "PodNetworkChaos",
        "IOChaos",
    ];
    let Some(folder) = folder() else {
        return (kinds.iter().map(|kind| any(kind)).collect(), false);
    };
    let read = kinds.iter().map(|kind| {
        let name = format!("chaos-mesh.org_{}.yaml", kind.to_lowercase());
        let text = std::fs::read_to_string(folder.join(name)).unwrap();
        serde_yaml::from_str(&text).unwrap()
    });
    (read.collect(), true)
}

/// Makes the kinds and the daemon's endpoints, once for a control plane. Whether the kinds are the real
/// ones, which refuse what they do not know.
pub async fn install(plane: &'static ControlPlane) -> bool {
    static INSTALLED: OnceCell<bool> = OnceCell::const_new();
    let install = || async {
        let (definitions, real) = definitions();
        let all = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
        for definition in &definitions {
            plane.request("POST", all, definition).await;
        }
        for definition in &definitions {
            let name = definition["metadata"]["name"].as_str().unwrap();
            established(plane, &format!("{all}/{name}")).await;
        }
        plane.create_namespace("chaos-mesh", json!({})).await;
        let slice = json!({
            "apiVersion": "discovery.k8s.io/v1",
            "kind": "EndpointSlice",
            "metadata": {"name": "chaos-daemon-x", "namespace": "chaos-mesh"},
            "addressType": "IPv4",
            "ports": [],
            "endpoints": [{"addresses": ["10.1.2.3"], "nodeName": "n1"}],
        });
        let slices = "/apis/discovery.k8s.io/v1/namespaces/chaos-mesh/endpointslices";
        plane.request("POST", slices, &slice).await;
        real
    };
    *INSTALLED.get_or_init(install).await
}

async fn established(plane: &ControlPlane, path: &str) {
    loop {
        let found = plane.request("GET", path, &Value::Null).await;
        let conditions = found["status"]["conditions"].as_array().into_iter();
        let mut conditions = conditions.flatten();
        if conditions.any(|one| one["type"] == "Established" && one["status"] == "True") {
            return;
        }
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

/// Makes a pod on the node `n1` and says that it runs; returns its uid.
pub async fn pod(plane: &ControlPlane, namespace: &str, name: &str, labels: &Value) -> String {
    let pod = json!({
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "labels": labels},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "app", "image": "app:1"}, {"name": "proxy", "image": "proxy:1"}],
        },
    });
    let all = format!("/api/v1/namespaces/{namespace}/pods");
    let made = plane.request("POST", &all, &pod).await;
    phase(plane, namespace, name, "Running").await;
    made["metadata"]["uid"].as_str().unwrap().to_owned()
}

/// Says in which phase a pod is, as its kubelet would.
pub async fn phase(plane: &ControlPlane, namespace: &str, name: &str, phase: &str) {
    let status = json!({"status": {
        "phase": phase,
        "conditions": [{"type": "Ready", "status": "True"}],
        "containerStatuses": [
            {"name": "app", "ready": true, "restartCount": 0, "image": "app:1", "imageID": "", "containerID": "containerd://1", "state": {"running": {}}},
            {"name": "proxy", "ready": true, "restartCount": 0, "image": "proxy:1", "imageID": "", "containerID": "containerd://2", "state": {"running": {}}},
        ],
    }});
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}/status");
    plane.request("PATCH", &path, &status).await;
}

/// A pod of the same name takes its place, as one of a StatefulSet does.
pub async fn replace_pod(plane: &ControlPlane, namespace: &str, name: &str, labels: &Value) {
    let path = format!("/api/v1/namespaces/{namespace}/pods/{name}");
    let now = json!({"gracePeriodSeconds": 0});
    plane.request("DELETE", &path, &now).await;
    pod(plane, namespace, name, labels).await;
}

/// The way of the stand-in to its API server: what is refused is no reason to stop.
pub(super) struct Api {
    client: kube::Client,
    namespace: String,
}

impl Api {
    pub(super) async fn of(plane: &ControlPlane, namespace: &str) -> Self {
        Self {
            client: plane.context(&User::Admin).await.client().clone(),
            namespace: namespace.to_owned(),
        }
    }

    pub(super) fn chaos(&self, plural: &str, name: &str) -> String {
        let namespace = &self.namespace;
        let all = format!("/apis/chaos-mesh.org/v1alpha1/namespaces/{namespace}/{plural}");
        match name {
            "" => all,
            name => format!("{all}/{name}"),
        }
    }

    pub(super) async fn get(&self, path: &str) -> Option<Value> {
        self.send("GET", path, &Value::Null).await
    }

    pub(super) async fn pod(&self, namespace: &str, name: &str) -> Option<Value> {
        self.get(&format!("/api/v1/namespaces/{namespace}/pods/{name}"))
            .await
    }

    pub(super) async fn send(&self, method: &str, path: &str, body: &Value) -> Option<Value> {
        let request = request_of(method, path, body);
        self.client.request(request).await.ok()
    }

    /// A core Event about an object of this name.
    pub(super) async fn event(&self, about: &str, message: &str) {
        let namespace = &self.namespace;
        let event = json!({
            "apiVersion": "v1", "kind": "Event",
            "metadata": {"generateName": format!("{about}.")},
            "involvedObject": {"namespace": namespace, "name": about},
            "type": "Warning", "reason": "Failed", "message": message,
        });
        let all = format!("/api/v1/namespaces/{namespace}/events");
        self.send("POST", &all, &event).await;
    }
}

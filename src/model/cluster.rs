//! Which cluster, and which namespace of it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::request::WorldIdentity;

/// A namespace of a cluster, as the API server says who they are.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Cluster {
    /// Context of the kubeconfig; `None`: the process runs in the cluster.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<String>,
    /// Base URL of the API server.
    pub api_server: String,
    /// The uid of the namespace `kube-system`, which no two clusters share and which a cluster keeps
    /// for life.
    pub uid: String,
    /// `gitVersion` of `/version`.
    pub version: String,
    /// The namespace.
    pub namespace: String,
    /// Its uid: a namespace that was deleted and made again is another one.
    pub namespace_uid: String,
    /// Its labels.
    pub namespace_labels: BTreeMap<String, String>,
}

impl Cluster {
    /// The cluster as an approval names it.
    pub fn world(&self) -> WorldIdentity {
        WorldIdentity {
            platform: "kubernetes".to_owned(),
            endpoint: self.api_server.clone(),
            session: Some(self.uid.clone()),
            version: self.version.clone(),
            edition: format!("namespace {}", self.namespace),
        }
    }

    /// The name under which a run locks this namespace on this machine.
    pub fn lock_name(&self) -> String {
        format!("kubernetes {} namespace {}", self.uid, self.namespace)
    }
}

impl fmt::Display for Cluster {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let context = self.context.as_deref().unwrap_or("in the cluster itself");
        write!(
            formatter,
            "namespace {} of {} (context {context}, kubernetes {}, uid {})",
            self.namespace, self.api_server, self.version, self.uid
        )
    }
}

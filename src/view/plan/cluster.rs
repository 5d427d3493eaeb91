//! The cluster and the namespace of a plan, by what proves them: the names alone could be anybody's.

use super::Page;
use crate::plan::StoredPlan;

impl Page {
    /// Who they are; nothing where the plan names no cluster.
    pub(super) fn cluster(&self, stored: &StoredPlan) -> Vec<String> {
        let Some(cluster) = &stored.plan.cluster else {
            return Vec::new();
        };
        let context = match &cluster.context {
            Some(context) => format!("context {context}"),
            None => "the cluster that this process runs in".to_owned(),
        };
        let labels = cluster.namespace_labels.iter();
        let labels: Vec<String> = labels
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        let labels = match labels.is_empty() {
            true => "none".to_owned(),
            false => labels.join(", "),
        };
        let (version, server) = (&cluster.version, &cluster.api_server);
        let (namespace, uid) = (&cluster.namespace, &cluster.namespace_uid);
        [
            (
                "cluster",
                format!(
                    "{context}: kubernetes {version} at {server}, uid {}",
                    cluster.uid
                ),
            ),
            ("namespace", format!("{namespace}, uid {uid}")),
            ("labels", labels),
        ]
        .into_iter()
        .flat_map(|(label, text)| self.labelled(2, label, &text))
        .collect()
    }
}

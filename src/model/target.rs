//! What a fault touches.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::chaos_mesh::TargetPod;

/// One thing that a fault touches.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Target {
    /// Calls to an AWS API on a LocalStack; `None` stands for every one of its kind.
    AwsCalls {
        /// AWS region.
        region: Option<String>,
        /// Service id.
        service: Option<String>,
        /// Operation.
        operation: Option<String>,
    },
    /// Every call to every service of a LocalStack (the global latency).
    EveryAwsCall,
    /// A pod.
    Pod(TargetPod),
    /// A thing of a scripted world.
    Simulated {
        /// Its name.
        name: String,
    },
}

impl fmt::Display for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AwsCalls {
                region,
                service,
                operation,
            } => write!(
                formatter,
                "{}:{} ({})",
                service.as_deref().unwrap_or("every service"),
                operation.as_deref().unwrap_or("every operation"),
                region.as_deref().unwrap_or("every region"),
            ),
            Self::EveryAwsCall => formatter.write_str("every call to every service"),
            Self::Pod(pod) => write!(formatter, "pod {}/{}", pod.namespace, pod.name),
            Self::Simulated { name } => formatter.write_str(name),
        }
    }
}

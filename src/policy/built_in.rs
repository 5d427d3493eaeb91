//! The strict policy that applies where no other is given: local endpoints only.

use serde::{Deserialize, Serialize};

use crate::model::ids::Digest;
use crate::model::units::Span;
use crate::plan::PolicyIdentity;

/// The figures and names that the rules go by.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Its name, as a plan records it.
    pub name: String,
    /// Environments that an experiment may name.
    pub environments: Vec<String>,
    /// Words that smell of production, wherever they stand as a word.
    pub production_words: Vec<String>,
    /// The longest hold of a step.
    pub longest_hold: Span,
    /// The longest injected latency: slow and hung must be told apart.
    pub longest_latency: Span,
    /// How many rollback SLOs an experiment needs.
    pub least_gates: usize,
    /// The shortest baseline.
    pub shortest_baseline: Span,
    /// The most requests a second that the traffic generator may send.
    pub highest_traffic_rate: f64,
    /// For how long an approval counts.
    pub approval_counts_for: Span,
}

/// The built-in policy.
pub fn built_in() -> Policy {
    Policy {
        name: "built-in".to_owned(),
        environments: ["local", "sandbox"].map(str::to_owned).to_vec(),
        production_words: ["prod", "production", "prd", "live"]
            .map(str::to_owned)
            .to_vec(),
        longest_hold: Span::from_secs(15 * 60),
        longest_latency: Span::from_secs(30),
        least_gates: 1,
        shortest_baseline: Span::from_secs(1),
        highest_traffic_rate: 1_000.0,
        approval_counts_for: Span::from_secs(30 * 60),
    }
}

impl Policy {
    /// Name and digest, as a plan records them.
    pub fn identity(&self) -> PolicyIdentity {
        let figures = serde_json::to_value(self).unwrap_or_default().to_string();
        PolicyIdentity {
            name: self.name.clone(),
            digest: Digest::of(figures.as_bytes()),
        }
    }
}

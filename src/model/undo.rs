//! The recorded inverse of a fault, durable before the fault is injected.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Everything that is needed to put one step's fault in and to take it out again, without the
/// experiment, the plan or the process that made it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Undo {
    /// Rules and latency on a LocalStack.
    LocalStack(LocalStackUndo),
    /// A scripted world in tests and simulations.
    Simulated(SimulatedUndo),
}

/// What was about to be changed on a LocalStack.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStackUndo {
    /// Base URL, no trailing slash.
    pub endpoint: String,
    /// `session_id` of `/_localstack/info` before the fault; `None`: the server has none, so a
    /// restart cannot be noticed.
    pub session: Option<String>,
    /// Our rules, exactly as sent with PATCH; DELETE takes back these and no others.
    pub rules: Vec<Value>,
    /// What stood there before, others' rules, in list order.
    pub foreign: Vec<Value>,
    /// The one global latency, when the step sets it.
    pub latency: Option<LatencyUndo>,
}

/// The latency that a step sets and the one that it found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LatencyUndo {
    /// Milliseconds that we set.
    pub set_ms: u64,
    /// Milliseconds that were there before, put back only where ours still stands.
    pub former_ms: u64,
}

/// The fault of a scripted world.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SimulatedUndo {
    /// Which of the scripted faults.
    pub fault: String,
}

impl Undo {
    /// The exact commands that undo it by hand if this tool vanished, one a line.
    pub fn by_hand(&self) -> Vec<String> {
        match self {
            Self::LocalStack(undo) => undo.by_hand(),
            Self::Simulated(undo) => vec![format!("undo {}", undo.fault)],
        }
    }

    /// One line for a person: what is in place.
    pub fn summary(&self) -> String {
        match self {
            Self::LocalStack(undo) => undo.summary(),
            Self::Simulated(undo) => undo.fault.clone(),
        }
    }
}

impl LocalStackUndo {
    fn by_hand(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if !self.rules.is_empty() {
            let body = Value::Array(self.rules.clone()).to_string();
            lines.push(format!(
                "curl -X DELETE {}/_localstack/chaos/faults -H 'Content-Type: application/json' -d {}",
                self.endpoint,
                shell_quoted(&body)
            ));
        }
        if let Some(latency) = self.latency {
            lines.push(format!(
                "curl -X POST {}/_localstack/chaos/effects -H 'Content-Type: application/json' -d '{{\"latency\":{}}}'",
                self.endpoint, latency.former_ms
            ));
        }
        lines
    }

    fn summary(&self) -> String {
        let mut parts = Vec::new();
        if !self.rules.is_empty() {
            let noun = if self.rules.len() == 1 {
                "rule"
            } else {
                "rules"
            };
            parts.push(format!("{} {noun}", self.rules.len()));
        }
        if let Some(latency) = self.latency {
            parts.push(format!("{} ms latency", latency.set_ms));
        }
        format!("{} on {}", parts.join(" and "), self.endpoint)
    }
}

/// A word that every POSIX shell reads back unchanged.
fn shell_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

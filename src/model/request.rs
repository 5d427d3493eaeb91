//! The literal requests of a plan and what came of them in a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// A request exactly as it will be, or was, sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// JSON body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// A request that was sent and what came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// What was sent.
    pub request: Request,
    /// HTTP status; `None`: no answer.
    pub status: Option<u16>,
    /// Milliseconds until the answer, or until we gave up.
    pub took_ms: u64,
    /// The platform's own id for the request, when it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Why a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Puts the fault in.
    Inject,
    /// Takes the fault out.
    Undo,
}

/// What a fault platform says it is: who it is, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldIdentity {
    /// `localstack`, `kubernetes`, `simulated`.
    pub platform: String,
    /// Base URL of the API.
    pub endpoint: String,
    /// What identifies this very instance (LocalStack: `session_id`, new at each start); `None`:
    /// it does not say, so a restart cannot be noticed.
    pub session: Option<String>,
    /// Product version, as the server tells it.
    pub version: String,
    /// Edition, as the server tells it.
    pub edition: String,
}

/// What was seen in place when the world was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Parts of the fault seen in place (rules, and the latency as one more).
    pub injected: usize,
    /// Parts that the plan wanted.
    pub planned: usize,
    /// Whether the platform is still the instance that was planned.
    pub continuity: Continuity,
    /// What was seen, one line each, for the journal and the report.
    pub evidence: Vec<String>,
}

impl Proof {
    /// Every part is in, and there is one.
    pub fn is_complete(&self) -> bool {
        self.planned > 0
            && self.injected == self.planned
            && self.continuity != Continuity::Restarted
    }
}

/// Whether a platform is still the same instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Continuity {
    /// The same instance as before.
    Same,
    /// Another instance: what was in place died with the former one.
    Restarted,
    /// The platform does not say.
    Unknown,
}

/// What was found when the world was asked whether the fault is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Absence {
    /// What of ours is still in place; empty: gone.
    pub remaining: Vec<String>,
    /// What others changed meanwhile; theirs, and only named.
    pub foreign_changes: Vec<String>,
    /// Whether the platform is still the same instance.
    pub continuity: Continuity,
}

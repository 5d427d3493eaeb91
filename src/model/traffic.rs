//! What the built-in traffic generator counted.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Totals of one run's traffic.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficSummary {
    /// Requests sent.
    pub sent: u64,
    /// Requests that could not even be sent, since too many were already in flight.
    pub dropped: u64,
    /// Answers by HTTP status.
    pub by_status: BTreeMap<u16, u64>,
    /// Requests with no answer in time.
    pub timed_out: u64,
    /// Requests whose connection failed.
    pub connection_failed: u64,
    /// Latency from the intended start, whole run, in milliseconds.
    pub p50_ms: f64,
    /// As above.
    pub p99_ms: f64,
    /// As above.
    pub max_ms: f64,
}

//! What a journal has to say about its plan so that a report needs nothing else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::cluster::Cluster;
use super::history::Dose;
use super::ids::{Name, RunId};
use super::request::WorldIdentity;
use super::slo::Slo;
use super::target::Target;
use super::units::Span;

/// The plan as a report, a view and a replay need it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Brief {
    /// The experiment's name.
    pub experiment: Name,
    /// What it claims.
    pub hypothesis: String,
    /// Where, as the policy names it.
    pub environment: String,
    /// The experiment's labels.
    pub labels: BTreeMap<String, String>,
    /// The platforms, as they said who they are when planned.
    pub worlds: Vec<WorldIdentity>,
    /// The cluster and namespace that it names, as they said who they are when planned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The SLOs in document order.
    pub slos: Vec<Slo>,
    /// How long the baseline is watched.
    pub baseline: Span,
    /// The steps in order.
    pub steps: Vec<StepBrief>,
    /// How soon after the undo the SLOs must hold again.
    pub recovery_within: Span,
    /// Variables used, secrets redacted.
    pub variables: BTreeMap<String, String>,
    /// The run whose faults this one repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<RunId>,
    /// Base URL of the practice environment that the run's own process carries: whatever is in place
    /// there ends with that process, however it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own_sandbox: Option<String>,
}

/// One step, shortly.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct StepBrief {
    /// The step's name.
    pub name: String,
    /// What is broken, one line a fault.
    pub faults: Vec<String>,
    /// What is touched.
    pub targets: Vec<Target>,
    /// The share of the possible targets that is touched, in words.
    pub blast_radius: String,
    /// How long the fault stays in.
    pub hold: Span,
    /// Which faults in which doses; empty in an older journal, which does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub doses: Vec<Dose>,
}

//! The parsed document: every value is what it means, no text that still needs reading.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::faults::Fault;
use crate::metrics::{Metric, MetricSpecs};
use crate::model::ids::Name;
use crate::model::slo::Slo;
use crate::model::units::Span;

/// A hypothesis, where, what to break, which SLOs must hold.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Experiment {
    /// `metadata.name`.
    pub name: Name,
    /// `metadata.labels`.
    pub labels: BTreeMap<String, String>,
    /// The claim.
    pub hypothesis: String,
    /// A name that the policy knows.
    pub environment: String,
    /// Where.
    pub on: Worlds,
    /// The declared sources.
    pub metrics: MetricSpecs,
    /// The SLOs, each with what it reads.
    pub slos: Vec<GaugedSlo>,
    /// How long the SLOs are watched before the first fault (`baseline: {for: 10s}`, default 10s).
    pub baseline: Span,
    /// The steps in order.
    pub steps: Vec<Step>,
    /// `recovery.within`, default 60s.
    pub recovery_within: Span,
}

/// The platforms that an experiment touches.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Worlds {
    /// A cluster.
    pub kubernetes: Option<KubernetesWorld>,
    /// A LocalStack.
    pub localstack: Option<LocalStackWorld>,
}

/// A cluster.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesWorld {
    /// Context of the kubeconfig.
    pub context: Option<String>,
    /// Namespace.
    pub namespace: Option<String>,
}

/// A LocalStack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStackWorld {
    /// Base URL, `http` or `https`, no trailing slash.
    pub endpoint: String,
    /// The region that rules without one get.
    pub region: Option<String>,
}

/// An SLO and what it reads.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct GaugedSlo {
    /// The SLO.
    pub slo: Slo,
    /// What it reads.
    pub metric: Metric,
}

/// One fault held for a while.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Step {
    /// Unique within the experiment.
    pub name: String,
    /// What is broken.
    pub fault: Fault,
    /// For how long.
    pub hold: Span,
    /// Where the document has it; `None`: in the same place, as in every plan of a former version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<Written>,
}

/// Where a step stands in its document: one that climbs by rungs becomes a step for each.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Written {
    /// Which of the document's steps, counted from 0.
    pub step: usize,
    /// Which of its rungs, counted from 0; `None`: it has one dose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rung: Option<usize>,
}

impl Experiment {
    /// Writes into each fault of a cluster where it is and how long it is held: whoever drives one
    /// knows its step alone.
    pub fn place_faults(&mut self) {
        let Some(world) = &self.on.kubernetes else {
            return;
        };
        for (position, step) in self.steps.iter_mut().enumerate() {
            if let Fault::ChaosMesh(fault) = &mut step.fault {
                fault.context.clone_from(&world.context);
                fault.namespace.clone_from(&world.namespace);
                fault.hold = step.hold;
                fault.position = position;
            }
        }
    }
}

impl Step {
    /// Its place in the document, `steps[1]`, where it is the experiment's step of this number, counted
    /// from 0.
    pub fn place(&self, position: usize) -> String {
        let step = self.written.map_or(position, |written| written.step);
        format!("steps[{step}]")
    }
}

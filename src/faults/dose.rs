//! How much of a fault a step puts in, and which fault that is.

use serde_json::{Value, json};

use super::{ChaosMeshFault, Fault, LocalStackFault};
use crate::model::history::Dose;
use crate::model::ids::Digest;
use crate::model::units::Percent;

impl Fault {
    /// The doses that a step puts in.
    ///
    /// Two faults are the same where nothing tells them apart but dose and address.
    pub fn doses(&self) -> Vec<Dose> {
        match self {
            Self::LocalStack(fault) => vec![localstack(fault)],
            Self::ChaosMesh(fault) => vec![chaos_mesh(fault)],
            Self::Simulated(name) => vec![Dose {
                fault: digest(&json!({ "simulated": name })),
                share: Percent::ALL,
            }],
        }
    }
}

/// The widest of its rules; a latency touches every call.
fn localstack(fault: &LocalStackFault) -> Dose {
    let mut rules: Vec<Value> = Vec::new();
    let mut share = match fault.latency {
        Some(_) => 1.0,
        None => 0.0,
    };
    for rule in &fault.faults {
        share = f64::max(share, rule.probability);
        let mut rule = serde_json::to_value(rule).unwrap_or_default();
        if let Some(fields) = rule.as_object_mut() {
            fields.remove("probability");
        }
        rules.push(rule);
    }
    Dose {
        fault: digest(&json!({ "localstack": rules, "latency": fault.latency })),
        share: Percent::of_ratio(share),
    }
}

pub(super) fn chaos_mesh(fault: &ChaosMeshFault) -> Dose {
    Dose {
        fault: digest(&json!({ "chaosMesh": fault.chaos_kind, "spec": fault.spec })),
        share: fault.blast_radius,
    }
}

fn digest(value: &Value) -> Digest {
    Digest::of(value.to_string().as_bytes())
}

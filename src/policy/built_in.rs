//! The strict policy that applies where no other is given: this machine only.

use std::collections::BTreeMap;

use super::document::{
    ApprovalNeed, ApprovalRules, BlastRadius, Environment, HostPattern, KubernetesProof, Limits,
    LocalStackProof, Permission, Policy, Production, Proof, RequiredPresence,
};
use crate::model::pattern::Pattern;
use crate::model::units::{Percent, Span};

/// The name of the built-in policy.
pub const BUILT_IN: &str = "built-in";

/// The built-in policy.
pub fn built_in() -> Policy {
    let environments = ["local", "sandbox"].map(|name| (name.to_owned(), this_machine()));
    Policy {
        name: BUILT_IN.to_owned(),
        environments: environments.into_iter().collect(),
        production: Production {
            words: ["prod", "production", "prd", "live"]
                .map(str::to_owned)
                .to_vec(),
            ..Production::default()
        },
        protected_namespaces: patterns(&["kube-system", "kube-public", "kube-node-lease"]),
        denied_hosts: Vec::new(),
        environment_variables: Vec::new(),
        secret_hosts: BTreeMap::new(),
        path: None,
        open_to_others: Vec::new(),
    }
}

/// What applies to an environment of which a policy says nothing but its name.
pub(super) fn defaults() -> Environment {
    Environment {
        proof: Proof::default(),
        traffic_hosts: vec![HostPattern::Loopback],
        approval: ApprovalRules {
            mode: ApprovalNeed::Confirm,
            count: 1,
            approvers: Vec::new(),
            requester: Permission::Allowed,
            expires_after: Span::from_secs(30 * 60),
            reuse: Permission::Allowed,
            signers: None,
            presence: RequiredPresence::None,
        },
        limits: Limits {
            longest_hold: Span::from_secs(15 * 60),
            longest_latency: Span::from_secs(30),
            shortest_baseline: Span::from_secs(1),
            highest_traffic_rate: 1_000.0,
            least_gates: 1,
        },
        blast_radius: BlastRadius {
            ceiling: "100%".parse::<Percent>().expect("a percentage"),
            ladder: Vec::new(),
            not_older_than: Span::from_secs(30 * 24 * 3_600),
        },
        same_dose_at_most: None,
        windows: Vec::new(),
        freezes: Vec::new(),
        unattended: Permission::Allowed,
    }
}

/// Contexts that local clusters are given by what makes them, with the API server on this machine.
fn this_machine() -> Environment {
    Environment {
        proof: Proof {
            kubernetes: Some(KubernetesProof {
                contexts: patterns(&["kind-*", "minikube", "k3d-*", "docker-desktop"]),
                api_hosts: vec![HostPattern::Loopback],
                ..KubernetesProof::default()
            }),
            localstack: Some(LocalStackProof {
                hosts: vec![HostPattern::Loopback],
            }),
        },
        ..defaults()
    }
}

fn patterns(all: &[&str]) -> Vec<Pattern> {
    all.iter()
        .map(|text| text.parse().expect("a pattern"))
        .collect()
}

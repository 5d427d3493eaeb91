//! What a careful reader of a policy would say: nothing in it is wrong, and something in it is weak.

mod approval;
mod production;
mod times;

use jiff::Timestamp;
use serde::Serialize;

use approval::approval;
use production::production;
use times::times;

use super::document::{ApprovalNeed, Environment, HostPattern, Permission, Policy};
use crate::model::pattern::Pattern;
use crate::plan::tree::key_path;

/// Something to think about again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Advice {
    /// Where in the document: `environments.staging.proof`.
    pub place: String,
    /// What is weak about it, one sentence without a full stop.
    pub message: String,
    /// What would be better.
    pub way_out: String,
}

impl Advice {
    fn new(
        place: impl Into<String>,
        message: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self {
            place: place.into(),
            message: message.into(),
            way_out: way_out.into(),
        }
    }
}

/// What everybody who has it keeps to himself.
const SECRET_VARIABLES: &[&str] = &[
    "AWS_SECRET_ACCESS_KEY",
    "AWS_SESSION_TOKEN",
    "DATABASE_URL",
    "GITHUB_TOKEN",
    "GITLAB_TOKEN",
    "LOCALSTACK_AUTH_TOKEN",
    "NPM_TOKEN",
    "PGPASSWORD",
    "VAULT_TOKEN",
];

/// Everything that a careful reader would say at this time.
pub fn advice(policy: &Policy, now: Timestamp) -> Vec<Advice> {
    let mut all = Vec::new();
    for (name, environment) in &policy.environments {
        let place = key_path("environments", name);
        all.extend(proof(&place, environment));
        all.extend(approval(&place, &environment.approval, now));
        all.extend(nobody_asked(&place, environment));
        all.extend(ladder(&place, environment));
        all.extend(times(&place, environment, now));
    }
    all.extend(production(policy));
    all.extend(policy.open_to_others.iter().map(|path| {
        Advice::new(
            path,
            "others than its owner may write it, and so decide what is allowed",
            format!("`chmod go-w {path}`"),
        )
    }));
    all.extend(policy.environment_variables.iter().filter_map(shell));
    all
}

fn proof(place: &str, environment: &Environment) -> Vec<Advice> {
    let mut all = Vec::new();
    let mut hosts: Vec<(&str, &HostPattern)> = Vec::new();
    if let Some(kubernetes) = &environment.proof.kubernetes {
        if kubernetes.cluster_uids.is_empty() && kubernetes.api_hosts.is_empty() {
            let message = match kubernetes.namespace_labels.is_empty() {
                true => {
                    "only the name of a context proves it, and anybody can give a context any name"
                }
                false => {
                    "nothing proves which cluster it is: a label can be put on any namespace, and a context can have any name"
                }
            };
            all.push(Advice::new(
                format!("{place}.proof.kubernetes"),
                message,
                "add `clusterUids`: `kubectl get namespace kube-system -o jsonpath='{.metadata.uid}'`",
            ));
        }
        hosts.extend(
            kubernetes
                .api_hosts
                .iter()
                .map(|host| ("proof.kubernetes.apiHosts", host)),
        );
    }
    if let Some(localstack) = &environment.proof.localstack {
        hosts.extend(
            localstack
                .hosts
                .iter()
                .map(|host| ("proof.localstack.hosts", host)),
        );
    }
    hosts.extend(
        environment
            .traffic_hosts
            .iter()
            .map(|host| ("traffic.hosts", host)),
    );
    all.extend(
        hosts
            .into_iter()
            .filter_map(|(below, host)| open_host(&format!("{place}.{below}"), host)),
    );
    all
}

/// A pattern over names that anybody can have.
fn open_host(place: &str, host: &HostPattern) -> Option<Advice> {
    let pattern = match host {
        HostPattern::Loopback | HostPattern::LoopbackPort(_) => return None,
        HostPattern::Host(pattern) | HostPattern::HostAndPort(pattern, _) => pattern.as_str(),
    };
    if !pattern.ends_with('*') || pattern.contains(':') {
        return None;
    }
    let message = match pattern.trim_matches('*') {
        "" => format!("`{host}` fits every host there is"),
        start => format!("`{host}` fits names of anybody's, such as `{start}.example.org`"),
    };
    Some(Advice::new(
        place,
        message,
        "end it with a domain of your own: `*.staging.example.com`",
    ))
}

/// Elsewhere than on this machine, with nobody's yes.
fn nobody_asked(place: &str, environment: &Environment) -> Option<Advice> {
    let is_here = |host: &HostPattern| match host {
        HostPattern::Loopback | HostPattern::LoopbackPort(_) => true,
        HostPattern::Host(_) | HostPattern::HostAndPort(..) => false,
    };
    let proof = &environment.proof;
    let clusters = proof
        .kubernetes
        .iter()
        .any(|proof| proof.api_hosts.is_empty() || !proof.api_hosts.iter().all(is_here));
    let localstacks = proof
        .localstack
        .iter()
        .any(|proof| !proof.hosts.iter().all(is_here));
    let asked = environment.approval.mode != ApprovalNeed::None;
    if asked || !(clusters || localstacks) {
        return None;
    }
    let also = match environment.unattended {
        Permission::Allowed => "a script",
        Permission::Denied => "anybody at a terminal",
    };
    Some(Advice::new(
        format!("{place}.approval.mode"),
        format!("{also} can break what is not on this machine, and nobody is asked"),
        "write `mode: confirm`",
    ))
}

fn ladder(place: &str, environment: &Environment) -> Option<Advice> {
    let climbs = !environment.blast_radius.ladder.is_empty();
    (climbs && environment.same_dose_at_most.is_none()).then(|| {
        Advice::new(
            format!("{place}.blastRadius.ladder"),
            "nobody has to climb it: the lowest rung may be held again and again",
            "add `sameDose: {atMost: 3}`",
        )
    })
}

fn shell(pattern: &Pattern) -> Option<Advice> {
    let secret = SECRET_VARIABLES.iter().find(|name| pattern.matches(name))?;
    Some(Advice::new(
        "variables.fromEnvironment",
        format!(
            "`{pattern}` lets a document have {secret}, and plans and journals show its variables"
        ),
        "name the variables that are meant, one by one",
    ))
}

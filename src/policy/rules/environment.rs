//! An experiment names an environment that the policy knows, and what it touches is proven to be that
//! environment: a name alone is only a claim.

use super::facts::quoted;
use super::places::endpoints;
use super::{Facts, Found};
use crate::faults::Fault;
use crate::model::cluster::Cluster;
use crate::plan::Plan;
use crate::policy::document::{HostPattern, KubernetesProof, LocalStackProof, Policy};

const CLUSTER: &str = "on.kubernetes";

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return vec![unknown(facts)];
    };
    let mut found = localstacks(facts, environment.proof.localstack.as_ref());
    if names_a_cluster(facts) {
        found.extend(cluster(facts, environment.proof.kubernetes.as_ref()));
    }
    found
}

/// What proves that a plan is about the environment that it names, in words: what of the policy fits
/// what the plan touches. Empty: nothing does.
pub fn proof(plan: &Plan, policy: &Policy) -> Vec<String> {
    let Some(environment) = policy.environment(&plan.experiment.environment) else {
        return Vec::new();
    };
    let mut proof = Vec::new();
    let hosts = environment.proof.localstack.iter();
    let hosts: Vec<&HostPattern> = hosts.flat_map(|proof| &proof.hosts).collect();
    for (_, url) in endpoints(plan) {
        let host = hosts.iter().find(|host| host.matches(url));
        proof.extend(host.map(|host| format!("endpoint `{host}`")));
    }
    if let (Some(cluster), Some(wanted)) = (&plan.cluster, &environment.proof.kubernetes) {
        proof.extend(proof_of(cluster, wanted));
    }
    proof.dedup();
    proof
}

fn proof_of(cluster: &Cluster, wanted: &KubernetesProof) -> Vec<String> {
    let mut proof = Vec::new();
    if let Some(name) = &cluster.context {
        let context = wanted.contexts.iter().find(|one| one.matches(name));
        proof.extend(context.map(|context| format!("context `{context}`")));
    }
    let uid = wanted.cluster_uids.iter().find(|uid| **uid == cluster.uid);
    proof.extend(uid.map(|_| "the cluster's uid".to_owned()));
    let mut hosts = wanted.api_hosts.iter();
    let host = hosts.find(|host| host.matches(&cluster.api_server));
    proof.extend(host.map(|host| format!("API server `{host}`")));
    let labels = wanted.namespace_labels.iter();
    proof.extend(labels.map(|(key, value)| format!("the namespace's label `{key}={value}`")));
    proof
}

fn unknown(facts: &Facts<'_>) -> Found {
    let named = facts.environment_name();
    let known: Vec<&String> = facts.policy.environments.keys().collect();
    let way_out = format!(
        "name one that it knows, {}; {}",
        quoted(&known),
        facts.unless_policy_says(&format!("environments: {{{named}: …}}"))
    );
    let message = format!(
        "policy `{}` knows no environment `{named}`",
        facts.policy.name
    );
    Found::deny("environment", message, way_out)
}

fn localstacks(facts: &Facts<'_>, proof: Option<&LocalStackProof>) -> Vec<Found> {
    let environment = facts.environment_name();
    let hosts = proof.map_or(&[][..], |proof| &proof.hosts);
    let strange = endpoints(facts.plan).into_iter();
    let strange = strange.filter(|(_, url)| !hosts.iter().any(|host| host.matches(url)));
    let found = strange.map(|(place, url)| {
        let message = match hosts {
            [] => format!("nothing proves that a LocalStack is environment `{environment}`"),
            hosts => format!(
                "nothing proves that `{url}` is environment `{environment}`, which is {}",
                quoted(hosts)
            ),
        };
        let line =
            format!("environments: {{{environment}: {{proof: {{localstack: {{hosts: […]}}}}}}}}");
        let way_out = format!(
            "name the endpoint of that environment; {}",
            facts.unless_policy_says(&line)
        );
        Found::deny(place, message, way_out)
    });
    found.collect()
}

/// Whether anything is in a cluster. A fault there without `on.kubernetes` is no document, but a plan's
/// file may come from anywhere.
fn names_a_cluster(facts: &Facts<'_>) -> bool {
    let experiment = &facts.plan.experiment;
    let in_cluster = experiment.steps.iter().any(|step| match &step.fault {
        Fault::ChaosMesh(_) => true,
        Fault::LocalStack(_) | Fault::Simulated(_) => false,
    });
    in_cluster || experiment.on.kubernetes.is_some() || facts.plan.cluster.is_some()
}

fn cluster(facts: &Facts<'_>, proof: Option<&KubernetesProof>) -> Vec<Found> {
    let environment = facts.environment_name();
    let deny = |place: &str, message: String| {
        let line = format!("environments: {{{environment}: {{proof: {{kubernetes: …}}}}}}");
        let way_out = format!(
            "name the cluster of that environment; {}",
            facts.unless_policy_says(&line)
        );
        Found::deny(place, message, way_out)
    };
    let Some(proof) = proof.filter(|proof| **proof != KubernetesProof::default()) else {
        let message = format!("nothing proves that a cluster is environment `{environment}`");
        return vec![deny(CLUSTER, message)];
    };
    let mut wrong: Vec<(&str, String)> = context(facts, proof)
        .into_iter()
        .map(|message| ("on.kubernetes.context", message))
        .collect();
    match &facts.plan.cluster {
        Some(cluster) => wrong.extend(identity(cluster, proof)),
        None if facts.is_resolved() => {
            wrong.push((CLUSTER, "nobody has asked the cluster who it is".to_owned()))
        }
        None => {}
    }
    let said = wrong.into_iter().map(|(place, what)| {
        let message = format!("{what}: nothing proves that this is environment `{environment}`");
        deny(place, message)
    });
    said.collect()
}

/// What is wrong with the context: the one that the document names, and the one that was resolved.
fn context(facts: &Facts<'_>, proof: &KubernetesProof) -> Option<String> {
    if proof.contexts.is_empty() {
        return None;
    }
    let named = facts.plan.experiment.on.kubernetes.as_ref();
    let named = named.and_then(|world| world.context.as_deref());
    let cluster = facts.plan.cluster.as_ref();
    let resolved = cluster.and_then(|cluster| cluster.context.as_deref());
    let fits = |context: &&str| proof.contexts.iter().any(|one| one.matches(context));
    if let Some(context) = named.into_iter().chain(resolved).find(|one| !fits(one)) {
        let contexts = quoted(&proof.contexts);
        return Some(format!("context `{context}` is not {contexts}"));
    }
    (cluster.is_some() && resolved.is_none())
        .then(|| "chaos runs in the cluster itself, where there is no context".to_owned())
}

/// What is wrong with what the API server says, each at its place.
fn identity(cluster: &Cluster, proof: &KubernetesProof) -> Vec<(&'static str, String)> {
    let mut wrong = Vec::new();
    if !proof.cluster_uids.is_empty() && !proof.cluster_uids.contains(&cluster.uid) {
        let uids = quoted(&proof.cluster_uids);
        let what = format!("the cluster has uid `{}`, not {uids}", cluster.uid);
        wrong.push((CLUSTER, what));
    }
    let mut hosts = proof.api_hosts.iter();
    if !proof.api_hosts.is_empty() && !hosts.any(|host| host.matches(&cluster.api_server)) {
        let hosts = quoted(&proof.api_hosts);
        let what = format!("the API server is `{}`, not {hosts}", cluster.api_server);
        wrong.push((CLUSTER, what));
    }
    for (key, wanted) in &proof.namespace_labels {
        let namespace = &cluster.namespace;
        let what = match cluster.namespace_labels.get(key) {
            Some(value) if wanted.matches(value) => continue,
            Some(value) => {
                format!(
                    "namespace `{namespace}` has the label `{key}={value}`, not `{key}={wanted}`"
                )
            }
            None => format!("namespace `{namespace}` has no label `{key}={wanted}`"),
        };
        wrong.push(("on.kubernetes.namespace", what));
    }
    wrong
}

//! Policies as text: the one that `chaos init` writes, and the lines that show whoever was refused by
//! the built-in policy how to write one.

use url::Url;

use super::built_in::BUILT_IN;
use super::document::HostPattern;
use crate::clients::is_loopback;
use crate::plan::document::Experiment;

/// What a first policy is about.
#[derive(Debug, Clone, Copy)]
pub struct FirstPolicy<'a> {
    /// The environment of the experiment beside it.
    pub environment: &'a str,
    /// Base URL of its LocalStack.
    pub endpoint: &'a str,
    /// What its traffic asks.
    pub traffic: &'a str,
}

/// The policy that lets an experiment beside it be planned.
pub fn first_policy(about: &FirstPolicy<'_>) -> String {
    let mut environments = String::new();
    let others = ["local", "sandbox"].into_iter();
    let others = others.filter(|name| *name != about.environment);
    for name in std::iter::once(about.environment).chain(others) {
        let (proof, traffic) = match name == about.environment {
            true => (hosts(&[about.endpoint]), hosts(&[about.traffic])),
            false => (hosts(&[]), hosts(&[])),
        };
        environments.push_str(&format!(
            "  {}:\n    proof:\n      localstack: {{hosts: {proof}}}\n    traffic: {{hosts: {traffic}}}\n",
            key(name)
        ));
    }
    format!(
        "# yaml-language-server: $schema=./chaos-policy.schema.json
# (`chaos schema policy > chaos-policy.schema.json` writes it for your editor)
# What may be broken where, for every document in this folder and below it; `chaos policy check` shows
# what it comes to.
apiVersion: chaos/v1
kind: Policy
metadata: {{name: ours}}
defaults:                        # what an environment does not say itself
  approval:
    mode: confirm                # a person types the experiment's name; or signed, or none
    expiresAfter: 30m
  limits: {{hold: 15m, latency: 30s, baseline: 1s, trafficRate: 1000}}
  gates: {{atLeast: 1}}            # SLOs that can end the run
environments:                    # the names that an experiment may have under `environment`
{environments}"
    )
}

/// This machine, and the hosts of these URLs that are elsewhere.
fn hosts(urls: &[&str]) -> String {
    let elsewhere = urls.iter().filter(|url| !is_loopback(url));
    let elsewhere = elsewhere.filter_map(|url| host_of(url));
    let all: Vec<String> = std::iter::once(HostPattern::Loopback.to_string())
        .chain(elsewhere.map(|host| format!("\"{host}\"")))
        .collect();
    format!("[{}]", all.join(", "))
}

/// Host and port as a policy names them.
fn host_of(url: &str) -> Option<String> {
    let parsed = Url::parse(url).ok()?;
    let host = parsed.host_str()?;
    let text = match parsed.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    };
    text.parse::<HostPattern>()
        .ok()
        .map(|host| host.to_string())
}

/// A key that is a text whatever it says.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_lowercase() || c == '-';
    if name.starts_with(|c: char| c.is_ascii_lowercase()) && name.chars().all(plain) {
        return name.to_owned();
    }
    serde_json::Value::from(name).to_string()
}

/// Lines that show how a policy lets an experiment be planned; none where the policy that refused it
/// was written by somebody.
pub fn way_out(policy: &str, experiment: &Experiment) -> Vec<String> {
    if policy != BUILT_IN {
        return Vec::new();
    }
    let mut proof = Vec::new();
    if let Some(world) = &experiment.on.localstack {
        let host = host_of(&world.endpoint).unwrap_or("localstack.example.com".to_owned());
        proof.push(format!("localstack: {{hosts: [\"{host}\"]}}"));
    }
    if experiment.on.kubernetes.is_some() {
        proof.push("kubernetes: {clusterUids: [\"…\"]}".to_owned());
    }
    let traffic = experiment.metrics.traffic.as_ref();
    let traffic = traffic.filter(|spec| !is_loopback(&spec.url));
    let traffic = traffic.map(|spec| format!("\n    traffic: {{hosts: {}}}", hosts(&[&spec.url])));
    let environment = format!(
        "  {}:\n    proof: {{{}}}{}",
        key(&experiment.environment),
        proof.join(", "),
        traffic.unwrap_or_default()
    );
    let text = format!(
        "
A policy of your own can allow more. As chaos-policy.yaml beside the document:
apiVersion: chaos/v1
kind: Policy
metadata: {{name: ours}}
environments:
{environment}
`chaos policy check` shows what it allows."
    );
    text.lines().map(str::to_owned).collect()
}

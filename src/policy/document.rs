//! A policy: what is allowed where, parsed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use jiff::civil::{Date, Time, Weekday};
use serde::{Deserialize, Serialize};

use crate::model::ids::Digest;
use crate::model::pattern::Pattern;
use crate::model::units::{Percent, Span};
use crate::plan::PolicyIdentity;

/// What is allowed where. What stands under `defaults` in the file has been written into every
/// environment that does not say otherwise.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Policy {
    /// Its name, as a plan records it.
    pub name: String,
    /// What an experiment may name as its environment.
    pub environments: BTreeMap<String, Environment>,
    /// What is taken for production.
    pub production: Production,
    /// Namespaces that no fault may touch.
    pub protected_namespaces: Vec<Pattern>,
    /// Hosts that nothing may touch, in whatever environment.
    pub denied_hosts: Vec<HostPattern>,
    /// Variables of a document that the shell's environment may fill.
    pub environment_variables: Vec<Pattern>,
    /// Where each secret may be sent; a secret that is not named here may go to any server that is
    /// encrypted or on this machine.
    pub secret_hosts: BTreeMap<String, Vec<HostPattern>>,
    /// The file that it was read from, from `/` on; `None`: it is built in. No part of what it says.
    #[serde(skip)]
    pub path: Option<String>,
    /// Of this file, those of its signers and their folders: what others than the owner may write, so
    /// that they may have it say anything. No part of what it says either.
    #[serde(skip)]
    pub open_to_others: Vec<String>,
}

/// What an environment is and what is allowed in it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Environment {
    /// What proves that a plan is about this environment and no other.
    pub proof: Proof,
    /// Hosts that the traffic generator may ask and pages may be read from.
    pub traffic_hosts: Vec<HostPattern>,
    /// What approvals a plan needs.
    pub approval: ApprovalRules,
    /// Longest and shortest, most and least.
    pub limits: Limits,
    /// How wide a fault may be.
    pub blast_radius: BlastRadius,
    /// How often a fault may hold at one dose before another is due; `None`: as often as one likes.
    pub same_dose_at_most: Option<u32>,
    /// When a run may begin; empty: always.
    pub windows: Vec<Window>,
    /// When no run may begin.
    pub freezes: Vec<Freeze>,
    /// Whether a run may begin with no person at a terminal.
    pub unattended: Permission,
}

impl Environment {
    /// Whether what was run before decides anything here: reading it takes time.
    pub fn looks_back(&self) -> bool {
        !self.blast_radius.ladder.is_empty() || self.same_dose_at_most.is_some()
    }
}

/// Yes or no.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Permission {
    /// It may.
    Allowed,
    /// It may not.
    Denied,
}

/// What proves an environment. A platform that is not named here may not be touched in it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Clusters.
    pub kubernetes: Option<KubernetesProof>,
    /// LocalStacks.
    pub localstack: Option<LocalStackProof>,
}

/// Everything that is not empty must hold.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct KubernetesProof {
    /// One of these fits the context's name.
    pub contexts: Vec<Pattern>,
    /// One of these is the uid of the namespace `kube-system`.
    pub cluster_uids: Vec<String>,
    /// One of these fits the host of the API server.
    pub api_hosts: Vec<HostPattern>,
    /// The namespace has all of these labels.
    pub namespace_labels: BTreeMap<String, Pattern>,
}

/// Which LocalStacks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStackProof {
    /// One of these fits its endpoint.
    pub hosts: Vec<HostPattern>,
}

/// Hosts, with a port or with any.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum HostPattern {
    /// `loopback`: this machine, by whatever name.
    Loopback,
    /// `loopback:4566`: one port of this machine.
    LoopbackPort(u16),
    /// A pattern over the host: `*.staging.example.com`, of an IPv6 address without its brackets.
    Host(Pattern),
    /// A pattern over the host, and one port of it: `localstack.example.com:4566`.
    HostAndPort(Pattern, u16),
}

/// What approvals a plan needs.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ApprovalRules {
    /// What counts as one.
    pub mode: ApprovalNeed,
    /// How many, each by another person.
    pub count: u32,
    /// Who may approve: user names where they are typed, principals where they are signed; empty:
    /// everybody.
    pub approvers: Vec<Pattern>,
    /// Whether whoever made the plan may approve it.
    pub requester: Permission,
    /// For how long one counts at most.
    pub expires_after: Span,
    /// Whether one counts for several runs.
    pub reuse: Permission,
    /// The keys that count, where approvals are signed.
    pub signers: Option<SignersFile>,
    /// What a FIDO key must say about the person at it.
    pub presence: RequiredPresence,
}

/// What counts as an approval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ApprovalNeed {
    /// None is needed.
    None,
    /// A person types the experiment's name at a terminal.
    Confirm,
    /// The same, and an SSH key signs it.
    Signed,
}

/// What a key must say about the person at it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RequiredPresence {
    /// Nothing: any key that is allowed counts.
    None,
    /// A FIDO key that was touched.
    Touch,
    /// A FIDO key that was touched and that knew who.
    Verify,
}

/// A file of allowed signers (`ALLOWED SIGNERS` in ssh-keygen(1)), as it was when the policy was read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignersFile {
    /// Its path as the policy names it.
    pub path: String,
    /// Its text: a part of the policy, so that a key more or less makes another policy.
    pub text: String,
}

/// Longest and shortest, most and least.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Limits {
    /// The longest hold of a step.
    pub longest_hold: Span,
    /// The longest injected latency: slow and hung must be told apart.
    pub longest_latency: Span,
    /// The shortest baseline.
    pub shortest_baseline: Span,
    /// The most requests a second that the traffic generator may send.
    pub highest_traffic_rate: f64,
    /// How many rollback SLOs an experiment needs.
    pub least_gates: usize,
}

/// How wide a fault may be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BlastRadius {
    /// No wider than this.
    pub ceiling: Percent,
    /// Rungs, narrowest first: what is wider than one rung needs a run that held at that rung. Empty:
    /// no ladder.
    pub ladder: Vec<Percent>,
    /// How old the run that held may be.
    pub not_older_than: Span,
}

/// What is taken for production.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Production {
    /// Words that mark a context, a namespace, a label, a host or a name wherever they stand as a word
    /// of their own.
    pub words: Vec<String>,
    /// Patterns that mark one as a whole.
    pub patterns: Vec<Pattern>,
    /// What is marked and may be touched all the same, once a person has typed its name.
    pub named: Vec<Pattern>,
}

/// When a run may begin: on these days, between these times of the clock.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Window {
    /// Days of the week.
    pub days: Vec<DayOfWeek>,
    /// From this time on.
    pub from: Time,
    /// Before this time; on the next day if it is no later than `from`.
    pub to: Time,
    /// IANA name of the time zone.
    pub time_zone: String,
}

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "they have no other meaning than their names")]
pub enum DayOfWeek {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

impl DayOfWeek {
    /// The same for the calendar.
    pub fn weekday(self) -> Weekday {
        match self {
            Self::Mon => Weekday::Monday,
            Self::Tue => Weekday::Tuesday,
            Self::Wed => Weekday::Wednesday,
            Self::Thu => Weekday::Thursday,
            Self::Fri => Weekday::Friday,
            Self::Sat => Weekday::Saturday,
            Self::Sun => Weekday::Sunday,
        }
    }
}

/// When no run may begin: whole days, from the first to the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Freeze {
    /// The first day.
    pub from: Date,
    /// The last day.
    pub to: Date,
    /// IANA name of the time zone.
    pub time_zone: String,
    /// Why, for whoever is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// At which moment a policy is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Moment {
    /// A plan is made or looked at now; it will run at another time.
    Planning(Timestamp),
    /// A run is about to begin.
    Running(Timestamp),
}

/// Whether a person is there to be asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attendance {
    /// At a terminal.
    Person,
    /// Nobody.
    Nobody,
}

impl Policy {
    /// Name, digest and place, as a plan records them. The digest is over what the policy means: the
    /// keys of a file of signers count, and the path to it does not.
    pub fn identity(&self) -> PolicyIdentity {
        let mut meaning = self.clone();
        for environment in meaning.environments.values_mut() {
            if let Some(signers) = &mut environment.approval.signers {
                signers.path.clear();
            }
        }
        // A `Value` keeps its keys sorted.
        let figures = serde_json::to_value(meaning)
            .unwrap_or_default()
            .to_string();
        PolicyIdentity {
            name: self.name.clone(),
            digest: Digest::of(figures.as_bytes()),
            path: self.path.clone(),
        }
    }

    /// What it says about an environment; `None`: it does not know it.
    pub fn environment(&self, name: &str) -> Option<&Environment> {
        self.environments.get(name)
    }
}

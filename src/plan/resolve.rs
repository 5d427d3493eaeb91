//! An experiment resolved against the world now: targets, literal requests, literal undo.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::document::Experiment;
use super::drift;
use super::source::Source;
use super::variables::UsedVariable;
use crate::clients::Clients;
use crate::faults::{self, Owner, Prepared};
use crate::kubernetes::identify;
use crate::model::approval::Person;
use crate::model::brief::{Brief, StepBrief};
use crate::model::cluster::Cluster;
use crate::model::history::{Dose, History};
use crate::model::ids::{Digest, Name, RunId};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::rehearsal::Rehearsal;
use crate::model::request::WorldIdentity;
use crate::model::units::Span;

/// Format of a stored plan.
pub const FORMAT: u32 = 1;

/// The document that a plan was made from, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentSource {
    /// The file's name as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
    /// The digest of its bytes.
    pub digest: Digest,
}

impl DocumentSource {
    /// The document, to be read again.
    pub fn source(&self) -> Source {
        Source {
            name: self.name.clone(),
            text: self.text.clone(),
        }
    }
}

/// A locked document: what will be done, to whom, how it ends and how it is undone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    /// Format of this document.
    pub format: u32,
    /// Version of the tool that made it.
    pub tool: String,
    /// When.
    pub created: Timestamp,
    /// Who asked for it.
    pub requester: Person,
    /// From which document.
    pub source: DocumentSource,
    /// The variables that filled it.
    pub variables: BTreeMap<String, UsedVariable>,
    /// The document, parsed.
    pub experiment: Experiment,
    /// The steps, resolved.
    pub steps: Vec<PlannedStep>,
    /// The cluster and namespace that it names, as the API server says who they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cluster: Option<Cluster>,
    /// The policy that it was checked against.
    pub policy: PolicyIdentity,
    /// The run whose faults it repeats.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replay_of: Option<RunId>,
    /// What the SLOs read when it was made, and over the past before that: what whoever approves it
    /// goes by. Empty: nobody asked.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rehearsals: Vec<Rehearsal>,
    /// What was run of these faults before, as far as was known where it was made: whoever approves or
    /// runs it elsewhere judges by it too.
    #[serde(default, skip_serializing_if = "History::is_empty")]
    pub history: History,
    /// Runs of this tool that began in the time that was looked back on: what they broke counts in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runs_in_past: Vec<RunId>,
}

/// Which policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PolicyIdentity {
    /// Its name, or `built-in`.
    pub name: String,
    /// Digest over all its rules and figures.
    pub digest: Digest,
    /// The file that it was read from, from `/` on; `None`: it is built in. Where it is found again,
    /// and no part of what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

impl PolicyIdentity {
    /// Whether both allow the same, wherever they are kept.
    pub fn is_same(&self, other: &Self) -> bool {
        self.name == other.name && self.digest == other.digest
    }
}

/// A step, resolved.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PlannedStep {
    /// The step's name.
    pub name: String,
    /// What the driver found out.
    pub prepared: Prepared,
}

/// What a plan says besides its document.
#[derive(Debug, Clone)]
pub struct Resolution {
    /// Who asks.
    pub requester: Person,
    /// Now.
    pub now: Timestamp,
    /// The policy that will judge the plan.
    pub policy: PolicyIdentity,
    /// The run whose faults are repeated.
    pub replay_of: Option<RunId>,
}

/// A plan of which no step is resolved yet: what the document alone says, for a policy that is asked
/// before the world is.
pub fn draft(
    experiment: Experiment,
    source: DocumentSource,
    variables: BTreeMap<String, UsedVariable>,
    with: Resolution,
) -> Plan {
    Plan {
        format: FORMAT,
        tool: env!("CARGO_PKG_VERSION").to_owned(),
        created: with.now,
        requester: with.requester,
        source,
        variables,
        experiment,
        steps: Vec::new(),
        cluster: None,
        policy: with.policy,
        replay_of: with.replay_of,
        rehearsals: Vec::new(),
        history: History::default(),
        runs_in_past: Vec::new(),
    }
}

/// Resolves every step, and asks the cluster that is named who it is; nothing is written to the world.
///
/// # Errors
/// The cluster, or the first step that the world says no to, named.
pub async fn resolve(draft: Plan, clients: &Clients) -> Result<Plan, Problem> {
    let planned = &draft.experiment.steps;
    // What cannot be driven at all is said before anybody is asked.
    let mut drivers = Vec::with_capacity(planned.len());
    for step in planned {
        drivers.push(faults::driver_for(&step.fault, clients).map_err(|why| at(&step.name, why))?);
    }
    let cluster = match &draft.experiment.on.kubernetes {
        None => None,
        Some(named) => {
            let (context, namespace) = (named.context.as_deref(), named.namespace.as_deref());
            Some(identify(clients, context, namespace).await?)
        }
    };
    let mut steps = Vec::with_capacity(planned.len());
    for (step, driver) in planned.iter().zip(drivers) {
        let prepared = driver
            .prepare(&step.fault, &Owner::Plan)
            .await
            .map_err(|why| at(&step.name, why))?;
        steps.push(PlannedStep {
            name: step.name.clone(),
            prepared,
        });
    }
    Ok(Plan {
        steps,
        cluster,
        ..draft
    })
}

fn at(step: &str, mut problem: Problem) -> Problem {
    problem.message = format!("step `{step}`: {}", problem.message);
    problem
}

impl Plan {
    /// The experiment's name.
    pub fn name(&self) -> &Name {
        &self.experiment.name
    }

    /// The platforms, each once.
    pub fn worlds(&self) -> Vec<WorldIdentity> {
        let mut worlds: Vec<WorldIdentity> = Vec::new();
        for step in &self.steps {
            if !worlds.contains(&step.prepared.world) {
                worlds.push(step.prepared.world.clone());
            }
        }
        worlds
    }

    /// Everything that a yes to it is about: the platforms, and the cluster that it names.
    pub fn identities(&self) -> Vec<WorldIdentity> {
        let cluster = self.cluster.as_ref().map(Cluster::world);
        self.worlds().into_iter().chain(cluster).collect()
    }

    /// The rehearsal of an SLO, if there was one.
    pub fn rehearsal(&self, slo: &str) -> Option<&Rehearsal> {
        self.rehearsals
            .iter()
            .find(|rehearsal| rehearsal.slo == slo)
    }

    /// The steps, each with how long its fault stays in.
    pub fn holds(&self) -> impl Iterator<Item = (&PlannedStep, Span)> {
        let holds = self.experiment.steps.iter().map(|step| step.hold);
        self.steps.iter().zip(holds)
    }

    /// Whether what the world says at the moment of injecting is what was planned.
    ///
    /// # Errors
    /// What differs.
    pub fn admits(&self, step: usize, prepared: &Prepared) -> Result<(), Problem> {
        let planned = &self.steps[step].prepared;
        let found = drift::between_prepared(planned, prepared);
        if found.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = found.iter().map(ToString::to_string).collect();
        Err(Problem::new(
            ProblemKind::Conflict,
            format!("the world changed since the plan: {}", lines.join("; ")),
        )
        .hint("make a new plan with `chaos plan`"))
    }

    /// The plan as a journal carries it.
    pub fn brief(&self) -> Brief {
        Brief {
            experiment: self.experiment.name.clone(),
            hypothesis: self.experiment.hypothesis.clone(),
            environment: self.experiment.environment.clone(),
            labels: self.experiment.labels.clone(),
            worlds: self.worlds(),
            cluster: self.cluster.clone(),
            slos: self
                .experiment
                .slos
                .iter()
                .map(|gauged| gauged.slo.clone())
                .collect(),
            baseline: self.experiment.baseline,
            steps: self
                .holds()
                .zip(&self.experiment.steps)
                .map(|((planned, hold), step)| planned.brief(hold, step.fault.doses()))
                .collect(),
            recovery_within: self.experiment.recovery_within,
            variables: self
                .variables
                .iter()
                .map(|(name, used)| (name.clone(), used.value.clone()))
                .collect(),
            replay_of: self.replay_of.clone(),
            own_sandbox: None,
        }
    }
}

impl PlannedStep {
    fn brief(&self, hold: Span, doses: Vec<Dose>) -> StepBrief {
        StepBrief {
            name: self.name.clone(),
            faults: self.prepared.summaries.clone(),
            targets: self.prepared.targets.clone(),
            blast_radius: self.prepared.blast_radius.clone(),
            hold,
            doses,
        }
    }
}

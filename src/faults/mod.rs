//! Fault platforms: one trait, one private module for each, one match.
//!
//! Called by `plan` (prepare only), `run` (all of it) and whoever undoes what a journal says.

mod chaos_mesh;
mod dose;
mod ended;
mod localstack;
pub mod simulated;

pub use localstack::{
    LintFinding, Reply, Tagged, Wire, check_endpoint, lint, remove_tagged, tagged,
};

use std::sync::Arc;

use futures_util::future::BoxFuture;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::clients::Clients;
use crate::model::ids::RunId;
use crate::model::localstack::FaultRule;
use crate::model::problem::Problem;
use crate::model::request::{Absence, Exchange, Proof, Request, WorldIdentity};
use crate::model::target::Target;
use crate::model::undo::Undo;
use crate::model::units::{Percent, Span};
use chaos_mesh::ChaosMeshDriver;
use ended::Ended;
use localstack::LocalStackDriver;

/// What a step breaks, parsed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Fault {
    /// Rules and latency through the LocalStack Chaos API.
    LocalStack(LocalStackFault),
    /// One Chaos Mesh object.
    ChaosMesh(ChaosMeshFault),
    /// A fault of a scripted world; no document can name it.
    Simulated(String),
}

impl Fault {
    /// What it does, a line for each of its parts: what the document says, before the world is asked.
    pub fn summaries(&self) -> Vec<String> {
        match self {
            Self::LocalStack(fault) => localstack::summaries(fault),
            Self::ChaosMesh(fault) => chaos_mesh::summaries(fault),
            Self::Simulated(name) => vec![name.clone()],
        }
    }
}

/// What a step breaks on a LocalStack; at least one of the two is there.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct LocalStackFault {
    /// Base URL of the LocalStack, no trailing slash.
    pub endpoint: String,
    /// Rules, each with its region written in.
    pub faults: Vec<FaultRule>,
    /// The one global latency.
    pub latency: Option<Span>,
}

/// A Chaos Mesh object as the document has it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ChaosMeshFault {
    /// Context of the kubeconfig, of `on.kubernetes`.
    pub context: Option<String>,
    /// The namespace of `on.kubernetes`, in which the object is made; `None`: the context's.
    pub namespace: Option<String>,
    /// The kind: `NetworkChaos`, `PodChaos`, …
    pub chaos_kind: String,
    /// The kind's own spec.
    pub spec: Value,
    /// Share of the pods that the selector finds.
    pub blast_radius: Percent,
    /// How long the step holds it: the object's own `duration` is longer.
    pub hold: Span,
    /// Which of the run's faults it is, counted from 0: no two have one name.
    pub position: usize,
}

/// Who a fault belongs to: goes into the tag that every part of it carries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// No run yet: a plan shows `{run}` where the id will stand.
    Plan,
    /// This run.
    Run(RunId),
}

impl Owner {
    /// The text that stands in the tag.
    pub fn tag(&self) -> &str {
        match self {
            Self::Plan => crate::model::localstack::RUN_PLACEHOLDER,
            Self::Run(run) => run.as_str(),
        }
    }
}

/// What `prepare` found out without writing anything.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prepared {
    /// Who the platform says it is.
    pub world: WorldIdentity,
    /// What the fault touches.
    pub targets: Vec<Target>,
    /// The share of the possible targets that is touched, in words: `2 of 5 pods`,
    /// `1 of 38 services, 50% of the requests`.
    pub blast_radius: String,
    /// One line for each fault, for people.
    pub summaries: Vec<String>,
    /// The literal requests that put it in, in order.
    pub requests: Vec<Request>,
    /// The literal requests that take it out, in order.
    pub undo_requests: Vec<Request>,
    /// The undo.
    pub undo: Undo,
    /// What a reader should know and that stops nothing.
    pub warnings: Vec<String>,
}

/// A platform that faults go in through.
///
/// # Guarantees
/// * `prepare` only reads.
/// * `inject` sends exactly what the undo can take back, and is asked only after the undo is durable.
/// * `revert` is idempotent and succeeds when `inject` never ran, half ran or ran twice.
/// * `confirm` and `verify_gone` ask the world, never memory.
/// * No call waits without a limit; each ends by itself.
///
/// # Errors
/// A `Problem` whose kind tells a deaf platform (`Unreachable`) from one that says no.
pub trait FaultDriver: Send + Sync {
    /// Reads the world and says what the fault would be, for whom, and how it is undone.
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>>;

    /// Puts the fault in.
    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection>;

    /// Asks the world whether the fault is in.
    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>>;

    /// Takes the fault out.
    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection>;

    /// Asks the world whether the fault is out.
    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>>;
}

/// What became of the requests of an inject or a revert.
#[derive(Debug, Clone, PartialEq)]
pub struct Injection {
    /// Each request that was sent to change something, with its answer, also when a later one failed;
    /// reads in between are not listed.
    pub exchanges: Vec<Exchange>,
    /// Whether all of it was answered well.
    pub result: Result<(), Problem>,
}

impl Injection {
    /// Nothing was sent, for this reason.
    fn unsent(problem: Problem) -> Self {
        Self {
            exchanges: Vec::new(),
            result: Err(problem),
        }
    }
}

/// How long a platform may take to answer a control request, on top of any latency in place.
pub const ANSWER_WITHIN: Span = Span::from_secs(10);

/// The driver that a fault needs.
///
/// # Errors
/// A platform that this build cannot drive.
pub fn driver_for(fault: &Fault, clients: &Clients) -> Result<Arc<dyn FaultDriver>, Problem> {
    driver_with(fault, clients, ANSWER_WITHIN)
}

/// The driver that a fault needs, with a patience of one's own instead of `ANSWER_WITHIN`.
///
/// # Errors
/// A platform that this build cannot drive.
pub fn driver_with(
    fault: &Fault,
    clients: &Clients,
    answer_within: Span,
) -> Result<Arc<dyn FaultDriver>, Problem> {
    match fault {
        Fault::LocalStack(_) => Ok(Arc::new(LocalStackDriver::new(clients, answer_within))),
        Fault::ChaosMesh(_) => Ok(Arc::new(ChaosMeshDriver::new(clients))),
        Fault::Simulated(name) => Err(simulated::no_world(name)),
    }
}

/// The driver of a LocalStack that is reached in another way than by HTTP.
pub fn driver_over(wire: Arc<dyn Wire>) -> Arc<dyn FaultDriver> {
    Arc::new(LocalStackDriver::over(wire, ANSWER_WITHIN))
}

/// The driver that takes back what a journal says is in place, without the experiment that put it in.
///
/// # Errors
/// A platform that this build cannot drive.
pub fn driver_for_undo(undo: &Undo, clients: &Clients) -> Result<Arc<dyn FaultDriver>, Problem> {
    match undo {
        Undo::LocalStack(_) => Ok(Arc::new(LocalStackDriver::new(clients, ANSWER_WITHIN))),
        Undo::ChaosMesh(_) => Ok(Arc::new(ChaosMeshDriver::new(clients))),
        Undo::Simulated(undo) => Err(simulated::no_world(&undo.fault)),
    }
}

/// The same for a world that was part of a process which is no more: nobody there is gone, too.
///
/// # Errors
/// A platform that this build cannot drive.
pub fn driver_for_ended_world(
    undo: &Undo,
    clients: &Clients,
) -> Result<Arc<dyn FaultDriver>, Problem> {
    Ok(Arc::new(Ended::of(driver_for_undo(undo, clients)?)))
}

/// How long after it was sent a write of this fault may still be under way: whoever finds a run whose
/// process died looks again until then before the fault counts as gone.
pub fn write_limit(undo: &Undo) -> Span {
    match undo {
        Undo::LocalStack(undo) => localstack::write_limit(undo, ANSWER_WITHIN),
        Undo::ChaosMesh(_) => chaos_mesh::WRITE_LIMIT,
        Undo::Simulated(_) => simulated::WRITE_LIMIT,
    }
}

/// How long a fault may take to be seen in, once its requests were answered: a platform that works by
/// itself takes its time.
pub fn confirm_limit(undo: &Undo) -> Span {
    match undo {
        Undo::LocalStack(_) | Undo::Simulated(_) => Span::ZERO,
        Undo::ChaosMesh(_) => chaos_mesh::CONFIRM_LIMIT,
    }
}

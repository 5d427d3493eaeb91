//! The LocalStack Chaos API: rules that make AWS calls fail, and one global latency.
//!
//! `prepare` looks (`survey`), refuses (`lint`, `conflicts`) and writes down (`preparation`);
//! `writes` holds the only requests that change anything; `sight` looks again.

mod answer;
mod api;
mod conflicts;
mod leftovers;
mod lint;
mod matching;
mod memory;
mod names;
mod ownership;
mod preparation;
mod sameness;
mod sight;
mod survey;
mod transport;
mod wire;
mod writes;

pub use api::check_endpoint;
pub use leftovers::{Tagged, remove_tagged, tagged};
pub use lint::{LintFinding, lint};
pub(super) use preparation::summaries;
pub use wire::{Reply, Wire};

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Fault, FaultDriver, Injection, LocalStackFault, Owner, Prepared};
use crate::clients::Clients;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Proof};
use crate::model::undo::{LocalStackUndo, Undo};
use crate::model::units::Span;
use api::ChaosApi;
use memory::Memory;
use sight::Sight;
use survey::Survey;
use wire::Http;
use writes::Writes;

/// The driver; between two calls it keeps only what it saw while it put its fault in, to claim more
/// surely what is its own. Whether a fault is in or out it asks the world.
pub(super) struct LocalStackDriver {
    wire: Arc<dyn Wire>,
    answer_within: Span,
    memory: Memory,
}

impl LocalStackDriver {
    pub(super) fn new(clients: &Clients, answer_within: Span) -> Self {
        Self::over(Arc::new(Http(clients.clone())), answer_within)
    }

    pub(super) fn over(wire: Arc<dyn Wire>, answer_within: Span) -> Self {
        Self {
            wire,
            answer_within,
            memory: Memory::default(),
        }
    }

    /// Time-outs are longer than the latencies that the fault knows of.
    fn api(&self, endpoint: &str, latency_ms: u64) -> ChaosApi<'_> {
        let patience = patience(self.answer_within, latency_ms);
        ChaosApi::new(&*self.wire, endpoint, patience.as_duration())
    }

    fn api_of(&self, undo: &LocalStackUndo) -> ChaosApi<'_> {
        self.api(&undo.endpoint, highest_latency(undo))
    }

    async fn prepare_fault(
        &self,
        fault: &LocalStackFault,
        owner: &Owner,
    ) -> Result<Prepared, Problem> {
        refuse_unsound(fault)?;
        api::check_endpoint(&fault.endpoint)?;
        let latency_ms = fault.latency.map_or(0, Span::as_millis);
        let api = self.api(&fault.endpoint, latency_ms);
        let survey = Survey::take(&api).await?;
        preparation::prepare(fault, owner, &api, survey)
    }
}

/// How long a request may take while such a latency is in place.
fn patience(answer_within: Span, latency_ms: u64) -> Span {
    Span::from_millis(answer_within.as_millis().saturating_add(latency_ms))
}

fn highest_latency(undo: &LocalStackUndo) -> u64 {
    undo.latency
        .map_or(0, |latency| latency.set_ms.max(latency.former_ms))
}

/// How long after it was sent a write of this undo's fault may still be under way.
pub(super) fn write_limit(undo: &LocalStackUndo, answer_within: Span) -> Span {
    patience(answer_within, highest_latency(undo))
}

fn refuse_unsound(fault: &LocalStackFault) -> Result<(), Problem> {
    let findings = lint(fault);
    let Some(first) = findings.first() else {
        return Ok(());
    };
    let lines: Vec<String> = findings
        .iter()
        .map(|finding| match finding.path.as_str() {
            "" => finding.problem.message.clone(),
            path => format!("{path}: {}", finding.problem.message),
        })
        .collect();
    let mut problem = Problem::new(ProblemKind::Invalid, lines.join("; "));
    problem.hint.clone_from(&first.problem.hint);
    Err(problem)
}

impl FaultDriver for LocalStackDriver {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        Box::pin(async move {
            match fault {
                Fault::LocalStack(fault) => self.prepare_fault(fault, owner).await,
                Fault::ChaosMesh(_) | Fault::Simulated(_) => Err(not_ours()),
            }
        })
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async move {
            match own(undo) {
                Ok(undo) => {
                    Writes::new(&self.api_of(undo), &self.memory)
                        .inject(undo)
                        .await
                }
                Err(problem) => Injection::unsent(problem),
            }
        })
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        Box::pin(async move {
            let undo = own(undo)?;
            let sight = Sight::take(&self.api_of(undo), undo, &self.memory).await?;
            Ok(sight.prove(undo))
        })
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async move {
            match own(undo) {
                Ok(undo) => {
                    Writes::new(&self.api_of(undo), &self.memory)
                        .revert(undo)
                        .await
                }
                Err(problem) => Injection::unsent(problem),
            }
        })
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(async move {
            let undo = own(undo)?;
            let sight = Sight::take(&self.api_of(undo), undo, &self.memory).await?;
            Ok(sight.prove_absence(undo))
        })
    }
}

fn own(undo: &Undo) -> Result<&LocalStackUndo, Problem> {
    match undo {
        Undo::LocalStack(undo) => Ok(undo),
        Undo::ChaosMesh(_) | Undo::Simulated(_) => Err(not_ours()),
    }
}

fn not_ours() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "the LocalStack driver takes LocalStack faults only",
    )
}

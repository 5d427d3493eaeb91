//! Chaos Mesh: one object of its own kind for each step, made for pods that were chosen by name.
//!
//! `prepare` chooses (`selection`), asks whether it may and can (`permissions`, `readiness`, `poison`) and
//! writes down the object (`object`, `preparation`); `writes` holds the only requests that change
//! anything; `sight` looks again. Facts about Chaos Mesh are those of its sources at 2.8.3.

mod answers;
mod budgets;
mod defaults;
mod kinds;
mod object;
mod permissions;
mod pod;
mod poison;
mod preparation;
mod proof;
mod readiness;
mod records;
mod selection;
mod selector;
mod sight;
mod writes;

use std::time::Duration;

use futures_util::future::BoxFuture;

use super::{ChaosMeshFault, Fault, FaultDriver, Injection, Owner, Prepared};
use crate::clients::{Clients, KubeContext};
use crate::kubernetes::{self, ObjectPath};
use crate::model::chaos_mesh::ChaosMeshUndo;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::request::{Absence, Proof};
use crate::model::undo::Undo;
use crate::model::units::Span;

/// So many objects are read at once.
const AT_ONCE: usize = 16;

/// How long the API server may take to create or delete an object: three webhooks of Chaos Mesh are
/// asked on the way, each for 5 s at most.
const WRITE_WITHIN: Duration = Duration::from_secs(20);

/// How long after it was sent a write may still land: the server's own limit for a request that lost its
/// client is that of its webhooks.
pub(super) const WRITE_LIMIT: Span = Span::from_secs(30);

/// How long Chaos Mesh may take to inject every target: a daemon has a minute for one call.
pub(super) const CONFIRM_LIMIT: Span = Span::from_secs(60);

/// What each step does, in words, before the cluster is asked.
pub(super) fn summaries(fault: &ChaosMeshFault) -> Vec<String> {
    vec![preparation::summary(fault)]
}

/// The driver. It keeps nothing between two calls: whether a fault is in or out it asks the cluster.
pub(super) struct ChaosMeshDriver {
    clients: Clients,
}

impl ChaosMeshDriver {
    pub(super) fn new(clients: &Clients) -> Self {
        Self {
            clients: clients.clone(),
        }
    }

    /// What an undo is about, and its cluster, once that says that it is the very one.
    ///
    /// # Errors
    /// It is no Chaos Mesh fault, its cluster cannot be reached, or another one answers there.
    async fn reach<'u>(&self, undo: &'u Undo) -> Result<(KubeContext, &'u ChaosMeshUndo), Problem> {
        let undo = own(undo)?;
        let context = self.clients.kubernetes(undo.context.as_deref()).await?;
        let path = ObjectPath::of("v1", "namespaces").named("kube-system");
        let system = kubernetes::get(&context, &path).await?.unwrap_or_default();
        let uid = system["metadata"]["uid"].as_str().unwrap_or_default();
        if uid == undo.cluster_uid {
            return Ok((context, undo));
        }
        let message = format!(
            "another cluster answers at {}: its kube-system has the uid `{uid}`, the plan's `{}`",
            context.server(),
            undo.cluster_uid
        );
        Err(Problem::new(ProblemKind::Conflict, message)
            .hint("nothing was changed there; look at the contexts of the kubeconfig"))
    }
}

impl FaultDriver for ChaosMeshDriver {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        Box::pin(async move {
            match fault {
                Fault::ChaosMesh(fault) => preparation::prepare(&self.clients, fault, owner).await,
                Fault::LocalStack(_) | Fault::Simulated(_) => Err(not_ours()),
            }
        })
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async move {
            match self.reach(undo).await {
                Ok((context, undo)) => writes::inject(&context, undo).await,
                Err(problem) => Injection::unsent(problem),
            }
        })
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        Box::pin(async move {
            let (context, undo) = self.reach(undo).await?;
            sight::confirm(&context, undo).await
        })
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async move {
            match self.reach(undo).await {
                Ok((context, undo)) => writes::revert(&context, undo).await,
                Err(problem) => Injection::unsent(problem),
            }
        })
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(async move {
            let (context, undo) = self.reach(undo).await?;
            sight::verify_gone(&context, undo).await
        })
    }
}

fn own(undo: &Undo) -> Result<&ChaosMeshUndo, Problem> {
    match undo {
        Undo::ChaosMesh(undo) => Ok(undo),
        Undo::LocalStack(_) | Undo::Simulated(_) => Err(not_ours()),
    }
}

fn not_ours() -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        "the Chaos Mesh driver takes Chaos Mesh faults only",
    )
}

//! A world that was part of a process which is no more, such as the sandbox of `chaos run --sandbox`: its
//! faults ended with it. Whoever answers at its address is asked all the same; that nobody does, or
//! nobody who makes sense, is no failure there.

use std::sync::Arc;

use futures_util::future::BoxFuture;

use super::{Fault, FaultDriver, Injection, Owner, Prepared};
use crate::model::problem::Problem;
use crate::model::request::{Absence, Continuity, Proof};
use crate::model::undo::Undo;

/// The driver of such a world.
pub(super) struct Ended {
    driver: Arc<dyn FaultDriver>,
}

impl Ended {
    /// Asks with this driver.
    pub(super) fn of(driver: Arc<dyn FaultDriver>) -> Self {
        Self { driver }
    }
}

impl FaultDriver for Ended {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        self.driver.prepare(fault, owner)
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.driver.inject(undo)
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        self.driver.confirm(undo)
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.driver.revert(undo)
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(async move {
            let seen = self.driver.verify_gone(undo).await;
            Ok(seen.unwrap_or_else(|_| Absence {
                remaining: Vec::new(),
                foreign_changes: Vec::new(),
                continuity: Continuity::Restarted,
            }))
        })
    }
}

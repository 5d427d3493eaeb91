//! A driver that panics in one call of one operation and is honest otherwise; or one that panics once its
//! inject was sent.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use chaos_gameday::faults::{Fault, FaultDriver, Injection, Owner, Prepared};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::request::{Absence, Proof};
use chaos_gameday::model::undo::Undo;
use futures_util::future::BoxFuture;

pub struct Panicky {
    inner: Arc<dyn FaultDriver>,
    operation: &'static str,
    /// How many calls go well before that one.
    good: usize,
    calls: AtomicUsize,
}

impl Panicky {
    /// Panics once, in the first call of this operation, before it does anything.
    pub fn driver(inner: Arc<dyn FaultDriver>, operation: &'static str) -> Arc<dyn FaultDriver> {
        Self::after(0, inner, operation)
    }

    /// The same after so many calls that go well.
    pub fn after(
        good: usize,
        inner: Arc<dyn FaultDriver>,
        operation: &'static str,
    ) -> Arc<dyn FaultDriver> {
        Arc::new(Self {
            inner,
            operation,
            good,
            calls: AtomicUsize::new(0),
        })
    }

    fn at(&self, operation: &str) {
        if operation == self.operation && self.calls.fetch_add(1, Ordering::SeqCst) == self.good {
            panic!("{operation} panics, as scripted");
        }
    }
}

impl FaultDriver for Panicky {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        self.at("prepare");
        self.inner.prepare(fault, owner)
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.at("inject");
        self.inner.inject(undo)
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        self.at("confirm");
        self.inner.confirm(undo)
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.at("revert");
        self.inner.revert(undo)
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        self.at("verify-gone");
        self.inner.verify_gone(undo)
    }
}

/// Sends its fault and then panics, over the answer.
pub struct Overwhelmed(pub Arc<dyn FaultDriver>);

impl FaultDriver for Overwhelmed {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        self.0.prepare(fault, owner)
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async {
            let answer = self.0.inject(undo).await;
            panic!("an answer like {answer:?} panics, as scripted");
        })
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        self.0.confirm(undo)
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        self.0.revert(undo)
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        self.0.verify_gone(undo)
    }
}

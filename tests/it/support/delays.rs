//! A driver that is long in doing what it does, as one is whose questions are each answered late.

use std::sync::Arc;
use std::time::Duration;

use chaos_gameday::faults::{Fault, FaultDriver, Injection, Owner, Prepared};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::request::{Absence, Proof};
use chaos_gameday::model::undo::Undo;
use futures_util::future::BoxFuture;
use tokio::time::sleep;

/// What stands between the engine and a world's driver.
pub type Through = Box<dyn Fn(Arc<dyn FaultDriver>) -> Arc<dyn FaultDriver>>;

/// How long each operation waits before it does anything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Delays {
    pub before_prepare: Duration,
    pub before_inject: Duration,
    pub before_confirm: Duration,
    pub before_revert: Duration,
    pub before_verify: Duration,
}

impl Delays {
    pub fn through(self) -> Through {
        Box::new(move |driver| {
            Arc::new(Slow {
                driver,
                delays: self,
            })
        })
    }
}

struct Slow {
    driver: Arc<dyn FaultDriver>,
    delays: Delays,
}

impl FaultDriver for Slow {
    fn prepare<'a>(
        &'a self,
        fault: &'a Fault,
        owner: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        Box::pin(async move {
            sleep(self.delays.before_prepare).await;
            self.driver.prepare(fault, owner).await
        })
    }

    fn inject<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async {
            sleep(self.delays.before_inject).await;
            self.driver.inject(undo).await
        })
    }

    fn confirm<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        Box::pin(async {
            sleep(self.delays.before_confirm).await;
            self.driver.confirm(undo).await
        })
    }

    fn revert<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Injection> {
        Box::pin(async {
            sleep(self.delays.before_revert).await;
            self.driver.revert(undo).await
        })
    }

    fn verify_gone<'a>(&'a self, undo: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        Box::pin(async {
            sleep(self.delays.before_verify).await;
            self.driver.verify_gone(undo).await
        })
    }
}

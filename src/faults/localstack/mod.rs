//! The LocalStack Chaos API.

use futures_util::future::BoxFuture;

use super::{Fault, FaultDriver, Injection, Owner, Prepared};
use crate::clients::Clients;
use crate::model::problem::Problem;
use crate::model::request::{Absence, Proof};
use crate::model::undo::Undo;

pub(super) struct LocalStackDriver {}

impl LocalStackDriver {
    pub(super) fn new(_clients: &Clients) -> Self {
        Self {}
    }
}

impl FaultDriver for LocalStackDriver {
    fn prepare<'a>(
        &'a self,
        _: &'a Fault,
        _: &'a Owner,
    ) -> BoxFuture<'a, Result<Prepared, Problem>> {
        unimplemented!()
    }
    fn inject<'a>(&'a self, _: &'a Undo) -> BoxFuture<'a, Injection> {
        unimplemented!()
    }
    fn confirm<'a>(&'a self, _: &'a Undo) -> BoxFuture<'a, Result<Proof, Problem>> {
        unimplemented!()
    }
    fn revert<'a>(&'a self, _: &'a Undo) -> BoxFuture<'a, Injection> {
        unimplemented!()
    }
    fn verify_gone<'a>(&'a self, _: &'a Undo) -> BoxFuture<'a, Result<Absence, Problem>> {
        unimplemented!()
    }
}

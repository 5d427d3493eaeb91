//! Placeholder.

use futures_util::future::BoxFuture;

use super::{Metric, MetricSource};
use crate::model::problem::Problem;
use crate::model::sample::Reading;
use crate::model::traffic::TrafficSummary;

pub(super) struct Command;
impl Command {
    pub(super) fn new(_: &std::path::Path) -> Self {
        Self
    }
}

impl MetricSource for Command {
    fn start(&self) -> BoxFuture<'_, Result<(), Problem>> {
        unimplemented!()
    }
    fn read<'a>(&'a self, _: &'a Metric) -> BoxFuture<'a, Reading> {
        unimplemented!()
    }
    fn stop(&self) -> BoxFuture<'_, Option<TrafficSummary>> {
        unimplemented!()
    }
}

//! Placeholder.

use futures_util::future::BoxFuture;

use super::{Metric, MetricSource};
use crate::model::problem::Problem;
use crate::model::sample::Reading;
use crate::model::traffic::TrafficSummary;

pub(super) struct Traffic;

impl MetricSource for Traffic {
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

impl Traffic {
    pub(super) fn new(_: &super::TrafficSpec, _: &crate::clients::Clients) -> Self {
        Self
    }
}

//! Prometheus: documents may name it; this build says plainly that it cannot read it yet.

use std::sync::Arc;

use super::{MetricSource, PrometheusSpec, SourceSetup};
use crate::model::problem::{Problem, ProblemKind};

/// The source.
pub(super) fn source(
    spec: &PrometheusSpec,
    _setup: &SourceSetup,
) -> Result<Arc<dyn MetricSource>, Problem> {
    Err(Problem::new(
        ProblemKind::Absent,
        format!("this version cannot read Prometheus yet ({})", spec.url),
    ))
}

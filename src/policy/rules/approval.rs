//! A person says yes to exactly this plan, except where nobody can be hurt.

use super::{Facts, Found};
use crate::policy::finding::Severity;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    if facts
        .sandbox
        .is_some_and(|sandbox| sandbox.holds(facts.plan))
    {
        return Vec::new();
    }
    vec![Found {
        severity: Severity::Require,
        place: "environment".to_owned(),
        message: format!("environment `{}` wants a person's approval", facts.plan.experiment.environment),
        way_out: "`chaos approve PLAN` at a terminal; only the sandbox that `chaos run --sandbox` starts needs none"
            .to_owned(),
    }]
}

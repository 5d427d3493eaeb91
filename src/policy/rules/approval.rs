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
    let environment = &facts.plan.experiment.environment;
    let outside = facts
        .sandbox
        .and_then(|sandbox| sandbox.outside(facts.plan));
    let because = outside.map_or(String::new(), |what| {
        format!(", since {what} is no part of the sandbox of this run")
    });
    vec![Found {
        severity: Severity::Require,
        place: "environment".to_owned(),
        message: format!("environment `{environment}` wants a person's approval{because}"),
        way_out: "`chaos approve PLAN` at a terminal; only a run that touches nothing but its own sandbox needs none"
            .to_owned(),
        exception: None,
    }]
}

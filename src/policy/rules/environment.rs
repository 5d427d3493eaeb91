//! An experiment names an environment that the policy knows.

use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let named = &facts.plan.experiment.environment;
    if facts.environment().is_some() {
        return Vec::new();
    }
    let known = facts
        .policy
        .environments
        .keys()
        .cloned()
        .collect::<Vec<_>>()
        .join("`, `");
    vec![Found::deny(
        "environment",
        format!(
            "policy `{}` knows no environment `{named}`",
            facts.policy.name
        ),
        format!("name one that it knows: `{known}`"),
    )]
}

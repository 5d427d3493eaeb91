//! Enough SLOs can end the run.

use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let slos = &facts.plan.experiment.slos;
    let gates = slos.iter().filter(|gauged| gauged.slo.is_gate()).count();
    if gates >= facts.policy.least_gates {
        return Vec::new();
    }
    vec![Found::deny(
        "slos",
        format!(
            "{gates} SLOs can end the run, policy `{}` wants at least {}",
            facts.policy.name, facts.policy.least_gates
        ),
        "give an SLO `onBreach: rollback`",
    )]
}

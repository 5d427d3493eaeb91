//! Enough SLOs can end the run.

use super::{Facts, Found};
use crate::policy::finding::Severity;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let mut found = too_few(facts);
    found.extend(too_patient(facts));
    found.extend(too_rare(facts));
    found
}

/// A hold in which a gate is not read once says nothing.
fn too_rare(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let Some(shortest) = experiment.steps.iter().map(|step| step.hold).min() else {
        return Vec::new();
    };
    let gates = experiment.slos.iter().enumerate();
    gates
        .filter(|(_, gauged)| gauged.slo.is_gate() && gauged.slo.every >= shortest)
        .map(|(index, gauged)| Found {
            severity: Severity::Warn,
            place: format!("slos[{index}].every"),
            message: format!(
                "`{}` is read every {}, and a step holds for only {shortest}",
                gauged.slo.name, gauged.slo.every
            ),
            way_out: "read it more often, or hold longer: unread, the run cannot judge".to_owned(),
            exception: None,
        })
        .collect()
}

/// A patience as long as the hold lets no breach end the step that brought it.
fn too_patient(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let Some(longest) = experiment.steps.iter().map(|step| step.hold).max() else {
        return Vec::new();
    };
    let gates = experiment.slos.iter().enumerate();
    gates
        .filter(|(_, gauged)| gauged.slo.is_gate() && gauged.slo.patience >= longest)
        .map(|(index, gauged)| Found {
            severity: Severity::Warn,
            place: format!("slos[{index}].for"),
            message: format!(
                "`{}` may breach for {}, and no step holds longer than {longest}: it can end none",
                gauged.slo.name, gauged.slo.patience
            ),
            way_out: "hold longer, or give it less patience".to_owned(),
            exception: None,
        })
        .collect()
}

fn too_few(facts: &Facts<'_>) -> Vec<Found> {
    let slos = &facts.plan.experiment.slos;
    let gates = slos.iter().filter(|gauged| gauged.slo.is_gate()).count();
    let least = facts
        .environment()
        .map_or(0, |environment| environment.limits.least_gates);
    if gates >= least {
        return Vec::new();
    }
    let can = match gates {
        0 => "no SLO can".to_owned(),
        1 => "1 SLO can".to_owned(),
        gates => format!("{gates} SLOs can"),
    };
    vec![Found::deny(
        "slos",
        format!(
            "{can} end the run, policy `{}` wants at least {least}",
            facts.policy.name
        ),
        "give an SLO `onBreach: rollback`",
    )]
}

//! Holds, latencies, baselines and traffic stay within bounds.

use jiff::SignedDuration;

use super::{Facts, Found};
use crate::faults::Fault;
use crate::model::units::Span;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let (experiment, limits) = (&facts.plan.experiment, &environment.limits);
    let mut found = Vec::new();
    for (position, step) in experiment.steps.iter().enumerate() {
        if step.hold > limits.longest_hold {
            found.push(too_long(
                format!("{}.hold", step.place(position)),
                "a hold",
                step.hold,
                limits.longest_hold,
            ));
        }
        if let Some((place, latency)) = latency_of(&step.fault)
            && latency > limits.longest_latency
        {
            found.push(too_long(
                format!("{}.fault.{place}", step.place(position)),
                "a latency",
                latency,
                limits.longest_latency,
            ));
        }
    }
    if experiment.baseline < limits.shortest_baseline {
        found.push(Found::deny(
            "baseline.for",
            format!(
                "a baseline of {} is shorter than {}",
                experiment.baseline, limits.shortest_baseline
            ),
            "without a baseline nobody knows whether the fault did it; watch for longer",
        ));
    }
    if let Some(spec) = &experiment.metrics.traffic
        && spec.rate > limits.highest_traffic_rate
    {
        found.push(Found::deny(
            "metrics.traffic.rate",
            format!(
                "{} requests a second are more than {}",
                spec.rate, limits.highest_traffic_rate
            ),
            "send less; a game day is no load test",
        ));
    }
    found
}

/// The latency that a fault injects, and where it is written below `fault`.
fn latency_of(fault: &Fault) -> Option<(String, Span)> {
    match fault {
        Fault::LocalStack(fault) => Some(("localstack.latency".to_owned(), fault.latency?)),
        Fault::ChaosMesh(fault) => {
            let field = match fault.chaos_kind.as_str() {
                "NetworkChaos" => "delay.latency",
                "IOChaos" | "HTTPChaos" => "delay",
                _ => return None,
            };
            let mut value = Some(&fault.spec);
            for key in field.split('.') {
                value = value.and_then(|value| value.get(key));
            }
            // As Go writes a duration: `1.5s`. What is none is refused by the API server.
            let length: SignedDuration = value?.as_str()?.parse().ok()?;
            let place = format!("chaosMesh.{}.{field}", fault.chaos_kind);
            Some((place, Span::of(length.unsigned_abs())))
        }
        Fault::Simulated(_) => None,
    }
}

fn too_long(place: String, what: &str, asked: Span, longest: Span) -> Found {
    Found::deny(
        place,
        format!("{what} of {asked} is longer than {longest}"),
        format!("shorten it to {longest} or less"),
    )
}

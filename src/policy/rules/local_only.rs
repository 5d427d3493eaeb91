//! Faults, and the traffic that measures them, stay on this machine.

use super::{Facts, Found};
use crate::clients::is_loopback;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let experiment = &facts.plan.experiment;
    let endpoint = experiment
        .on
        .localstack
        .as_ref()
        .map(|world| &world.endpoint);
    let traffic = experiment.metrics.traffic.as_ref().map(|spec| &spec.url);
    let mut found = Vec::new();
    for (place, url) in [
        ("on.localstack.endpoint", endpoint),
        ("metrics.traffic.url", traffic),
    ] {
        let Some(url) = url else { continue };
        if !is_loopback(url) {
            found.push(Found::deny(
                place,
                format!("`{url}` is not on this machine"),
                "the built-in policy lets only loopback addresses be touched: 127.0.0.1, [::1], localhost",
            ));
        }
    }
    found
}

//! Faults, and the requests that measure them, stay on this machine. A Prometheus elsewhere is only
//! read, and it is no target.

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
    let pages = experiment.metrics.scrape.iter();
    let pages = pages.flat_map(|spec| spec.targets.iter().enumerate());
    let pages = pages.map(|(index, target)| {
        let place = format!("metrics.scrape.targets[{index}].url");
        (place, Some(&target.url))
    });
    let touched = [
        ("on.localstack.endpoint".to_owned(), endpoint),
        ("metrics.traffic.url".to_owned(), traffic),
    ];
    let mut found = Vec::new();
    for (place, url) in touched.into_iter().chain(pages) {
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

//! No secret leaves this machine unencrypted.

use super::{Facts, Found};
use crate::clients::is_loopback;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let specs = &facts.plan.experiment.metrics;
    let mut asked = Vec::new();
    if let Some(spec) = &specs.prometheus {
        asked.push(("metrics.prometheus.url".to_owned(), &spec.url, &spec.access));
    }
    if let Some(spec) = &specs.scrape {
        for (index, target) in spec.targets.iter().enumerate() {
            let place = format!("metrics.scrape.targets[{index}].url");
            asked.push((place, &target.url, &spec.access));
        }
    }
    asked
        .into_iter()
        .filter(|(_, url, access)| access.has_credentials() && is_open(url))
        .map(|(place, url, _)| {
            Found::deny(
                place,
                format!("`{url}` would get the credentials without encryption"),
                "write `https://`, or reach the server through a tunnel that ends on this machine",
            )
        })
        .collect()
}

/// Whether others can read what is sent there.
fn is_open(url: &str) -> bool {
    let encrypted = url
        .get(..6)
        .is_some_and(|scheme| scheme.eq_ignore_ascii_case("https:"));
    !encrypted && !is_loopback(url)
}

//! A sandbox that this process starts is new and on ports of its own: no Prometheus can know it, and
//! what one says is about another.

use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let prometheus = facts.plan.experiment.metrics.prometheus.as_ref();
    let Some((_, spec)) = facts.sandbox.zip(prometheus) else {
        return Vec::new();
    };
    vec![Found::deny(
        "metrics.prometheus",
        format!(
            "the Prometheus at {} does not know the sandbox that `--sandbox` starts: whatever it says is about something else",
            spec.url
        ),
        "start `chaos sandbox` in another terminal, let Prometheus scrape it, and run without `--sandbox`; or read the sandbox's page with `metrics.scrape`",
    )]
}

//! Namespaces that keep a cluster alive are left alone.

use super::places::namespaces;
use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let protected = &facts.policy.protected_namespaces;
    let touched = namespaces(facts.plan).into_iter();
    let found = touched.filter_map(|(place, namespace)| {
        let pattern = protected.iter().find(|one| one.matches(namespace))?;
        Some(Found::deny(
            place,
            format!(
                "namespace `{namespace}` is protected by policy `{}` (`{pattern}`)",
                facts.policy.name
            ),
            "name a namespace of the service that the hypothesis is about",
        ))
    });
    found.collect()
}

//! Whoever can write the policy can allow themselves anything: then it binds nobody.

use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let open = facts.policy.open_to_others.iter();
    let found = open.map(|path| {
        Found::warn(
            "environment",
            format!(
                "others than its owner may write {path}, and so decide what policy `{}` allows",
                facts.policy.name
            ),
            format!("`chmod go-w {path}`"),
        )
    });
    found.collect()
}

//! Where the environment wants a person, nothing begins without one at a terminal.

use super::{Facts, Found};
use crate::policy::document::{Attendance, Permission};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    match (environment.unattended, facts.attendance) {
        (Permission::Denied, Attendance::Nobody) => vec![Found {
            severity: facts.weight_of_now(),
            ..Found::deny(
                "environment",
                format!(
                    "in environment `{}` no run begins without a person at a terminal, and nobody is there now",
                    facts.environment_name()
                ),
                "type `chaos run` at a terminal, with no pipe for its input or its messages and without CI set",
            )
        }],
        (Permission::Denied, Attendance::Person) | (Permission::Allowed, _) => Vec::new(),
    }
}

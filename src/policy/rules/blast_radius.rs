//! No fault is wider than the ceiling of its environment.

use super::ladder::{PlannedDose, doses};
use super::{Facts, Found};

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let ceiling = environment.blast_radius.ceiling;
    let wide = doses(facts.plan).into_iter();
    let wide = wide.filter(|planned| planned.dose.share > ceiling);
    let found = wide.map(|planned| {
        let way_out = match planned.written_as(ceiling) {
            Some(smaller) => format!("write {smaller} or less"),
            None => format!(
                "{}; break something that can be had in a smaller dose",
                PlannedDose::ONLY_WHOLE
            ),
        };
        Found::deny(
            planned.place,
            format!(
                "a dose of {} is wider than {ceiling}, the ceiling of environment `{}`",
                planned.dose.share,
                facts.environment_name()
            ),
            way_out,
        )
    });
    found.collect()
}

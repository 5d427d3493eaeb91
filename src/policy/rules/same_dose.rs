//! Three greens are no proof: what held again and again at one dose says nothing new at that dose.

use super::ladder::{PlannedDose, doses};
use super::{Facts, Found};
use crate::model::approval::Exception;
use crate::model::history::{Dose, PastRun};
use crate::model::ids::Digest;
use crate::model::outcome::Outcome;
use crate::model::units::Percent;
use crate::policy::document::BlastRadius;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let Some(most) = environment.same_dose_at_most else {
        return Vec::new();
    };
    let found = widest_of_each(facts).into_iter().filter_map(|planned| {
        let held = held_in_a_row(facts, &planned.dose);
        (held >= most.max(1)).then(|| again(facts, &planned, held, &environment.blast_radius))
    });
    found.collect()
}

/// Each fault of the plan in its widest dose: that is the one that could say something new.
fn widest_of_each<'a>(facts: &Facts<'a>) -> Vec<PlannedDose<'a>> {
    let mut widest: Vec<PlannedDose<'_>> = Vec::new();
    for planned in doses(facts.plan) {
        let mut known = widest.iter_mut();
        match known.find(|one| one.dose.fault == planned.dose.fault) {
            Some(known) if known.dose.share < planned.dose.share => *known = planned,
            Some(_) => {}
            None => widest.push(planned),
        }
    }
    widest
}

/// How many of the last runs of this fault held at just this dose. What ended for a reason of its own,
/// or never began, neither counts nor ends the row.
fn held_in_a_row(facts: &Facts<'_>, dose: &Dose) -> u32 {
    let environment = facts.environment_name();
    let runs = facts.runs_before().into_iter();
    let runs = runs.filter(|run| run.environment == environment);
    let mut held = 0;
    for run in runs {
        let Some(share) = widest_share(run, &dose.fault) else {
            continue;
        };
        match run.outcome {
            Outcome::Held if share == dose.share => held += 1,
            Outcome::Held | Outcome::Deviated | Outcome::Stuck => break,
            Outcome::Refused | Outcome::Aborted | Outcome::Inconclusive => {}
        }
    }
    held
}

fn widest_share(run: &PastRun, fault: &Digest) -> Option<Percent> {
    let shares = run.doses.iter().filter(|dose| dose.fault == *fault);
    let shares = shares.map(|dose| dose.share);
    shares.max_by(|one, other| one.as_ratio().total_cmp(&other.as_ratio()))
}

fn again(facts: &Facts<'_>, planned: &PlannedDose<'_>, held: u32, radius: &BlastRadius) -> Found {
    let share = planned.dose.share;
    let times = match held {
        1 => "the last run of this fault".to_owned(),
        held => format!("the last {held} runs of this fault"),
    };
    let message = format!(
        "{times} in environment `{}` held at {share}: one more at this dose proves nothing new",
        facts.environment_name()
    );
    let way_out = match wider(share, radius).and_then(|wider| planned.written_as(wider)) {
        Some(wider) => format!("go on to {wider}, or break something else"),
        None => "break something else: this dose is as wide as it may be".to_owned(),
    };
    Found::require(&planned.place, message, way_out).unless_allowed(Exception::SameDose)
}

/// The next wider dose that is allowed: a rung, or else the ceiling.
fn wider(share: Percent, radius: &BlastRadius) -> Option<Percent> {
    let ceiling = radius.ceiling;
    let rungs = radius.ladder.iter().copied();
    let rungs = rungs.filter(|rung| *rung > share && *rung <= ceiling);
    let next = rungs.min_by(|one, other| one.as_ratio().total_cmp(&other.as_ratio()));
    next.or((ceiling > share).then_some(ceiling))
}

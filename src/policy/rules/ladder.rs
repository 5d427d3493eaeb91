//! A fault grows by rungs: what is wider than a rung needs a run that held at that rung or above it.
//!
//! The doses of one plan count for each other in their order, since each is judged before the next
//! goes in, and the first that does not hold ends the run.

use jiff::{SignedDuration, Timestamp};

use super::facts::roughly;
use super::{Facts, Found};
use crate::faults::Fault;
use crate::model::approval::Exception;
use crate::model::history::{Dose, PastRun};
use crate::model::outcome::Outcome;
use crate::model::units::{Percent, Span};
use crate::plan::{Plan, Step};
use crate::policy::document::BlastRadius;

pub(super) fn check(facts: &Facts<'_>) -> Vec<Found> {
    let Some(environment) = facts.environment() else {
        return Vec::new();
    };
    let ladder = Ladder::of(facts, &environment.blast_radius);
    let planned = doses(facts.plan);
    let found = planned.iter().enumerate().filter_map(|(index, dose)| {
        let below = ladder.below(dose.dose.share)?;
        let filled = ladder.is_filled(&planned[..index], &dose.dose, below);
        (!filled).then(|| ladder.skipped(&planned[..index], dose, below))
    });
    found.collect()
}

/// A dose of the plan and where it is written.
pub(super) struct PlannedDose<'a> {
    pub(super) place: String,
    pub(super) dose: Dose,
    fault: &'a Fault,
}

/// Every dose of a plan, in the order in which they go in.
pub(super) fn doses(plan: &Plan) -> Vec<PlannedDose<'_>> {
    let doses = plan
        .experiment
        .steps
        .iter()
        .enumerate()
        .flat_map(|(position, step)| {
            let doses = step.fault.doses().into_iter();
            doses.map(move |dose| PlannedDose {
                place: format!("{}.{}", step.place(position), written_at(step)),
                dose,
                fault: &step.fault,
            })
        });
    doses.collect()
}

/// Where the dose of a fault is written: the widest of its rules, or its blast radius.
fn written_at(step: &Step) -> String {
    match &step.fault {
        Fault::LocalStack(fault) if fault.latency.is_some() => {
            "fault.localstack.latency".to_owned()
        }
        Fault::LocalStack(fault) => {
            let rules = fault.faults.iter().enumerate();
            let widest = rules.max_by(|(_, one), (_, other)| {
                let by_share = one.probability.total_cmp(&other.probability);
                by_share.then(std::cmp::Ordering::Greater)
            });
            let widest = widest.map_or(0, |(index, _)| index);
            format!("fault.localstack.faults[{widest}].probability")
        }
        Fault::ChaosMesh(_) => match step.written.and_then(|written| written.rung) {
            Some(rung) => format!("blastRadius[{rung}]"),
            None => "blastRadius".to_owned(),
        },
        Fault::Simulated(_) => "fault".to_owned(),
    }
}

impl PlannedDose<'_> {
    /// Why a fault cannot be made smaller.
    pub(super) const ONLY_WHOLE: &'static str = "it touches everything and knows no smaller dose";

    /// How a dose of this fault is written; `None`: it comes as a whole only.
    pub(super) fn written_as(&self, share: Percent) -> Option<String> {
        match self.fault {
            Fault::LocalStack(fault) if fault.latency.is_some() => None,
            Fault::LocalStack(_) => Some(format!("`probability: {}`", share.as_ratio())),
            Fault::ChaosMesh(_) => Some(format!("`blastRadius: {share}`")),
            Fault::Simulated(_) => None,
        }
    }
}

struct Ladder<'a> {
    facts: &'a Facts<'a>,
    /// Narrowest first.
    rungs: Vec<Percent>,
    not_older_than: Span,
}

impl<'a> Ladder<'a> {
    fn of(facts: &'a Facts<'a>, radius: &BlastRadius) -> Self {
        let mut rungs = radius.ladder.clone();
        rungs.sort_by(|one, other| one.as_ratio().total_cmp(&other.as_ratio()));
        Self {
            facts,
            rungs,
            not_older_than: radius.not_older_than,
        }
    }

    /// The rung that a dose stands on: the widest that is narrower. What is no wider than the lowest
    /// stands on the ground.
    fn below(&self, share: Percent) -> Option<Percent> {
        let mut rungs = self.rungs.iter().rev();
        rungs.find(|rung| **rung < share).copied()
    }

    /// Whether this fault held at a rung or above it, earlier in the plan or not too long ago.
    fn is_filled(&self, earlier: &[PlannedDose<'_>], dose: &Dose, rung: Percent) -> bool {
        let reaches = |one: &Dose| one.fault == dose.fault && one.share >= rung;
        let in_plan = earlier.iter().any(|planned| reaches(&planned.dose));
        in_plan
            || self
                .runs_at(dose, rung)
                .any(|run| run.outcome == Outcome::Held && self.is_fresh(run))
    }

    /// The runs of this fault in this environment at a rung or above it, newest first.
    fn runs_at(&self, dose: &Dose, rung: Percent) -> impl Iterator<Item = &'a PastRun> {
        let environment = self.facts.environment_name();
        let fault = dose.fault.clone();
        let runs = self.facts.runs_before().into_iter();
        runs.filter(move |run| {
            let mut doses = run.doses.iter();
            run.environment == environment
                && doses.any(|one| one.fault == fault && one.share >= rung)
        })
    }

    fn is_fresh(&self, run: &PastRun) -> bool {
        age(run, self.facts.now()) <= self.not_older_than
    }

    fn skipped(
        &self,
        earlier: &[PlannedDose<'_>],
        planned: &PlannedDose<'_>,
        below: Percent,
    ) -> Found {
        let (dose, environment) = (&planned.dose, self.facts.environment_name());
        let message = format!(
            "a dose of {} wants a run of this fault that held at {below} or more in environment `{environment}`: {}",
            dose.share,
            self.why_none(dose, below)
        );
        let mut missing = self.rungs.iter().copied();
        let next = missing.find(|rung| !self.is_filled(earlier, dose, *rung));
        let way_out = match planned.written_as(next.unwrap_or(below)) {
            Some(smaller) => format!(
                "{smaller} comes next: run that first, or put it into this plan before this dose; the rungs are {}",
                self.rungs
                    .iter()
                    .map(ToString::to_string)
                    .collect::<Vec<_>>()
                    .join(", ")
            ),
            None => format!(
                "{}, so that only an approval can let it be run",
                PlannedDose::ONLY_WHOLE
            ),
        };
        Found::require(&planned.place, message, way_out).unless_allowed(Exception::SkippedRung)
    }

    /// What is known instead of a run that held lately.
    fn why_none(&self, dose: &Dose, rung: Percent) -> String {
        let mut runs = self.runs_at(dose, rung).peekable();
        let newest = runs.peek().map(|run| (&run.run, run.outcome));
        let held = runs.find(|run| run.outcome == Outcome::Held);
        match (held, newest) {
            (Some(run), _) => format!(
                "{} held, but {} ago, and no more than {} count",
                run.run,
                roughly(age(run, self.facts.now())),
                self.not_older_than
            ),
            (None, Some((run, outcome))) => {
                format!("none held, the last was {run} ({})", outcome.word())
            }
            (None, None) => "none is known here, nor where the plan was made".to_owned(),
        }
    }
}

/// How long ago a run ended; one that ends in the future, by another clock, has just ended.
fn age(run: &PastRun, now: Timestamp) -> Span {
    let age = now.duration_since(run.ended).max(SignedDuration::ZERO);
    Span::of(age.unsigned_abs())
}

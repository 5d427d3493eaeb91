//! What of others, or left over of ours, stands in the way of a fault.

use serde_json::Value;

use super::matching::{Matcher, Relation};
use super::ownership::Division;
use super::sameness::Meaning;
use super::survey::Survey;
use crate::faults::{LocalStackFault, Owner};
use crate::model::localstack::FaultRule;
use crate::model::problem::{Problem, ProblemKind};
use crate::model::undo::{LatencyUndo, LocalStackUndo, Undo};
use crate::model::units::Span;

/// Refuses a fault that would meet a rule or a latency which is there already: new rules go to the end
/// of the list, so every rule that is there stands before ours. A rule of another run is a lock that
/// this run holds: it goes when its run ends, so it stops no plan, which is for later.
pub(super) fn refuse(
    fault: &LocalStackFault,
    owner: &Owner,
    survey: &Survey,
) -> Result<(), Problem> {
    for listed in &survey.rules {
        let Some(meaning) = Meaning::read(listed) else {
            continue;
        };
        if matches!(owner, Owner::Run(run) if meaning.owner() == Some(run.as_str())) {
            return Err(leftover(survey, listed, "is in place already"));
        }
        for (index, rule) in fault.faults.iter().enumerate() {
            let Some(what) = collision(&meaning, rule, owner, index) else {
                continue;
            };
            match (meaning.owner(), owner) {
                (None, _) => return Err(theirs(listed, &what)),
                (Some(_), Owner::Run(_)) => return Err(leftover(survey, listed, &what)),
                (Some(_), Owner::Plan) => {}
            }
        }
    }
    refuse_same_latency(fault, survey)?;
    refuse_latency_of_another_run(fault, owner, survey)
}

/// What the listed rule does to ours; `None`: nothing.
fn collision(listed: &Meaning, rule: &FaultRule, owner: &Owner, index: usize) -> Option<String> {
    let matcher = Matcher::from(rule);
    let ours = Meaning::read(&rule.to_wire(owner.tag()));
    match listed.matcher.relation_to(&matcher) {
        Relation::Apart => None,
        Relation::Same if ours.is_some_and(|ours| ours.has_effect_of(listed)) => Some(format!(
            "equals faults[{index}], so ours could not be told from it"
        )),
        Relation::Same | Relation::Shadows => Some(format!(
            "stands first and catches {matcher} before faults[{index}]"
        )),
        Relation::Overlaps => Some(format!(
            "stands first and catches some of {matcher} before faults[{index}]"
        )),
    }
}

/// Refuses a fault whose rules went in behind one of another run which was not there at the last look:
/// of two that put theirs in at the same moment, the one that stands behind gives way.
///
/// # Errors
/// The other run is named; ours are in all the same, and have to come out.
pub(super) fn refuse_overtaken(listed: &[Value], undo: &LocalStackUndo) -> Result<(), Problem> {
    let tags = super::ownership::shown(listed);
    let division = Division::new(listed, undo, tags);
    let mut wanted = undo.rules.iter().filter_map(Meaning::read);
    let Some(first) = wanted.find_map(|rule| division.ahead_of(&rule)) else {
        return Ok(());
    };
    Err(Problem::new(
        ProblemKind::Conflict,
        format!(
            "run {} put its rule in at the same moment, and first: {}",
            first.meaning.owner().unwrap_or_default(),
            first.rule
        ),
    )
    .hint("ours were taken out again; start once more when that run is over"))
}

fn theirs(listed: &Value, what: &str) -> Problem {
    Problem::new(
        ProblemKind::Conflict,
        format!("somebody else's rule {what}: {listed}"),
    )
    .hint("agree with its owner to remove it first, or break other calls; others' rules are never touched")
}

fn leftover(survey: &Survey, listed: &Value, what: &str) -> Problem {
    Problem::new(
        ProblemKind::Conflict,
        format!(
            "a rule of run {} {what}: {listed}",
            run_of(listed).unwrap_or_default()
        ),
    )
    .hint(leftover_hint(survey, listed))
}

/// How a person gets rid of a rule that an earlier run left.
fn leftover_hint(survey: &Survey, listed: &Value) -> String {
    let run = run_of(listed).unwrap_or_default();
    format!(
        "`chaos show {run}` tells whose it is; if that run is over, `chaos recover {run} --endpoint {}` takes it out, or take it out by hand: {}",
        survey.world.endpoint,
        by_hand(survey, vec![listed.clone()], None)
    )
}

fn by_hand(survey: &Survey, rules: Vec<Value>, latency: Option<LatencyUndo>) -> String {
    let undo = Undo::LocalStack(LocalStackUndo {
        endpoint: survey.world.endpoint.clone(),
        session: None,
        rules,
        foreign: Vec::new(),
        latency,
    });
    undo.by_hand().concat()
}

fn run_of(listed: &Value) -> Option<String> {
    Meaning::read(listed)?.owner().map(ToOwned::to_owned)
}

fn refuse_same_latency(fault: &LocalStackFault, survey: &Survey) -> Result<(), Problem> {
    let Some(latency) = fault.latency else {
        return Ok(());
    };
    let former = survey.latency_ms.clone()?;
    if former != latency.as_millis() {
        return Ok(());
    }
    Err(Problem::new(
        ProblemKind::Conflict,
        format!("a latency of {latency} is in place already, so ours could not be told from it"),
    )
    .hint(format!(
        "whoever set it may clear it: {}",
        by_hand(
            survey,
            Vec::new(),
            Some(LatencyUndo {
                set_ms: former,
                former_ms: 0
            })
        )
    )))
}

/// Where another run has rules in place, a latency may be its own too and end with it: put back after
/// that, it would stay for ever.
fn refuse_latency_of_another_run(
    fault: &LocalStackFault,
    owner: &Owner,
    survey: &Survey,
) -> Result<(), Problem> {
    let (Some(_), Ok(former @ 1..)) = (fault.latency, &survey.latency_ms) else {
        return Ok(());
    };
    let mut rules = survey.rules.iter();
    let another = |listed: &&Value| run_of(listed).is_some_and(|run| run != owner.tag());
    let Some(listed) = rules.find(another) else {
        return Ok(());
    };
    let what = format!(
        "is in place, and so is a latency of {} that may be its own",
        Span::from_millis(*former)
    );
    Err(leftover(survey, listed, &what))
}

/// What is there already and stands in nobody's way, or in nobody's yet.
pub(super) fn warnings(fault: &LocalStackFault, owner: &Owner, survey: &Survey) -> Vec<String> {
    let mut warnings = Vec::new();
    let mut others = 0;
    for listed in &survey.rules {
        match run_of(listed) {
            Some(run) => warnings.push(format!(
                "a rule of run {run} is in place{}: {listed}; {}",
                match stands_in_the_way(listed, fault, owner) {
                    true => ", and no run of this plan starts before it is gone",
                    false => "",
                },
                leftover_hint(survey, listed)
            )),
            None => others += 1,
        }
    }
    if others > 0 {
        let (noun, verb) = match others {
            1 => ("rule", "stands"),
            _ => ("rules", "stand"),
        };
        warnings.push(format!(
            "{others} {noun} of others {verb} on this LocalStack and will stay exactly so"
        ));
    }
    match (&survey.latency_ms, fault.latency) {
        (Ok(0), _) | (Err(_), Some(_)) => {}
        (Ok(former), Some(_)) => warnings.push(format!(
            "a latency of {} is in place; it will be put back after the step, which is wrong if it is another run's: that would have ended with it",
            Span::from_millis(*former)
        )),
        (Ok(former), None) => warnings.push(format!(
            "a latency of {} is in place; it stays, and slows every reading",
            Span::from_millis(*former)
        )),
        (Err(problem), None) => warnings.push(format!(
            "whether a latency is in place is not known: {problem}"
        )),
    }
    warnings
}

fn stands_in_the_way(listed: &Value, fault: &LocalStackFault, owner: &Owner) -> bool {
    let Some(meaning) = Meaning::read(listed) else {
        return false;
    };
    let mut rules = fault.faults.iter().enumerate();
    rules.any(|(index, rule)| collision(&meaning, rule, owner, index).is_some())
}

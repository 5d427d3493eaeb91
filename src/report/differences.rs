//! Where the plans of two compared runs differ: what makes a better or worse result mean less.

use std::collections::{BTreeMap, BTreeSet};

use super::content::{Experiment, Report, SloReport, StepReport};
use super::wording::length;

/// One sentence for each difference.
pub(super) fn between(before: &Report, after: &Report) -> Vec<String> {
    let mut found = Found::default();
    if let (Some(former), Some(latter)) = (&before.experiment, &after.experiment) {
        experiments(&mut found, former, latter);
    }
    let within = |report: &Report| report.recovery.map(|recovery| length(recovery.within_ms));
    if let (Some(former), Some(latter)) = (within(before), within(after)) {
        found.unless_same("recovery.within", &former, &latter);
    }
    named(
        &mut found,
        "SLO",
        &keyed(&before.slos, |slo| &slo.name),
        &keyed(&after.slos, |slo| &slo.name),
        slo,
    );
    named(
        &mut found,
        "step",
        &keyed(&before.steps, |step| &step.name),
        &keyed(&after.steps, |step| &step.name),
        step,
    );
    let tool = |report: &Report| report.run.as_ref().map(|run| run.tool.clone());
    if let (Some(former), Some(latter)) = (tool(before), tool(after)) {
        found.unless_same("version of chaos", &former, &latter);
    }
    found.sentences
}

#[derive(Default)]
struct Found {
    sentences: Vec<String>,
}

impl Found {
    fn unless_same(&mut self, what: &str, before: &str, after: &str) {
        if before != after {
            self.sentences
                .push(format!("{what}: {before} before, {after} after"));
        }
    }
}

fn keyed<T>(items: &[T], name: impl Fn(&T) -> &String) -> BTreeMap<String, &T> {
    items
        .iter()
        .map(|item| (name(item).clone(), item))
        .collect()
}

fn named<T>(
    found: &mut Found,
    what: &str,
    before: &BTreeMap<String, &T>,
    after: &BTreeMap<String, &T>,
    compare: impl Fn(&mut Found, &T, &T),
) {
    let names: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    for name in names {
        match (before.get(name), after.get(name)) {
            (Some(former), Some(latter)) => compare(found, former, latter),
            (Some(_), None) => found
                .sentences
                .push(format!("{what} `{name}`: only before")),
            (None, Some(_)) => found.sentences.push(format!("{what} `{name}`: only after")),
            (None, None) => {}
        }
    }
}

fn experiments(found: &mut Found, before: &Experiment, after: &Experiment) {
    found.unless_same("experiment", before.name.as_str(), after.name.as_str());
    found.unless_same("environment", &before.environment, &after.environment);
    let worlds = |experiment: &Experiment| {
        // The session is left out: it is new at every start of the platform, as after a fix it is.
        let worlds = experiment.worlds.iter();
        let words = worlds.map(ToString::to_string);
        words.collect::<Vec<_>>().join(", ")
    };
    found.unless_same("on", &worlds(before), &worlds(after));
    found.unless_same(
        "baseline",
        &length(before.baseline_ms),
        &length(after.baseline_ms),
    );
    let unset = "unset".to_owned();
    let names: BTreeSet<&String> = before
        .variables
        .keys()
        .chain(after.variables.keys())
        .collect();
    for name in names {
        let former = before.variables.get(name).unwrap_or(&unset);
        let latter = after.variables.get(name).unwrap_or(&unset);
        found.unless_same(&format!("variable {name}"), former, latter);
    }
}

fn slo(found: &mut Found, before: &SloReport, after: &SloReport) {
    let name = &after.name;
    let terms = |slo: &SloReport| {
        format!(
            "{} for {}, {} on breach, {} on no data",
            slo.objective,
            length(slo.patience_ms),
            slo.on_breach.word(),
            slo.on_no_data.word()
        )
    };
    found.unless_same(&format!("SLO `{name}`"), &terms(before), &terms(after));
    found.unless_same(&format!("SLO `{name}` reads"), &before.reads, &after.reads);
}

fn step(found: &mut Found, before: &StepReport, after: &StepReport) {
    let name = &after.name;
    for (what, former, latter) in [
        ("fault", before.faults.join("; "), after.faults.join("; ")),
        (
            "targets",
            before.targets.join(", "),
            after.targets.join(", "),
        ),
        (
            "blast radius",
            before.blast_radius.clone(),
            after.blast_radius.clone(),
        ),
        (
            "hold",
            length(before.times.hold_planned_ms),
            length(after.times.hold_planned_ms),
        ),
    ] {
        found.unless_same(&format!("{what} of step `{name}`"), &former, &latter);
    }
}

//! The report for a person: the verdict first, then what must be done, then what happened. Plain, 80
//! columns; only commands to copy may be longer.

mod comparison;
mod course;
mod endings;
mod slos;
mod steps;

use super::Format;
use super::compare::Comparison;
use super::content::{Experiment, Report, RunFacts};
use super::page::Page;
use super::wording::{date_time, length, offset, sentence};
use crate::model::approval::{Approval, ApprovalMode, RestsOn};

pub(super) struct Text;

impl Format for Text {
    fn render(&self, report: &Report) -> String {
        let mut page = Page::default();
        verdict(&mut page, report);
        in_place(&mut page, report);
        about(&mut page, report);
        slos::slos(&mut page, &report.slos);
        for (index, step) in report.steps.iter().enumerate() {
            steps::step_part(&mut page, index + 1, step);
        }
        if let Some(recovery) = &report.recovery {
            page.heading("RECOVERY");
            page.sentence(&course::recovery_words(recovery));
        }
        if let Some(traffic) = &report.traffic {
            course::traffic_part(&mut page, traffic);
        }
        list(&mut page, "WARNINGS", &report.warnings);
        course::marks(&mut page, &report.marks);
        course::notes(&mut page, report);
        course::timeline(&mut page, report);
        page.finish()
    }

    fn render_comparison(&self, comparison: &Comparison) -> String {
        comparison::render(comparison)
    }
}

fn verdict(page: &mut Page, report: &Report) {
    let word = report
        .verdict
        .outcome
        .map_or("INCOMPLETE".to_owned(), |outcome| {
            outcome.word().to_uppercase()
        });
    let name = report
        .experiment
        .as_ref()
        .map_or("unknown experiment", |experiment| experiment.name.as_str());
    let code = report
        .verdict
        .exit_code
        .map_or("no exit code".to_owned(), |code| {
            format!("exit code {code}")
        });
    page.banner(&format!("{word}  {name}"), &code);
    if let Some(cause) = &report.verdict.cause {
        page.sentence(&sentence(cause));
    }
    page.sentence(&sentence(&report.verdict.meaning));
    if let (None, Some(phase)) = (report.verdict.outcome, report.verdict.phase) {
        let at = report.run.as_ref().map_or(0, |run| run.took_ms);
        page.sentence(&format!("Last heard of: {}, {}.", phase.word(), offset(at)));
    }
    endings::endings(page, report);
    list(page, "THE JOURNAL IS DAMAGED", &report.evidence);
}

fn in_place(page: &mut Page, report: &Report) {
    if report.in_place.is_empty() {
        return;
    }
    page.heading(match endings::is_live(report) {
        true => "IN PLACE WHILE THE RUN GOES ON, or perhaps",
        false => "STILL IN PLACE, OR NOT PROVEN GONE: somebody must look now",
    });
    for fault in &report.in_place {
        page.item("-", &format!("{}: {}", fault.step, fault.what));
        for seen in &fault.seen {
            page.item(" ", &format!("last seen there: {seen}"));
        }
        if let Some(recover) = endings::recover(report) {
            page.item(" ", &recover);
        }
        if !fault.by_hand.is_empty() {
            page.item(" ", "to undo it by hand:");
        }
        for command in &fault.by_hand {
            page.literal(command);
        }
    }
}

fn about(page: &mut Page, report: &Report) {
    page.gap();
    if let Some(experiment) = &report.experiment {
        page.entry("Hypothesis", &experiment.hypothesis);
    }
    if let Some(run) = &report.run {
        run_part(page, run);
    }
    guardian_part(page, report);
    for rests_on in &report.approvals {
        approval_part(page, rests_on);
    }
    if let Some(experiment) = &report.experiment {
        where_part(page, experiment);
    }
    if report.run.is_none() && report.experiment.is_none() {
        page.sentence("Nothing is known about this run: its journal does not hold its start.");
    }
}

fn run_part(page: &mut Page, run: &RunFacts) {
    page.entry("Run", &format!("{}, chaos {}", run.id, run.tool));
    if let Some(former) = &run.replay_of {
        page.entry("Replay of", former.as_str());
    }
    let started = format!(
        "{} by {}, took {}",
        date_time(run.started),
        run.requester,
        length(run.took_ms)
    );
    page.entry("Started", &started);
    page.entry("Plan", run.plan.as_str());
    page.literal(run.digest.as_str());
}

/// Of use while the run lasts, and afterwards only where the guardian left something to read.
fn guardian_part(page: &mut Page, report: &Report) {
    let Some(guardian) = &report.guardian else {
        return;
    };
    if endings::is_live(report) {
        page.entry("Guardian", &format!("process {}", guardian.pid));
    }
    if let Some(log) = &guardian.log {
        page.entry("Guardian log", log);
    }
}

fn approval_part(page: &mut Page, rests_on: &RestsOn) {
    let (label, words) = approval_words(&rests_on.approval);
    page.entry(label, &words);
    if let Some(signer) = rests_on.signer() {
        page.entry("Signed", &format!("by {signer}"));
    }
    if let Some(allowed) = rests_on.approval.allowed() {
        page.entry("Allows", &allowed);
    }
}

fn approval_words(approval: &Approval) -> (&'static str, String) {
    let (label, mut words) = match approval.mode {
        ApprovalMode::NotNeeded => ("Approval", "no approval was needed".to_owned()),
        ApprovalMode::Typed | ApprovalMode::Signed => {
            let words = format!(
                "by {} at a terminal, {}, until {}",
                approval.approver,
                date_time(approval.approved_at),
                date_time(approval.expires_at)
            );
            ("Approved", words)
        }
    };
    if let Some(reason) = &approval.reason {
        words.push_str(&format!(": {reason}"));
    }
    (label, words)
}

fn where_part(page: &mut Page, experiment: &Experiment) {
    page.entry("Environment", &experiment.environment);
    let worlds: Vec<String> = experiment.worlds.iter().map(ToString::to_string).collect();
    page.entries("On", &worlds);
    for (label, pairs) in [
        ("Labels", &experiment.labels),
        ("Variables", &experiment.variables),
    ] {
        let pairs: Vec<String> = pairs
            .iter()
            .map(|(name, value)| format!("{name}={value}"))
            .collect();
        page.entries(label, &pairs);
    }
}

fn list(page: &mut Page, title: &str, lines: &[String]) {
    if lines.is_empty() {
        return;
    }
    page.heading(title);
    for line in lines {
        page.item("-", line);
    }
}

//! A step: what was broken, whether it was in, how long everything took, what was sent.

use super::super::content::{Sent, StepFate, StepReport};
use super::super::page::Page;
use super::super::wording::{after, length};
use crate::model::judgement::Trip;
use crate::model::request::{Continuity, Proof, Purpose};

pub(super) fn step_part(page: &mut Page, number: usize, step: &StepReport) {
    page.gap();
    page.banner(
        &format!("STEP {number}  {}", step.name),
        step_word(step.fate),
    );
    page.entries("Fault", &step.faults);
    page.entries("Touches", &step.targets);
    page.entry("Blast radius", &step.blast_radius);
    if let Some(proof) = &step.proof {
        page.entry("Seen in", &proof_words(proof));
    }
    step_times(page, step);
    page.entries("Not put in", &folded(&step.inject_problems));
    page.entries("Undo failed", &folded(&step.undo_problems));
    page.entries("By others", &step.foreign_changes);
    page.entries("Sent", &sent_lines(&step.requests));
}

/// Each line once, in the order in which they came first, with how often it came.
fn folded(lines: &[String]) -> Vec<String> {
    let mut counts: Vec<(&String, usize)> = Vec::new();
    for line in lines {
        match counts.iter_mut().find(|(told, _)| *told == line) {
            Some((_, count)) => *count += 1,
            None => counts.push((line, 1)),
        }
    }
    let told = counts.into_iter().map(|(line, count)| match count {
        1 => line.clone(),
        _ => format!("{line}, {count} times"),
    });
    told.collect()
}

/// Requests that were answered alike are one line, however often they were tried again.
fn sent_lines(requests: &[Sent]) -> Vec<String> {
    let mut counts: Vec<(&Sent, usize)> = Vec::new();
    for sent in requests {
        match counts.iter_mut().find(|(told, _)| is_again(told, sent)) {
            Some((latest, count)) => {
                *latest = sent;
                *count += 1;
            }
            None => counts.push((sent, 1)),
        }
    }
    let told = counts.into_iter();
    told.map(|(sent, count)| sent_words(sent, count)).collect()
}

fn is_again(one: &Sent, other: &Sent) -> bool {
    let parts = |sent: &Sent| (sent.purpose, sent.status);
    parts(one) == parts(other)
        && one.method == other.method
        && one.url == other.url
        && one.body == other.body
}

fn proof_words(proof: &Proof) -> String {
    let mut words = format!("{} of {}", proof.injected, proof.planned);
    if proof.continuity == Continuity::Restarted {
        words.push_str(", and the platform has restarted");
    }
    if !proof.evidence.is_empty() {
        words.push_str(&format!(": {}", proof.evidence.join("; ")));
    }
    words
}

fn held_words(step: &StepReport) -> String {
    let planned = length(step.times.hold_planned_ms);
    match (step.times.held_ms, step.fate) {
        (Some(held), _) => format!("{} of {planned}", length(held)),
        (None, StepFate::InPlace) => format!("nobody knows how long; planned {planned}"),
        (None, StepFate::NotReached) => format!("not at all; planned {planned}"),
        (None, StepFate::NotRun | StepFate::PartlyIn | StepFate::Held | StepFate::CutShort) => {
            format!("never whole; planned {planned}")
        }
    }
}

fn step_word(fate: StepFate) -> &'static str {
    match fate {
        StepFate::NotReached => "not reached",
        StepFate::NotRun => "NOT RUN: never seen in",
        StepFate::PartlyIn => "only partly in",
        StepFate::Held => "held to its end",
        StepFate::CutShort => "cut short",
        StepFate::InPlace => "NOT PROVEN GONE",
    }
}

fn step_times(page: &mut Page, step: &StepReport) {
    let times = &step.times;
    page.entry("Held", &held_words(step));
    if let (Some(detect), Some(tripped)) = (times.detect_ms, &step.tripped) {
        let how = match tripped.trip {
            Trip::Breach => "breached",
            Trip::Blind => "was blind",
        };
        let after = length(detect);
        page.entry(
            "Detected",
            &format!("{after} after it was in: {} {how}", tripped.slo),
        );
    }
    if let Some(react) = times.react_ms {
        page.entry(
            "Reacted",
            &format!("undo begun {} after that", length(react)),
        );
    }
    if let Some(gone) = times.gone_ms {
        page.entry(
            "Gone",
            &format!("seen gone {} after the undo began", length(gone)),
        );
    }
}

fn sent_words(sent: &Sent, count: usize) -> String {
    let answer = sent
        .status
        .map_or("no answer".to_owned(), |status| status.to_string());
    let purpose = match sent.purpose {
        Purpose::Inject => "to put in",
        Purpose::Undo => "to undo",
    };
    let id = sent
        .request_id
        .as_ref()
        .map_or_else(String::new, |id| format!(", request id {id}"));
    let often = match count {
        1 => String::new(),
        _ => format!(" {count} times, last"),
    };
    format!(
        "{} {} {purpose}{often}: {answer} {}{id}",
        sent.method,
        sent.url,
        after(sent.took_ms)
    )
}

//! The sentences of single events.

use crate::model::approval::{ApprovalMode, Person};
use crate::model::decision::Cause;
use crate::model::event::Event;
use crate::model::judgement::Trip;
use crate::model::outcome::Outcome;
use crate::model::phase::Phase;
use crate::model::remark::Pause;
use crate::model::request::{Absence, Continuity, Exchange, Proof, Purpose};
use crate::model::sample::Reading;
use crate::model::slo::Reaction;
use crate::model::state::{RunState, SloRecord};
use crate::model::traffic::TrafficSummary;
use crate::model::undo::Undo;

use super::super::gauges::{short_value, state_words, value_words};
use super::super::render::{planned, step_name, step_place};
use super::super::text::{duration, length};
use super::super::theme::{Tone, outcome_tone, phase_tone, state_tone};
use super::{Telling, Weight};

pub(super) fn phase_entered(phase: Phase, state: &RunState) -> Telling {
    // Between is over at once, unless the run waits there for a person, which is a phase.
    let weight = match phase == Phase::Between {
        true => Weight::Detail,
        false => Weight::Normal,
    };
    Telling::new(weight, phase_tone(phase), entered(phase, state))
}

pub(super) fn ticks_missed(slo: &str, missed: u64) -> Telling {
    let text = format!("{slo}: {missed} due while an earlier reading was still under way");
    Telling::new(Weight::Detail, Tone::Caution, text)
}

pub(super) fn recovered(after_ms: u64) -> Telling {
    let text = format!(
        "SLOs are back, {} after the fault was gone",
        length(after_ms)
    );
    Telling::new(Weight::Normal, Tone::Good, text)
}

pub(super) fn ending(cause: &Cause) -> Telling {
    let text = format!("ending: {}", cause.sentence());
    Telling::new(Weight::Normal, outcome_tone(cause.outcome()), text)
}

pub(super) fn settled(outcome: Outcome, cause: &Cause) -> Telling {
    let text = format!(
        "{} (exit {}): {}",
        outcome.word(),
        cause.exit_code(),
        cause.sentence()
    );
    Telling::new(Weight::Vital, outcome_tone(outcome), text)
}

pub(super) fn noted(text: &str, by: Option<&Person>) -> String {
    match by {
        Some(by) => format!("note by {by}: {text}"),
        None => format!("note: {text}"),
    }
}

pub(super) fn paused(pause: Pause) -> &'static str {
    match pause {
        Pause::BeforeNextStep => "will wait for your word before the next step",
        Pause::No => "will not wait before the next step",
    }
}

pub(super) fn marked(label: &str, by: &Person, state: &RunState) -> String {
    let since = state.marks.last().and_then(|mark| mark.since_fault);
    let since = since.map_or_else(
        || "no fault was in yet".to_owned(),
        |since| {
            format!(
                "{} after the fault of step {} was seen in",
                length(since.after_ms),
                since.step + 1
            )
        },
    );
    format!("marked by {by}: {label}, {since}")
}

fn find<'a>(state: &'a RunState, name: &str) -> Option<&'a SloRecord> {
    state.slos.iter().find(|record| record.slo.name == name)
}

pub(super) fn started(state: &RunState) -> String {
    state.header.as_ref().map_or_else(String::new, |header| {
        let again = header
            .brief
            .replay_of
            .as_ref()
            .map_or_else(String::new, |run| format!(" · replay of {run}"));
        format!(
            "{} · run {} · plan {} · by {}{again}",
            header.brief.experiment, header.run, header.plan, header.requester
        )
    })
}

pub(super) fn approved(event: &Event) -> String {
    let Event::Approved {
        approval,
        signature,
    } = event
    else {
        return String::new();
    };
    match approval.mode {
        ApprovalMode::NotNeeded => "no approval needed, says the policy".to_owned(),
        ApprovalMode::Typed | ApprovalMode::Signed => {
            let mut words = format!(
                "approved by {} until {}",
                approval.approver,
                approval.expires_at.strftime("%Y-%m-%d %H:%M:%SZ")
            );
            if let Some(signer) = signature.as_ref().and_then(|it| it.signer.as_ref()) {
                words.push_str(&format!(", signed by {signer}"));
            }
            if let Some(allowed) = approval.allowed() {
                words.push_str(&format!(", allows {allowed}"));
            }
            if let Some(reason) = &approval.reason {
                words.push_str(&format!(": {reason}"));
            }
            words
        }
    }
}

fn entered(phase: Phase, state: &RunState) -> String {
    let mut text = phase.word().to_owned();
    let of_a_step = match phase {
        Phase::Preparing
        | Phase::AwaitingGo
        | Phase::Injecting
        | Phase::Confirming
        | Phase::Observing
        | Phase::Undoing
        | Phase::Verifying
        | Phase::Stuck => true,
        Phase::Preflight
        | Phase::Baseline
        | Phase::Between
        | Phase::Recovering
        | Phase::Settled => false,
    };
    if of_a_step && let (Some(place), Some(name)) = (step_place(state), step_name(state)) {
        text.push_str(&format!(" · {place} {name}"));
    }
    match planned(state) {
        Some((_, planned_ms)) if phase == Phase::Recovering => {
            text.push_str(&format!(" · within {}", length(planned_ms)));
        }
        Some((_, planned_ms)) => text.push_str(&format!(" · for {}", length(planned_ms))),
        None => {}
    }
    text
}

pub(super) fn sampled(name: &str, state: &RunState) -> Telling {
    let Some(record) = find(state, name) else {
        return Telling::new(
            Weight::Detail,
            Tone::Plain,
            format!("{name}: a reading of an SLO that the run does not have"),
        );
    };
    let why = match &record.reading {
        Some(Reading::NoData { why } | Reading::SourceDown { why }) => format!(": {why}"),
        Some(Reading::Value(_)) | None => String::new(),
    };
    let text = format!(
        "{name} {} ({}) {}{why}",
        value_words(record.slo.objective.unit(), record.reading.as_ref()),
        record.slo.objective,
        state_words(record),
    );
    Telling::new(Weight::Detail, state_tone(record.state), text)
}

pub(super) fn tripped(
    name: &str,
    (trip, reaction): (Trip, Reaction),
    reading: &Reading,
    state: &RunState,
) -> Telling {
    let record = find(state, name);
    let patience = record.map(|record| match trip {
        Trip::Breach => record.slo.patience.as_millis(),
        Trip::Blind => record.slo.blind_patience.as_millis(),
    });
    let lasting = match patience {
        None | Some(0) => String::new(),
        Some(patience_ms) => format!(" for {}", length(patience_ms)),
    };
    let seen = match (reading, record) {
        (Reading::Value(value), Some(record)) => format!(
            "missed {}{lasting}, reads {}",
            record.slo.objective,
            short_value(record.slo.objective.unit(), *value),
        ),
        (Reading::Value(value), None) => format!("reads {value}"),
        (Reading::NoData { why }, _) => format!("had no data{lasting} ({why})"),
        (Reading::SourceDown { why }, _) => format!("could not be read{lasting} ({why})"),
    };
    let in_place = state.in_place().next().is_some();
    let (tone, follows) = match reaction {
        Reaction::Rollback if in_place => (Tone::Bad, "rolling back"),
        Reaction::Rollback => (Tone::Bad, "nothing is in place"),
        Reaction::Record => (Tone::Caution, "only recorded"),
    };
    Telling::new(
        Weight::Vital,
        tone,
        format!("tripped: {name} {seen} · {follows}"),
    )
}

pub(super) fn exchanged(purpose: Purpose, exchange: &Exchange) -> String {
    let purpose = match purpose {
        Purpose::Inject => "inject",
        Purpose::Undo => "undo",
    };
    let request = &exchange.request;
    let took = duration(exchange.took_ms);
    let answer = match exchange.status {
        Some(status) => format!("answered {status} in {took}"),
        None => format!("no answer in {took}"),
    };
    format!("{purpose}: {} {} · {answer}", request.method, request.url)
}

pub(super) fn confirmed(proof: &Proof) -> Telling {
    let parts = format!("{} of {} parts", proof.injected, proof.planned);
    if proof.continuity == Continuity::Restarted {
        let text = format!("the platform restarted; fault seen in: {parts}");
        return Telling::new(Weight::Normal, Tone::Caution, text);
    }
    if proof.is_complete() {
        return Telling::new(
            Weight::Normal,
            Tone::Good,
            format!("fault seen in: {parts}"),
        );
    }
    let text = format!("fault not wholly in: {parts}");
    Telling::new(Weight::Normal, Tone::Caution, text)
}

pub(super) fn gone(absence: &Absence) -> Telling {
    let foreign = match absence.foreign_changes.as_slice() {
        [] => String::new(),
        changes => format!(" · changed by others meanwhile: {}", changes.join(", ")),
    };
    let restarted = match absence.continuity {
        Continuity::Same | Continuity::Unknown => "",
        Continuity::Restarted => " · the platform restarted",
    };
    if absence.remaining.is_empty() {
        let text = format!("fault seen gone{restarted}{foreign}");
        return Telling::new(Weight::Vital, Tone::Good, text);
    }
    let left = absence.remaining.join(", ");
    let text = format!("still in place: {left}{restarted}{foreign}");
    Telling::new(Weight::Vital, Tone::Bad, text)
}

pub(super) fn traffic(summary: &TrafficSummary) -> String {
    let mut parts = vec![format!("{} sent", summary.sent)];
    for (status, count) in &summary.by_status {
        parts.push(format!("{count} answered {status}"));
    }
    for (count, what) in [
        (summary.timed_out, "timed out"),
        (summary.connection_failed, "not connected"),
        (summary.dropped, "not sent"),
    ] {
        if count > 0 {
            parts.push(format!("{count} {what}"));
        }
    }
    format!("traffic: {}", parts.join(", "))
}

/// Whoever presses Ctrl-C, above all a second time, wants to know what is still in place.
pub(super) fn signal_received(signal: &str, state: &RunState) -> Telling {
    let undos = state.in_place().filter_map(|(_, step)| step.undo.as_ref());
    let in_place: Vec<String> = undos.map(Undo::summary).collect();
    if in_place.is_empty() {
        return Telling::new(Weight::Normal, Tone::Caution, format!("{signal} received"));
    }
    let in_place = in_place.join(", ");
    let text = format!("{signal} received · still in place, and undone now: {in_place}");
    Telling::new(Weight::Vital, Tone::Caution, text)
}

//! Which events a reader of the report wants to see, and in which words.

use crate::model::approval::{Approval, ApprovalMode, Person, Signature};
use crate::model::event::{Event, Record};
use crate::model::judgement::Trip;
use crate::model::phase::Phase;
use crate::model::remark::Pause;
use crate::model::request::{Absence, Exchange, Proof, Purpose};
use crate::model::sample::{Reading, SloState};
use crate::model::slo::Reaction;
use crate::model::state::RunState;
use crate::model::units::Span;

use super::content::{Moment, MomentKind};
use super::wording::{after, since_fault};

/// The moment that an event makes of the run so far, if it is worth reading.
pub(super) fn moment(before: &RunState, record: &Record) -> Option<Moment> {
    let (kind, what) = words(before, record.elapsed_ms, &record.event)?;
    Some(Moment {
        at_ms: record.elapsed_ms,
        time: record.time,
        kind,
        what,
    })
}

fn words(before: &RunState, at_ms: u64, event: &Event) -> Option<(MomentKind, String)> {
    let step_name = |step: usize| step_name(before, step);
    let (kind, what) = match event {
        Event::RunStarted { requester, .. } => {
            (MomentKind::Run, format!("{requester} started the run"))
        }
        Event::Approved {
            approval: of,
            signature: by,
        } => approved(of, by.as_deref()),
        Event::PhaseEntered { phase, step, .. } => entered(*phase, step.map(step_name))?,
        Event::Sampled {
            slo,
            reading,
            state,
            ..
        } => turned(before, slo, reading, *state)?,
        Event::Tripped {
            slo,
            trip,
            reading,
            reaction,
        } => {
            let read = shown(before, slo, reading);
            tripped(slo, *trip, &read, *reaction)
        }
        Event::Exchanged {
            step,
            purpose,
            exchange,
        } => refused(*purpose, &step_name(*step), exchange)?,
        Event::InjectFailed { step, problem } => (
            MomentKind::Trouble,
            format!("putting in {} failed: {problem}", step_name(*step)),
        ),
        Event::Confirmed { step, proof } => (MomentKind::Fault, seen_in(&step_name(*step), proof)),
        Event::UndoFailed {
            step,
            attempt,
            problem,
        } => {
            let step = step_name(*step);
            let what = format!("attempt {attempt} to undo {step} failed: {problem}");
            (MomentKind::Trouble, what)
        }
        Event::GoneChecked { step, absence } => seen_out(&step_name(*step), absence),
        Event::Recovered { .. } => (MomentKind::Slo, "the SLOs are back".to_owned()),
        Event::Ending { cause } => (MomentKind::Run, format!("ending: {}", cause.sentence())),
        Event::Slept { ms } => {
            let what = format!("the machine slept for {}", Span::from_millis(*ms));
            (MomentKind::Trouble, what)
        }
        Event::TakenOver(takeover) => (MomentKind::Trouble, takeover.sentence()),
        Event::SignalReceived { signal } => (MomentKind::Person, format!("{signal} arrived")),
        Event::Asked { question } => (MomentKind::Person, format!("asked: {question}")),
        Event::Answered { answer } => (MomentKind::Person, format!("answered: {answer}")),
        Event::Noted { text, by } => (MomentKind::Person, noted(text, by.as_ref())),
        Event::Marked { label, by } => {
            let since = since_fault(before.since_fault(at_ms));
            let what = format!("{by} marked \"{label}\", {since}");
            (MomentKind::Person, what)
        }
        Event::PauseChosen { pause } => (MomentKind::Person, paused(*pause).to_owned()),
        Event::Warned { message } => (MomentKind::Trouble, format!("warning: {message}")),
        Event::Settled { outcome, .. } => (MomentKind::Run, outcome.word().to_owned()),
        Event::GuardianStarted { .. }
        | Event::TicksMissed { .. }
        | Event::UndoRecorded { .. }
        | Event::TrafficStopped { .. } => return None,
    };
    Some((kind, what))
}

fn tripped(slo: &str, trip: Trip, read: &str, reaction: Reaction) -> (MomentKind, String) {
    let how = match trip {
        Trip::Breach => "breached for its whole patience",
        Trip::Blind => "was blind for its whole patience",
    };
    let what = format!("{slo} {how} ({read}): {}", reaction.word());
    (MomentKind::Slo, what)
}

fn paused(pause: Pause) -> &'static str {
    match pause {
        Pause::BeforeNextStep => "a person wants to be asked before the next step",
        Pause::No => "a person no longer wants to be asked before the next step",
    }
}

fn noted(text: &str, by: Option<&Person>) -> String {
    match by {
        Some(by) => format!("note by {by}: {text}"),
        None => format!("note: {text}"),
    }
}

fn approved(approval: &Approval, signature: Option<&Signature>) -> (MomentKind, String) {
    match approval.mode {
        ApprovalMode::NotNeeded => (MomentKind::Run, "no approval was needed".to_owned()),
        ApprovalMode::Typed | ApprovalMode::Signed => {
            let mut what = format!("it rests on the approval of {}", approval.approver);
            if let Some(signer) = signature.and_then(|signature| signature.signer.as_ref()) {
                what.push_str(&format!(", signed by {signer}"));
            }
            if let Some(allowed) = approval.allowed() {
                what.push_str(&format!(", which allows {allowed}"));
            }
            if let Some(reason) = &approval.reason {
                what.push_str(&format!(": {reason}"));
            }
            (MomentKind::Person, what)
        }
    }
}

fn entered(phase: Phase, step: Option<String>) -> Option<(MomentKind, String)> {
    let step = step.unwrap_or_else(|| "the step".to_owned());
    match phase {
        Phase::Baseline => Some((MomentKind::Run, "watching the baseline".to_owned())),
        Phase::AwaitingGo => Some((
            MomentKind::Person,
            "waiting for a person to say go".to_owned(),
        )),
        Phase::Injecting => Some((MomentKind::Fault, format!("putting in {step}"))),
        Phase::Undoing => Some((MomentKind::Fault, format!("undoing {step}"))),
        Phase::Recovering => Some((
            MomentKind::Run,
            "waiting for the SLOs to come back".to_owned(),
        )),
        Phase::Preflight
        | Phase::Between
        | Phase::Preparing
        | Phase::Confirming
        | Phase::Observing
        | Phase::Verifying
        | Phase::Settled
        | Phase::Stuck => None,
    }
}

/// Only a change is worth a line; the first reading is one only when it is not ok.
fn turned(
    before: &RunState,
    slo: &str,
    reading: &Reading,
    state: SloState,
) -> Option<(MomentKind, String)> {
    let former = before.slos.iter().find(|record| record.slo.name == slo);
    let former = former.and_then(|record| record.state);
    if former.unwrap_or(SloState::Ok) == state {
        return None;
    }
    let read = shown(before, slo, reading);
    Some((
        MomentKind::SloState,
        format!("{slo} is {} ({read})", state.word()),
    ))
}

fn shown(before: &RunState, slo: &str, reading: &Reading) -> String {
    let record = before.slos.iter().find(|record| record.slo.name == slo);
    match (reading, record) {
        (Reading::Value(value), Some(record)) => record.slo.objective.unit().show(*value),
        (Reading::Value(value), None) => value.to_string(),
        (Reading::NoData { why } | Reading::SourceDown { why }, _) => why.clone(),
    }
}

fn refused(purpose: Purpose, step: &str, exchange: &Exchange) -> Option<(MomentKind, String)> {
    let answer = match exchange.status {
        None => "got no answer".to_owned(),
        Some(status) if status >= 400 => format!("was answered {status}"),
        Some(_) => return None,
    };
    let wish = match purpose {
        Purpose::Inject => "put in",
        Purpose::Undo => "undo",
    };
    Some((
        MomentKind::Trouble,
        format!(
            "{} to {wish} {step} {answer} {}",
            exchange.request.method,
            after(exchange.took_ms)
        ),
    ))
}

fn seen_in(step: &str, proof: &Proof) -> String {
    if proof.is_complete() {
        format!("{step} is seen in, {} of {}", proof.injected, proof.planned)
    } else {
        format!(
            "of {step} only {} of {} is seen in",
            proof.injected, proof.planned
        )
    }
}

fn seen_out(step: &str, absence: &Absence) -> (MomentKind, String) {
    if absence.remaining.is_empty() {
        return (MomentKind::Fault, format!("{step} is seen gone"));
    }
    let remaining = absence.remaining.join(", ");
    (
        MomentKind::Trouble,
        format!("of {step} this is still in place: {remaining}"),
    )
}

fn step_name(state: &RunState, step: usize) -> String {
    let brief = state.brief().and_then(|brief| brief.steps.get(step));
    brief.map_or_else(
        || format!("step {}", step + 1),
        |brief| format!("\"{}\"", brief.name),
    )
}

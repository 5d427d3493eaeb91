//! The guardian's log: what it saw, did and found, a short line each with its time. It is the
//! guardian's stderr, so that the words of a panic stand there too.

use std::io::Write as _;

use crate::model::event::{Event, Record};
use crate::model::outcome::Outcome;
use crate::model::request::Purpose;
use crate::model::state::RunState;
use crate::run::Clock;
use crate::view::sanitise;

/// One more line.
pub(super) fn say(words: &str) {
    let now = Clock::wall().strftime("%Y-%m-%d %H:%M:%S%.3fZ");
    let line = format!("{now} {}\n", sanitise(words));
    // A log that cannot be written, on a full disk say, keeps nobody from undoing.
    let _ = std::io::stderr().write_all(line.as_bytes());
}

/// What a takeover adds to the journal, in short; where it is stuck, what is left for a person.
pub(super) fn tell(record: &Record, state: &RunState) {
    if let Some(line) = line(&record.event) {
        say(&line);
    }
    if let Event::Settled {
        outcome: Outcome::Stuck,
        ..
    } = &record.event
    {
        by_hand(state);
    }
}

/// One line may be long; it is a command to be pasted.
fn by_hand(state: &RunState) {
    let undos = state.in_place().filter_map(|(_, step)| step.undo.as_ref());
    for command in undos.flat_map(|undo| undo.by_hand()) {
        say(&format!("to finish by hand: {command}"));
    }
}

fn line(event: &Event) -> Option<String> {
    Some(match event {
        Event::TakenOver(takeover) => format!("takes the run over: {}", takeover.why),
        Event::PhaseEntered { phase, .. } => format!("the run is {}", phase.word()),
        Event::Exchanged {
            purpose, exchange, ..
        } => {
            let what = match purpose {
                Purpose::Inject => "inject",
                Purpose::Undo => "undo",
            };
            let request = &exchange.request;
            let answer = match exchange.status {
                Some(status) => format!("answered {status}"),
                None => "no answer".to_owned(),
            };
            format!("{what}: {} {} {answer}", request.method, request.url)
        }
        Event::UndoFailed {
            attempt, problem, ..
        } => format!("attempt {attempt} failed: {}", problem.message),
        Event::GoneChecked { absence, .. } if absence.remaining.is_empty() => {
            "the fault was seen gone".to_owned()
        }
        Event::GoneChecked { absence, .. } => {
            format!("still in place: {}", absence.remaining.join(", "))
        }
        Event::Settled { outcome, cause } => {
            format!("the run ended {}: {}", outcome.word(), cause.sentence())
        }
        Event::RunStarted { .. }
        | Event::Approved { .. }
        | Event::GuardianStarted { .. }
        | Event::Slept { .. }
        | Event::Sampled { .. }
        | Event::TicksMissed { .. }
        | Event::Tripped { .. }
        | Event::UndoRecorded { .. }
        | Event::InjectFailed { .. }
        | Event::Confirmed { .. }
        | Event::Recovered { .. }
        | Event::Ending { .. }
        | Event::SignalReceived { .. }
        | Event::Asked { .. }
        | Event::Answered { .. }
        | Event::Noted { .. }
        | Event::Marked { .. }
        | Event::PauseChosen { .. }
        | Event::Warned { .. }
        | Event::TrafficStopped { .. } => return None,
    })
}

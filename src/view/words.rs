//! Every event as one sentence, with who must see it and how it is meant. Shared by the live view's
//! scrollback and the plain lines.

mod sentences;

use crate::model::event::Event;
use crate::model::state::RunState;
use crate::model::undo::Undo;

use super::sanitise::{escape_unprintable, sanitise};
use super::text::{counted, length};
use super::theme::Tone;
use sentences::{
    approved, confirmed, ending, exchanged, gone, marked, noted, paused, phase_entered, recovered,
    sampled, settled, signal_received, started, ticks_missed, traffic, tripped,
};

/// Who must see a sentence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Weight {
    /// Those who asked for every detail.
    Detail,
    /// Everybody who did not ask for silence.
    Normal,
    /// Everybody.
    Vital,
}

/// One event in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Telling {
    /// Who must see it.
    pub weight: Weight,
    /// How it is meant.
    pub tone: Tone,
    /// One line, sanitised.
    pub text: String,
}

impl Telling {
    fn new(weight: Weight, tone: Tone, text: impl AsRef<str>) -> Self {
        Self {
            weight,
            tone,
            text: sanitise(text.as_ref()),
        }
    }
}

/// The event in words; `state` already contains it.
pub fn tell(event: &Event, state: &RunState) -> Telling {
    let normal = |text: String| Telling::new(Weight::Normal, Tone::Plain, text);
    let strong = |text: String| Telling::new(Weight::Normal, Tone::Strong, text);
    let vital = |tone: Tone, text: String| Telling::new(Weight::Vital, tone, text);
    match event {
        Event::RunStarted { .. } => normal(started(state)),
        Event::Approved { .. } => normal(approved(event)),
        Event::PhaseEntered { phase, .. } => phase_entered(*phase, state),
        Event::Sampled { slo, .. } => sampled(slo, state),
        Event::TicksMissed { slo, missed } => ticks_missed(slo, *missed),
        Event::Tripped {
            slo,
            trip,
            reading,
            reaction,
        } => tripped(slo, (*trip, *reaction), reading, state),
        Event::UndoRecorded { undo, .. } => normal(format!("undo is on disk: {}", undo.summary())),
        Event::Exchanged {
            purpose, exchange, ..
        } => normal(exchanged(*purpose, exchange)),
        Event::InjectFailed { problem, .. } => {
            vital(Tone::Bad, format!("inject failed: {}", problem.message))
        }
        Event::Confirmed { proof, .. } => confirmed(proof),
        Event::UndoFailed {
            attempt, problem, ..
        } => {
            let text = format!("undo attempt {attempt} failed: {}", problem.message);
            vital(Tone::Bad, text)
        }
        Event::GoneChecked { absence, .. } => gone(absence),
        Event::Recovered { after_ms } => recovered(*after_ms),
        Event::Ending { cause } => ending(cause),
        Event::GuardianStarted { pid } => {
            normal(format!("a guardian watches over the run (process {pid})"))
        }
        Event::Slept { ms } => {
            let text = format!("the machine slept for {}", length(*ms));
            vital(Tone::Caution, text)
        }
        Event::TakenOver(takeover) => vital(Tone::Caution, takeover.sentence()),
        Event::SignalReceived { signal } => signal_received(signal, state),
        Event::Asked { question } => normal(format!("asked: {question}")),
        Event::Answered { answer } => normal(format!("answered: {answer}")),
        Event::Noted { text, by } => normal(noted(text, by.as_ref())),
        Event::Marked { label, by } => strong(marked(label, by, state)),
        Event::PauseChosen { pause } => strong(paused(*pause).to_owned()),
        Event::Warned { message } => {
            Telling::new(Weight::Normal, Tone::Caution, format!("warning: {message}"))
        }
        Event::TrafficStopped { summary } => normal(traffic(summary)),
        Event::Settled { outcome, cause } => settled(*outcome, cause),
    }
}

/// The undo of the steps that are, or may be, in place: the commands to type, one a line.
pub fn commands_by_hand(state: &RunState) -> Vec<String> {
    state
        .in_place()
        .filter_map(|(_, step)| step.undo.as_ref())
        .flat_map(Undo::by_hand)
        .map(|command| escape_unprintable(&command))
        .collect()
}

/// `1 SLO`, for status lines that count the rest.
pub fn slos(count: usize) -> String {
    counted(count, "SLO", "SLOs")
}

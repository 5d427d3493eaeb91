//! Gives every event its place and time, hands it to the sink and folds it.

use super::clock::Clock;
use crate::model::event::{Event, Record};
use crate::model::problem::Problem;
use crate::model::state::RunState;

/// Where the events of a run go: the journal first, then the views.
pub trait Sink: Send {
    /// Takes one event.
    ///
    /// # Guarantees
    /// When it returns `Ok`, the record is as durable as `Event::durability` asks.
    ///
    /// # Errors
    /// The evidence could not be written, or is not as durable as that.
    fn record(&mut self, record: &Record) -> Result<(), Problem>;

    /// `seq` of the last record that this sink took and that stands there, however durable it is;
    /// `None`: none does, or what fails never stands.
    fn last(&self) -> Option<u64> {
        None
    }
}

/// The engine's pen.
pub(super) struct Recorder {
    clock: Clock,
    sink: Box<dyn Sink>,
    state: RunState,
    failure: Option<Problem>,
}

impl Recorder {
    pub(super) fn new(clock: Clock, sink: Box<dyn Sink>) -> Self {
        Self::going_on(clock, sink, RunState::default())
    }

    /// The pen of whoever goes on with a record.
    pub(super) fn going_on(clock: Clock, sink: Box<dyn Sink>, state: RunState) -> Self {
        Self {
            clock,
            sink,
            state,
            failure: None,
        }
    }

    /// Records an event.
    ///
    /// # Errors
    /// The sink's. The failure is kept as well, for those who cannot stop because of it.
    pub(super) fn record(&mut self, event: Event) -> Result<(), Problem> {
        let elapsed_ms = self.clock.elapsed_ms();
        let record = Record {
            seq: self.state.seq + 1,
            time: self.clock.at(elapsed_ms),
            elapsed_ms,
            event,
        };
        self.state.apply(&record);
        let result = self.sink.record(&record);
        if let Err(problem) = &result {
            // It happened all the same, so the state keeps it. Where it was not even written its number
            // goes to the next event that is, for a journal without a gap.
            if self.sink.last() != Some(record.seq) {
                self.state.seq -= 1;
            }
            self.failure.get_or_insert_with(|| problem.clone());
        }
        result
    }

    /// The fold of everything recorded so far.
    pub(super) fn state(&self) -> &RunState {
        &self.state
    }

    /// The first failure of the sink.
    pub(super) fn failure(&self) -> Option<&Problem> {
        self.failure.as_ref()
    }

    /// UTC went on while the run's own milliseconds stood still.
    pub(super) fn slept(&mut self, ms: u64) {
        self.clock = self.clock.after_sleep(ms);
    }

    pub(super) fn clock(&self) -> Clock {
        self.clock
    }

    pub(super) fn elapsed_ms(&self) -> u64 {
        self.clock.elapsed_ms()
    }
}

//! The events themselves, one JSON line each on stdout; nothing else is said, except what a person
//! has to do when something may still be in place.

use crate::model::event::Record;
use crate::model::state::RunState;

use super::closing;
use super::printer::Printer;
use super::sanitise::escape_unprintable;
use super::{Backlog, View};

/// Events as data.
#[derive(Debug)]
pub struct JsonView {
    printer: Printer,
}

impl JsonView {
    /// Lines through this printer.
    pub fn new(printer: Printer) -> Self {
        Self { printer }
    }
}

impl View for JsonView {
    fn show(&mut self, record: &Record, _state: &RunState) {
        let line = serde_json::to_string(record).expect("an event is plain data with text keys");
        self.printer.data(&escape_unprintable(&line));
    }

    fn tick(&mut self, _elapsed_ms: u64, _state: &RunState) {}

    fn backlog(&self) -> Backlog {
        Backlog::Every
    }

    fn finish(&mut self, state: &RunState) {
        for line in closing::by_hand(state, closing::canvas_of(&self.printer)) {
            self.printer.insist(&line);
        }
    }
}

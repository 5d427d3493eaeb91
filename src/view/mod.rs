//! What a person sees: the views of a run, questions, tables, and the printer, which is the only
//! writer to stdout and stderr.
//!
//! Knows `model` and nobody else: views are folds of events, whether these come from a run that is
//! under way or from a journal.

pub mod approvals;
pub mod closing;
mod footing;
mod gauges;
mod json;
mod keys;
mod line;
mod live;
mod narrator;
mod panel;
pub mod plan;
mod player;
pub mod policy;
mod printer;
pub mod prompt;
mod render;
mod sanitise;
mod screen;
mod setup;
mod spark;
mod table;
mod terminal;
mod text;
mod theme;
mod words;

use std::io;
use std::os::fd::{AsFd as _, OwnedFd};

use crate::model::event::Record;
use crate::model::state::RunState;

pub use json::JsonView;
pub use keys::{Decoder, Key};
pub use line::LineView;
pub use live::LiveView;
pub use panel::{Form, Keyboard, Open, Panel, Wish};
pub use player::{Player, Speed};
pub use printer::Printer;
pub use render::{Canvas, frame};
pub use sanitise::{escape_unprintable, sanitise, scrub};
pub use setup::{ColorChoice, Device, Devices, Environment, Loudness, Setup, Size, Stream};
pub use table::list;
pub use terminal::{KeyMode, Standing};
pub use text::{clock_time, length};
pub use theme::{Colour, Glyphs, Tone};

/// Something that shows a run.
///
/// # Guarantees
/// * Showing never fails and never waits for a person: a reader that went away is remembered by the
///   printer, nothing more.
/// * `finish` leaves the terminal as it was found; so does dropping the view.
pub trait View: Send {
    /// An event happened; `state` already contains it.
    fn show(&mut self, record: &Record, state: &RunState);

    /// Time passed. `elapsed_ms` is the run's own clock.
    fn tick(&mut self, elapsed_ms: u64, state: &RunState);

    /// A person pressed keys; a view without any passes it over.
    fn panel(&mut self, _panel: &Panel) {}

    /// So many events were passed over, since they came faster than they could be shown; `state`
    /// contains them.
    fn passed_over(&mut self, _events: u64, _state: &RunState) {}

    /// What happens to events that come faster than they can be shown.
    fn backlog(&self) -> Backlog {
        Backlog::Latest
    }

    /// Nothing more will happen.
    fn finish(&mut self, state: &RunState);
}

/// What a view needs of a run that is faster than its reader.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Backlog {
    /// Every event, however late: the reader takes them as data.
    Every,
    /// Where the run is now; a person who looks again does not read the past first.
    Latest,
}

/// How a run is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// Live on a terminal that can redraw, plain lines elsewhere.
    #[default]
    Fitting,
    /// Plain lines, also on a terminal.
    Lines,
    /// The events as JSON lines.
    Json,
}

/// The view of this shape.
pub fn view(shape: Shape, printer: &Printer) -> Box<dyn View> {
    let printer = printer.clone();
    match shape {
        Shape::Json => Box::new(JsonView::new(printer)),
        Shape::Fitting if is_live(&printer) => Box::new(LiveView::new(printer)),
        Shape::Fitting | Shape::Lines => Box::new(LineView::new(printer)),
    }
}

/// The terminal to read keys from while a run is shown in this shape; `None`: they are not read. A
/// view that does not show its keys must not swallow what is typed.
pub fn keyboard(shape: Shape, printer: &Printer) -> Option<OwnedFd> {
    let reads = match shape {
        Shape::Fitting => printer.has_person() && is_live(printer),
        Shape::Lines | Shape::Json => false,
    };
    let terminal = || io::stdin().as_fd().try_clone_to_owned().ok();
    reads.then(terminal).flatten()
}

fn is_live(printer: &Printer) -> bool {
    printer.can_redraw() && printer.setup().loudness > Loudness::Quiet
}

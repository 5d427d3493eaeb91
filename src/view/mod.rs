//! What a person sees: the views of a run, questions, tables, and the printer, which is the only
//! writer to stdout and stderr.
//!
//! Knows `model` and nobody else: views are folds of events, whether these come from a run that is
//! under way or from a journal.

pub mod closing;
mod gauges;
mod json;
mod line;
mod live;
mod narrator;
pub mod plan;
mod player;
mod printer;
pub mod prompt;
mod render;
mod sanitise;
mod setup;
mod spark;
mod table;
mod text;
mod theme;
mod words;

use crate::model::event::Record;
use crate::model::state::RunState;

pub use json::JsonView;
pub use line::LineView;
pub use live::LiveView;
pub use player::{Player, Speed};
pub use printer::Printer;
pub use render::{Canvas, frame};
pub use sanitise::{escape_unprintable, sanitise, scrub};
pub use setup::{ColorChoice, Device, Devices, Environment, Loudness, Setup, Size, Stream};
pub use table::list;
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

    /// Nothing more will happen.
    fn finish(&mut self, state: &RunState);
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
        Shape::Fitting if printer.can_redraw() && printer.setup().loudness > Loudness::Quiet => {
            Box::new(LiveView::new(printer))
        }
        Shape::Fitting | Shape::Lines => Box::new(LineView::new(printer)),
    }
}

//! The evidence as a document: a report is a fold of a run's events, a comparison one of two
//! reports, a format turns either into text.
//!
//! Nothing here reads a file or a clock; imports nothing but `model`. To add a format: one file with
//! `impl Format`, one variant of `ReportFormat`.

mod cleaning;
mod compare;
mod content;
mod differences;
mod endings;
mod gather;
mod json;
mod list;
mod page;
mod text;
mod timeline;
mod wording;

use std::fmt;
use std::str::FromStr;

pub use cleaning::{Cleaning, Deed, Leftover, RunEnd, Whose, in_place};
pub use compare::{Change, Comparison, Figure, Measure, Row, Side};
pub use content::{
    Experiment, FormerEnd, Guardian, InPlace, Moment, MomentKind, Note, Recovery, RecoveryFate,
    Report, RunFacts, Sent, SloFate, SloReport, StepFate, StepReport, StepTimes, StepTripped,
    TakenOver, TripMoment, Verdict,
};
pub use list::RunRow;

use crate::model::problem::{Problem, ProblemKind};

/// The format of the JSON documents; a reader refuses a newer one.
pub const FORMAT: u32 = 2;

/// Turns a report into a document.
///
/// # Guarantees
/// Pure: the same report gives the same bytes. What came from outside cannot steer a terminal.
pub trait Format {
    /// One run.
    fn render(&self, report: &Report) -> String;

    /// Two runs, side by side.
    fn render_comparison(&self, comparison: &Comparison) -> String;
}

/// The formats that there are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReportFormat {
    /// For a person at a terminal: plain, 80 columns.
    #[default]
    Text,
    /// For programs: stable names, base units, milliseconds.
    Json,
}

impl ReportFormat {
    /// Every format.
    pub const ALL: [Self; 2] = [Self::Text, Self::Json];

    /// The word, as it is typed.
    pub fn word(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }

    /// The format behind the word.
    pub fn format(self) -> &'static dyn Format {
        match self {
            Self::Text => &text::Text,
            Self::Json => &json::Json,
        }
    }
}

impl fmt::Display for ReportFormat {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(self.word())
    }
}

impl FromStr for ReportFormat {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let found = Self::ALL.into_iter().find(|format| format.word() == text);
        found.ok_or_else(|| {
            let words = Self::ALL.map(Self::word).join(" or ");
            Problem::new(
                ProblemKind::Invalid,
                format!("`{}` is no report format", text.escape_debug()),
            )
            .hint(format!("write {words}"))
        })
    }
}

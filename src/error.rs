//! Everything that ends a command early, and the one match from it to message, hint and exit code.

use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use crate::model::approval::ApprovalFlaw;
use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Difference, DocumentError, DocumentProblem};
use crate::policy::{Finding, Refusal};
use crate::view::{self, Colour, Glyphs, Printer, Stream};

/// Why a command ended without doing what it was asked.
#[derive(Debug)]
pub enum Failure {
    /// A document with errors; each is underlined in its source.
    Document(Box<DocumentError>),
    /// A single problem.
    Problem(Problem),
    /// The policy says no.
    Denied(Vec<Finding>),
    /// The policy says no to a document; each finding is underlined in its source.
    DeniedAt(Box<DocumentError>),
    /// The world is not what was planned.
    Drift(Vec<Difference>),
    /// No valid approval.
    Unapproved(Problem),
    /// This program has a bug.
    Bug(String),
}

impl Failure {
    /// The frozen exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Document(_) => 2,
            Self::Problem(problem) => match problem.kind {
                ProblemKind::Invalid => 2,
                ProblemKind::Evidence => 8,
                ProblemKind::Unreachable
                | ProblemKind::Absent
                | ProblemKind::Refused
                | ProblemKind::Conflict
                | ProblemKind::Unexpected => 3,
            },
            Self::Denied(_) | Self::DeniedAt(_) | Self::Drift(_) => 3,
            Self::Unapproved(_) => 4,
            Self::Bug(_) => 70,
        }
    }
}

impl Failure {
    /// Says it, even when quiet.
    pub fn show(&self, printer: &Printer) {
        match self {
            Self::Document(error) => document(printer, error),
            Self::Problem(problem) | Self::Unapproved(problem) => printer.error(problem),
            Self::DeniedAt(error) => {
                printer.error(&Problem::new(
                    ProblemKind::Refused,
                    "the policy denies this plan",
                ));
                underlined(printer, error);
            }
            Self::Denied(findings) => {
                printer.error(&Problem::new(
                    ProblemKind::Refused,
                    "the policy denies this plan",
                ));
                view::plan::insist_findings(printer, findings);
            }
            Self::Drift(differences) => {
                let problem = Problem::new(
                    ProblemKind::Conflict,
                    "the world is not the one that was planned",
                );
                printer.error(
                    &problem.hint("make a new plan with `chaos plan`; nothing was injected"),
                );
                view::plan::insist_drift(printer, differences);
            }
            Self::Bug(why) => printer.error(
                &Problem::new(ProblemKind::Unexpected, format!("a bug in chaos: {why}"))
                    .hint("please report it with the command that you typed"),
            ),
        }
    }
}

/// One headline, and below it every problem underlined in its source: drawn for a terminal, plain
/// for a pipe.
fn document(printer: &Printer, error: &DocumentError) {
    printer.error(&Problem::new(ProblemKind::Invalid, error.to_string()));
    underlined(printer, error);
}

fn underlined(printer: &Printer, error: &DocumentError) {
    let setup = printer.setup();
    let theme = match (setup.glyphs(), setup.colour(Stream::Stderr)) {
        (Glyphs::Unicode, Colour::On) => GraphicalTheme::unicode(),
        (Glyphs::Unicode, Colour::Off) => GraphicalTheme::unicode_nocolor(),
        (Glyphs::Ascii, _) => GraphicalTheme::none(),
    };
    let handler = GraphicalReportHandler::new_themed(theme)
        .with_width(printer.size().0.max(40))
        .with_links(false);
    for problem in error.problems() {
        let mut text = String::new();
        let placed = Placed { error, problem };
        if handler.render_report(&mut text, &placed).is_err() {
            text = format!("  {problem}");
        }
        printer.insist(&format!("\n{}", text.trim_end()));
    }
}

/// A problem with the document that it is in. miette can draw the problems below their document on
/// its own, but gives each a line of its own that says nothing but `Error:`.
#[derive(Debug)]
struct Placed<'a> {
    error: &'a DocumentError,
    problem: &'a DocumentProblem,
}

impl fmt::Display for Placed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.problem.fmt(formatter)
    }
}

impl std::error::Error for Placed<'_> {}

impl Diagnostic for Placed<'_> {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        self.error.source_code()
    }

    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.problem.help()
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        self.problem.labels()
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Problem(problem)
    }
}

impl From<DocumentError> for Failure {
    fn from(error: DocumentError) -> Self {
        Self::Document(Box::new(error))
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        let unapproved = |message: &str| {
            let problem = Problem::new(ProblemKind::Refused, message)
                .hint("a person approves it at a terminal: `chaos approve PLAN`");
            Self::Unapproved(problem)
        };
        match refusal {
            Refusal::Denied(findings) => Self::Denied(findings),
            Refusal::OtherPolicy { now } => Self::Problem(
                Problem::new(
                    ProblemKind::Refused,
                    format!(
                        "the plan was made under another policy than `{now}`, which applies now"
                    ),
                )
                .hint("make a new plan with `chaos plan`"),
            ),
            Refusal::Unapproved => unapproved("nobody has approved this plan"),
            Refusal::VoidApproval(ApprovalFlaw::Expired) => unapproved("the approval has expired"),
            Refusal::VoidApproval(ApprovalFlaw::OtherDigest) => {
                unapproved("the approval is for another version of this plan")
            }
            Refusal::VoidApproval(ApprovalFlaw::TooLong) => {
                unapproved("the approval counts for longer than the policy lets it")
            }
            Refusal::VoidApproval(ApprovalFlaw::FromTheFuture) => {
                unapproved("the approval was given in the future: a clock was set back")
            }
        }
    }
}

//! Everything that ends a command early, and the one match from it to message, hint and exit code.

mod unapproved;

use std::fmt;

use miette::{Diagnostic, GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};

use crate::model::problem::{Problem, ProblemKind};
use crate::plan::{Difference, DocumentError, DocumentProblem, PolicyIdentity, Source, Spans};
use crate::policy::{Finding, Refusal, Severity, Standing};
use crate::view::{self, Colour, Glyphs, Printer, Stream};

pub use unapproved::{Unapproved, Way, words as why_unapproved};

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
    DeniedAt(Box<DeniedDocument>),
    /// The world is not what was planned.
    Drift(Vec<Difference>),
    /// Nobody gave an approval.
    Unapproved(Problem),
    /// Too few of the approvals count, or somebody said no.
    Void(Box<Unapproved>),
    /// A signal, by this name, before a run began.
    Interrupted(&'static str),
    /// A signal, by this name, while somebody else's work was waited for; it was said.
    Left(&'static str),
    /// This program has a bug.
    Bug(String),
}

/// A document that the policy denies.
#[derive(Debug)]
pub struct DeniedDocument {
    /// What it objects to, each at its place.
    pub error: DocumentError,
    /// Lines that show how another policy would allow it; empty: this policy was written by somebody.
    pub way_out: Vec<String>,
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
            Self::Unapproved(_) | Self::Void(_) => 4,
            Self::Interrupted(_) | Self::Left(_) => 5,
            Self::Bug(_) => 70,
        }
    }
}

impl Failure {
    /// Too few of the approvals count, and nothing is known but where the plan stands.
    pub fn void(standing: Standing) -> Self {
        Self::Void(Box::new(Unapproved {
            standing,
            way: Way::default(),
            key: None,
        }))
    }

    /// The denial of a document, each finding that denies it at its place, above the lines that show the
    /// way out; `None`: none does.
    pub fn denied_at(
        source: &Source,
        spans: &Spans,
        findings: &[Finding],
        way_out: Vec<String>,
    ) -> Option<Self> {
        let denied = findings
            .iter()
            .filter(|finding| finding.severity == Severity::Deny)
            .map(|finding| {
                let message = format!("{} ({})", finding.message, finding.rule);
                let problem = Problem::new(ProblemKind::Refused, message).hint(&finding.way_out);
                (finding.place.clone(), problem)
            });
        let error = DocumentError::at_places(source, spans, denied);
        let denies = !error.problems().is_empty();
        denies.then(|| Self::DeniedAt(Box::new(DeniedDocument { error, way_out })))
    }

    /// Says it, even when quiet.
    pub fn show(&self, printer: &Printer) {
        match self {
            Self::Document(error) => document(printer, error),
            Self::Problem(problem) | Self::Unapproved(problem) => printer.error(problem),
            Self::Void(unapproved) => {
                let (problem, others) = unapproved::words(&unapproved.standing, &unapproved.way);
                printer.error(&problem);
                for line in others {
                    printer.insist(&line);
                }
                if let Some(trouble) = &unapproved.key {
                    printer.warn(&format!("nobody was asked here: {}", trouble.message));
                }
            }
            Self::DeniedAt(error) => {
                printer.error(&Problem::new(
                    ProblemKind::Refused,
                    "the policy denies this plan",
                ));
                underlined(printer, &error.error);
                for line in &error.way_out {
                    printer.insist(line);
                }
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
            Self::Interrupted(signal) => {
                let message = format!("ended by {signal} before the run began");
                let problem = Problem::new(ProblemKind::Refused, message);
                printer.error(&problem.hint("nothing was injected, and no lock is kept"));
            }
            Self::Left(_) => {}
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
        match refusal {
            Refusal::Denied(findings) => Self::Denied(findings),
            Refusal::OtherPolicy { planned, now } => Self::Problem(
                Problem::new(
                    ProblemKind::Refused,
                    format!(
                        "the plan was made under {}, and {} applies now",
                        placed(&planned),
                        placed(&now)
                    ),
                )
                .hint("make a new plan with `chaos plan`, or name the policy that it was made under with `--policy`"),
            ),
            Refusal::Unapproved(standing) => Self::void(*standing),
        }
    }
}

/// A policy by its name, the head of its digest, which tells two versions apart, and its place.
fn placed(policy: &PolicyIdentity) -> String {
    let digest = policy.digest.as_str();
    let digest = digest.rsplit(':').next().unwrap_or(digest);
    let head = digest.get(..10).unwrap_or(digest);
    match &policy.path {
        Some(path) => format!("policy `{}` ({head}) of {path}", policy.name),
        None => format!("policy `{}` ({head})", policy.name),
    }
}

//! What is wrong in a document, each with its place and the next move, and all of it as one error.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use miette::{Diagnostic, LabeledSpan, NamedSource, SourceCode};
use serde::Serialize;

use super::hidden::Hidden;
use super::source::Source;
use super::tree::Spans;
use crate::model::problem::Problem;

/// So many are shown; whoever has more has another kind of trouble.
const MOST_SHOWN: usize = 100;
/// A message quotes the document, and a document may hold a value of a megabyte.
const LONGEST_MESSAGE: usize = 400;

/// In bytes. The place of what is wrong in a longer line is told in numbers.
const LONGEST_DRAWN: usize = 4_000;

/// One thing that is wrong in a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentProblem {
    /// What is wrong.
    pub message: String,
    /// The next move.
    pub help: Option<String>,
    /// Line, from 1; 0 when it has no place in the document.
    pub line: usize,
    /// Column in characters, from 1; 0 when it has no place in the document.
    pub column: usize,
    /// Where in the document's structure: `steps[0].hold`; empty for the whole.
    pub path: String,
    /// The first byte of what is underlined.
    pub offset: usize,
    /// The number of underlined bytes.
    pub length: usize,
    #[serde(skip)]
    labels: Vec<LabeledSpan>,
}

impl fmt::Display for DocumentProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.message)
    }
}

impl std::error::Error for DocumentProblem {}

impl Diagnostic for DocumentProblem {
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        let help = self.help.as_ref()?;
        Some(Box::new(help))
    }

    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        Some(Box::new(self.labels.iter().cloned()))
    }
}

/// Everything that is wrong in one document.
#[derive(Debug)]
pub struct DocumentError {
    source: NamedSource<String>,
    problems: Vec<DocumentProblem>,
    total: usize,
}

impl DocumentError {
    /// The problems in document order, at most a hundred of them.
    pub fn problems(&self) -> &[DocumentProblem] {
        &self.problems
    }

    /// The document's path.
    pub fn name(&self) -> &str {
        self.source.name()
    }

    /// An error for what a later stage found at places of a document that loaded; each place is a
    /// path such as `steps[0].fault.localstack.faults[1].operation`.
    pub fn at_places(
        source: &Source,
        spans: &Spans,
        findings: impl IntoIterator<Item = (String, Problem)>,
    ) -> Self {
        let problems = Problems::default();
        for (path, finding) in findings {
            problems.add(Found {
                message: finding.message,
                help: finding.hint,
                place: spans.nearest(&path),
                path,
                also: None,
            });
        }
        problems.into_error(source)
    }
}

impl fmt::Display for DocumentError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.name();
        match self.total {
            1 => write!(formatter, "{name} cannot be used: 1 problem")?,
            total => write!(formatter, "{name} cannot be used: {total} problems")?,
        }
        if self.total > self.problems.len() {
            write!(formatter, ", the first {} follow", self.problems.len())?;
        }
        Ok(())
    }
}

impl std::error::Error for DocumentError {}

impl Diagnostic for DocumentError {
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }

    fn related<'a>(&'a self) -> Option<Box<dyn Iterator<Item = &'a dyn Diagnostic> + 'a>> {
        Some(Box::new(
            self.problems
                .iter()
                .map(|problem| problem as &dyn Diagnostic),
        ))
    }
}

/// A problem as a stage of loading finds it: a byte range instead of line and column.
#[derive(Debug, Clone, Default)]
pub(crate) struct Found {
    pub(crate) message: String,
    pub(crate) help: Option<String>,
    /// What to underline; `None`: it has no place in the document.
    pub(crate) place: Option<Range<usize>>,
    pub(crate) path: String,
    /// A second place and what is there.
    pub(crate) also: Option<(Range<usize>, &'static str)>,
}

/// The list that every stage of loading adds to.
#[derive(Debug, Default)]
pub(crate) struct Problems {
    found: RefCell<Vec<Found>>,
    hidden: RefCell<Hidden>,
}

impl Problems {
    /// Adds one.
    pub(crate) fn add(&self, found: Found) {
        self.found.borrow_mut().push(found);
    }

    /// Says what no error may show, before the list becomes one.
    pub(super) fn hide(&self, hidden: Hidden) {
        self.hidden.replace(hidden);
    }

    /// Whether nothing is wrong so far.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.borrow().is_empty()
    }

    /// The error for the reader: in document order, each problem once (an alias repeats its anchor's).
    pub(crate) fn into_error(self, source: &Source) -> DocumentError {
        let text = source.body();
        let hidden = self.hidden.into_inner();
        let mut found = self.found.into_inner();
        found.sort_by_key(|one| one.place.as_ref().map(|place| place.start));
        let mut told = BTreeSet::new();
        found.retain(|one| {
            let start = one.place.as_ref().map(|place| place.start);
            told.insert((start, one.message.clone()))
        });
        let total = found.len();
        found.truncate(MOST_SHOWN);
        // Before anything is cut: half a password is one too.
        let shown = |words: &str| presentable(&hidden.taken_out_of(words));
        for one in &mut found {
            one.message = shown(&one.message);
            one.help = one.help.as_deref().map(shown);
        }
        let problems = found.into_iter().map(|one| place_in(text, one)).collect();
        DocumentError {
            source: NamedSource::new(&source.name, hidden.masked(text)),
            problems,
            total,
        }
    }
}

fn place_in(text: &str, found: Found) -> DocumentProblem {
    let place = found.place.map(|place| first_line(text, place));
    let (line, column) = place
        .as_ref()
        .map_or((0, 0), |place| line_and_column(text, place.start));
    let label = |place: &Range<usize>, words: Option<&str>| {
        LabeledSpan::new(words.map(str::to_owned), place.start, place.len())
    };
    let mut labels: Vec<_> = place.iter().map(|place| label(place, None)).collect();
    if let Some((also, words)) = found.also {
        labels.push(label(&first_line(text, also), Some(words)));
    }
    // A line that nobody can read is not drawn: what draws it cannot count so far either.
    let mut message = found.message;
    let drawable =
        |label: &LabeledSpan| is_drawable(text, label.offset()..label.offset() + label.len());
    if !labels.iter().all(drawable) {
        labels.clear();
        message = format!("{message} (line {line}, column {column})");
    }
    let place = place.unwrap_or(0..0);
    DocumentProblem {
        message,
        help: found.help,
        line,
        column,
        path: found.path,
        offset: place.start,
        length: place.len(),
        labels,
    }
}

/// The part of a range that is on its first line, so that a block of twenty lines is not all
/// underlined; never empty where there is something to underline.
fn first_line(text: &str, place: Range<usize>) -> Range<usize> {
    let boundary = |mut at: usize| {
        at = at.min(text.len());
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    };
    let mut start = boundary(place.start);
    // An error at the end of the file is shown on the last line that has something on it.
    if text[start..].trim().is_empty() {
        start = text
            .trim_end()
            .char_indices()
            .next_back()
            .map_or(0, |(at, _)| at);
    }
    let line = text[start..].split(['\n', '\r']).next().unwrap_or_default();
    let wanted = boundary(place.end.max(start)) - start;
    let shortest = line.chars().next().map_or(0, char::len_utf8);
    let length = line[..wanted.min(line.len())].trim_end().len();
    start..start + length.max(shortest)
}

/// Whether the line that a place is in, or begins in, is short enough to be shown.
fn is_drawable(text: &str, place: Range<usize>) -> bool {
    let start = text[..place.start].rfind('\n').map_or(0, |at| at + 1);
    let end = text[place.end..]
        .find('\n')
        .map_or(text.len(), |at| place.end + at);
    end - start <= LONGEST_DRAWN
}

fn line_and_column(text: &str, offset: usize) -> (usize, usize) {
    let before = &text[..offset];
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    (line, before[start..].chars().count() + 1)
}

/// Short enough to read, and nothing in it that a terminal would act on.
fn presentable(message: &str) -> String {
    let mut shown = String::new();
    for (count, character) in message.chars().enumerate() {
        if count == LONGEST_MESSAGE {
            shown.push('…');
            break;
        }
        if character.is_control() {
            shown.extend(character.escape_default());
        } else {
            shown.push(character);
        }
    }
    shown
}

//! The toolkit that reads any document of ours from a tree: a cursor that knows its path, and that
//! writes down what is wrong instead of stopping at it.
//!
//! Every reader returns an `Option`: `None` means that the problem is already on the list.

mod json;
mod parts;

use std::collections::BTreeMap;
use std::fmt::Display;
use std::ops::{Range, RangeInclusive};
use std::str::FromStr;

use super::fields::{Fields, Refused};
use super::problems::{Found, Problems};
use super::scalar::{Origin, Resolved, Scalar};
use super::tree::{Content, Entry, Node, Spans, key_path};
use super::words::{listed, suggestion};
use crate::model::problem::Problem;
use crate::model::units::Span;

/// A place in the document that is being read.
#[derive(Clone)]
pub(crate) struct Cursor<'t> {
    node: &'t Node,
    path: String,
    place: Range<usize>,
    /// The document.
    text: &'t str,
    problems: &'t Problems,
}

impl<'t> Cursor<'t> {
    /// The whole document.
    pub(crate) fn root(node: &'t Node, text: &'t str, problems: &'t Problems) -> Self {
        Self {
            node,
            path: String::new(),
            place: node.place(),
            text,
            problems,
        }
    }

    /// The path of this place.
    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// Writes down that something is wrong here.
    pub(crate) fn report(&self, message: impl Into<String>, help: impl Into<String>) {
        self.report_with(message, help, None);
    }

    /// Writes down that something is wrong at a path below this place.
    pub(crate) fn report_below(&self, below: &str, problem: Problem) {
        let spans = Spans::new(self.node.clone());
        let place = spans.nearest(below);
        let path = match below {
            "" => self.path.clone(),
            below => format!("{}.{below}", self.path),
        };
        self.problems.add(Found {
            message: problem.message,
            help: problem.hint,
            place: Some(place.unwrap_or_else(|| self.node.span.clone())),
            path,
            also: None,
        });
    }

    /// As [`Self::report`], with a second place that has to do with it.
    pub(crate) fn report_with(
        &self,
        message: impl Into<String>,
        help: impl Into<String>,
        also: Option<(&Cursor<'_>, &'static str)>,
    ) {
        self.add(Found {
            message: message.into(),
            help: Some(help.into()),
            also: also.map(|(cursor, words)| (cursor.place.clone(), words)),
            ..Found::default()
        });
    }

    fn report_problem(&self, problem: Problem) {
        self.add(Found {
            message: problem.message,
            help: problem.hint,
            ..Found::default()
        });
    }

    /// Of a value that is lost, the reader already knows why.
    fn add(&self, found: Found) {
        let lost =
            matches!(&self.node.content, Content::Scalar(scalar) if scalar.origin == Origin::Lost);
        if !lost {
            self.problems.add(Found {
                place: found.place.or_else(|| Some(self.place.clone())),
                path: self.path.clone(),
                ..found
            });
        }
    }

    fn wrong_type(&self, wanted: &str, help: impl Into<String>) {
        if let Content::Scalar(scalar) = &self.node.content
            && scalar.secrets > 0
        {
            return self.report_secret(self.node, scalar);
        }
        let name = self.name();
        self.report(format!("{name} wants {wanted}, not {}", self.found()), help);
    }

    /// The value of one of the keys that stand here.
    pub(super) fn below(&self, entry: &'t Entry) -> Self {
        Self {
            node: &entry.value,
            path: key_path(&self.path, &entry.key),
            place: entry.place(),
            text: self.text,
            problems: self.problems,
        }
    }

    /// Writes down that something is wrong with a key itself.
    pub(super) fn report_key(&self, entry: &Entry, message: String, help: String) {
        self.problems.add(Found {
            message,
            help: Some(help),
            place: Some(entry.key_span.clone()),
            path: key_path(&self.path, &entry.key),
            also: None,
        });
    }

    /// What this place is called in a message: `` `hold` ``, or `this` for an item of a list.
    pub(crate) fn name(&self) -> String {
        if self.path.is_empty() {
            return "the document".to_owned();
        }
        if self.path.ends_with(']') {
            return "this".to_owned();
        }
        let last = self.path.rsplit('.').next().unwrap_or(&self.path);
        format!("`{last}`")
    }

    /// What stands here, in words.
    fn found(&self) -> String {
        match &self.node.content {
            Content::List(_) => "a list".to_owned(),
            Content::Map(_) => "a map".to_owned(),
            Content::Scalar(scalar) => match scalar.resolve() {
                Resolved::Null => "nothing".to_owned(),
                Resolved::Bool(_) => format!("the boolean `{}`", scalar.text),
                Resolved::Integer(_) | Resolved::Float(_) => format!("the number {}", scalar.text),
                Resolved::Text => format!("the text `{}`", scalar.text),
            },
        }
    }

    /// The scalar that stands here; one with a secret in it is for [`Self::secret_text`] alone.
    fn scalar(&self) -> Option<&'t Scalar> {
        self.any_scalar().filter(|scalar| scalar.secrets == 0)
    }

    fn any_scalar(&self) -> Option<&'t Scalar> {
        match &self.node.content {
            Content::Scalar(scalar) if scalar.origin != Origin::Lost && !scalar.is_null() => {
                Some(scalar)
            }
            Content::Scalar(_) | Content::List(_) | Content::Map(_) => None,
        }
    }

    /// Whether a list stands here, for keys that take one value or several.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self.node.content, Content::List(_))
    }

    /// Whether a map stands here, for keys that take a word or a map.
    pub(crate) fn is_map(&self) -> bool {
        matches!(self.node.content, Content::Map(_))
    }

    /// The text that stands here, whatever its type, to look at before it is read.
    pub(crate) fn raw(&self) -> Option<&'t str> {
        self.scalar().map(|scalar| scalar.text.as_str())
    }

    /// A text, of one line or several.
    pub(crate) fn text(&self) -> Option<&'t str> {
        let Some(text) = self.scalar().and_then(Scalar::as_text) else {
            let help = if self.scalar().is_some() {
                "put it in quotes"
            } else {
                "write a text"
            };
            self.wrong_type("a text", help);
            return None;
        };
        let bad = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if text.contains(bad) {
            let name = self.name();
            self.report(
                format!("{name} holds a control character"),
                "take it out: it would reach the terminal of whoever reads the plan",
            );
            return None;
        }
        Some(text)
    }

    /// A text that is not blank.
    pub(crate) fn filled_text(&self) -> Option<&'t str> {
        let text = self.text()?;
        if text.trim().is_empty() {
            let name = self.name();
            self.report(format!("{name} is empty"), "write a text");
            return None;
        }
        Some(text.trim())
    }

    /// A text that is not blank and fits on one line of a terminal.
    pub(crate) fn line(&self) -> Option<&'t str> {
        let text = self.filled_text()?;
        if text.contains(['\n', '\r', '\t']) || text.chars().count() > 100 {
            let name = self.name();
            self.report(
                format!("{name} has to fit on one line"),
                "write at most 100 characters, without line breaks and tabs",
            );
            return None;
        }
        Some(text)
    }

    /// Any scalar as it is written, for places where `5` can only mean the text `5`.
    pub(crate) fn literal(&self) -> Option<&'t str> {
        let Some(scalar) = self.scalar() else {
            self.wrong_type("a text", "write a text");
            return None;
        };
        Some(&scalar.text)
    }

    /// A value with a notation of its own.
    pub(crate) fn parsed<T: FromStr<Err = Problem>>(&self) -> Option<T> {
        let Some(text) = self.raw() else {
            self.wrong_type("a value", "write one value");
            return None;
        };
        text.parse()
            .map_err(|problem| self.report_problem(problem))
            .ok()
    }

    /// A text with a rule of its own, where a bare number would be a mistake.
    pub(crate) fn parsed_text<T: FromStr<Err = Problem>>(&self) -> Option<T> {
        self.text()?;
        self.parsed()
    }

    /// A duration within limits.
    pub(crate) fn span(&self, limits: RangeInclusive<Span>) -> Option<Span> {
        let span = self.parsed()?;
        self.within(span, &limits).then_some(span)
    }

    /// A number within limits.
    pub(crate) fn number(&self, limits: RangeInclusive<f64>) -> Option<f64> {
        let Some(number) = self.scalar().and_then(Scalar::as_number) else {
            let (low, high) = limits.into_inner();
            self.wrong_type("a number", format!("write a number from {low} to {high}"));
            return None;
        };
        self.within(number, &limits).then_some(number)
    }

    /// A whole number within limits, all of them below 2^53.
    pub(crate) fn whole(&self, limits: RangeInclusive<u32>) -> Option<u32> {
        let (low, high) = limits.into_inner();
        let number = self.number(f64::from(low)..=f64::from(high))?;
        if number.fract() != 0.0 {
            self.wrong_type(
                "a whole number",
                format!("write a whole number from {low} to {high}"),
            );
            return None;
        }
        Some(number as u32)
    }

    fn within<T: PartialOrd + Display>(&self, value: T, limits: &RangeInclusive<T>) -> bool {
        let (low, high) = (limits.start(), limits.end());
        let fits = limits.contains(&value);
        if !fits {
            let name = self.name();
            self.report(
                format!("{name} is {value}, out of its range"),
                format!("write a value from {low} to {high}"),
            );
        }
        fits
    }

    /// One of a closed set of words.
    pub(crate) fn word<T: Copy>(&self, words: &[(&'static str, T)]) -> Option<T> {
        let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
        let Some(text) = self.raw() else {
            self.wrong_type("a word", format!("write one of {}", listed(&known)));
            return None;
        };
        let found = words.iter().find(|(word, _)| *word == text);
        if found.is_none() {
            let name = self.name();
            self.report(
                format!("{name} does not know the word `{text}`"),
                suggestion(text, &known, "write one of"),
            );
        }
        found.map(|(_, value)| *value)
    }

    /// `true` or `false`.
    pub(crate) fn boolean(&self) -> Option<bool> {
        match self.scalar().map(Scalar::resolve) {
            Some(Resolved::Bool(value)) => Some(value),
            Some(Resolved::Null | Resolved::Integer(_) | Resolved::Float(_) | Resolved::Text)
            | None => {
                self.wrong_type(
                    "`true` or `false`",
                    "write `true` or `false`, without quotes",
                );
                None
            }
        }
    }

    /// The items of a list that is not empty.
    pub(crate) fn items(&self) -> Option<Vec<Cursor<'t>>> {
        let items = self.any_items()?;
        if items.is_empty() {
            let name = self.name();
            self.report(
                format!("{name} is an empty list"),
                "write at least one item",
            );
            return None;
        }
        Some(items)
    }

    /// The items of a list, for keys where "none of it" is something to say.
    pub(crate) fn any_items(&self) -> Option<Vec<Cursor<'t>>> {
        let Content::List(items) = &self.node.content else {
            self.wrong_type("a list", "write each item on a line of its own, after `- `");
            return None;
        };
        let cursor = |(index, node): (usize, &'t Node)| Cursor {
            node,
            path: format!("{}[{index}]", self.path),
            place: node.place(),
            text: self.text,
            problems: self.problems,
        };
        Some(items.iter().enumerate().map(cursor).collect())
    }

    /// A map whose keys are all known; an unknown one is written down with the nearest known key.
    pub(crate) fn fields(&self, known: &'static [&'static str]) -> Option<Fields<'t>> {
        self.fields_but(known, &[])
    }

    /// As [`Self::fields`], with keys that people have reason to expect and that are refused with
    /// words of their own.
    pub(crate) fn fields_but(
        &self,
        known: &'static [&'static str],
        refused: &[Refused],
    ) -> Option<Fields<'t>> {
        let help = format!("write `key: value` lines; the keys are {}", listed(known));
        let fields = self.open_fields(known, &help)?;
        for entry in fields.entries() {
            if let Some(refused) = refused.iter().find(|refused| refused.key == entry.key) {
                self.report_key(entry, refused.message.to_owned(), refused.help.to_owned());
            } else if !known.contains(&entry.key.as_str()) {
                self.report_key(
                    entry,
                    format!("unknown key `{}`", entry.key),
                    suggestion(&entry.key, known, "the keys here are"),
                );
            }
        }
        Some(fields)
    }

    /// A map with keys of the reader's own choice.
    pub(crate) fn free_fields(&self) -> Option<Fields<'t>> {
        self.open_fields(&[], "write `key: value` lines")
    }

    fn open_fields(&self, known: &'static [&'static str], help: &str) -> Option<Fields<'t>> {
        match &self.node.content {
            Content::Map(entries) => Some(Fields::new(self.clone(), known, entries)),
            Content::Scalar(_) | Content::List(_) => {
                self.wrong_type("a map", help);
                None
            }
        }
    }

    /// A map of texts.
    pub(crate) fn text_map(&self) -> Option<BTreeMap<String, String>> {
        let fields = self.free_fields()?;
        let read = |(key, cursor): (&str, Cursor<'_>)| {
            cursor.text().map(|text| (key.to_owned(), text.to_owned()))
        };
        Some(fields.all().filter_map(read).collect())
    }
}

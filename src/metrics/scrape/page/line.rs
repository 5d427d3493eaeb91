//! One line of a page: a sample, or what says something about samples.
//!
//! The text format lets blanks stand between any two parts, and a comma after the last label;
//! OpenMetrics has exactly one space between parts, and no blank lines or free comments.

use super::{Format, Sample};
use crate::metrics::series::Labels;

/// Name and value of a label, each, in bytes.
const LONGEST_LABEL: usize = 8_192;
const MOST_LABELS: usize = 64;

/// Longer pieces of a page are cut where they are shown.
const LONGEST_SHOWN: usize = 60;

const TEXT_TYPES: &[&str] = &["counter", "gauge", "histogram", "summary", "untyped"];
const OPEN_METRICS_TYPES: &[&str] = &[
    "counter",
    "gauge",
    "histogram",
    "gaugehistogram",
    "stateset",
    "info",
    "summary",
    "unknown",
];

/// What a line holds.
pub(super) enum Met {
    /// Nothing that is kept.
    Nothing,
    /// A sample.
    Sample(Sample),
}

/// What is left of a line.
pub(super) struct Cursor<'t> {
    rest: &'t str,
    format: Format,
}

impl<'t> Cursor<'t> {
    pub(super) fn new(line: &'t str, format: Format) -> Self {
        Self { rest: line, format }
    }

    /// Reads the whole line.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(super) fn line(mut self) -> Result<Met, String> {
        self.blanks();
        match self.rest.strip_prefix('#') {
            Some(about) => self.about(about).map(|()| Met::Nothing),
            None if self.rest.is_empty() && self.format == Format::Text => Ok(Met::Nothing),
            None => self.sample().map(Met::Sample),
        }
    }

    /// What follows `#`: type, help, unit, or a comment.
    fn about(&self, about: &str) -> Result<(), String> {
        let (keyword, rest) = match self.format {
            Format::Text => {
                let bare = about.trim_start_matches([' ', '\t']);
                let split = bare.split_once([' ', '\t']).unwrap_or((bare, ""));
                let is_comment = bare.len() == about.len() || bare.len() == split.0.len();
                if is_comment || !matches!(split.0, "TYPE" | "HELP") {
                    return Ok(());
                }
                split
            }
            Format::OpenMetrics => about
                .strip_prefix(' ')
                .and_then(|about| about.split_once(' '))
                .filter(|(keyword, _)| matches!(*keyword, "TYPE" | "HELP" | "UNIT"))
                .ok_or("OpenMetrics has no comments but TYPE, HELP, UNIT and EOF")?,
        };
        let mut cursor = Cursor {
            rest,
            format: self.format,
        };
        cursor.blanks();
        let name = cursor.metric_name()?;
        let text = match self.format {
            Format::Text => cursor.rest.trim_start_matches([' ', '\t']),
            Format::OpenMetrics => cursor
                .rest
                .strip_prefix(' ')
                .ok_or_else(|| format!("{keyword} of `{name}` has no text"))?,
        };
        match keyword {
            "TYPE" => self.known_type(name, text),
            "UNIT" => unit_of(name, text),
            _ => Ok(()),
        }
    }

    fn known_type(&self, name: &str, kind: &str) -> Result<(), String> {
        let known = match self.format {
            Format::Text => TEXT_TYPES,
            Format::OpenMetrics => OPEN_METRICS_TYPES,
        };
        if known.contains(&kind) {
            return Ok(());
        }
        Err(format!("{} of `{name}` is no type", shown(kind)))
    }

    fn sample(&mut self) -> Result<Sample, String> {
        let name = self.metric_name()?;
        self.blanks();
        let mut labels = if self.eat('{') {
            self.labels()?
        } else {
            Labels::new()
        };
        if labels
            .insert("__name__".to_owned(), name.to_owned())
            .is_some()
        {
            return Err("the label `__name__` is the name's".to_owned());
        }
        labels.retain(|_, value| !value.is_empty());
        self.gap("the value")?;
        let value = number(self.word())?;
        let at_ms = self.timestamp()?;
        if self.format == Format::OpenMetrics && self.rest.starts_with(" # {") {
            self.rest = &self.rest[" # {".len()..];
            self.exemplar()?;
        }
        self.blanks();
        if !self.rest.is_empty() {
            return Err(format!("{} is too much", shown(self.rest)));
        }
        Ok(Sample {
            labels,
            value,
            at_ms,
        })
    }

    fn timestamp(&mut self) -> Result<Option<i64>, String> {
        self.blanks();
        match self.format {
            Format::Text if self.rest.is_empty() => Ok(None),
            Format::Text => {
                let word = self.word();
                let at_ms = word.parse();
                at_ms
                    .map(Some)
                    .map_err(|_| format!("{} is no timestamp in milliseconds", shown(word)))
            }
            Format::OpenMetrics if self.rest.is_empty() || self.rest.starts_with(" # ") => Ok(None),
            Format::OpenMetrics => {
                self.gap("the timestamp")?;
                let word = self.word();
                let seconds = number(word).ok().filter(|seconds| seconds.is_finite());
                let seconds =
                    seconds.ok_or_else(|| format!("{} is no timestamp in seconds", shown(word)))?;
                // Cut, not rounded, as Prometheus does: both must say the same.
                Ok(Some((seconds * 1_000.0) as i64))
            }
        }
    }

    /// What follows ` # {`; it is read for its form alone.
    fn exemplar(&mut self) -> Result<(), String> {
        self.labels()?;
        self.gap("the exemplar's value")?;
        number(self.word())?;
        self.timestamp().map(|_| ())
    }

    /// What follows `{`, up to and with `}`.
    fn labels(&mut self) -> Result<Labels, String> {
        let mut labels = Labels::new();
        self.blanks();
        while !self.eat('}') {
            let name = self.name(|letter| letter == '_', "label")?;
            self.blanks();
            if !self.eat('=') {
                return Err(format!("`=` is missing after the label `{name}`"));
            }
            self.blanks();
            let value = self.quoted(name)?;
            if name.len() > LONGEST_LABEL || value.len() > LONGEST_LABEL {
                return Err(format!(
                    "the label {} is longer than {LONGEST_LABEL} bytes",
                    shown(name)
                ));
            }
            if labels.insert(name.to_owned(), value).is_some() {
                return Err(format!("the label `{name}` is there twice"));
            }
            if labels.len() > MOST_LABELS {
                return Err(format!("there are more than {MOST_LABELS} labels"));
            }
            self.blanks();
            let another = self.eat(',');
            self.blanks();
            match (another, self.rest.starts_with('}'), self.format) {
                (true, false, _) | (false, true, _) | (true, true, Format::Text) => {}
                (true, true, Format::OpenMetrics) => {
                    return Err(format!("a comma follows the last label `{name}`"));
                }
                (false, false, _) => {
                    return Err(format!("`,` or `}}` is missing after the label `{name}`"));
                }
            }
        }
        Ok(labels)
    }

    /// A label's value in quotes. Only `\\`, `\"` and `\n` mean something else than they say.
    fn quoted(&mut self, label: &str) -> Result<String, String> {
        if !self.eat('"') {
            return Err(format!("the value of the label `{label}` is not quoted"));
        }
        let mut value = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(value);
                }
                '\\' => match letters.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, same @ ('\\' | '"'))) => value.push(same),
                    Some((_, other)) => value.extend(['\\', other]),
                    None => break,
                },
                other => value.push(other),
            }
        }
        Err(format!(
            "the value of the label `{label}` does not end on its line"
        ))
    }

    fn metric_name(&mut self) -> Result<&'t str, String> {
        self.name(|letter| letter == '_' || letter == ':', "metric")
    }

    fn name(&mut self, also: impl Fn(char) -> bool, of: &str) -> Result<&'t str, String> {
        let admitted = |letter: char| letter.is_ascii_alphanumeric() || also(letter);
        let end = self.rest.find(|letter| !admitted(letter));
        let (name, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        if name.is_empty() || name.starts_with(|first: char| first.is_ascii_digit()) {
            return Err(format!(
                "{} does not begin with a {of}'s name",
                shown(self.rest)
            ));
        }
        self.rest = rest;
        Ok(name)
    }

    /// Everything up to the next blank.
    fn word(&mut self) -> &'t str {
        let end = self.rest.find([' ', '\t']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word
    }

    /// What stands between two parts.
    fn gap(&mut self, before: &str) -> Result<(), String> {
        match self.format {
            Format::Text => self.blanks(),
            Format::OpenMetrics => {
                if !self.eat(' ') {
                    return Err(format!("there is no space before {before}"));
                }
            }
        }
        Ok(())
    }

    fn blanks(&mut self) {
        match self.format {
            Format::Text => self.rest = self.rest.trim_start_matches([' ', '\t']),
            Format::OpenMetrics => {}
        }
    }

    fn eat(&mut self, letter: char) -> bool {
        let rest = self.rest.strip_prefix(letter);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }
}

fn unit_of(name: &str, unit: &str) -> Result<(), String> {
    let stem = name.strip_suffix(unit);
    if unit.is_empty() || stem.is_some_and(|stem| stem.len() > 1 && stem.ends_with('_')) {
        return Ok(());
    }
    Err(format!(
        "`{name}` does not end with its unit {}",
        shown(unit)
    ))
}

/// A number as Go's `ParseFloat` takes it, which both formats refer to: no hexadecimal ones, no
/// signed NaN, and none that is too large for 64 bits.
fn number(word: &str) -> Result<f64, String> {
    let wrong = || format!("{} is no number", shown(word));
    let value: f64 = word.parse().map_err(|_| wrong())?;
    let spelled_out = word.contains(['n', 'N']);
    let signed_nan = value.is_nan() && word.starts_with(['+', '-']);
    if signed_nan || (value.is_infinite() && !spelled_out) {
        return Err(wrong());
    }
    Ok(value)
}

/// A piece of a page in backticks, on one line and not too long.
fn shown(piece: &str) -> String {
    let mut short: String = piece.chars().take(LONGEST_SHOWN).collect();
    if short.len() < piece.len() {
        short.push('…');
    }
    let visible = short.chars().flat_map(|letter| {
        let escaped = letter.is_control().then(|| letter.escape_default());
        let as_it_is = escaped.is_none().then_some(letter);
        escaped.into_iter().flatten().chain(as_it_is)
    });
    format!("`{}`", visible.collect::<String>())
}

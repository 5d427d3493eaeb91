//! Finds a part of a value again in the document: through variables, quotes, escapes, and the lines
//! of a block.
//!
//! The parser says where a value begins and ends, but not where each of its characters stands. What
//! is written and what it means are walked side by side; where they cannot be matched there is no
//! answer, and the whole value is underlined.

use std::ops::Range;

/// How the text of a value came out of what the document says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Filling {
    /// The text before any variable was filled in.
    pub(crate) written: String,
    /// Its parts, in order and without gaps.
    pub(crate) parts: Vec<Part>,
}

/// A part of a text, before and after.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Part {
    /// Its bytes in the text that was filled.
    pub(crate) filled: Range<usize>,
    /// Its bytes in the text as written.
    pub(crate) written: Range<usize>,
}

impl Part {
    /// Where a byte of the filled text comes from: a variable has no inside, only two ends.
    fn origin_of(&self, byte: usize, end: End) -> usize {
        if self.filled.len() == self.written.len() {
            return self.written.start + (byte - self.filled.start);
        }
        match end {
            End::First => self.written.start,
            End::Last => self.written.end,
        }
    }
}

#[derive(Clone, Copy)]
enum End {
    First,
    Last,
}

impl Filling {
    /// The bytes of the text as written that a range of the filled text comes from.
    pub(crate) fn written_range(&self, filled: &Range<usize>) -> Range<usize> {
        let holds_start = |part: &&Part| filled.start < part.filled.end;
        let start = self.parts.iter().find(holds_start);
        let holds_end = |part: &&Part| part.filled.start < filled.end;
        let end = self.parts.iter().rfind(holds_end);
        let start = start.map_or(self.written.len(), |part| {
            part.origin_of(filled.start.max(part.filled.start), End::First)
        });
        let end = end.map_or(start, |part| {
            part.origin_of(filled.end.min(part.filled.end), End::Last)
        });
        start..end.max(start)
    }
}

/// The bytes of the document at which a part of a value stands. `raw` is the value as written, with
/// its quotes; `text` is what it means.
pub(crate) fn locate(raw: &str, text: &str, part: &Range<usize>) -> Option<Range<usize>> {
    let (style, mut at) = opening(raw)?;
    let mut seen = 0;
    let mut start = None;
    while seen < text.len() && seen < part.end.max(part.start + 1) {
        let step = style.step(&raw[at..], &text[seen..])?;
        if start.is_none() && seen + step.text > part.start {
            start = Some(at);
        }
        at += step.raw;
        seen += step.text;
    }
    let start = start.unwrap_or(at);
    Some(start..at.max(start))
}

/// How a scalar is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Writing {
    Plain,
    Single,
    Double,
    Block,
}

/// How far to go in both texts at once, in bytes.
struct Step {
    raw: usize,
    text: usize,
}

/// The style and where the text begins: behind the quote, or on the line below the header of a block.
fn opening(raw: &str) -> Option<(Writing, usize)> {
    match raw.chars().next() {
        Some('\'') => Some((Writing::Single, 1)),
        Some('"') => Some((Writing::Double, 1)),
        Some('|' | '>') => raw.find('\n').map(|end| (Writing::Block, end + 1)),
        Some(_) => Some((Writing::Plain, 0)),
        None => None,
    }
}

impl Writing {
    fn step(self, raw: &str, text: &str) -> Option<Step> {
        let written = raw.chars().next()?;
        let meant = text.chars().next()?;
        if self == Self::Double && written == '\\' {
            return Some(escape(raw, meant));
        }
        if self == Self::Single && raw.starts_with("''") {
            return Some(Step { raw: 2, text: 1 });
        }
        if written == meant {
            let both = meant.len_utf8();
            return Some(Step {
                raw: both,
                text: both,
            });
        }
        // A line break with the indentation behind it: a space, fewer breaks, or nothing.
        let blank = blank(raw);
        (blank > 0).then(|| Step {
            raw: blank,
            text: self::blank(text),
        })
    }
}

fn escape(raw: &str, meant: char) -> Step {
    let text = meant.len_utf8();
    let code = raw[1..].chars().next();
    let raw = match code {
        Some('x') => 4,
        Some('u') => 6,
        Some('U') => 10,
        Some('\n' | '\r') => {
            return Step {
                raw: 1 + blank(&raw[1..]),
                text: 0,
            };
        }
        Some(other) => 1 + other.len_utf8(),
        None => 1,
    };
    Step { raw, text }
}

/// The bytes of white space at the front.
fn blank(text: &str) -> usize {
    text.len() - text.trim_start_matches([' ', '\t', '\n', '\r']).len()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What of a raw scalar stands for the first occurrence of a part of its text.
    fn found<'r>(raw: &'r str, text: &str, part: &str) -> Option<&'r str> {
        let start = text.find(part).expect("a part of it");
        locate(raw, text, &(start..start + part.len())).map(|range| &raw[range])
    }

    #[test]
    fn a_part_is_found_in_every_way_of_writing() {
        for (raw, text, part, written) in [
            ("a + sum(b)", "a + sum(b)", "sum", "sum"),
            ("a +\n    sum(b)", "a + sum(b)", "sum", "sum"),
            ("'x ''y'' + sum'", "x 'y' + sum", "'y'", "''y''"),
            (r#""x{a=\"b\"} + sum""#, r#"x{a="b"} + sum"#, "sum", "sum"),
            (r#""\x41\u00e9 + sum""#, "Aé + sum", "é", r"\u00e9"),
            ("\"a + \\\n   sum\"", "a + sum", "sum", "sum"),
            (
                "|\n    a +\n      sum(b)\n",
                "a +\n  sum(b)\n",
                "sum",
                "sum",
            ),
            (">-\n    a +\n    sum(b)\n", "a + sum(b)", "sum", "sum"),
            ("größe + sum", "größe + sum", "sum", "sum"),
        ] {
            assert_eq!(found(raw, text, part), Some(written), "{raw}");
        }
    }

    #[test]
    fn the_end_of_a_text_is_a_place_too_and_another_text_has_none() {
        assert_eq!(locate("'a + '", "a + ", &(4..4)), Some(5..5));
        assert_eq!(locate("'a + '", "b + ", &(0..1)), None);
        assert_eq!(locate("", "b", &(0..1)), None);
    }

    #[test]
    fn a_variable_is_underlined_as_a_whole() {
        let part = |filled: Range<usize>, written: Range<usize>| Part { filled, written };
        let filling = Filling {
            written: "sum(${NAME}) +".to_owned(),
            parts: vec![part(0..4, 0..4), part(4..6, 4..11), part(6..9, 11..14)],
        };
        for (filled, written) in [(0..3, 0..3), (5..6, 4..11), (3..5, 3..11), (7..8, 12..13)] {
            assert_eq!(filling.written_range(&filled), written, "{filled:?}");
        }
    }
}

//! The letters of a query before the parser sees them: brackets, strings and comments, and raw
//! strings in a spelling that the parser reads as Prometheus does.

use std::ops::Range;
use std::str::CharIndices;

/// Something at a place in a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Mark {
    /// A bracket, and what closes it.
    Opening(char),
    /// A closing bracket, whichever.
    Closing,
    /// A string from quote to quote, its end excluded.
    Text { quote: char, end: usize },
    /// The quote of a string that has no end.
    Unended,
}

/// The marks of a text, with their places; what stands in strings and comments is none.
pub(super) fn marks(text: &str) -> Vec<(usize, Mark)> {
    let mut marks = Vec::new();
    let mut letters = text.char_indices();
    while let Some((at, letter)) = letters.next() {
        let mark = match letter {
            '(' => Mark::Opening(')'),
            '{' => Mark::Opening('}'),
            '[' => Mark::Opening(']'),
            ')' | '}' | ']' => Mark::Closing,
            '"' | '\'' | '`' => match end_of_string(&mut letters, letter) {
                Some(end) => Mark::Text { quote: letter, end },
                None => Mark::Unended,
            },
            '#' => {
                letters.find(|(_, letter)| matches!(letter, '\n' | '\r'));
                continue;
            }
            _ => continue,
        };
        marks.push((at, mark));
    }
    marks
}

/// Goes on to the quote that ends the string, and says what comes after it. In a raw string a
/// backslash is a letter like any other.
fn end_of_string(letters: &mut CharIndices<'_>, quote: char) -> Option<usize> {
    while let Some((at, letter)) = letters.next() {
        if letter == quote {
            return Some(at + 1);
        }
        if letter == '\\' && quote != '`' {
            letters.next();
        }
    }
    None
}

/// A query in which every raw string stands in double quotes, and the way back: the parser takes a
/// backslash in a raw string for an escape, which Prometheus does not.
pub(super) struct Respelled {
    pub(super) text: String,
    /// Where each string is, and where it was.
    strings: Vec<(Range<usize>, Range<usize>)>,
}

impl Respelled {
    pub(super) fn new(query: &str) -> Self {
        let mut text = String::with_capacity(query.len());
        let mut strings = Vec::new();
        let mut copied = 0;
        for (start, mark) in marks(query) {
            let Mark::Text { quote: '`', end } = mark else {
                continue;
            };
            text.push_str(&query[copied..start]);
            let begun = text.len();
            text.push('"');
            for letter in query[start + 1..end - 1].chars() {
                match letter {
                    '\n' => text.push_str("\\n"),
                    '\\' | '"' => text.extend(['\\', letter]),
                    other => text.push(other),
                }
            }
            text.push('"');
            strings.push((begun..text.len(), start..end));
            copied = end;
        }
        text.push_str(&query[copied..]);
        Self { text, strings }
    }

    /// The range in the query as it was written; a string counts as a whole.
    pub(super) fn written(&self, range: Range<usize>) -> Range<usize> {
        let place = |at: usize, side: fn(&Range<usize>) -> usize| {
            let known = self.strings.iter().rev();
            let before = known.into_iter().find(|(now, _)| now.start < at);
            match before {
                None => at,
                Some((now, was)) if at < now.end => side(was),
                Some((now, was)) => was.end + (at - now.end),
            }
        };
        // The first letter of a string is in it too.
        let starts = self
            .strings
            .iter()
            .find(|(now, _)| now.start == range.start);
        let start = match starts {
            Some((_, was)) => was.start,
            None => place(range.start, |was| was.start),
        };
        start..place(range.end, |was| was.end).max(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_of_a_respelled_query_are_those_that_were_written() {
        let query = r#"a{b=~`\d"`} + c{d=`x`} )"#;
        let respelled = Respelled::new(query);
        assert_eq!(respelled.text, r#"a{b=~"\\d\""} + c{d="x"} )"#);
        let written = |part: &str| {
            let start = respelled.text.find(part).expect(part);
            &query[respelled.written(start..start + part.len())]
        };
        assert_eq!(written("a{b"), "a{b");
        assert_eq!(written(r#""\\d\"""#), r#"`\d"`"#);
        assert_eq!(written("d\\"), r#"`\d"`"#);
        assert_eq!(written("c{d"), "c{d");
        assert_eq!(written(r#""x"} )"#), "`x`} )");
        assert_eq!(written(")"), ")");
        assert_eq!(written(r#"\\d\""} + c"#), r#"`\d"`} + c"#);
    }
}

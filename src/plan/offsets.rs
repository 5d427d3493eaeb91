//! Turns the parser's places into ours.

use std::ops::Range;

use saphyr_parser::Span;

/// The parser counts characters, the rest of the world bytes.
pub(super) struct Offsets {
    /// Byte of each character; empty for ASCII text, where they are the same.
    bytes: Vec<usize>,
    end: usize,
}

impl Offsets {
    pub(super) fn of(text: &str) -> Self {
        let bytes = if text.is_ascii() {
            Vec::new()
        } else {
            text.char_indices().map(|(byte, _)| byte).collect()
        };
        Self {
            bytes,
            end: text.len(),
        }
    }

    pub(super) fn byte(&self, character: usize) -> usize {
        if self.bytes.is_empty() {
            return character.min(self.end);
        }
        self.bytes.get(character).copied().unwrap_or(self.end)
    }

    pub(super) fn range(&self, span: Span) -> Range<usize> {
        let start = self.byte(span.start.index());
        start..self.byte(span.end.index()).max(start)
    }
}

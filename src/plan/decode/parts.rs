//! The part of the toolkit that looks into a text: secrets in it, and places within it.

use std::ops::Range;

use super::super::places::locate;
use super::super::problems::Found;
use super::super::scalar::Scalar;
use super::super::tree::{Content, Node};
use super::Cursor;
use crate::model::secret::SecretText;

/// What a secret's name begins with in a text.
const SECRET: &str = "${secret:";
const PLACES: &str = "secrets can stand in `auth.bearer.token`, `auth.basic.password` and `headers` of `metrics.prometheus` and `metrics.scrape`";

impl Cursor<'_> {
    /// As [`Self::report`], of a part of the text that stands here; the bytes are those of the text
    /// as [`Self::raw`] gives it.
    pub(crate) fn report_part(
        &self,
        part: &Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.add(Found {
            message: message.into(),
            help: Some(help.into()),
            place: self.place_of(self.node, part),
            ..Found::default()
        });
    }

    /// Where a part of the text stands in the document.
    fn place_of(&self, node: &Node, part: &Range<usize>) -> Option<Range<usize>> {
        let Content::Scalar(scalar) = &node.content else {
            return None;
        };
        let raw = self.text.get(node.span.clone())?;
        let found = match &scalar.filling {
            Some(filling) => locate(raw, &filling.written, &filling.written_range(part)),
            None => locate(raw, &scalar.text, part),
        }?;
        let start = node.span.start;
        Some(start + found.start..start + found.end)
    }

    /// Writes down that a secret stands where none may: whatever stands here is shown and recorded.
    pub(super) fn report_secret(&self, node: &Node, scalar: &Scalar) {
        let start = scalar.text.find(SECRET).unwrap_or_default();
        let end = scalar.text[start..].find('}').map(|end| start + end + 1);
        let part = start..end.unwrap_or(scalar.text.len());
        self.add(Found {
            message: "a secret cannot stand here: plans and journals show this value".to_owned(),
            help: Some(PLACES.to_owned()),
            place: self.place_of(node, &part),
            ..Found::default()
        });
    }

    /// A text in which secrets may stand by name.
    pub(crate) fn secret_text(&self) -> Option<SecretText> {
        let Some(scalar) = self.any_scalar().filter(|scalar| scalar.secrets > 0) else {
            let text = self.text()?;
            return self.has_own_secrets(text, 0).then(|| SecretText::new(text));
        };
        let text = &scalar.text;
        let own = self.has_own_secrets(text, scalar.secrets);
        own.then(|| SecretText::new(text))
    }

    /// Whether the document itself names every secret of a text: what a variable brings along is
    /// text, and must not reach for a secret.
    fn has_own_secrets(&self, text: &str, written: usize) -> bool {
        let own = text.matches(SECRET).count() == written;
        if !own {
            self.report(
                "a variable, or `$${`, makes the name of a secret here",
                "write `${secret:NAME}` into the document itself",
            );
        }
        own
    }
}

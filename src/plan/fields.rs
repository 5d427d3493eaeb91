//! The half of the toolkit that reads maps: required and optional keys, and one of several.

use super::decode::Cursor;
use super::tree::{Content, Entry};
use super::words::{listed, nearest};

/// A key that is refused although people have reason to expect it.
pub(crate) struct Refused {
    pub(crate) key: &'static str,
    pub(crate) message: &'static str,
    pub(crate) help: &'static str,
}

/// A map that is being read.
pub(crate) struct Fields<'t> {
    cursor: Cursor<'t>,
    known: &'static [&'static str],
    entries: &'t [Entry],
}

impl<'t> Fields<'t> {
    /// The map itself.
    pub(crate) fn cursor(&self) -> &Cursor<'t> {
        &self.cursor
    }

    pub(super) fn new(
        cursor: Cursor<'t>,
        known: &'static [&'static str],
        entries: &'t [Entry],
    ) -> Self {
        Self {
            cursor,
            known,
            entries,
        }
    }

    pub(super) fn entries(&self) -> &'t [Entry] {
        self.entries
    }

    /// Every key with its value.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&'t str, Cursor<'t>)> {
        self.entries
            .iter()
            .map(|entry| (entry.key.as_str(), self.cursor.below(entry)))
    }

    /// Whether the key is there, with or without a value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Whether an unknown key is probably meant to be one of these, which its own problem says.
    fn has_misspelt(&self, keys: &[&str]) -> bool {
        self.entries.iter().any(|entry| {
            !self.known.contains(&entry.key.as_str()) && nearest(&entry.key, keys).is_some()
        })
    }

    /// The value of a key that may be missing; a key without a value is a mistake all the same,
    /// since nobody can tell whether the default was meant.
    pub(crate) fn optional(&self, key: &str) -> Option<Cursor<'t>> {
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        if matches!(&entry.value.content, Content::Scalar(scalar) if scalar.is_null()) {
            self.cursor.report_key(
                entry,
                format!("`{key}` has no value"),
                "write a value or take the line away".to_owned(),
            );
            return None;
        }
        Some(self.cursor.below(entry))
    }

    /// The value of a key that must be there; `example` shows how it is written.
    pub(crate) fn required(&self, key: &str, example: &str) -> Option<Cursor<'t>> {
        if !self.has(key) && !self.has_misspelt(&[key]) {
            let place = match self.cursor.path() {
                "" => "the document".to_owned(),
                path => format!("`{path}`"),
            };
            self.cursor.report(
                format!("{place} has no `{key}`"),
                format!("add `{example}`"),
            );
        }
        self.optional(key)
    }

    /// The one key of several that is there.
    pub(crate) fn one_of(
        &self,
        keys: &'static [&'static str],
        example: &str,
    ) -> Option<(&'static str, Cursor<'t>)> {
        let present: Vec<_> = keys.iter().copied().filter(|key| self.has(key)).collect();
        match present.as_slice() {
            [key] => self.optional(key).map(|cursor| (*key, cursor)),
            [] => {
                if !self.has_misspelt(keys) {
                    let message = format!("exactly one of {} has to stand here", listed(keys));
                    self.cursor.report(message, format!("add `{example}`"));
                }
                None
            }
            several => {
                let message = format!("{} exclude each other", listed(several));
                let entry = self
                    .entries
                    .iter()
                    .rfind(|entry| several.contains(&entry.key.as_str()));
                if let Some(entry) = entry {
                    self.cursor
                        .report_key(entry, message, "keep one of them".to_owned());
                }
                None
            }
        }
    }
}

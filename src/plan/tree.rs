//! A document as a tree in which every key and value knows its place in the text.

use std::ops::Range;

use super::scalar::Scalar;

/// A value and its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Node {
    /// Its bytes in the text.
    pub(crate) span: Range<usize>,
    pub(crate) content: Content,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Content {
    Scalar(Scalar),
    List(Vec<Node>),
    /// Keys are unique.
    Map(Vec<Entry>),
}

/// A key with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) key: String,
    pub(crate) key_span: Range<usize>,
    pub(crate) value: Node,
}

impl Entry {
    /// What to underline when the value is wrong: a scalar itself, but of a whole block only its key.
    pub(crate) fn place(&self) -> Range<usize> {
        match &self.value.content {
            Content::Scalar(_) if !self.value.span.is_empty() => self.value.span.clone(),
            Content::Scalar(_) | Content::List(_) | Content::Map(_) => self.key_span.clone(),
        }
    }
}

impl Node {
    /// What to underline when the value is wrong and no key leads to it.
    pub(crate) fn place(&self) -> Range<usize> {
        match &self.content {
            Content::Map(entries) => entries
                .first()
                .map_or(self.span.clone(), |entry| entry.key_span.clone()),
            Content::Scalar(_) | Content::List(_) => self.span.clone(),
        }
    }

    fn entry(&self, key: &str) -> Option<&Entry> {
        match &self.content {
            Content::Map(entries) => entries.iter().find(|entry| entry.key == key),
            Content::Scalar(_) | Content::List(_) => None,
        }
    }

    fn item(&self, index: usize) -> Option<&Node> {
        match &self.content {
            Content::List(items) => items.get(index),
            Content::Scalar(_) | Content::Map(_) => None,
        }
    }
}

/// Finds places in a document that loaded, so that a later stage can underline what it objects to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spans {
    root: Node,
}

impl Spans {
    pub(crate) fn new(root: Node) -> Self {
        Self { root }
    }

    /// The bytes to underline for a path such as `steps[0].fault.localstack.faults[1].operation`:
    /// a scalar itself, of anything larger its key. A key with dots is written `labels["a.b"]`.
    pub fn find(&self, path: &str) -> Option<Range<usize>> {
        let (place, rest) = self.walk(path);
        rest.is_empty().then_some(place).flatten()
    }

    /// As [`Self::find`], or the nearest part above that the document has (a rule without the field
    /// that is objected to); `None` only for the document as a whole.
    pub fn nearest(&self, path: &str) -> Option<Range<usize>> {
        self.walk(path).0
    }

    /// The place reached and what is left of the path.
    fn walk<'p>(&self, path: &'p str) -> (Option<Range<usize>>, &'p str) {
        let mut node = &self.root;
        let mut place = None;
        let mut rest = path;
        while let Some((segment, tail)) = next_segment(rest) {
            let next = match segment {
                Segment::Key(key) => node.entry(key).map(|entry| (&entry.value, entry.place())),
                Segment::Index(index) => node.item(index).map(|item| (item, item.place())),
            };
            let Some((next, reached)) = next else { break };
            node = next;
            place = Some(reached);
            rest = tail;
        }
        (place, rest)
    }
}

enum Segment<'p> {
    Key(&'p str),
    Index(usize),
}

fn next_segment(path: &str) -> Option<(Segment<'_>, &str)> {
    if let Some(quoted) = path.strip_prefix("[\"") {
        let end = quoted.find("\"]")?;
        return Some((Segment::Key(&quoted[..end]), &quoted[end + 2..]));
    }
    if let Some(bracket) = path.strip_prefix('[') {
        let end = bracket.find(']')?;
        let index = bracket[..end].parse().ok()?;
        return Some((Segment::Index(index), &bracket[end + 1..]));
    }
    let path = path.strip_prefix('.').unwrap_or(path);
    let end = path.find(['.', '[']).unwrap_or(path.len());
    (end > 0).then(|| (Segment::Key(&path[..end]), &path[end..]))
}

/// The path of a key below another path, in the form that [`Spans::find`] reads.
pub(crate) fn key_path(above: &str, key: &str) -> String {
    let simple = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if key.is_empty() || !key.chars().all(simple) {
        return format!("{above}[\"{key}\"]");
    }
    if above.is_empty() {
        return key.to_owned();
    }
    format!("{above}.{key}")
}

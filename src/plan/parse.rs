//! YAML text → tree: one document, unique keys, aliases and merge keys written out, with a budget.
//!
//! The budget is what makes a small file with aliases of aliases of aliases (a "YAML bomb") an
//! error instead of gigabytes.

use std::collections::HashMap;
use std::ops::Range;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Tag};

use super::offsets::Offsets;
use super::problems::{Found, Problems};
use super::scalar::{Origin, Scalar, Style};
use super::syntax;
use super::tree::{Content, Entry, Node};

const MOST_NODES: usize = 10_000;
const MOST_TEXT: usize = 4 * 1024 * 1024;
const DEEPEST: usize = 64;
/// Every path in the document repeats its keys; YAML has this limit for keys without `?` anyway.
const LONGEST_KEY: usize = 1024;

/// Reads the one document of a text. `None` when there is no tree to go on with; why is among the
/// problems. With a tree there may be problems too.
pub(crate) fn parse(text: &str, problems: &Problems) -> Option<Node> {
    let mut builder = Builder {
        text,
        problems,
        offsets: Offsets::of(text),
        stack: Vec::new(),
        anchors: HashMap::new(),
        spent: Weight::default(),
        documents: 0,
        root: None,
    };
    let mut parser = Parser::new_from_str(text);
    while let Some(next) = parser.next_event() {
        let taken = match next {
            Ok((event, span)) => {
                let range = builder.offsets.range(span);
                builder.take(event, range)
            }
            Err(why) => builder.syntax_error(&why),
        };
        if taken.is_err() {
            return None;
        }
    }
    let root = builder.root.filter(|root| !is_empty(root));
    if root.is_none() {
        problems.add(Found {
            message: "the file is empty".to_owned(),
            help: Some("`chaos init` writes a first experiment".to_owned()),
            ..Found::default()
        });
    }
    root
}

fn is_empty(root: &Node) -> bool {
    matches!(&root.content, Content::Scalar(scalar) if scalar.is_null())
}

#[derive(Default, Clone, Copy)]
struct Weight {
    nodes: usize,
    text: usize,
    depth: usize,
}

impl Weight {
    fn of(node: &Node) -> Self {
        let mut sum = Self {
            nodes: 1,
            text: 0,
            depth: 1,
        };
        match &node.content {
            Content::Scalar(scalar) => sum.text = scalar.text.len(),
            Content::List(items) => items.iter().for_each(|item| sum.add_below(Self::of(item))),
            Content::Map(entries) => entries.iter().for_each(|entry| {
                sum.text += entry.key.len();
                sum.nodes += 1;
                sum.add_below(Self::of(&entry.value));
            }),
        }
        sum
    }

    fn add_below(&mut self, part: Self) {
        self.nodes += part.nodes;
        self.text += part.text;
        self.depth = self.depth.max(part.depth + 1);
    }
}

/// A list or map that is still open.
struct Frame {
    anchor: usize,
    start: usize,
    open: Open,
}

enum Open {
    List(Vec<Node>),
    Map(OpenMap),
}

#[derive(Default)]
struct OpenMap {
    entries: Vec<Entry>,
    /// The place of each key so far.
    seen: HashMap<String, Range<usize>>,
    key: Option<Key>,
    merges: Vec<Node>,
}

enum Key {
    Text(String, Range<usize>),
    Merge,
    /// Not usable and already complained about.
    Unusable,
}

/// Reading cannot go on; why is among the problems.
struct Stop;

struct Builder<'t> {
    text: &'t str,
    problems: &'t Problems,
    offsets: Offsets,
    stack: Vec<Frame>,
    anchors: HashMap<usize, Node>,
    spent: Weight,
    documents: usize,
    root: Option<Node>,
}

impl Builder<'_> {
    fn take(&mut self, event: Event<'_>, range: Range<usize>) -> Result<(), Stop> {
        match event {
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentEnd => Ok(()),
            Event::DocumentStart(_) => self.next_document(range),
            Event::Alias(anchor) => self.alias(anchor, range),
            Event::Scalar(text, style, anchor, tag) => {
                let (style, origin) = self.style(style, tag.as_deref(), &range);
                let scalar = Scalar {
                    text: text.into_owned(),
                    style,
                    origin,
                    secrets: 0,
                    filling: None,
                };
                self.charge(1, scalar.text.len(), &range)?;
                let node = Node {
                    span: range,
                    content: Content::Scalar(scalar),
                };
                self.remember(anchor, &node)?;
                self.place(node);
                Ok(())
            }
            Event::SequenceStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "seq", &range);
                self.open(anchor, Open::List(Vec::new()), range)
            }
            Event::MappingStart(anchor, tag) => {
                self.check_tag(tag.as_deref(), "map", &range);
                self.open(anchor, Open::Map(OpenMap::default()), range)
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(range),
        }
    }

    fn next_document(&mut self, range: Range<usize>) -> Result<(), Stop> {
        self.documents += 1;
        if self.documents == 1 {
            return Ok(());
        }
        self.stop(Found {
            message: "a second document begins here".to_owned(),
            help: Some("one file holds one document: split it at each `---`".to_owned()),
            place: Some(range),
            ..Found::default()
        })
    }

    fn charge(&mut self, nodes: usize, text: usize, range: &Range<usize>) -> Result<(), Stop> {
        self.spent.nodes += nodes;
        self.spent.text += text;
        if self.spent.nodes <= MOST_NODES && self.spent.text <= MOST_TEXT {
            return Ok(());
        }
        self.stop(Found {
            message: format!("the document grows beyond {MOST_NODES} values or 4 MiB of text here"),
            help: Some(
                "an anchor (`&name`) and each alias of it (`*name`) repeat all that it holds: use fewer of them, or split the experiment".to_owned(),
            ),
            place: Some(range.clone()),
            ..Found::default()
        })
    }

    fn check_depth(&self, more: usize, range: &Range<usize>) -> Result<(), Stop> {
        if self.stack.len() + more <= DEEPEST {
            return Ok(());
        }
        self.stop(Found {
            message: format!("lists and maps are nested more than {DEEPEST} deep here"),
            help: Some("no document of ours needs that; check the brackets".to_owned()),
            place: Some(range.clone()),
            ..Found::default()
        })
    }

    fn alias(&mut self, anchor: usize, range: Range<usize>) -> Result<(), Stop> {
        let Some(node) = self.anchors.get(&anchor) else {
            return self.stop(Found {
                message: "this alias stands inside the very thing that it repeats".to_owned(),
                help: Some("write the part out".to_owned()),
                place: Some(range),
                ..Found::default()
            });
        };
        let weight = Weight::of(node);
        self.charge(weight.nodes, weight.text, &range)?;
        self.check_depth(weight.depth, &range)?;
        if let Some(node) = self.anchors.get(&anchor).cloned() {
            self.place(node);
        }
        Ok(())
    }

    fn open(&mut self, anchor: usize, open: Open, range: Range<usize>) -> Result<(), Stop> {
        self.charge(1, 0, &range)?;
        self.check_depth(1, &range)?;
        self.stack.push(Frame {
            anchor,
            start: range.start,
            open,
        });
        Ok(())
    }

    fn close(&mut self, range: Range<usize>) -> Result<(), Stop> {
        let frame = self
            .stack
            .pop()
            .expect("the parser ends only what it has begun");
        let (content, last) = match frame.open {
            Open::List(items) => {
                let last = items.last().map(|item| item.span.end);
                (Content::List(items), last)
            }
            Open::Map(map) => {
                let last = map.entries.last().map(|entry| entry.value.span.end);
                (Content::Map(self.merged(map)), last)
            }
        };
        // A block ends where the next thing begins, lines later; its last part ends where it ends.
        let flow = self.text[frame.start..].starts_with(['{', '[']);
        let end = if flow {
            range.end
        } else {
            last.unwrap_or(range.end)
        };
        let node = Node {
            span: frame.start..end.max(frame.start),
            content,
        };
        self.remember(frame.anchor, &node)?;
        self.place(node);
        Ok(())
    }

    fn remember(&mut self, anchor: usize, node: &Node) -> Result<(), Stop> {
        // The parser numbers anchors from 1.
        if anchor == 0 {
            return Ok(());
        }
        // What is kept takes room of its own: anchors within anchors keep everything again and again.
        let weight = Weight::of(node);
        self.charge(weight.nodes, weight.text, &node.span)?;
        self.anchors.insert(anchor, node.clone());
        Ok(())
    }

    fn place(&mut self, node: Node) {
        match self.stack.last_mut().map(|frame| &mut frame.open) {
            None => self.root = Some(node),
            Some(Open::List(items)) => items.push(node),
            Some(Open::Map(map)) => map.place(node, self.problems),
        }
    }

    /// Merge keys: explicit keys win, then the earlier of several maps.
    fn merged(&self, map: OpenMap) -> Vec<Entry> {
        let OpenMap {
            mut entries,
            mut seen,
            merges,
            ..
        } = map;
        for part in merges.into_iter().flat_map(|merge| self.mergeable(merge)) {
            if !seen.contains_key(&part.key) {
                seen.insert(part.key.clone(), part.key_span.clone());
                entries.push(part);
            }
        }
        entries
    }

    fn mergeable(&self, merge: Node) -> Vec<Entry> {
        let span = merge.span.clone();
        let parts = match merge.content {
            Content::Map(entries) => return entries,
            Content::List(items) => items,
            Content::Scalar(_) => Vec::new(),
        };
        let total = parts.len();
        let maps: Vec<_> = parts
            .into_iter()
            .filter_map(|part| match part.content {
                Content::Map(entries) => Some(entries),
                Content::List(_) | Content::Scalar(_) => None,
            })
            .collect();
        if maps.len() < total || total == 0 {
            self.problems.add(Found {
                message: "`<<` merges a map or a list of maps, and this is neither".to_owned(),
                help: Some("write `<<: *name`, where `&name` marks a map".to_owned()),
                place: Some(span),
                ..Found::default()
            });
        }
        maps.into_iter().flatten().collect()
    }

    fn style(
        &self,
        style: ScalarStyle,
        tag: Option<&Tag>,
        range: &Range<usize>,
    ) -> (Style, Origin) {
        let Some(tag) = tag else {
            let bare = style == ScalarStyle::Plain;
            let style = if bare { Style::Plain } else { Style::Quoted };
            return (style, Origin::Written);
        };
        match tag.suffix.as_str() {
            "str" if tag.is_yaml_core_schema() => (Style::Quoted, Origin::Written),
            "int" | "float" | "bool" | "null" if tag.is_yaml_core_schema() => {
                (Style::Plain, Origin::Written)
            }
            _ => {
                self.refuse_tag(tag, range);
                (Style::Quoted, Origin::Lost)
            }
        }
    }

    fn check_tag(&self, tag: Option<&Tag>, expected: &str, range: &Range<usize>) {
        if let Some(tag) = tag
            && !(tag.is_yaml_core_schema() && tag.suffix == expected)
        {
            self.refuse_tag(tag, range);
        }
    }

    fn refuse_tag(&self, tag: &Tag, range: &Range<usize>) {
        // `objective: != 0` without quotes is, to YAML, the tag `!=` on the number 0.
        let help = if tag.suffix.starts_with('=') {
            "put the whole value in quotes: `\"!= 0\"`"
        } else {
            "take the tag away; a value from outside is written `${NAME}`"
        };
        self.problems.add(Found {
            message: format!("the tag `{tag}` means nothing in this document"),
            help: Some(help.to_owned()),
            place: Some(range.clone()),
            ..Found::default()
        });
    }

    fn syntax_error(&self, why: &ScanError) -> Result<(), Stop> {
        let at = self.offsets.byte(why.marker().index());
        self.stop(syntax::error(self.text, at, why.info()))
    }

    fn stop(&self, found: Found) -> Result<(), Stop> {
        self.problems.add(found);
        Err(Stop)
    }
}

impl OpenMap {
    fn place(&mut self, node: Node, problems: &Problems) {
        match self.key.take() {
            None => self.key = Some(self.read_key(node, problems)),
            Some(Key::Text(key, key_span)) => self.entries.push(Entry {
                key,
                key_span,
                value: node,
            }),
            Some(Key::Merge) => self.merges.push(node),
            Some(Key::Unusable) => {}
        }
    }

    fn read_key(&mut self, node: Node, problems: &Problems) -> Key {
        let span = node.span;
        let Content::Scalar(scalar) = node.content else {
            problems.add(Found {
                message: "a list or a map cannot be a key".to_owned(),
                help: Some(
                    "if this should be a variable or text with braces, put it in quotes".to_owned(),
                ),
                place: Some(span),
                ..Found::default()
            });
            return Key::Unusable;
        };
        if scalar.text.len() > LONGEST_KEY {
            problems.add(Found {
                message: format!("a key is longer than {LONGEST_KEY} bytes"),
                help: Some("was it meant to be a value? put `key:` before it".to_owned()),
                place: Some(span),
                ..Found::default()
            });
            return Key::Unusable;
        }
        if let Some(first) = self.seen.insert(scalar.text.clone(), span.clone()) {
            problems.add(Found {
                message: format!("the key `{}` stands here twice", scalar.text),
                help: Some("keep one of the two".to_owned()),
                place: Some(span),
                also: Some((first, "first here")),
                ..Found::default()
            });
            return Key::Unusable;
        }
        if scalar.text == "<<" && scalar.style == Style::Plain {
            return Key::Merge;
        }
        Key::Text(scalar.text, span)
    }
}

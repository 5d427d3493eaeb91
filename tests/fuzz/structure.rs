//! Changes of what an input means: it is read as JSON or YAML, changed as a tree, and written as JSON,
//! which is YAML too. So what comes out gets past every parser and into what stands behind it.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use serde_json::{Map, Value};

use super::input::NUMBERS;

/// The documents of an input, each a tree.
pub type Trees = Vec<Value>;

/// What is done to one node of a tree.
#[derive(Debug, Clone)]
pub enum Remake {
    /// A scalar takes its place.
    Scalar(Index, Odd),
    /// It is gone from its list or map.
    Lose(Index),
    /// Another node takes its place.
    Copy(Index, Index),
    /// It stands so often in a list in its place, or in the list that it is in.
    Repeat(Index, usize),
    /// It stands so deep in lists or maps.
    Wrap(Index, usize),
    /// A key is another.
    Key(Index, &'static str),
    /// A text has something put in.
    Text(Index, &'static str),
    /// Several documents change places.
    Order(Index, Index),
}

/// A scalar that is not what one expects.
#[derive(Debug, Clone)]
pub enum Odd {
    /// No value.
    Null,
    /// Yes.
    True,
    /// A number as it is spelt, or the text where JSON has no such number.
    Number(&'static str),
    /// A text of words.
    Text(&'static str),
    /// A text of one letter, so often.
    Long(char, usize),
    /// A number in a text with something behind it: a duration, a percentage.
    Measured(&'static str, &'static str),
    /// An empty list.
    List,
    /// An empty map.
    Map,
}

impl Odd {
    fn any(pieces: Vec<&'static str>) -> impl Strategy<Value = Self> {
        prop_oneof![
            1 => Just(Self::Null),
            1 => Just(Self::True),
            6 => select(NUMBERS).prop_map(Self::Number),
            4 => select(pieces).prop_map(Self::Text),
            1 => (select(&['a', ' ', '{', '*', '9', '漢'][..]), prop_oneof![9 => 1..3_000_usize, 1 => 3_000..300_000_usize])
                .prop_map(|(letter, times)| Self::Long(letter, times)),
            4 => (select(NUMBERS), select(&["ms", "s", "m", "h", "d", "%", "Z", "xx"][..]))
                .prop_map(|(number, unit)| Self::Measured(number, unit)),
            1 => Just(Self::List),
            1 => Just(Self::Map),
        ]
    }

    fn value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::True => Value::Bool(true),
            Self::Number(text) => serde_json::from_str(text).unwrap_or_else(|_| Value::from(*text)),
            Self::Text(text) => Value::from(*text),
            Self::Long(letter, times) => Value::from(letter.to_string().repeat(*times)),
            Self::Measured(number, unit) => Value::from(format!("{number}{unit}")),
            Self::List => Value::Array(Vec::new()),
            Self::Map => Value::Object(Map::new()),
        }
    }
}

impl Remake {
    /// Anything that can be done.
    pub fn any(pieces: Vec<&'static str>) -> impl Strategy<Value = Self> {
        let at = any::<Index>;
        let piece = select(pieces.clone());
        let times = || prop_oneof![20 => 2_usize..6, 4 => 6_usize..70, 1 => 70_usize..3_000];
        prop_oneof![
            10 => (at(), Odd::any(pieces)).prop_map(|(at, odd)| Self::Scalar(at, odd)),
            3 => at().prop_map(Self::Lose),
            3 => (at(), at()).prop_map(|(to, from)| Self::Copy(to, from)),
            2 => (at(), times()).prop_map(|(at, times)| Self::Repeat(at, times)),
            1 => (at(), 1..200_usize).prop_map(|(at, deep)| Self::Wrap(at, deep)),
            1 => (at(), piece.clone()).prop_map(|(at, key)| Self::Key(at, key)),
            3 => (at(), piece).prop_map(|(at, text)| Self::Text(at, text)),
            1 => (at(), at()).prop_map(|(one, other)| Self::Order(one, other)),
        ]
    }

    fn apply(&self, trees: &mut Trees) {
        let count = trees.iter().map(size).sum::<usize>();
        if count == 0 {
            return;
        }
        match self {
            Self::Scalar(at, odd) => {
                let odd = odd.value();
                at_node(trees, at.index(count), |node| *node = odd);
            }
            Self::Lose(at) => lose(trees, at.index(count)),
            Self::Copy(to, from) => {
                let mut copy = Value::Null;
                at_node(trees, from.index(count), |node| copy = node.clone());
                at_node(trees, to.index(count), |node| *node = copy);
            }
            Self::Repeat(at, times) => at_node(trees, at.index(count), |node| {
                let repeated = match node.as_array() {
                    Some(items) => {
                        let all = items.iter().cycle();
                        all.take(items.len() * times).cloned().collect()
                    }
                    None => vec![node.clone(); *times],
                };
                *node = Value::Array(repeated);
            }),
            Self::Wrap(at, deep) => at_node(trees, at.index(count), |node| {
                for _ in 0..*deep {
                    *node = Value::Array(vec![node.take()]);
                }
            }),
            Self::Key(at, key) => at_node(trees, at.index(count), |node| {
                if let Value::Object(map) = node
                    && let Some(first) = map.keys().next().cloned()
                    && let Some(value) = map.remove(&first)
                {
                    map.insert((*key).to_owned(), value);
                }
            }),
            Self::Text(at, piece) => at_node(trees, at.index(count), |node| {
                if let Value::String(text) = node {
                    let half = text.len() / 2;
                    let place = (half..=text.len()).find(|place| text.is_char_boundary(*place));
                    text.insert_str(place.unwrap_or_default(), piece);
                }
            }),
            Self::Order(one, other) => {
                let (one, other) = (one.index(trees.len()), other.index(trees.len()));
                trees.swap(one, other);
            }
        }
    }
}

/// What an input means, if it is JSON, lines of JSON, or YAML, or parts of that.
pub fn of(input: &[u8], between: &[u8]) -> Option<Trees> {
    let text = std::str::from_utf8(input).ok()?;
    if !between.is_empty() {
        let between = std::str::from_utf8(between).ok()?;
        let parts = text.split(between);
        let parts = parts.map(|part| serde_json::from_str(part).unwrap_or_else(|_| part.into()));
        return Some(parts.collect());
    }
    if let Ok(value) = serde_json::from_str(text) {
        return Some(vec![value]);
    }
    let lines: Result<Trees, _> = text.lines().map(serde_json::from_str).collect();
    if let Ok(lines) = lines {
        return Some(lines);
    }
    let mut document: serde_yaml::Value = serde_yaml::from_str(text).ok()?;
    document.apply_merge().ok()?;
    let value = serde_json::to_value(document).ok()?;
    value.is_object().then(|| vec![value])
}

/// The trees with all of this done to them, written again.
pub fn remade(trees: &Trees, remakes: &[Remake], between: &[u8]) -> Vec<u8> {
    let mut trees = trees.clone();
    for remake in remakes {
        remake.apply(&mut trees);
    }
    let parts: Vec<String> = trees
        .iter()
        // What was no JSON is what it was.
        .map(|tree| match tree.as_str().filter(|_| !between.is_empty()) {
            Some(text) => text.to_owned(),
            None => tree.to_string(),
        })
        .collect();
    if between.is_empty() {
        let mut text = parts.join("\n").into_bytes();
        text.push(b'\n');
        return text;
    }
    let parts: Vec<_> = parts.iter().map(String::as_bytes).collect();
    parts.join(between)
}

/// How many nodes a tree has.
fn size(tree: &Value) -> usize {
    1 + match tree {
        Value::Array(items) => items.iter().map(size).sum(),
        Value::Object(map) => map.values().map(size).sum(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => 0,
    }
}

/// The parts of a node.
fn below(node: &mut Value) -> Vec<&mut Value> {
    match node {
        Value::Array(items) => items.iter_mut().collect(),
        Value::Object(map) => map.values_mut().collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

/// Does something to the node of this number, counted from above; nothing where there is none.
fn at_node(trees: &mut [Value], number: usize, act: impl FnOnce(&mut Value)) {
    let mut left = number;
    let mut level: Vec<&mut Value> = trees.iter_mut().collect();
    loop {
        let mut next = None;
        for node in level {
            let nodes = size(node);
            if left < nodes {
                next = Some(node);
                break;
            }
            left -= nodes;
        }
        let Some(node) = next else { return };
        if left == 0 {
            act(node);
            return;
        }
        left -= 1;
        level = below(node);
    }
}

/// Takes one of the parts of a node away.
fn lose(trees: &mut [Value], number: usize) {
    at_node(trees, number, |node| match node {
        Value::Array(items) => drop(items.pop()),
        Value::Object(map) => {
            let key = map.keys().nth(number % map.len().max(1)).cloned();
            let _gone = key.and_then(|key| map.remove(&key));
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => *node = Value::Null,
    });
}

//! The part of the toolkit that hands a value on as JSON, for another system to understand.

use std::ops::Range;

use serde_json::{Map, Number, Value};

use super::super::problems::Found;
use super::super::scalar::{Resolved, Scalar};
use super::super::tree::{Content, Entry, Node};
use super::Cursor;

impl Cursor<'_> {
    /// Whatever stands here, as JSON, for parts that another system understands.
    pub(crate) fn json(&self) -> Option<Value> {
        match json_of(self.node) {
            Ok(value) => Some(value),
            Err(Unfit::Secret(node, scalar)) => {
                self.report_secret(node, scalar);
                None
            }
            Err(Unfit::Number(place)) => {
                self.problems.add(Found {
                    message: "this number cannot be handed on as it is written".to_owned(),
                    help: Some(
                        "put it in quotes, or write a finite number of at most 15 digits"
                            .to_owned(),
                    ),
                    place: Some(place),
                    path: self.path.clone(),
                    also: None,
                });
                None
            }
        }
    }
}

/// What cannot be handed on to another system.
enum Unfit<'t> {
    /// A number, at this place.
    Number(Range<usize>),
    /// A scalar with a secret in it.
    Secret(&'t Node, &'t Scalar),
}

fn json_of(node: &Node) -> Result<Value, Unfit<'_>> {
    match &node.content {
        Content::List(items) => items.iter().map(json_of).collect(),
        Content::Map(entries) => {
            let pairs = entries.iter().map(pair);
            pairs.collect::<Result<Map<_, _>, _>>().map(Value::Object)
        }
        Content::Scalar(scalar) if scalar.secrets > 0 => Err(Unfit::Secret(node, scalar)),
        Content::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Ok(Value::Null),
            Resolved::Bool(value) => Ok(Value::Bool(value)),
            Resolved::Integer(number) => Ok(Value::Number(number.into())),
            Resolved::Float(number) => Number::from_f64(number)
                .filter(|_| is_short(&scalar.text))
                .map(Value::Number)
                .ok_or_else(|| Unfit::Number(node.span.clone())),
            Resolved::Text => Ok(Value::String(scalar.text.clone())),
        },
    }
}

/// Few enough digits that a binary fraction keeps them all.
fn is_short(number: &str) -> bool {
    number.bytes().filter(u8::is_ascii_digit).count() <= 15
}

fn pair(entry: &Entry) -> Result<(String, Value), Unfit<'_>> {
    Ok((entry.key.clone(), json_of(&entry.value)?))
}

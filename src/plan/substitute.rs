//! Fills `${NAME}` and `${NAME:-default}` into the values of a tree.
//!
//! It works on scalars after parsing, so that no value can ever become structure, whatever it holds.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::problems::{Found, Problems};
use super::scalar::{Origin, Scalar};
use super::tree::{Content, Node, key_path};
use super::variables::{UsedVariable, VariableSource, Variables, is_name};
use super::words::{nearest, suggestion};

/// A short document may name a long value often.
const MOST_FILLED: usize = 4 * 1024 * 1024;

/// Fills every variable in, and says which were used.
pub(crate) fn fill(
    root: &mut Node,
    text: &str,
    variables: &Variables,
    problems: &Problems,
) -> BTreeMap<String, UsedVariable> {
    let mut filler = Filler {
        text,
        variables,
        problems,
        used: BTreeMap::new(),
        named: BTreeSet::new(),
        defaults: BTreeMap::new(),
        filled: 0,
    };
    filler.walk(root, "");
    filler.check_flags();
    filler.used
}

struct Filler<'a> {
    text: &'a str,
    variables: &'a Variables,
    problems: &'a Problems,
    used: BTreeMap<String, UsedVariable>,
    /// Every name in the document, also of variables without a value.
    named: BTreeSet<String>,
    defaults: BTreeMap<String, String>,
    filled: usize,
}

/// Where a variable stands, in the text and in the structure.
struct Place<'p> {
    range: Range<usize>,
    path: &'p str,
}

/// A part of a scalar.
enum Piece<'s> {
    Literal(&'s str),
    /// What stands between `${` and `}`.
    Reference(&'s str),
    /// `${` without an end.
    Open(&'s str),
}

impl Filler<'_> {
    fn walk(&mut self, node: &mut Node, path: &str) {
        match &mut node.content {
            Content::Scalar(scalar) => self.fill_scalar(scalar, &node.span, path),
            Content::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.walk(item, &format!("{path}[{index}]"));
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.walk(&mut entry.value, &key_path(path, &entry.key));
                }
            }
        }
    }

    fn fill_scalar(&mut self, scalar: &mut Scalar, span: &Range<usize>, path: &str) {
        if !scalar.text.contains("${") {
            return;
        }
        let mut filled = String::new();
        for piece in pieces(&scalar.text) {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Reference(inner) => {
                    let range = self.place_of(span, inner);
                    let value = self.value_of(inner, &Place { range, path });
                    scalar.origin = match (scalar.origin, &value) {
                        (Origin::Lost, _) | (_, None) => Origin::Lost,
                        (Origin::Written | Origin::Filled, Some(_)) => Origin::Filled,
                    };
                    filled.push_str(&value.unwrap_or_default());
                }
                Piece::Open(rest) => {
                    scalar.origin = Origin::Lost;
                    let range = self.place_of(span, rest);
                    self.complain(
                        &Place { range, path },
                        "`${` begins a variable that never ends".to_owned(),
                        "close it with `}`, or write `$${` where `${` itself is meant",
                    );
                }
            }
            if self.filled + filled.len() > MOST_FILLED {
                scalar.origin = Origin::Lost;
                let range = span.clone();
                self.complain(
                    &Place { range, path },
                    "the variables make the document larger than 4 MiB".to_owned(),
                    "give them shorter values",
                );
                break;
            }
        }
        self.filled += filled.len();
        scalar.text = filled;
    }

    /// Where a variable stands in the text; the whole scalar when escapes hide it.
    fn place_of(&self, span: &Range<usize>, inner: &str) -> Range<usize> {
        let scalar = self.text.get(span.clone()).unwrap_or_default();
        let written = format!("${{{inner}");
        scalar.find(&written).map_or(span.clone(), |at| {
            let start = span.start + at;
            let end = start + written.len();
            start..end + usize::from(self.text[end..].starts_with('}'))
        })
    }

    /// The value for what stands between `${` and `}`; `None` when it has been told why not.
    fn value_of(&mut self, inner: &str, place: &Place<'_>) -> Option<String> {
        if let Some(name) = inner.strip_prefix("secret:") {
            self.complain(
                place,
                format!(
                    "secrets such as `${{secret:{name}}}` can be used in no place of a document yet"
                ),
                "take it out; do not give it as a variable instead: plans and journals show those",
            );
            return None;
        }
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        if !is_name(name) || default.is_some_and(|default| default.contains("${")) {
            self.complain(
                place,
                format!("`${{{inner}}}` is no variable"),
                "write `${NAME}` or `${NAME:-default}`; where `${` itself is meant, write `$${`",
            );
            return None;
        }
        self.named.insert(name.to_owned());
        let used = match self.variables.find(name) {
            Some(used) => used,
            None => self.default_of(name, default, place)?,
        };
        let value = used.value.clone();
        self.used.insert(name.to_owned(), used);
        Some(value)
    }

    fn default_of(
        &mut self,
        name: &str,
        default: Option<&str>,
        place: &Place<'_>,
    ) -> Option<UsedVariable> {
        let Some(default) = default else {
            self.complain(
                place,
                format!("the variable `{name}` has no value"),
                &format!("give it one with `--var {name}=…`, or a default in the document: `${{{name}:-…}}`"),
            );
            return None;
        };
        let first = self.defaults.entry(name.to_owned());
        let first = first.or_insert_with(|| default.to_owned()).clone();
        if first != default {
            self.complain(
                place,
                format!("the variable `{name}` has two defaults, `{first}` and `{default}`"),
                "write the same default in both places, or use two variables",
            );
            return None;
        }
        Some(UsedVariable {
            value: first,
            source: VariableSource::Default,
        })
    }

    fn complain(&self, place: &Place<'_>, message: String, help: &str) {
        self.problems.add(Found {
            message,
            help: Some(help.to_owned()),
            place: Some(place.range.clone()),
            path: place.path.to_owned(),
            also: None,
        });
    }

    /// A `--var` that nothing uses is a typo, and must not pass: the run would do something else.
    fn check_flags(&self) {
        let named: Vec<_> = self.named.iter().map(String::as_str).collect();
        for name in self
            .variables
            .flag_names()
            .filter(|name| !self.named.contains(*name))
        {
            let help = match (named.is_empty(), nearest(name, &named)) {
                (true, _) => "the document has no variables; take the flag away".to_owned(),
                (false, _) => suggestion(name, &named, "the document's variables are"),
            };
            self.problems.add(Found {
                message: format!("`--var {name}=…` fills nothing in this document"),
                help: Some(help),
                ..Found::default()
            });
        }
    }
}

/// Cuts a text at its variables. `$${` stands for a literal `${`.
fn pieces(text: &str) -> Vec<Piece<'_>> {
    let mut pieces = Vec::new();
    let mut rest = text;
    while let Some(at) = rest.find("${") {
        if rest[..at].ends_with('$') {
            pieces.push(Piece::Literal(&rest[..at - 1]));
            pieces.push(Piece::Literal("${"));
            rest = &rest[at + 2..];
            continue;
        }
        pieces.push(Piece::Literal(&rest[..at]));
        let inner = &rest[at + 2..];
        let Some(end) = inner.find('}') else {
            pieces.push(Piece::Open(inner));
            return pieces;
        };
        pieces.push(Piece::Reference(&inner[..end]));
        rest = &inner[end + 1..];
    }
    pieces.push(Piece::Literal(rest));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_variables_and_escapes() {
        let shown = |text| -> Vec<String> {
            let words = pieces(text).into_iter().map(|piece| match piece {
                Piece::Literal(text) => text.to_owned(),
                Piece::Reference(inner) => format!("<{inner}>"),
                Piece::Open(rest) => format!("open {rest}"),
            });
            words.filter(|word| !word.is_empty()).collect()
        };
        assert_eq!(shown("a ${B} c"), ["a ", "<B>", " c"]);
        assert_eq!(shown("${A}${B:-x}"), ["<A>", "<B:-x>"]);
        assert_eq!(shown("$${A} $5 $"), ["${", "A} $5 $"]);
        assert_eq!(shown("x ${A"), ["x ", "open A"]);
    }
}

//! Fills `${NAME}` and `${NAME:-default}` into the values of a tree.
//!
//! It works on scalars after parsing, so that no value can ever become structure, whatever it holds.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::places::{Filling, Part, locate};
use super::problems::{Found, Problems};
use super::scalar::{Origin, Scalar};
use super::tree::{Content, Node, key_path};
use super::variables::{UsedVariable, VariableSource, Variables, is_name, is_secret_name};
use super::words::{nearest, suggestion};

/// A short document may name a long value often.
const MOST_FILLED: usize = 4 * 1024 * 1024;

/// So many complaints are shown at their very place; of more, the whole value is underlined.
const MOST_PLACED: usize = 200;

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
        complaints: Cell::new(0),
    };
    filler.walk(root, "");
    filler.check_flags();
    filler.used
}

/// Writes down every `${` of a document that holds no variables; nothing more is said about those
/// values.
pub(crate) fn refuse(root: &mut Node, text: &str, problems: &Problems) {
    refuse_below(root, text, "", problems);
}

fn refuse_below(node: &mut Node, text: &str, path: &str, problems: &Problems) {
    match &mut node.content {
        Content::Scalar(scalar) => {
            let Some(start) = scalar.text.find("${") else {
                return;
            };
            let end = scalar.text[start..].find('}').map(|end| start + end + 1);
            let part = start..end.unwrap_or(scalar.text.len());
            problems.add(Found {
                message: "no variable and no secret can stand in this document".to_owned(),
                help: Some("write the value itself: it means the same in every shell".to_owned()),
                place: Some(place_of(text, &node.span, &scalar.text, &part)),
                path: path.to_owned(),
                also: None,
            });
            scalar.origin = Origin::Lost;
        }
        Content::List(items) => {
            for (index, item) in items.iter_mut().enumerate() {
                refuse_below(item, text, &format!("{path}[{index}]"), problems);
            }
        }
        Content::Map(entries) => {
            for entry in entries {
                let path = key_path(path, &entry.key);
                refuse_below(&mut entry.value, text, &path, problems);
            }
        }
    }
}

/// Where a part of a scalar stands in the text; the whole scalar where that cannot be told.
fn place_of(text: &str, span: &Range<usize>, written: &str, part: &Range<usize>) -> Range<usize> {
    let raw = text.get(span.clone()).unwrap_or_default();
    locate(raw, written, part).map_or(span.clone(), |found| {
        span.start + found.start..span.start + found.end
    })
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
    complaints: Cell<usize>,
}

/// Where a variable stands, in a scalar and in the structure. Where that is in the text is found out
/// only for what is complained about: it takes a walk along the scalar.
struct Place<'p> {
    span: &'p Range<usize>,
    written: &'p str,
    part: Range<usize>,
    path: &'p str,
}

/// A part of a scalar.
enum Piece<'s> {
    Literal(&'s str),
    /// What stands between `${` and `}`.
    Reference(&'s str),
    /// `${` without an end.
    Open,
}

/// What a reference stands for.
enum Filled {
    /// The value of a variable.
    Value(String),
    /// A secret, which stays a name.
    Secret,
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
        let written = std::mem::take(&mut scalar.text);
        let mut parts = Vec::new();
        for (range, piece) in pieces(&written) {
            let start = scalar.text.len();
            let place = Place {
                span,
                written: &written,
                part: range.clone(),
                path,
            };
            match piece {
                Piece::Literal(text) => scalar.text.push_str(text),
                Piece::Reference(inner) => {
                    let filled = self.value_of(inner, &place);
                    take_in(scalar, filled, &written[range.clone()]);
                }
                Piece::Open => {
                    scalar.origin = Origin::Lost;
                    self.complain(
                        &place,
                        "`${` begins a variable that never ends".to_owned(),
                        "close it with `}`, or write `$${` where `${` itself is meant",
                    );
                }
            }
            parts.push(Part {
                filled: start..scalar.text.len(),
                written: range,
            });
            if self.filled + scalar.text.len() > MOST_FILLED {
                scalar.origin = Origin::Lost;
                let part = 0..written.len();
                self.complain(
                    &Place { part, ..place },
                    "the variables make the document larger than 4 MiB".to_owned(),
                    "give them shorter values",
                );
                break;
            }
        }
        self.filled += scalar.text.len();
        scalar.filling = Some(Filling { written, parts });
    }

    /// What stands for the text between `${` and `}`; `None` when it has been told why nothing does.
    fn value_of(&mut self, inner: &str, place: &Place<'_>) -> Option<Filled> {
        if let Some(name) = inner.strip_prefix("secret:") {
            return self.secret(name, place);
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
        Some(Filled::Value(value))
    }

    /// A secret stays as it is written: who may read one decides the decoder, and the value is no
    /// part of a document.
    fn secret(&self, name: &str, place: &Place<'_>) -> Option<Filled> {
        if is_secret_name(name) {
            return Some(Filled::Secret);
        }
        let (message, help) = match name.split_once(":-") {
            Some((name, _)) => (
                format!("the secret `{name}` cannot have a default"),
                format!("write `${{secret:{name}}}`, and set CHAOS_SECRET_{name} where it is used"),
            ),
            None => (
                format!("`{name}` is no name of a secret"),
                "use capital letters, digits and `_`, and no digit first: `${secret:PROM_TOKEN}`"
                    .to_owned(),
            ),
        };
        self.complain(place, message, &help);
        None
    }

    fn default_of(
        &mut self,
        name: &str,
        default: Option<&str>,
        place: &Place<'_>,
    ) -> Option<UsedVariable> {
        let Some(default) = default else {
            let help = match self.variables.withheld_by(name) {
                Some(policy) => format!(
                    "it is set in this shell, and policy `{policy}` does not let the shell fill it: write `--var {name}=\"${name}\"`, or name it in the policy under `variables.fromEnvironment`"
                ),
                None => format!(
                    "give it one with `--var {name}=…`, or a default in the document: `${{{name}:-…}}`"
                ),
            };
            let message = format!("the variable `{name}` has no value");
            self.complain(place, message, &help);
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
        let complaints = self.complaints.get();
        self.complaints.set(complaints + 1);
        let range = if complaints < MOST_PLACED {
            place_of(self.text, place.span, place.written, &place.part)
        } else {
            place.span.clone()
        };
        self.problems.add(Found {
            message,
            help: Some(help.to_owned()),
            place: Some(range),
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

/// Puts what was found for a reference behind the text so far.
fn take_in(scalar: &mut Scalar, filled: Option<Filled>, written: &str) {
    match filled {
        Some(Filled::Value(value)) => {
            scalar.text.push_str(&value);
            if scalar.origin == Origin::Written {
                scalar.origin = Origin::Filled;
            }
        }
        Some(Filled::Secret) => {
            scalar.text.push_str(written);
            scalar.secrets += 1;
        }
        None => scalar.origin = Origin::Lost,
    }
}

/// Cuts a text at its variables, each part with its bytes. `$${` stands for a literal `${`.
fn pieces(text: &str) -> Vec<(Range<usize>, Piece<'_>)> {
    let mut pieces = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find("${").map(|at| from + at) {
        if text[from..at].ends_with('$') {
            pieces.push((from..at - 1, Piece::Literal(&text[from..at - 1])));
            pieces.push((at - 1..at + 2, Piece::Literal("${")));
            from = at + 2;
            continue;
        }
        pieces.push((from..at, Piece::Literal(&text[from..at])));
        let inner = at + 2;
        let Some(end) = text[inner..].find('}').map(|end| inner + end) else {
            pieces.push((at..text.len(), Piece::Open));
            return pieces;
        };
        pieces.push((at..end + 1, Piece::Reference(&text[inner..end])));
        from = end + 1;
    }
    pieces.push((from..text.len(), Piece::Literal(&text[from..])));
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_cut_at_variables_and_escapes() {
        let shown = |text| -> Vec<String> {
            let words = pieces(text).into_iter().map(|(range, piece)| match piece {
                Piece::Literal(text) => text.to_owned(),
                Piece::Reference(inner) => format!("<{inner}>"),
                Piece::Open => format!("open {}", &text[range]),
            });
            words.filter(|word| !word.is_empty()).collect()
        };
        assert_eq!(shown("a ${B} c"), ["a ", "<B>", " c"]);
        assert_eq!(shown("${A}${B:-x}"), ["<A>", "<B:-x>"]);
        assert_eq!(shown("$${A} $5 $"), ["${", "A} $5 $"]);
        assert_eq!(shown("x ${A"), ["x ", "open ${A"]);
    }
}

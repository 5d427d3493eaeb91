//! Scalars by the core schema of YAML 1.2, in which `on`, `off`, `yes` and `no` are plain text.
//!
//! That matters here: our own key `on:` would be the boolean `true` by YAML 1.1.

use super::places::Filling;

/// Whether a scalar may mean something else than its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Style {
    /// Bare: `5` is a number.
    Plain,
    /// In quotes, a block, or tagged `!!str`: text whatever it says.
    Quoted,
}

/// Where a scalar's text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The document itself.
    Written,
    /// A variable filled in at least a part of it.
    Filled,
    /// It could not be made out, and that has been told; nothing more is said about it.
    Lost,
}

/// A scalar that has not been given a type yet: which it is depends on who reads it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scalar {
    pub(crate) text: String,
    pub(crate) style: Style,
    pub(crate) origin: Origin,
    /// How many secrets the document names in it, as `${secret:NAME}`; more of them in the text came
    /// out of variables.
    pub(crate) secrets: usize,
    /// Where each part of the text comes from; `None`: nothing was filled in.
    pub(crate) filling: Option<Filling>,
}

/// What a scalar is by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Resolved {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text,
}

impl Scalar {
    /// What the scalar is where nobody asks for a certain type.
    ///
    /// A filled-in value is never null: an empty variable is an empty text, not a missing key.
    pub(crate) fn resolve(&self) -> Resolved {
        match (self.style, self.origin) {
            (Style::Quoted, _) => Resolved::Text,
            (Style::Plain, Origin::Written) => core_schema(&self.text),
            (Style::Plain, Origin::Lost) => Resolved::Text,
            (Style::Plain, Origin::Filled) => match core_schema(&self.text) {
                Resolved::Null => Resolved::Text,
                other @ (Resolved::Bool(_)
                | Resolved::Integer(_)
                | Resolved::Float(_)
                | Resolved::Text) => other,
            },
        }
    }

    /// Whether there is no value at all: `key:` or `key: null`.
    pub(crate) fn is_null(&self) -> bool {
        self.resolve() == Resolved::Null
    }

    /// The text, where text is wanted. A number that was filled in is one too, since nobody can put
    /// quotes into a variable.
    pub(crate) fn as_text(&self) -> Option<&str> {
        let is_text = self.origin == Origin::Filled || self.resolve() == Resolved::Text;
        is_text.then_some(self.text.as_str())
    }

    /// The finite number, where a number is wanted. A variable in quotes counts: inside `{…}` it
    /// has to stand in quotes.
    pub(crate) fn as_number(&self) -> Option<f64> {
        let resolved = match self.origin {
            Origin::Filled => core_schema(&self.text),
            Origin::Written | Origin::Lost => self.resolve(),
        };
        match resolved {
            // Exact up to 2^53, and every range that we check ends far below.
            Resolved::Integer(number) => Some(number as f64),
            Resolved::Float(number) => Some(number).filter(|number| number.is_finite()),
            Resolved::Null | Resolved::Bool(_) | Resolved::Text => None,
        }
    }
}

fn core_schema(text: &str) -> Resolved {
    match text {
        "" | "~" | "null" | "Null" | "NULL" => Resolved::Null,
        "true" | "True" | "TRUE" => Resolved::Bool(true),
        "false" | "False" | "FALSE" => Resolved::Bool(false),
        ".nan" | ".NaN" | ".NAN" => Resolved::Float(f64::NAN),
        _ => integer(text)
            .map(Resolved::Integer)
            .or_else(|| float(text).map(Resolved::Float))
            .unwrap_or(Resolved::Text),
    }
}

fn integer(text: &str) -> Option<i64> {
    if let Some(digits) = text.strip_prefix("0o") {
        return unsigned(digits, 8);
    }
    if let Some(digits) = text.strip_prefix("0x") {
        return unsigned(digits, 16);
    }
    let digits = text.strip_prefix(['-', '+']).unwrap_or(text);
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

/// Without a sign, which `from_str_radix` would take.
fn unsigned(digits: &str, radix: u32) -> Option<i64> {
    let plain = digits.chars().all(|digit| digit.is_digit(radix));
    plain
        .then(|| i64::from_str_radix(digits, radix).ok())
        .flatten()
}

fn float(text: &str) -> Option<f64> {
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    if matches!(unsigned, ".inf" | ".Inf" | ".INF") {
        return Some(if text.starts_with('-') {
            f64::NEG_INFINITY
        } else {
            f64::INFINITY
        });
    }
    let has_digit_first = |part: &str| part.starts_with(|c: char| c.is_ascii_digit());
    let starts_well =
        has_digit_first(unsigned) || unsigned.strip_prefix('.').is_some_and(has_digit_first);
    let plain = unsigned
        .bytes()
        .all(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'e' | b'E' | b'-' | b'+'));
    (starts_well && plain).then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_true_and_false_are_booleans() {
        for text in ["on", "off", "yes", "no", "y", "n", "On", "tRue"] {
            assert_eq!(core_schema(text), Resolved::Text, "{text}");
        }
        assert_eq!(core_schema("true"), Resolved::Bool(true));
        assert_eq!(core_schema("FALSE"), Resolved::Bool(false));
    }

    #[test]
    fn numbers_are_what_the_core_schema_says() {
        for (text, number) in [
            ("5", 5),
            ("-12", -12),
            ("+3", 3),
            ("0o17", 15),
            ("0xFf", 255),
            ("010", 10),
        ] {
            assert_eq!(core_schema(text), Resolved::Integer(number), "{text}");
        }
        for (text, number) in [
            ("0.5", 0.5),
            (".5", 0.5),
            ("1.", 1.0),
            ("1e3", 1_000.0),
            ("-1.5E-1", -0.15),
        ] {
            assert_eq!(core_schema(text), Resolved::Float(number), "{text}");
        }
        for text in [
            "1_000", "1e", "e1", ".", "-", "inf", "nan", "0x-1", "1.2.3", "0b1",
        ] {
            assert_eq!(core_schema(text), Resolved::Text, "{text}");
        }
        assert_eq!(core_schema("-.inf"), Resolved::Float(f64::NEG_INFINITY));
    }
}

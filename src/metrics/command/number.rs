//! From a program's output to a reading. Pure.

use serde_json::Value;
use serde_json_path::JsonPath;

use crate::model::sample::Reading;

/// More of what somebody printed is not quoted.
const LONGEST_QUOTE: usize = 60;

/// The number in the output: all of it, or what stands at an RFC 9535 path in JSON.
///
/// A JSON number, a string that holds a bare number, and `true` and `false` as 1 and 0 are numbers;
/// `null` is no data. Units are not read: a `3%` that is taken for 3 would pass for 300 %.
pub(super) fn reading(output: &[u8], path: Option<&str>) -> Reading {
    let text = String::from_utf8_lossy(output);
    let text = text.trim();
    if text.is_empty() {
        return no_data("the output is empty".to_owned());
    }
    match path {
        None => bare(text)
            .unwrap_or_else(|| down(format!("the output is no bare number: {}", quote(text)))),
        Some(path) => at_path(text, path),
    }
}

fn at_path(text: &str, path: &str) -> Reading {
    let query = match JsonPath::parse(path) {
        Ok(query) => query,
        Err(why) => return down(format!("`{path}` is no JSON path: {why}")),
    };
    let json: Value = match serde_json::from_str(text) {
        Ok(json) => json,
        Err(why) => return down(format!("the output is no JSON ({why}): {}", quote(text))),
    };
    let found = query.query(&json).all();
    match found.as_slice() {
        [] => no_data(format!("`{path}` selects nothing in the output")),
        [one] => value(one, path),
        several => down(format!(
            "`{path}` selects {} values in the output; one is needed",
            several.len()
        )),
    }
}

fn value(value: &Value, path: &str) -> Reading {
    let number = match value {
        Value::Null => return no_data(format!("`{path}` is null")),
        Value::Bool(truth) => Some(Reading::Value(f64::from(u8::from(*truth)))),
        Value::Number(number) => number.as_f64().map(Reading::from_number),
        Value::String(text) => bare(text.trim()),
        Value::Array(_) | Value::Object(_) => None,
    };
    number.unwrap_or_else(|| {
        down(format!(
            "`{path}` is no number: {}",
            quote(&value.to_string())
        ))
    })
}

/// A number and nothing else. `NaN` and infinities are what a division by nothing prints: no data.
fn bare(text: &str) -> Option<Reading> {
    text.parse().ok().map(Reading::from_number)
}

fn no_data(why: String) -> Reading {
    Reading::NoData { why }
}

fn down(why: String) -> Reading {
    Reading::SourceDown { why }
}

/// The beginning of it on one line, fit for any terminal.
fn quote(text: &str) -> String {
    let line = plain(text, LONGEST_QUOTE + 1);
    if line.chars().count() > LONGEST_QUOTE {
        let short: String = line.chars().take(LONGEST_QUOTE).collect();
        format!("`{short}…`")
    } else {
        format!("`{line}`")
    }
}

/// At most so many characters, without escape sequences and control characters.
pub(super) fn plain(text: &str, longest: usize) -> String {
    console::strip_ansi_codes(text)
        .chars()
        .map(|c| if c.is_whitespace() { ' ' } else { c })
        .filter(|c| !c.is_control())
        .take(longest)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_number_is_a_value() {
        for (text, number) in [
            ("5\n", 5.0),
            (" -0.25 ", -0.25),
            ("1.5e-3", 0.0015),
            ("+7", 7.0),
        ] {
            assert_eq!(
                reading(text.as_bytes(), None),
                Reading::Value(number),
                "{text}"
            );
        }
    }

    #[test]
    fn nothing_said_is_no_data() {
        for (text, path, why) in [
            ("", None, "the output is empty"),
            (" \n", Some("$.a"), "the output is empty"),
            ("NaN", None, "the reading is NaN"),
            ("-inf", None, "the reading is -inf"),
            ("{}", Some("$.a"), "`$.a` selects nothing in the output"),
            (r#"{"a":null}"#, Some("$.a"), "`$.a` is null"),
            (r#"{"a":"NaN"}"#, Some("$.a"), "the reading is NaN"),
        ] {
            let why = why.to_owned();
            assert_eq!(
                reading(text.as_bytes(), path),
                Reading::NoData { why },
                "{text}"
            );
        }
    }

    #[test]
    fn one_value_at_the_path_is_read_whatever_json_calls_it() {
        for (json, number) in [
            (r#"{"q":{"depth":[3,4]}}"#, 4.0),
            (r#"{"q":{"depth":[0,"0.5"]}}"#, 0.5),
            (r#"{"q":{"depth":[0,true]}}"#, 1.0),
            (r#"{"q":{"depth":[0,false]}}"#, 0.0),
        ] {
            assert_eq!(
                reading(json.as_bytes(), Some("$.q.depth[1]")),
                Reading::Value(number),
                "{json}"
            );
        }
    }

    #[test]
    fn anything_else_is_an_error_that_quotes_it() {
        let long = "x".repeat(200);
        let quoted = format!("the output is no bare number: `{}…`", "x".repeat(60));
        for (text, path, why) in [
            ("12ms", None, "the output is no bare number: `12ms`"),
            ("3%", None, "the output is no bare number: `3%`"),
            ("1\n2", None, "the output is no bare number: `1 2`"),
            (
                "\u{1b}[31mred\u{1b}[0m\u{7}",
                None,
                "the output is no bare number: `red`",
            ),
            (&long, None, &quoted),
            (
                "[1,2,3]",
                Some("$[*]"),
                "`$[*]` selects 3 values in the output; one is needed",
            ),
            (r#"{"a":[]}"#, Some("$.a"), "`$.a` is no number: `[]`"),
            (
                r#"{"a":"12ms"}"#,
                Some("$.a"),
                r#"`$.a` is no number: `"12ms"`"#,
            ),
            (
                "oops",
                Some("$.a"),
                "the output is no JSON (expected value at line 1 column 1): `oops`",
            ),
        ] {
            let why = why.to_owned();
            assert_eq!(
                reading(text.as_bytes(), path),
                Reading::SourceDown { why },
                "{text}"
            );
        }
        let bad_path = reading(b"{}", Some("a.b"));
        assert!(
            matches!(&bad_path, Reading::SourceDown { why } if why.starts_with("`a.b` is no JSON path")),
            "{bad_path:?}"
        );
    }
}

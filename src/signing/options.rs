//! The options of a line of allowed signers, as ssh-keygen(1) describes them.

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use super::signers::matches_list;
use crate::model::approval::SIGNATURE_NAMESPACE;
use crate::model::problem::{Problem, ProblemKind};

/// What a line wants of its key beyond what the policy wants.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum KeyWish {
    /// No more and no less.
    #[default]
    AsThePolicySays,
    /// `no-touch-required`: it counts untouched, also where the policy wants a touch.
    NoTouch,
    /// `verify-required`: it counts only where it knew who touched it.
    Verify,
}

/// The options of one line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Options {
    /// Patterns, separated by commas; `None`: every namespace.
    pub(super) namespaces: Option<String>,
    pub(super) valid_after: Option<Timestamp>,
    pub(super) valid_before: Option<Timestamp>,
    pub(super) wish: KeyWish,
}

impl Options {
    /// Reads `name`, `name="value"`, … separated by commas.
    pub(super) fn parse(text: &str) -> Result<Self, Problem> {
        let mut options = Self::default();
        let mut seen: Vec<String> = Vec::new();
        for (name, value) in split(text)? {
            let name = name.to_ascii_lowercase();
            if seen.contains(&name) {
                return Err(
                    invalid(format!("`{name}` stands there twice")).hint("leave one of the two")
                );
            }
            options.take(&name, value)?;
            seen.push(name);
        }
        let wishes = ["no-touch-required", "verify-required"];
        if wishes
            .iter()
            .all(|wish| seen.iter().any(|name| name == wish))
        {
            return Err(
                invalid("`no-touch-required` and `verify-required` exclude each other")
                    .hint("leave one of the two"),
            );
        }
        if let (Some(after), Some(before)) = (options.valid_after, options.valid_before)
            && after >= before
        {
            return Err(invalid("`valid-before` is no later than `valid-after`")
                .hint("such a key is never allowed: mend the times or delete the line"));
        }
        Ok(options)
    }

    /// Without `namespaces`, a key may sign for every one.
    pub(super) fn is_for_approvals(&self) -> bool {
        let namespaces = self.namespaces.as_deref();
        namespaces.is_none_or(|list| matches_list(SIGNATURE_NAMESPACE, list))
    }

    fn take(&mut self, name: &str, value: Option<String>) -> Result<(), Problem> {
        match (name, value) {
            ("namespaces", Some(value)) if !value.is_empty() => self.namespaces = Some(value),
            ("valid-after", Some(value)) => self.valid_after = Some(time(name, &value)?),
            ("valid-before", Some(value)) => self.valid_before = Some(time(name, &value)?),
            ("no-touch-required", None) => self.wish = KeyWish::NoTouch,
            ("verify-required", None) => self.wish = KeyWish::Verify,
            ("cert-authority", None) => {
                return Err(invalid("`cert-authority` is not supported")
                    .hint("name the keys themselves, one a line"));
            }
            ("namespaces" | "valid-after" | "valid-before", _) => {
                return Err(
                    invalid(format!("`{name}` has no value")).hint(format!("write `{name}=\"…\"`"))
                );
            }
            _ => {
                return Err(invalid(format!("`{}` is no option of a signer", name.escape_debug()))
                    .hint("there are namespaces, valid-after, valid-before, verify-required and no-touch-required"));
            }
        }
        Ok(())
    }
}

/// An option's name and, after `=`, its value without quotes.
type Pair = (String, Option<String>);

fn split(text: &str) -> Result<Vec<Pair>, Problem> {
    let mut pairs = Vec::new();
    for part in outside_quotes(text, ',')? {
        let (name, value) = match part.split_once('=') {
            None => (part, None),
            Some((name, value)) => (name, Some(unquoted(value))),
        };
        pairs.push((name.to_owned(), value));
    }
    Ok(pairs)
}

/// Cuts at a letter, except between quotes; `\"` within them is a quote.
fn outside_quotes(text: &str, at: char) -> Result<Vec<&str>, Problem> {
    let mut parts = Vec::new();
    let (mut from, mut inside, mut escaped) = (0, false, false);
    for (place, letter) in text.char_indices() {
        match letter {
            '"' if !escaped => inside = !inside,
            letter if letter == at && !inside => {
                parts.push(&text[from..place]);
                from = place + letter.len_utf8();
            }
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    if inside {
        return Err(invalid("a quote is never closed").hint("close it with `\"`"));
    }
    parts.push(&text[from..]);
    Ok(parts)
}

fn unquoted(value: &str) -> String {
    let inner = value
        .strip_prefix('"')
        .and_then(|value| value.strip_suffix('"'));
    inner.unwrap_or(value).replace("\\\"", "\"")
}

/// `YYYYMMDD`, with `HHMM` or `HHMMSS` after it, and `Z`.
fn time(name: &str, text: &str) -> Result<Timestamp, Problem> {
    let wrong = || {
        invalid(format!("`{name}` is no time: `{}`", text.escape_debug()))
            .hint("write it as `20270131Z`, `202701311200Z` or `20270131120000Z`")
    };
    let Some(digits) = text.strip_suffix('Z') else {
        // ssh-keygen takes the zone of the machine that looks: the same key would be allowed on one
        // machine and not on the next.
        return Err(invalid(format!(
            "`{name}={}` says no time zone",
            text.escape_debug()
        ))
        .hint("end it with `Z`: it is UTC then, on every machine"));
    };
    if !matches!(digits.len(), 8 | 12 | 14) || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
        return Err(wrong());
    }
    let full = format!("{digits:0<14}");
    let parsed = DateTime::strptime("%Y%m%d%H%M%S", full).map_err(|_| wrong())?;
    TimeZone::UTC.to_timestamp(parsed).map_err(|_| wrong())
}

pub(super) fn invalid(message: impl Into<String>) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

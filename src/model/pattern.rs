//! Globs as people write them in a policy.

use std::fmt;
use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};
use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};

/// In bytes. The longest names, those of AWS, have as many; what a pattern is compiled into has a limit
/// of its own, far above this one, beyond which `globset` panics.
const LONGEST: usize = 2_048;

/// A glob over a whole text: `*` stands for any letters, `?` for one, `[ab]` for one of several,
/// `{a,b}` for either. Capital letters are the same as small ones.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Whether the whole text fits.
    pub fn matches(&self, text: &str) -> bool {
        self.matcher.is_match(text)
    }

    /// As it was written.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Pattern {}

impl fmt::Display for Pattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.text)
    }
}

impl FromStr for Pattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text.len() > LONGEST {
            return Err(Problem::new(
                ProblemKind::Invalid,
                format!("a pattern is longer than {LONGEST} bytes"),
            )
            .hint("no name is that long; write `*` for any letters"));
        }
        let glob = GlobBuilder::new(text)
            .case_insensitive(true)
            .literal_separator(false)
            .backslash_escape(true)
            .build();
        let glob = glob.map_err(|why| {
            Problem::new(
                ProblemKind::Invalid,
                format!("`{text}` is no pattern: {}", why.kind()),
            )
            .hint("write `*` for any letters, `?` for one, `{a,b}` for either")
        })?;
        if text.is_empty() {
            return Err(
                Problem::new(ProblemKind::Invalid, "an empty pattern fits nothing")
                    .hint("write `*` if everything is meant"),
            );
        }
        Ok(Self {
            text: text.to_owned(),
            matcher: glob.compile_matcher(),
        })
    }
}

impl TryFrom<String> for Pattern {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<Pattern> for String {
    fn from(pattern: Pattern) -> String {
        pattern.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_is_about_the_whole_text() {
        for (pattern, text, fits) in [
            ("staging-*", "staging-eu", true),
            ("staging-*", "my-staging-eu", false),
            ("*.Example.com", "shop.example.COM", true),
            ("*.example.com", "example.com", false),
            ("kube-?", "kube-a", true),
            ("{dev,test}", "test", true),
            ("arn:*/x", "arn:a/b/x", true),
        ] {
            let pattern: Pattern = pattern.parse().expect("a pattern");
            assert_eq!(pattern.matches(text), fits, "{pattern} {text}");
        }
        for wrong in ["", "[a", "{a"] {
            assert!(wrong.parse::<Pattern>().is_err(), "{wrong}");
        }
    }
}

//! Names and identifiers, parsed once at the edge.

use std::fmt;
use std::str::FromStr;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};

macro_rules! text_type {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.pad(&self.0)
            }
        }

        impl $name {
            /// The text of it.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Problem;

            fn try_from(text: String) -> Result<Self, Problem> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(value: $name) -> String {
                value.0
            }
        }
    };
}

/// A DNS label (RFC 1123): at most 63 lower-case letters, digits and inner hyphens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);
text_type!(Name);

impl FromStr for Name {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let inner = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        let fits = (1..=63).contains(&text.len())
            && text.chars().all(inner)
            && !text.starts_with('-')
            && !text.ends_with('-');
        if fits {
            return Ok(Self(text.to_owned()));
        }
        Err(
            Problem::new(ProblemKind::Invalid, format!("`{text}` is no DNS label")).hint(
                "use at most 63 lower-case letters, digits and hyphens, with a letter or digit at both ends",
            ),
        )
    }
}

/// A run's id: `r-` + UTC date and time + four random letters or digits, so that ids sort by time.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct RunId(String);
text_type!(RunId);

impl RunId {
    /// When the run began, to the second; `None`: its id does not say.
    pub fn began(&self) -> Option<Timestamp> {
        let stamp = self.0.get(2..17)?;
        Timestamp::strptime("%Y%m%d-%H%M%S%z", format!("{stamp}+0000")).ok()
    }
}

impl FromStr for RunId {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        plain_id("run", "r-", text).map(Self)
    }
}

/// A plan's id: `p-` + the first ten hexadecimal digits of its digest.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PlanId(String);
text_type!(PlanId);

impl PlanId {
    /// The id that belongs to a digest.
    pub fn of(digest: &Digest) -> Self {
        let hex = digest.as_str().trim_start_matches(Digest::PREFIX);
        Self(format!("p-{}", &hex[..10]))
    }
}

impl FromStr for PlanId {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        plain_id("plan", "p-", text).map(Self)
    }
}

/// An id becomes a file name, so nothing may pass that could leave its folder.
fn plain_id(what: &str, prefix: &str, text: &str) -> Result<String, Problem> {
    let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    if text.starts_with(prefix) && text.len() <= 64 && text.chars().all(plain) {
        return Ok(text.to_owned());
    }
    Err(
        Problem::new(ProblemKind::Invalid, format!("`{text}` is no {what} id")).hint(format!(
            "a {what} id looks like `{prefix}…`; `chaos runs` lists what there is"
        )),
    )
}

/// A SHA-256 digest as `sha256:` + 64 lower-case hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Digest(String);
text_type!(Digest);

impl Digest {
    /// What every digest starts with.
    pub const PREFIX: &'static str = "sha256:";

    /// The digest of these bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(Self::PREFIX.len() + 64);
        text.push_str(Self::PREFIX);
        for byte in sha2::Sha256::digest(bytes) {
            // A journal has one for each of its lines, and formatting would be half of the work.
            text.push(char::from(DIGITS[usize::from(byte >> 4)]));
            text.push(char::from(DIGITS[usize::from(byte & 15)]));
        }
        Self(text)
    }
}

impl FromStr for Digest {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let digits = text.strip_prefix(Self::PREFIX).unwrap_or_default();
        let lower_hex = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        if digits.len() == 64 && digits.chars().all(lower_hex) {
            return Ok(Self(text.to_owned()));
        }
        Err(Problem::new(
            ProblemKind::Invalid,
            format!("`{text}` is no SHA-256 digest"),
        )
        .hint("a digest is `sha256:` and 64 hexadecimal digits"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_dns_labels() {
        for good in ["a", "redis-latency", "9lives", &"x".repeat(63)] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", "-a", "a-", "A", "a_b", "a.b", &"x".repeat(64), "ä"] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_run_says_when_it_began() {
        let run: RunId = "r-20261130-165251-886cx".parse().expect("an id");
        assert_eq!(run.began(), "2026-11-30T16:52:51Z".parse().ok());
        let odd: RunId = "r-1".parse().expect("an id");
        assert_eq!(odd.began(), None);
    }

    #[test]
    fn ids_cannot_leave_their_folder() {
        for bad in ["r-../x", "r-a/b", "x-1", "r-A", "r-\0"] {
            assert!(bad.parse::<RunId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn plan_id_is_the_head_of_the_digest() {
        let digest = Digest::of(b"");
        assert_eq!(
            digest.as_str(),
            "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
        );
        assert_eq!(PlanId::of(&digest).as_str(), "p-e3b0c44298");
        assert_eq!(digest.as_str().parse::<Digest>().as_ref(), Ok(&digest));
    }
}

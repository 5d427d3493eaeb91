//! The file of allowed signers: `ALLOWED SIGNERS` in ssh-keygen(1), one key a line.
//!
//! Stricter than ssh-keygen where it would make two machines differ: a line that cannot be read is an
//! error and not passed over, and a time needs its zone.

use std::fmt;

use jiff::Timestamp;
use ssh_key::public::KeyData;
use ssh_key::{Mpint, PublicKey};

use super::options::{Options, invalid};
use crate::model::problem::Problem;

/// RSA moduli in bits: the least is what OpenSSH makes, the most is what can be checked here.
const RSA_BITS: std::ops::RangeInclusive<usize> = 2048..=4096;

/// Who may sign.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AllowedSigners {
    pub(super) lines: Vec<AllowedKey>,
}

/// One line: a key, whose it is and for what.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct AllowedKey {
    /// Patterns as they stand there, separated by commas.
    pub(super) principals: String,
    pub(super) options: Options,
    pub(super) key: KeyData,
}

/// What is wrong with one line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignersProblem {
    /// Counted from 1.
    pub line: usize,
    /// What, and the next move.
    pub problem: Problem,
}

impl fmt::Display for SignersProblem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "line {}: {}", self.line, self.problem)
    }
}

impl AllowedSigners {
    /// Reads the text of such a file.
    ///
    /// # Errors
    /// Every line that cannot be read.
    pub fn parse(text: &str) -> Result<Self, Vec<SignersProblem>> {
        let mut lines = Vec::new();
        let mut problems = Vec::new();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            match AllowedKey::parse(line) {
                Ok(key) => lines.push(key),
                Err(problem) => problems.push(SignersProblem {
                    line: index + 1,
                    problem,
                }),
            }
        }
        if problems.is_empty() {
            Ok(Self { lines })
        } else {
            Err(problems)
        }
    }

    /// How many lines there are with a key.
    pub fn keys(&self) -> usize {
        self.lines.len()
    }

    /// The keys that may sign an approval, at this time or later, in order.
    pub fn able_to_approve(&self, at: Timestamp) -> Vec<AbleSigner<'_>> {
        let able = self.lines.iter().filter(|line| {
            line.options.is_for_approvals() && line.options.valid_before.is_none_or(|end| at <= end)
        });
        able.map(|line| AbleSigner {
            principals: &line.principals,
            key_type: kind_of(&line.key),
        })
        .collect()
    }

    /// The names of those whose keys were for approvals and are not any more at this time.
    pub fn lapsed(&self, at: Timestamp) -> Vec<&str> {
        let lapsed = self.lines.iter().filter(|line| {
            line.options.is_for_approvals() && line.options.valid_before.is_some_and(|end| at > end)
        });
        lapsed.map(|line| line.principals.as_str()).collect()
    }

    /// Whether a line has the key with this fingerprint (`SHA256:…`).
    pub fn knows(&self, fingerprint: &str) -> bool {
        let of = |line: &AllowedKey| line.key.fingerprint(ssh_key::HashAlg::Sha256).to_string();
        self.lines.iter().any(|line| of(line) == fingerprint)
    }
}

/// A key that may sign an approval.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AbleSigner<'a> {
    principals: &'a str,
    /// As it stands before the key: `ssh-ed25519`.
    pub key_type: String,
}

impl AbleSigner<'_> {
    /// Whether one of its names is such a one; a name that is a pattern may be any.
    pub fn may_be(&self, fits: impl Fn(&str) -> bool) -> bool {
        let mut names = self.principals.split(',');
        names.any(|name| name.contains(['*', '?']) || (!name.starts_with('!') && fits(name)))
    }
}

impl AllowedKey {
    fn parse(line: &str) -> Result<Self, Problem> {
        let (principals, rest) = first_word(line)?;
        if principals.split(',').all(|name| name.starts_with('!')) || principals.is_empty() {
            return Err(invalid("no name is allowed by it").hint(
                "begin the line with who the key belongs to: `ann@example.com ssh-ed25519 AAAA…`",
            ));
        }
        let rest = rest.trim_start();
        let (options, key) = if starts_with_key_type(rest) {
            ("", rest)
        } else {
            let (options, key) = first_word_with_quotes(rest);
            (options, key.trim_start())
        };
        let options = match options {
            "" => Options::default(),
            text => Options::parse(text)?,
        };
        Ok(Self {
            principals,
            options,
            key: key_of(key)?,
        })
    }

    /// The name under which the approver is known here: one of those that the approver claims if the
    /// line lets it, else the first that is no pattern; `None`: neither.
    pub(super) fn principal(&self, claimed: &[String]) -> Option<String> {
        let allowed = |name: &str| matches_list(name, &self.principals);
        if let Some(name) = claimed.iter().find(|name| allowed(name)) {
            return Some(name.clone());
        }
        let mut plain = self
            .principals
            .split(',')
            .filter(|name| !name.contains(['*', '?', '!']) && !name.is_empty());
        plain.find(|name| allowed(name)).map(str::to_owned)
    }
}

/// The first word; in quotes it may hold blanks.
fn first_word(line: &str) -> Result<(String, &str), Problem> {
    let Some(quoted) = line.strip_prefix('"') else {
        let end = line.find([' ', '\t']).unwrap_or(line.len());
        return Ok((line[..end].to_owned(), &line[end..]));
    };
    let Some(end) = quoted.find('"') else {
        return Err(invalid("a quote is never closed").hint("close it with `\"`"));
    };
    Ok((quoted[..end].to_owned(), &quoted[end + 1..]))
}

/// The first word, where blanks between quotes belong to it.
fn first_word_with_quotes(text: &str) -> (&str, &str) {
    let (mut inside, mut escaped) = (false, false);
    for (place, letter) in text.char_indices() {
        match letter {
            '"' if !escaped => inside = !inside,
            ' ' | '\t' if !inside => return text.split_at(place),
            _ => {}
        }
        escaped = letter == '\\' && !escaped;
    }
    (text, "")
}

fn starts_with_key_type(text: &str) -> bool {
    let word = text.split([' ', '\t']).next().unwrap_or_default();
    // Options hold `=` or are names of their own; a type of key begins with one of these.
    ["ssh-", "ecdsa-", "sk-"]
        .iter()
        .any(|start| word.starts_with(start))
}

fn key_of(text: &str) -> Result<KeyData, Problem> {
    let mut words = text.split_ascii_whitespace();
    let (Some(kind), Some(body)) = (words.next(), words.next()) else {
        return Err(invalid("there is no key").hint(
            "a line is names, options if any, type and key: `ann@example.com ssh-ed25519 AAAA…`",
        ));
    };
    if kind.contains("-cert-v0") {
        return Err(invalid(format!(
            "certificates are not supported: `{}`",
            kind.escape_debug()
        ))
        .hint("name the key itself: the line of its `.pub` file"));
    }
    let key = PublicKey::from_openssh(&format!("{kind} {body}")).map_err(|_| {
        invalid(format!("this is no key: `{}`", kind.escape_debug()))
            .hint("copy type and key from the `.pub` file")
    })?;
    match fitness(key.key_data()) {
        Ok(()) => Ok(key.key_data().clone()),
        Err(why) => Err(invalid(why).hint("make another key: `ssh-keygen -t ed25519`")),
    }
}

/// Whether signatures of such a key can count at all, or why not.
pub(super) fn fitness(key: &KeyData) -> Result<(), String> {
    if let KeyData::Rsa(rsa) = key {
        let bits = bits(&rsa.n);
        let (least, most) = (RSA_BITS.start(), RSA_BITS.end());
        return match RSA_BITS.contains(&bits) {
            true => Ok(()),
            false => Err(format!(
                "an RSA key of {bits} bits cannot be used, only one of {least} to {most}"
            )),
        };
    }
    let known = matches!(
        key,
        KeyData::Ed25519(_)
            | KeyData::Ecdsa(_)
            | KeyData::SkEd25519(_)
            | KeyData::SkEcdsaSha2NistP256(_)
    );
    match known {
        true => Ok(()),
        false => Err(format!("a key of type `{}` cannot be used", kind_of(key))),
    }
}

pub(super) fn kind_of(key: &KeyData) -> String {
    // How it hashes is said by each signature, not by the key.
    match key.is_rsa() {
        true => "ssh-rsa".to_owned(),
        false => key.algorithm().to_string(),
    }
}

fn bits(number: &Mpint) -> usize {
    let bytes = number.as_positive_bytes().unwrap_or_default();
    let leading = bytes.first().map_or(0, |first| first.leading_zeros());
    (bytes.len() * 8).saturating_sub(usize::try_from(leading).unwrap_or_default())
}

/// Whether a name fits a list of patterns: one has to, and none after `!` may.
pub(super) fn matches_list(name: &str, list: &str) -> bool {
    let mut fits = false;
    for pattern in list.split(',') {
        match pattern.strip_prefix('!') {
            Some(pattern) if matches(name.as_bytes(), pattern.as_bytes()) => return false,
            Some(_) => {}
            None => fits |= matches(name.as_bytes(), pattern.as_bytes()),
        }
    }
    fits
}

/// `*` and `?`, as in OpenSSH. Remembers one star only, so that no pattern takes more than the product
/// of both lengths.
fn matches(name: &[u8], pattern: &[u8]) -> bool {
    let (mut at, mut of) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while at < name.len() {
        match pattern.get(of) {
            Some(b'*') => {
                star = Some((at, of));
                of += 1;
            }
            Some(letter) if *letter == b'?' || *letter == name[at] => {
                at += 1;
                of += 1;
            }
            Some(_) | None => {
                let Some((from, place)) = star else {
                    return false;
                };
                star = Some((from + 1, place));
                at = from + 1;
                of = place + 1;
            }
        }
    }
    pattern[of..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_fit_lists_as_in_openssh() {
        for (name, list, fits) in [
            ("ann@example.com", "ann@example.com", true),
            ("ann@example.com", "*@example.com", true),
            ("ann@example.com", "*@example.com,!ann@*", false),
            ("ann@example.com", "!bob@*,*", true),
            ("ann", "a?n", true),
            ("ann", "a?", false),
            ("ann", "Ann", false),
            ("", "*", true),
            ("aaab", "*a*b", true),
            ("aaac", "*a*b", false),
            ("ann", "!bob", false),
        ] {
            assert_eq!(matches_list(name, list), fits, "{name} {list}");
        }
    }
}

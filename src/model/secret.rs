//! Secrets: what a document may name and nothing may show.
//!
//! A document holds only the name, as `${secret:NAME}`; so do plans and journals. The value comes
//! from `CHAOS_SECRET_NAME`, or from the file that `CHAOS_SECRET_NAME_FILE` names, in the very process
//! that sends it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::problem::{Problem, ProblemKind};

/// What opens the name of a secret in a text.
const OPENS: &str = "${secret:";

/// Shorter values cannot be taken out of a text, since replacing every `a` of an error message hides
/// nothing; so none is used.
const SHORTEST: usize = 4;

/// A value that cannot be printed, written or compared by accident.
#[derive(Clone)]
pub struct Secret(String);

impl Secret {
    /// Takes a value in.
    pub fn new(value: impl Into<String>) -> Self {
        Self(value.into())
    }

    /// The value, for the request that needs it and for nothing else.
    pub fn expose(&self) -> &str {
        &self.0
    }

    /// Whether it is long enough to be taken out of a text. Whoever sends a secret asks this first.
    pub fn is_redactable(&self) -> bool {
        self.0.len() >= SHORTEST
    }

    /// A text with something else where this value stood, as it is or as JSON, HTML and URLs write
    /// it.
    pub fn hidden_in(&self, text: &str, instead: &str) -> String {
        let mut clean = text.to_owned();
        if self.is_redactable() {
            for spelling in self.spellings() {
                clean = clean.replace(&spelling, instead);
            }
        }
        clean
    }

    /// Longest first, so that none is cut by a shorter one.
    fn spellings(&self) -> Vec<String> {
        let value = self.0.as_str();
        let json = serde_json::Value::from(value).to_string();
        let html = value
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;");
        let mut spellings = vec![
            value.to_owned(),
            json[1..json.len() - 1].to_owned(),
            html.replace('"', "&quot;").replace('\'', "&#39;"),
            html.replace('"', "&#34;").replace('\'', "&#39;"),
            html.replace('"', "&quot;"),
            html,
            url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
        ];
        spellings.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
        spellings.dedup();
        spellings
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// A text in which secrets stand by name, as written: `Bearer ${secret:TOKEN}`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SecretText(String);

impl SecretText {
    /// A text as it stands in a document.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text as written, without any value.
    pub fn as_written(&self) -> &str {
        &self.0
    }

    /// The names of the secrets in it, in order.
    pub fn names(&self) -> Vec<&str> {
        self.pieces()
            .into_iter()
            .filter_map(|piece| match piece {
                Piece::Name(name) => Some(name),
                Piece::Literal(_) => None,
            })
            .collect()
    }

    /// The text with every value in its place.
    ///
    /// # Errors
    /// Nobody set one of them, its file cannot be read, or it is too short to be kept secret.
    pub fn filled(&self, secrets: &Secrets) -> Result<Secret, Problem> {
        let mut filled = String::new();
        for piece in self.pieces() {
            match piece {
                Piece::Literal(text) => filled.push_str(text),
                Piece::Name(name) => filled.push_str(secrets.find(name)?.expose()),
            }
        }
        Ok(Secret(filled))
    }

    fn pieces(&self) -> Vec<Piece<'_>> {
        let mut pieces = Vec::new();
        let mut rest = self.0.as_str();
        while let Some(open) = rest.find(OPENS) {
            let after = &rest[open + OPENS.len()..];
            let Some(close) = after.find('}') else { break };
            pieces.push(Piece::Literal(&rest[..open]));
            pieces.push(Piece::Name(&after[..close]));
            rest = &after[close + 1..];
        }
        pieces.push(Piece::Literal(rest));
        pieces
    }
}

enum Piece<'t> {
    Literal(&'t str),
    Name(&'t str),
}

/// The secrets of this process, by name. A value that could not be read keeps its problem until
/// somebody needs it.
#[derive(Debug, Clone, Default)]
pub struct Secrets {
    found: BTreeMap<String, Result<Secret, Problem>>,
}

impl Secrets {
    /// These secrets.
    pub fn new(found: BTreeMap<String, Result<Secret, Problem>>) -> Self {
        Self { found }
    }

    /// The value of a name.
    ///
    /// # Errors
    /// Nobody set it, its file cannot be read, or it is too short to be kept secret.
    pub fn find(&self, name: &str) -> Result<&Secret, Problem> {
        match self.found.get(name) {
            Some(Ok(secret)) if secret.is_redactable() => Ok(secret),
            Some(Ok(secret)) => Err(too_short(name, secret)),
            Some(Err(problem)) => Err(problem.clone()),
            None => Err(Problem::new(
                ProblemKind::Absent,
                format!("the secret `{name}` is not set"),
            )
            .hint(format!(
                "set CHAOS_SECRET_{name}, or CHAOS_SECRET_{name}_FILE to the path of a file that holds it"
            ))),
        }
    }

    /// The name of the secret that has this very value.
    pub fn name_of(&self, value: &str) -> Option<&str> {
        let mut found = self.found.iter();
        found.find_map(|(name, secret)| {
            let secret = secret.as_ref().ok().filter(|one| one.is_redactable())?;
            (secret.expose() == value).then_some(name.as_str())
        })
    }

    /// A text of somebody else's, such as the answer of a server, without any of these values.
    pub fn redacted(&self, text: &str) -> String {
        let found = self.found.iter();
        let mut found: Vec<_> = found
            .filter_map(|(name, secret)| Some((name, secret.as_ref().ok()?)))
            .collect();
        // One that is part of another comes after it, or the rest of that other would be left.
        found.sort_by_key(|(_, secret)| std::cmp::Reverse(secret.expose().len()));
        let mut clean = text.to_owned();
        for (name, secret) in found {
            clean = secret.hidden_in(&clean, &format!("${{secret:{name}}}"));
        }
        clean
    }
}

fn too_short(name: &str, secret: &Secret) -> Problem {
    let message = match secret.expose() {
        "" => format!("the secret `{name}` is empty"),
        _ => format!(
            "the secret `{name}` is shorter than {SHORTEST} bytes: it could not be hidden in what a server says"
        ),
    };
    Problem::new(ProblemKind::Invalid, message).hint(format!(
        "look at CHAOS_SECRET_{name}, or at the file that CHAOS_SECRET_{name}_FILE names"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secrets() -> Secrets {
        Secrets::new(BTreeMap::from([(
            "TOKEN".to_owned(),
            Ok(Secret::new("hunter22")),
        )]))
    }

    /// Whether a type can do something: an inherent constant goes before one of a trait, where its
    /// bound holds.
    struct Can<T>(std::marker::PhantomData<T>);

    trait Cannot {
        const SHOW: bool = false;
        const BE_WRITTEN: bool = false;
        const BE_COMPARED: bool = false;
    }

    impl<T> Cannot for Can<T> {}

    impl<T: fmt::Display> Can<T> {
        const SHOW: bool = true;
    }

    impl<T: serde::Serialize> Can<T> {
        const BE_WRITTEN: bool = true;
    }

    impl<T: PartialEq> Can<T> {
        const BE_COMPARED: bool = true;
    }

    #[test]
    fn nothing_prints_a_secret_by_accident() {
        assert_eq!(
            [
                Can::<String>::SHOW,
                Can::<String>::BE_WRITTEN,
                Can::<String>::BE_COMPARED
            ],
            [true; 3],
            "the probe finds what there is"
        );
        assert_eq!(
            [
                Can::<Secret>::SHOW,
                Can::<Secret>::BE_WRITTEN,
                Can::<Secret>::BE_COMPARED
            ],
            [false; 3]
        );
        assert_eq!(
            [Can::<Secrets>::SHOW, Can::<Secrets>::BE_WRITTEN],
            [false; 2]
        );
        let secret = Secret::new("hunter22");
        for shown in [
            format!("{secret:?}"),
            format!("{secret:#?}"),
            format!("{:?}", Some(vec![&secret])),
            format!("{:?}", Err::<(), _>(&secret)),
            format!("{:#?}", secrets()),
        ] {
            assert!(shown.contains("Secret(…)"), "{shown}");
            assert!(!shown.contains("hunter"), "{shown}");
        }
        // Nor does the error about a bad one say what it is.
        let short = Secrets::new(BTreeMap::from([(
            "TOKEN".to_owned(),
            Ok(Secret::new("xyz")),
        )]));
        let problem = short.find("TOKEN").expect_err("it is too short");
        assert!(!format!("{problem} {problem:?}").contains("xyz"));
    }

    #[test]
    fn a_value_is_known_by_its_name_unless_it_is_too_short_to_hide() {
        let secrets = Secrets::new(BTreeMap::from([
            ("A".to_owned(), Ok(Secret::new("hunter22"))),
            ("B".to_owned(), Ok(Secret::new("abc"))),
        ]));
        assert_eq!(secrets.name_of("hunter22"), Some("A"));
        assert_eq!(secrets.name_of("hunter2"), None);
        assert_eq!(secrets.name_of("abc"), None);
    }

    #[test]
    fn a_text_is_filled_and_shows_only_names() {
        let text = SecretText::new("Bearer ${secret:TOKEN}!");
        assert_eq!(text.names(), ["TOKEN"]);
        let filled = text.filled(&secrets()).expect("it is set");
        assert_eq!(filled.expose(), "Bearer hunter22!");
        assert_eq!(
            format!("{filled:?} {:?}", secrets())
                .matches("hunter22")
                .count(),
            0
        );
        assert_eq!(
            secrets().redacted("401: no hunter22 here"),
            "401: no ${secret:TOKEN} here"
        );
    }

    #[test]
    fn nothing_is_left_of_a_secret_that_another_is_part_of() {
        let secrets = Secrets::new(BTreeMap::from([
            ("A".to_owned(), Ok(Secret::new("hunter22"))),
            ("B".to_owned(), Ok(Secret::new("hunter22-and-more"))),
        ]));
        assert_eq!(
            secrets.redacted("hunter22-and-more, hunter22"),
            "${secret:B}, ${secret:A}"
        );
    }

    #[test]
    fn a_secret_is_known_however_it_is_written() {
        let secret = Secret::new(r#"a&b"c'd e"#);
        for text in [
            r#"a&b"c'd e"#,
            r#"a&b\"c'd e"#,
            "a&amp;b&#34;c&#39;d e",
            "a&amp;b&quot;c'd e",
            "a%26b%22c%27d+e",
        ] {
            assert_eq!(secret.hidden_in(&format!("<{text}>"), "-"), "<->", "{text}");
        }
        assert_eq!(Secret::new("abc").hidden_in("abcd", "-"), "abcd");
    }

    #[test]
    fn a_secret_that_could_not_be_hidden_is_not_used() {
        for (value, message) in [
            ("", Some("the secret `TOKEN` is empty")),
            (
                "abc",
                Some(
                    "the secret `TOKEN` is shorter than 4 bytes: it could not be hidden in what a server says",
                ),
            ),
            ("abcd", None),
        ] {
            let found = BTreeMap::from([("TOKEN".to_owned(), Ok(Secret::new(value)))]);
            let filled = SecretText::new("${secret:TOKEN}").filled(&Secrets::new(found));
            let said = filled.err().map(|problem| problem.message);
            assert_eq!(said.as_deref(), message, "{value}");
        }
    }

    #[test]
    fn a_secret_that_nobody_set_says_how() {
        let problem = SecretText::new("${secret:OTHER}")
            .filled(&secrets())
            .expect_err("it is not set");
        assert_eq!(problem.message, "the secret `OTHER` is not set");
        assert!(
            problem
                .hint
                .expect("a hint")
                .contains("CHAOS_SECRET_OTHER_FILE")
        );
    }
}

//! What came back over HTTP and what it looks like, whoever sent it.

use serde_json::Value;

use crate::model::problem::{Problem, ProblemKind};

/// An answer, read to its end.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) body: Body,
}

/// What a body is, judged by its text: content types lie more often than first characters do.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Body {
    Empty,
    Json(Value),
    /// XML in S3's manner: `<Error><Code>…`, with its code.
    S3Error(String),
    Xml,
    WebPage,
    /// Text or bytes of no known kind.
    Garbage,
    /// Longer than any answer of a Chaos API.
    TooLong,
}

impl Body {
    pub(super) fn read(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let text = text.trim();
        if text.is_empty() {
            return Self::Empty;
        }
        if let Ok(value) = serde_json::from_slice(bytes) {
            return Self::Json(value);
        }
        if let Some(code) = s3_code(text) {
            return Self::S3Error(code);
        }
        let head: String = text.chars().take(200).collect::<String>().to_lowercase();
        if head.starts_with("<!doctype html") || head.contains("<html") {
            Self::WebPage
        } else if head.starts_with("<?xml") {
            Self::Xml
        } else {
            Self::Garbage
        }
    }

    /// What it is, for the middle of a sentence.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Empty => "nothing".to_owned(),
            Self::Json(value) => match value["message"].as_str() {
                Some(message) => format!("JSON that says `{}`", printable(message)),
                None => "JSON of another shape".to_owned(),
            },
            Self::S3Error(code) => format!("an S3 error (`{code}`)"),
            Self::Xml => "XML".to_owned(),
            Self::WebPage => "a web page".to_owned(),
            Self::Garbage => "neither JSON nor anything known".to_owned(),
            Self::TooLong => "more than 1 MiB".to_owned(),
        }
    }
}

/// A stranger's words, short and without anything that a terminal would obey.
fn printable(text: &str) -> String {
    let plain = text.chars().filter(|c| !c.is_control());
    plain.take(120).collect()
}

/// The error code of an S3-style error: letters and digits between `<Code>` tags, else no code at all.
fn s3_code(text: &str) -> Option<String> {
    if !text.starts_with('<') || !text.contains("<Error") {
        return None;
    }
    let (_, rest) = text.split_once("<Code>")?;
    let (code, _) = rest.split_once("</Code>")?;
    let plain = code.len() <= 64 && code.chars().all(|c| c.is_ascii_alphanumeric() || c == '.');
    plain.then(|| code.to_owned())
}

impl Answer {
    /// The JSON of a good answer.
    pub(super) fn good_json(&self) -> Option<&Value> {
        match &self.body {
            Body::Json(value) if self.status == 200 => Some(value),
            Body::Json(_)
            | Body::Empty
            | Body::S3Error(_)
            | Body::Xml
            | Body::WebPage
            | Body::Garbage
            | Body::TooLong => None,
        }
    }

    /// Whether the server says that it did what it was told.
    pub(super) fn acknowledged(&self, what: &str) -> Result<(), Problem> {
        match self.status {
            200..=299 => Ok(()),
            _ => Err(self.problem(what)),
        }
    }

    /// Why this is no answer of the thing named (`the health page of http://…`).
    pub(super) fn problem(&self, what: &str) -> Problem {
        let found = self.body.words();
        let status = self.status;
        match status {
            200..=299 => Problem::new(
                ProblemKind::Unexpected,
                format!("{what} should be JSON of a known shape, but is {found}"),
            )
            .hint("something else may listen there; check `on.localstack.endpoint`"),
            300..=399 => Problem::new(
                ProblemKind::Unexpected,
                format!("{what} redirects elsewhere ({status})"),
            )
            .hint("control requests follow no redirect; write the final address as `on.localstack.endpoint`"),
            401 | 403 => Problem::new(
                ProblemKind::Refused,
                format!("{what} is not for us: {status}, {found}"),
            )
            .hint("a proxy or the licence stands in the way; LocalStack itself asks for no credentials here"),
            405 => Problem::new(
                ProblemKind::Unexpected,
                format!("{what} does not take this method (405)"),
            )
            .hint("this is another server, or a LocalStack of another version than the contract's"),
            502..=504 => Problem::new(
                ProblemKind::Unreachable,
                format!("{what} cannot be had now: {status}, {found}"),
            )
            .hint("a proxy in front of it, or a start that is not complete; try again soon"),
            500..=599 => Problem::new(
                ProblemKind::Unexpected,
                format!("{what} failed on the server: {status}, {found}"),
            )
            .hint("LocalStack's own log tells why"),
            _ => Problem::new(
                ProblemKind::Unexpected,
                format!("{what} answers {status}, {found}"),
            )
            .hint("something else may listen there; check `on.localstack.endpoint`"),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn bodies_are_told_apart_by_their_text() {
        for (text, body) in [
            ("", Body::Empty),
            (" \n", Body::Empty),
            ("[1]", Body::Json(json!([1]))),
            (
                "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code></Error>",
                Body::S3Error("NoSuchBucket".to_owned()),
            ),
            ("<?xml version=\"1.0\"?><Other/>", Body::Xml),
            ("<Error><Code>\u{1b}[31m</Code></Error>", Body::Garbage),
            ("<!DOCTYPE HTML><p>", Body::WebPage),
            ("<html><Error>", Body::WebPage),
            ("hello", Body::Garbage),
            ("[1", Body::Garbage),
        ] {
            assert_eq!(Body::read(text.as_bytes()), body, "{text}");
        }
        assert_eq!(Body::read(&[0xff, 0xfe]), Body::Garbage);
    }

    #[test]
    fn what_a_server_says_cannot_drive_a_terminal() {
        let body = Body::Json(json!({"message": format!("no\u{1b}[2J {}", "x".repeat(500))}));
        let words = body.words();
        assert!(words.starts_with("JSON that says `no[2J x"), "{words}");
        assert!(words.len() < 150, "{words}");
    }
}

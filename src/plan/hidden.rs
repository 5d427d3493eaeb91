//! What no error about a document may show: a credential that somebody wrote into it in plain text,
//! where the name of a secret belongs. Errors are read in the logs of build servers.

use std::ops::Range;

use super::tree::{Content, Node};

/// Keys and headers whose values somebody could log in with, in lower case.
const CREDENTIAL_KEYS: &[&str] = &[
    "password",
    "token",
    "authorization",
    "proxy-authorization",
    "cookie",
];

/// Everything below this key is one but for what these keys hold.
const ACCESS_KEY: &str = "auth";
const OPEN_KEYS: &[&str] = &["username", "file"];

/// Shorter texts are left in messages: replacing every `a` would only garble them.
const SHORTEST: usize = 4;

/// The first of a line hides all that follows it; the others are only looked for in messages, and a line
/// of a megabyte may have very many.
const MOST_IN_A_LINE: usize = 16;

/// The credentials of a document by their bytes, and as they are once variables are filled in.
#[derive(Debug, Default)]
pub(super) struct Hidden {
    places: Vec<Range<usize>>,
    texts: Vec<String>,
}

impl Hidden {
    /// Those of a text that has no structure: what stands behind their keys, to the end of the line.
    pub(super) fn in_text(text: &str) -> Self {
        let mut hidden = Self::default();
        hidden.add_users(text);
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.trim_end_matches(['\r', '\n']).len();
            for value in values_in(&text[start..end])
                .into_iter()
                .take(MOST_IN_A_LINE)
            {
                let place = start + value..end;
                hidden.add(text, place.clone(), &text[place]);
            }
            start += line.len();
        }
        hidden
    }

    /// Those of a document.
    pub(super) fn in_tree(root: &Node, text: &str) -> Self {
        let mut hidden = Self::default();
        hidden.add_users(text);
        hidden.walk(root, text, Below::Anything);
        hidden
    }

    fn walk(&mut self, node: &Node, text: &str, below: Below) {
        match &node.content {
            Content::Scalar(scalar) if below == Below::Credential => {
                self.add(text, node.span.clone(), &scalar.text);
            }
            Content::Scalar(_) => {}
            Content::List(items) => {
                for item in items {
                    self.walk(item, text, below);
                }
            }
            Content::Map(entries) => {
                for entry in entries {
                    self.walk(&entry.value, text, below.then(&entry.key));
                }
            }
        }
    }

    /// What stands in an URL in front of its host.
    fn add_users(&mut self, text: &str) {
        for (at, mark) in text.match_indices("://") {
            let start = at + mark.len();
            let rest = &text[start..];
            let end = rest.find(|c: char| c.is_whitespace() || "/?#\"'".contains(c));
            let host = &rest[..end.unwrap_or(rest.len())];
            if let Some(user) = host.rfind('@') {
                self.add(text, start..start + user, &host[..user]);
            }
        }
    }

    fn add(&mut self, text: &str, place: Range<usize>, value: &str) {
        let written = text.get(place.clone()).unwrap_or_default();
        if !only_names(written) {
            self.places.push(place);
        }
        for text in [written, value] {
            let text = bare(text);
            if text.len() >= SHORTEST && !only_names(text) {
                self.texts.push(text.to_owned());
            }
        }
    }

    /// The document with asterisks in their places: as many bytes on as many lines.
    pub(super) fn masked(&self, text: &str) -> String {
        let mut is_hidden = vec![false; text.len()];
        for place in &self.places {
            is_hidden[place.clone()].fill(true);
        }
        let mut masked = String::with_capacity(text.len());
        for (at, letter) in text.char_indices() {
            if is_hidden[at] && !letter.is_whitespace() && !"\"'".contains(letter) {
                masked.extend(std::iter::repeat_n('*', letter.len_utf8()));
            } else {
                masked.push(letter);
            }
        }
        masked
    }

    /// A message without any of them.
    pub(super) fn taken_out_of(&self, message: &str) -> String {
        let mut clean = message.to_owned();
        for text in &self.texts {
            clean = clean.replace(text, "…");
        }
        clean
    }
}

/// Where the values behind the credential keys of a line begin, in order; each goes on to its end.
fn values_in(line: &str) -> Vec<usize> {
    let folded = line.to_ascii_lowercase();
    let mut values = Vec::new();
    for key in CREDENTIAL_KEYS {
        for (at, _) in folded.match_indices(key) {
            let behind = &line[at + key.len()..];
            let value = behind.trim_start_matches(['"', '\'']).trim_start();
            if let Some(value) = value.strip_prefix(':') {
                values.push(line.len() - value.len());
            }
        }
    }
    values.sort_unstable();
    values
}

/// What a key leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Below {
    Anything,
    Credential,
}

impl Below {
    fn then(self, key: &str) -> Self {
        let key = key.to_ascii_lowercase();
        if OPEN_KEYS.contains(&key.as_str()) {
            Self::Anything
        } else if key == ACCESS_KEY || CREDENTIAL_KEYS.contains(&key.as_str()) {
            Self::Credential
        } else {
            self
        }
    }
}

fn bare(text: &str) -> &str {
    text.trim_matches(|c: char| c.is_whitespace() || c == '"' || c == '\'')
}

/// Whether it is made of nothing but `${NAME}`, `${secret:NAME}` and the word before a token: to see
/// which helps, and gives nothing away.
fn only_names(written: &str) -> bool {
    let mut rest = bare(written);
    loop {
        rest = rest.trim_start();
        if let Some(behind) = ["Bearer ", "Basic "]
            .iter()
            .find_map(|word| rest.strip_prefix(word))
        {
            rest = behind;
            continue;
        }
        let Some((name, behind)) = rest
            .strip_prefix("${")
            .and_then(|name| name.split_once('}'))
        else {
            return rest.is_empty();
        };
        let name = name.strip_prefix("secret:").unwrap_or(name);
        if !name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return false;
        }
        rest = behind;
    }
}

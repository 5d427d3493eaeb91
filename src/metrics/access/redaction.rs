//! What is taken out of every text that a server sent: secrets as they are, and as they look inside
//! a header, a page, a URL or JSON.

use std::sync::{Mutex, PoisonError};

use crate::model::secret::{Secret, Secrets};

/// Stands where a secret stood whose name is not known.
const HIDDEN: &str = "(redacted)";

/// Shorter ones are left where they stand, as everywhere.
const SHORTEST: usize = 4;

/// Tokens of a file that may still be in an answer: the one in use and the one before.
const RECENT: usize = 2;

pub(super) struct Redaction {
    secrets: Secrets,
    /// Longest first, so that no part of one is left where another is part of it.
    hidden: Vec<Secret>,
    /// Newest last.
    recent: Mutex<Vec<Secret>>,
}

impl Redaction {
    pub(super) fn new(secrets: Secrets) -> Self {
        Self {
            secrets,
            hidden: Vec::new(),
            recent: Mutex::default(),
        }
    }

    /// Hides a value for good.
    pub(super) fn hide(&mut self, value: &Secret) {
        self.hidden.extend(spellings(value));
        self.hidden
            .sort_by_key(|value| std::cmp::Reverse(value.expose().len()));
    }

    /// Hides a value until two others came after it.
    pub(super) fn hide_for_now(&self, value: Secret) {
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if recent.iter().all(|one| one.expose() != value.expose()) {
            if recent.len() == RECENT {
                recent.remove(0);
            }
            recent.push(value);
        }
    }

    pub(super) fn redacted(&self, text: &str) -> String {
        let mut clean = text.to_owned();
        for value in &self.hidden {
            clean = without(clean, value);
        }
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        for value in recent.iter().flat_map(spellings) {
            clean = without(clean, &value);
        }
        self.secrets.redacted(&clean)
    }
}

fn without(text: String, value: &Secret) -> String {
    if value.expose().len() >= SHORTEST && text.contains(value.expose()) {
        text.replace(value.expose(), HIDDEN)
    } else {
        text
    }
}

/// A value as it is, and as JSON, HTML and a URL write it.
fn spellings(value: &Secret) -> Vec<Secret> {
    let value = value.expose();
    let json = serde_json::Value::from(value).to_string();
    let html = value
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;");
    let mut all = vec![
        value.to_owned(),
        json[1..json.len() - 1].to_owned(),
        html.replace('"', "&#34;").replace('\'', "&#39;"),
        html.replace('"', "&quot;"),
        html,
        url::form_urlencoded::byte_serialize(value.as_bytes()).collect(),
    ];
    all.sort_by_key(|spelling| std::cmp::Reverse(spelling.len()));
    all.dedup();
    all.into_iter().map(Secret::new).collect()
}

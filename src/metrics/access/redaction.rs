//! What is taken out of every text that a server sent: secrets, and what was made of them to be sent.

use std::sync::{Mutex, PoisonError};

use crate::model::secret::{Secret, Secrets};

/// Stands where a secret stood whose name is not known.
const HIDDEN: &str = "(redacted)";

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
        self.hidden.push(value.clone());
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
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        let mut clean = text.to_owned();
        for value in self.hidden.iter().chain(recent.iter()) {
            clean = value.hidden_in(&clean, HIDDEN);
        }
        self.secrets.redacted(&clean)
    }
}

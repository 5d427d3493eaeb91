//! How a server is reached: over which client, with which headers, and what of it is never shown.
//!
//! For every source that asks a server of the user's. Credentials over plain `http` are allowed: a
//! Prometheus inside a cluster has no TLS as a rule, and the plan shows the URL to whoever approves
//! it.

mod redaction;
mod tls;
mod token;

use std::path::PathBuf;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};

use super::{Access, Auth, BearerToken, SourceSetup};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::secret::Secret;
use redaction::Redaction;

/// Who asks one server, and over what.
pub(super) struct Caller {
    client: reqwest::Client,
    /// Those that are the same in every request.
    headers: HeaderMap,
    token_file: Option<PathBuf>,
    redaction: Redaction,
    identity: Identity,
}

/// Whether the server can know who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Identity {
    Nobody,
    Somebody,
}

impl Caller {
    /// Reads the files of certificates and fills the secrets in; nothing is sent yet.
    ///
    /// # Errors
    /// A secret is not set, a header cannot be sent, a file of certificates cannot be used.
    pub(super) fn new(access: &Access, url: &str, setup: &SourceSetup) -> Result<Self, Problem> {
        let mut caller = Self {
            client: match &access.tls {
                Some(files) => tls::client(files, url)?,
                None => setup.clients.http(url).clone(),
            },
            headers: HeaderMap::new(),
            token_file: None,
            redaction: Redaction::new(setup.secrets.clone()),
            identity: Identity::Nobody,
        };
        let certificate = access.tls.as_ref().and_then(|tls| tls.certificate.as_ref());
        if access.auth.is_some() || !access.headers.is_empty() || certificate.is_some() {
            caller.identity = Identity::Somebody;
        }
        if let Some(auth) = &access.auth {
            caller.authenticate(auth, setup)?;
        }
        for (name, text) in &access.headers {
            let value = text.filled(&setup.secrets)?;
            if !text.names().is_empty() {
                caller.redaction.hide(&value);
            }
            caller.add_header(name, &value)?;
        }
        Ok(caller)
    }

    fn authenticate(&mut self, auth: &Auth, setup: &SourceSetup) -> Result<(), Problem> {
        let value = match auth {
            Auth::Bearer(BearerToken::File(path)) => {
                self.token_file = Some(path.clone());
                return Ok(());
            }
            Auth::Bearer(BearerToken::Token(text)) => {
                let token = text.filled(&setup.secrets)?;
                self.redaction.hide(&token);
                bearer(&token)
            }
            Auth::Basic { username, password } => {
                if username.contains(':') {
                    return Err(invalid(format!(
                        "the user's name `{username}` holds a colon"
                    )));
                }
                let password = password.filled(&setup.secrets)?;
                let pair = format!("{username}:{}", password.expose());
                let coded = Secret::new(STANDARD.encode(pair));
                self.redaction.hide(&password);
                self.redaction.hide(&coded);
                Secret::new(format!("Basic {}", coded.expose()))
            }
        };
        self.add_header(AUTHORIZATION.as_str(), &value)
    }

    fn add_header(&mut self, name: &str, value: &Secret) -> Result<(), Problem> {
        let key = HeaderName::from_bytes(name.as_bytes())
            .map_err(|_| invalid(format!("`{name}` is no name of a header")))?;
        if key == AUTHORIZATION && self.token_file.is_some() || self.headers.contains_key(&key) {
            return Err(invalid(format!("the header `{name}` is given twice")));
        }
        let value = sensitive(value).ok_or_else(|| {
            invalid(format!(
                "the value of the header `{name}` holds a line break, or another character that no header can carry"
            ))
        })?;
        self.headers.insert(key, value);
        Ok(())
    }

    /// The client; it follows no redirect.
    pub(super) fn client(&self) -> &reqwest::Client {
        &self.client
    }

    /// Whether nothing in a request tells who asks.
    pub(super) fn is_nobody(&self) -> bool {
        self.identity == Identity::Nobody
    }

    /// The headers of one request; a token's file is read for each.
    ///
    /// # Errors
    /// The file of the token cannot be used; one sentence that names it.
    pub(super) async fn headers(&self) -> Result<HeaderMap, String> {
        let mut headers = self.headers.clone();
        if let Some(path) = &self.token_file {
            let token = token::read(path).await?;
            let value = sensitive(&bearer(&token)).ok_or_else(|| {
                format!(
                    "the token file {} holds more than one line, or what no header can carry",
                    path.display()
                )
            })?;
            self.redaction.hide_for_now(token);
            headers.insert(AUTHORIZATION, value);
        }
        Ok(headers)
    }

    /// A text without any secret.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.redaction.redacted(text)
    }

    /// A stranger's words: without any secret, on one line, short, and with nothing that a terminal
    /// would obey.
    pub(super) fn quoted(&self, text: &str) -> String {
        let clean = self.redaction.redacted(text);
        let plain: String = clean
            .chars()
            .map(|letter| if letter.is_control() { ' ' } else { letter })
            .collect();
        let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
        match line.char_indices().nth(LONGEST_QUOTE) {
            None => line,
            Some((at, _)) => format!("{}…", &line[..at]),
        }
    }
}

/// Characters of a stranger's words that are shown, at most.
const LONGEST_QUOTE: usize = 200;

fn bearer(token: &Secret) -> Secret {
    Secret::new(format!("Bearer {}", token.expose()))
}

/// A header value that no debug output shows.
fn sensitive(value: &Secret) -> Option<HeaderValue> {
    let mut value = HeaderValue::from_str(value.expose()).ok()?;
    value.set_sensitive(true);
    Some(value)
}

fn invalid(message: String) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

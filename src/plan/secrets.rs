//! Whether the secrets that a document names can be had, before anybody is asked anything.

use std::collections::BTreeSet;

use super::tree::key_path;
use crate::metrics::{Access, Auth, BearerToken, MetricSpecs};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::secret::{Secret, SecretText, Secrets};

/// The secrets that are named and cannot be used, each once, with the place of the first that names
/// it.
pub fn unusable_secrets(specs: &MetricSpecs, secrets: &Secrets) -> Vec<(String, Problem)> {
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for (path, text) in secret_texts(specs) {
        for name in text.names() {
            if seen.insert(name)
                && let Err(problem) = secrets.find(name).and_then(|value| fits(name, value))
            {
                found.push((path.clone(), problem));
            }
        }
    }
    found
}

/// Every secret ends up in a header.
fn fits(name: &str, value: &Secret) -> Result<(), Problem> {
    if !value.expose().contains(char::is_control) {
        return Ok(());
    }
    let message = format!(
        "the secret `{name}` holds a line break or another control character, which no header can carry"
    );
    Err(Problem::new(ProblemKind::Invalid, message).hint(format!(
        "look at CHAOS_SECRET_{name}, or at the file that CHAOS_SECRET_{name}_FILE names"
    )))
}

/// Every text of a document in which secrets may stand, with its path.
fn secret_texts(specs: &MetricSpecs) -> Vec<(String, &SecretText)> {
    let prometheus = specs.prometheus.as_ref().map(|spec| &spec.access);
    let scrape = specs.scrape.as_ref().map(|spec| &spec.access);
    [
        ("metrics.prometheus", prometheus),
        ("metrics.scrape", scrape),
    ]
    .into_iter()
    .filter_map(|(above, access)| Some(texts_of(above, access?)))
    .flatten()
    .collect()
}

fn texts_of<'a>(above: &str, access: &'a Access) -> Vec<(String, &'a SecretText)> {
    let credential = match &access.auth {
        Some(Auth::Bearer(BearerToken::Token(token))) => Some(("auth.bearer.token", token)),
        Some(Auth::Basic { password, .. }) => Some(("auth.basic.password", password)),
        Some(Auth::Bearer(BearerToken::File(_))) | None => None,
    };
    let credential = credential.map(|(below, text)| (format!("{above}.{below}"), text));
    let headers = format!("{above}.headers");
    let headers = access
        .headers
        .iter()
        .map(|(name, text)| (key_path(&headers, name), text));
    credential.into_iter().chain(headers).collect()
}

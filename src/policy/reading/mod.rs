//! Text → policy, with every problem of the text at once.
//!
//! Every reader gives back what holds without its part when that part is wrong: the problem is on the
//! list by then, so that nothing is made of the rest. Files that a policy names are read by whoever
//! asks for the policy.

pub(super) mod approval;
pub(super) mod calendar;
pub(super) mod environment;
mod lists;

use std::collections::BTreeMap;

use super::built_in::{self, BUILT_IN};
use super::document::{Environment, HostPattern, Policy, Production};
use crate::model::ids::Name;
use crate::model::pattern::Pattern;
use crate::model::problem::Problem;
use crate::plan::decode::Cursor;
use crate::plan::fields::Fields;
use crate::plan::load::{DocumentKind, Filling, check_kind, load_document};
use crate::plan::variables::is_secret_name;
use crate::plan::{DocumentError, Source};

pub(super) const KEYS: &[&str] = &[
    "apiVersion",
    "kind",
    "metadata",
    "defaults",
    "environments",
    "production",
    "protectedNamespaces",
    "deniedHosts",
    "variables",
    "secrets",
];
pub(super) const METADATA_KEYS: &[&str] = &["name"];
pub(super) const PRODUCTION_KEYS: &[&str] = &["words", "patterns", "named"];
pub(super) const VARIABLES_KEYS: &[&str] = &["fromEnvironment"];
pub(super) const SECRET_KEYS: &[&str] = &["hosts"];

const ENVIRONMENTS: &str =
    "environments: {staging: {proof: {localstack: {hosts: [\"localstack.example.com:4566\"]}}}}";

/// Reads a file that a policy names, by the path that stands there.
pub type ReadFile<'a> = &'a dyn Fn(&str) -> Result<String, Problem>;

/// Reads a policy.
///
/// # Errors
/// Everything that is wrong in the document, each with its place.
pub fn load_policy(source: &Source, files: ReadFile<'_>) -> Result<Policy, DocumentError> {
    let ((policy, _), _) = load_document(source, Filling::Refused, |root, problems| {
        let root = Cursor::root(root, source.body(), problems);
        let fields = check_kind(&root, DocumentKind::Policy)?;
        read(&fields, files)
    })?;
    Ok(policy)
}

fn read(document: &Fields<'_>, files: ReadFile<'_>) -> Option<Policy> {
    let fields = document.cursor().fields(KEYS)?;
    let plain = built_in::built_in();
    let name = name(&fields);
    let defaults = at(&fields, "defaults", built_in::defaults(), |cursor| {
        environment::defaults(cursor, files)
    });
    let environments = fields
        .required("environments", ENVIRONMENTS)
        .map(|cursor| environments(&cursor, &defaults, files));
    let production = at(&fields, "production", plain.production, |cursor| {
        production(cursor)
    });
    let namespaces = at(&fields, "protectedNamespaces", Vec::new(), lists::patterns);
    let denied_hosts = at(&fields, "deniedHosts", Vec::new(), lists::hosts);
    let variables = at(&fields, "variables", Vec::new(), |cursor| {
        let fields = cursor.fields(VARIABLES_KEYS)?;
        lists::patterns(&fields.required("fromEnvironment", "fromEnvironment: [AWS_REGION]")?)
    });
    let secret_hosts = at(&fields, "secrets", BTreeMap::new(), |cursor| {
        Some(secrets(&cursor.free_fields()?))
    });
    Some(Policy {
        name: name?,
        environments: environments?,
        production,
        // Those of Kubernetes itself are protected whatever a list forgets.
        protected_namespaces: lists::set(
            plain
                .protected_namespaces
                .into_iter()
                .chain(namespaces)
                .collect(),
        ),
        denied_hosts,
        environment_variables: variables,
        secret_hosts,
        path: None,
        open_to_others: Vec::new(),
    })
}

/// What stands at a key, or what holds without it.
fn at<T>(
    fields: &Fields<'_>,
    key: &str,
    without: T,
    read: impl FnOnce(&Cursor<'_>) -> Option<T>,
) -> T {
    fields
        .optional(key)
        .and_then(|cursor| read(&cursor))
        .unwrap_or(without)
}

fn name(fields: &Fields<'_>) -> Option<String> {
    let metadata = fields
        .required("metadata", "metadata: {name: our-policy}")?
        .fields(METADATA_KEYS)?;
    let cursor = metadata.required("name", "name: our-policy")?;
    let name: Name = cursor.parsed_text()?;
    if name.as_str() == BUILT_IN {
        cursor.report(
            format!("`{BUILT_IN}` is the policy that applies where there is no file"),
            "write another name",
        );
        return None;
    }
    Some(name.to_string())
}

fn environments(
    cursor: &Cursor<'_>,
    defaults: &Environment,
    files: ReadFile<'_>,
) -> BTreeMap<String, Environment> {
    let Some(fields) = cursor.free_fields() else {
        return BTreeMap::new();
    };
    let mut found = BTreeMap::new();
    for (name, value) in fields.all() {
        if !is_environment_name(name) {
            value.report(
                format!("`{name}` is no name of an environment"),
                "write at most 100 characters on one line, and no blank at either end",
            );
        }
        if let Some(environment) = environment::read(&value, name, defaults, files) {
            found.insert(name.to_owned(), environment);
        }
    }
    if fields.all().next().is_none() {
        cursor.report(
            "`environments` names no environment, so that nothing could run",
            format!("write one: `{ENVIRONMENTS}`"),
        );
    }
    found
}

/// As an experiment can name one.
fn is_environment_name(name: &str) -> bool {
    !name.is_empty()
        && name.trim() == name
        && name.chars().count() <= 100
        && !name.contains(char::is_control)
}

fn production(cursor: &Cursor<'_>) -> Option<Production> {
    let fields = cursor.fields(PRODUCTION_KEYS)?;
    let built_in = built_in::built_in().production;
    Some(Production {
        words: at(&fields, "words", built_in.words, |cursor| {
            lists::each(cursor, word)
        }),
        patterns: at(&fields, "patterns", built_in.patterns, lists::patterns),
        named: at(&fields, "named", built_in.named, lists::patterns),
    })
}

/// A word that production is known by. Names are taken apart at everything but letters and digits,
/// and digits at a word's end make no other word of it.
fn word(cursor: &Cursor<'_>) -> Option<String> {
    let word = cursor.line()?.to_lowercase();
    if !word.chars().all(char::is_alphanumeric) {
        cursor.report(
            format!("`{word}` is no single word"),
            format!("write letters and digits only, or `*{word}*` under `patterns`"),
        );
        return None;
    }
    let bare = word.trim_end_matches(|c: char| c.is_ascii_digit());
    if bare != word {
        cursor.report(
            format!("`{word}` ends with a digit, and digits at a word's end do not count"),
            format!("write `{bare}`, which fits `{word}` too, or a pattern under `patterns`"),
        );
        return None;
    }
    Some(word)
}

fn secrets(fields: &Fields<'_>) -> BTreeMap<String, Vec<HostPattern>> {
    let mut found = BTreeMap::new();
    for (name, value) in fields.all() {
        if !is_secret_name(name) {
            value.report(
                format!("`{name}` is no name of a secret"),
                "use capital letters, digits and `_`, and no digit first: `PROM_TOKEN`",
            );
        }
        let hosts = value
            .fields(SECRET_KEYS)
            .and_then(|fields| fields.required("hosts", "hosts: [prometheus.example.com]"))
            .and_then(|cursor| lists::some_hosts(&cursor));
        found.insert(name.to_owned(), hosts.unwrap_or_default());
    }
    found
}

//! Reads how a metric source is reached: `auth`, `headers` and `tls`.
//!
//! What somebody could log in with is refused in a document: plans and journals show those, and so
//! they hold the name of a secret at most.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::decode::Cursor;
use super::fields::Fields;
use crate::metrics::{Access, Auth, BearerToken, TlsFiles};
use crate::model::secret::SecretText;

pub(super) const AUTH_KEYS: &[&str] = &["basic", "bearer"];
pub(super) const BEARER_KEYS: &[&str] = &["file", "token"];
pub(super) const BASIC_KEYS: &[&str] = &["username", "password"];
pub(super) const TLS_KEYS: &[&str] = &["ca", "certificate", "key"];

/// Headers that hold credentials, in lower case.
const CREDENTIAL_HEADERS: &[&str] = &[
    "authorization",
    "proxy-authorization",
    "cookie",
    "api-key",
    "apikey",
    "x-api-key",
    "x-auth-token",
    "x-access-token",
    "private-token",
];

/// The access of a source that asks these URLs. `None`: a part of it is wrong, and has been told.
pub(super) fn read<'u>(fields: &Fields<'_>, urls: impl Iterator<Item = &'u str>) -> Option<Access> {
    let auth = fields.optional("auth").map(|cursor| auth(&cursor));
    let headers = fields.optional("headers");
    let headers = headers.map(|cursor| self::headers(&cursor, fields.has("auth")));
    let tls = fields.optional("tls").map(|cursor| {
        let files = tls(&cursor);
        report_without_tls(&cursor, urls);
        files
    });
    Some(Access {
        auth: given(auth)?,
        headers: given(headers)?.unwrap_or_default(),
        tls: given(tls)?,
    })
}

/// What is not there is fine; what is there and wrong is not.
fn given<T>(found: Option<Option<T>>) -> Option<Option<T>> {
    match found {
        None => Some(None),
        Some(found) => found.map(Some),
    }
}

fn auth(cursor: &Cursor<'_>) -> Option<Auth> {
    let fields = cursor.fields(AUTH_KEYS)?;
    match fields.one_of(AUTH_KEYS, "bearer: {token: \"${secret:PROM_TOKEN}\"}")? {
        ("bearer", value) => bearer(&value).map(Auth::Bearer),
        (_, value) => basic(&value),
    }
}

fn bearer(cursor: &Cursor<'_>) -> Option<BearerToken> {
    let fields = cursor.fields(BEARER_KEYS)?;
    match fields.one_of(BEARER_KEYS, "token: \"${secret:PROM_TOKEN}\"")? {
        ("token", value) => credential(&value, "PROM_TOKEN").map(BearerToken::Token),
        (_, value) => absolute_path(&value).map(BearerToken::File),
    }
}

fn basic(cursor: &Cursor<'_>) -> Option<Auth> {
    let fields = cursor.fields(BASIC_KEYS)?;
    let username = fields
        .required("username", "username: grafana")
        .and_then(|cursor| username(&cursor));
    let password = fields
        .required("password", "password: \"${secret:PROM_PASSWORD}\"")
        .and_then(|cursor| credential(&cursor, "PROM_PASSWORD"));
    Some(Auth::Basic {
        username: username?,
        password: password?,
    })
}

fn username(cursor: &Cursor<'_>) -> Option<String> {
    let name = cursor.line()?;
    if name.contains(':') {
        cursor.report(
            format!("`{name}` is no name for basic authentication: it has a colon"),
            "write only the name; the password has a key of its own",
        );
        return None;
    }
    Some(name.to_owned())
}

/// A secret and nothing else. What stands here instead is not said again: it may be one.
fn credential(cursor: &Cursor<'_>, example: &str) -> Option<SecretText> {
    let name = cursor.name();
    let way_out = format!(
        "write `${{secret:{example}}}` and nothing else, and set CHAOS_SECRET_{example} where it is used"
    );
    if cursor.raw().is_some() {
        cursor.report(
            format!("{name} stands here in plain text: take it out of the document"),
            way_out,
        );
        return None;
    }
    let text = cursor.secret_text()?;
    let whole = match text.names().as_slice() {
        [name] => text.as_written() == format!("${{secret:{name}}}"),
        _ => false,
    };
    if !whole {
        cursor.report(format!("{name} is more than one secret"), way_out);
        return None;
    }
    Some(text)
}

fn headers(cursor: &Cursor<'_>, has_auth: bool) -> Option<BTreeMap<String, SecretText>> {
    let mut headers = BTreeMap::new();
    let mut seen = BTreeSet::new();
    let mut all = 0;
    for (name, value) in cursor.free_fields()?.all() {
        all += 1;
        header_name(name, &value);
        if !seen.insert(name.to_ascii_lowercase()) {
            value.report(
                format!("the header `{name}` stands here twice"),
                "keep one of the two: capital letters make no difference",
            );
        }
        let Some(text) = value.secret_text() else {
            continue;
        };
        header_value(name, text.as_written(), &value);
        report_credentials(name, &text, &value, has_auth);
        headers.insert(name.to_owned(), text);
    }
    (headers.len() == all).then_some(headers)
}

fn report_credentials(name: &str, text: &SecretText, value: &Cursor<'_>, has_auth: bool) {
    let lower = name.to_ascii_lowercase();
    if lower == "authorization" && has_auth {
        value.report(
            format!("`auth` and the header `{name}` exclude each other"),
            "keep one of them",
        );
    } else if CREDENTIAL_HEADERS.contains(&lower.as_str()) && text.names().is_empty() {
        value.report(
            format!(
                "the header `{name}` holds credentials in plain text: take them out of the document"
            ),
            "write a secret: `${secret:NAME}`, with CHAOS_SECRET_NAME set where it is used",
        );
    }
}

/// Says what is wrong with a header's name.
pub(super) fn header_name(name: &str, value: &Cursor<'_>) {
    let token = |c: char| c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c);
    if name.is_empty() || !name.chars().all(token) {
        value.report(
            format!("`{name}` is no header name"),
            "use letters, digits and hyphens: `content-type`",
        );
    }
}

/// Says what is wrong with a header's value.
pub(super) fn header_value(name: &str, text: &str, value: &Cursor<'_>) {
    let fits = |c: char| c == '\t' || c == ' ' || c.is_ascii_graphic();
    if !text.chars().all(fits) {
        value.report(
            format!("the value of the header `{name}` is not plain ASCII on one line"),
            "write it with visible ASCII characters and spaces",
        );
    }
}

fn tls(cursor: &Cursor<'_>) -> Option<TlsFiles> {
    let fields = cursor.fields(TLS_KEYS)?;
    if fields.all().next().is_none() {
        cursor.report("`tls` names no file", "add `ca: /etc/ssl/our-ca.pem`");
        return None;
    }
    for (one, other) in [("certificate", "key"), ("key", "certificate")] {
        if fields.has(one) && !fields.has(other) {
            cursor.report(
                format!("`tls` has a `{one}` and no `{other}`"),
                format!("add `{other}: /…`: a server believes a certificate only with its key"),
            );
        }
    }
    let path = |key: &str| given(fields.optional(key).map(|cursor| absolute_path(&cursor)));
    let (ca, certificate, key) = (path("ca"), path("certificate"), path("key"));
    Some(TlsFiles {
        ca: ca?,
        certificate: certificate?,
        key: key?,
    })
}

fn report_without_tls<'u>(cursor: &Cursor<'_>, urls: impl Iterator<Item = &'u str>) {
    let mut urls = urls.peekable();
    if urls.peek().is_some() && !urls.any(|url| url.to_ascii_lowercase().starts_with("https:")) {
        cursor.report(
            "`tls` has nothing to do: what is asked is asked by plain http",
            "write `https://` in the URL, or take `tls` away",
        );
    }
}

/// Relative to which folder would depend on where somebody types.
fn absolute_path(cursor: &Cursor<'_>) -> Option<PathBuf> {
    let text = cursor.filled_text()?;
    let path = Path::new(text);
    if !path.is_absolute() {
        cursor.report(
            format!("`{text}` is no absolute path"),
            "write it from `/` on: a plan means the same from every folder",
        );
        return None;
    }
    Some(path.to_owned())
}

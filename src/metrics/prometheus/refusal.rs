//! A status other than success, in words: what the server said and what it means for the SLO.

use reqwest::header::{LOCATION, RETRY_AFTER};
use reqwest::{Response, StatusCode};
use serde::Deserialize;

use super::trouble::Trouble;
use crate::metrics::access::Caller;

/// What a refused request means.
pub(super) fn trouble(response: &Response, body: &[u8], address: &str, caller: &Caller) -> Trouble {
    let status = response.status();
    let header = |name| {
        let value = response.headers().get(name)?;
        Some(caller.quoted(&String::from_utf8_lossy(value.as_bytes())))
    };
    let said = first_words(body).map(|words| caller.quoted(&words));
    match status.as_u16() {
        300..=399 => redirected(status, address, header(LOCATION)),
        400 | 422 if is_of_the_api(body) => bad_query(said.as_deref().unwrap_or("no reason given")),
        429 => Trouble::passing(with(
            match header(RETRY_AFTER) {
                None => "too many requests (429)".to_owned(),
                Some(after) => format!("too many requests (429), again after {}", seconds(&after)),
            },
            said,
        )),
        408 | 425 | 500..=599 => Trouble::passing(with(answers(status), said)),
        _ => Trouble::Refused {
            why: with(answers(status), said),
            way_out: way_out(status, address, caller),
        },
    }
}

/// A query that the server cannot read or evaluate.
pub(super) fn bad_query(said: &str) -> Trouble {
    Trouble::Refused {
        why: format!("Prometheus refuses the query: {said}"),
        way_out: "correct the query".to_owned(),
    }
}

fn redirected(status: StatusCode, address: &str, location: Option<String>) -> Trouble {
    let to = location.map_or_else(|| "nowhere".to_owned(), |location| place(&location));
    Trouble::Refused {
        why: format!("{address} redirects to {to} ({})", status.as_u16()),
        way_out: "no redirect is followed: write the final address as the URL".to_owned(),
    }
}

/// Where a redirect leads, without what only its reader should know: a sign-in page's state, a
/// user's name.
fn place(location: &str) -> String {
    let end = location.find(['?', '#']).unwrap_or(location.len());
    let (scheme, rest) = match location[..end].split_once("//") {
        Some((scheme, rest)) => (format!("{scheme}//"), rest),
        None => (String::new(), &location[..end]),
    };
    let host = rest.find('/').unwrap_or(rest.len());
    let start = rest[..host].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}{}", &rest[start..])
}

fn way_out(status: StatusCode, address: &str, caller: &Caller) -> String {
    match status.as_u16() {
        401 | 403 if caller.is_nobody() => {
            "say who asks, under `metrics.prometheus`: a bearer token, a password, a tenant header"
                .to_owned()
        }
        401 => "the credentials under `metrics.prometheus` are not accepted".to_owned(),
        403 => "the credentials under `metrics.prometheus` may not read this".to_owned(),
        404 => format!("correct the URL: the API is looked for at {address}/api/v1"),
        _ => "check the URL, and what stands between here and Prometheus".to_owned(),
    }
}

fn answers(status: StatusCode) -> String {
    match status.canonical_reason() {
        Some(reason) => format!("Prometheus answers {} {reason}", status.as_u16()),
        None => format!("Prometheus answers {}", status.as_u16()),
    }
}

fn with(what: String, said: Option<String>) -> String {
    match said {
        None => what,
        Some(said) => format!("{what}: {said}"),
    }
}

/// `Retry-After` is a number of seconds or a date (RFC 9110).
fn seconds(after: &str) -> String {
    match after.parse::<u32>() {
        Ok(seconds) => format!("{seconds}s"),
        Err(_) => after.to_owned(),
    }
}

#[derive(Deserialize)]
struct Told {
    error: Option<String>,
    message: Option<String>,
}

/// Whether an error is Prometheus's own and not that of something in between.
fn is_of_the_api(body: &[u8]) -> bool {
    serde_json::from_slice::<Told>(body).is_ok_and(|told| told.error.is_some())
}

/// What a body says first: the message in JSON, the title of a page, the first line of a text.
pub(super) fn first_words(body: &[u8]) -> Option<String> {
    if let Ok(told) = serde_json::from_slice::<Told>(body)
        && let Some(words) = told.error.or(told.message)
    {
        return Some(words);
    }
    let text = String::from_utf8_lossy(body);
    let text = title(&text).map_or_else(|| without_tags(&text), str::to_owned);
    let mut lines = text.lines().map(str::trim);
    lines.find(|line| !line.is_empty()).map(str::to_owned)
}

fn title(page: &str) -> Option<&str> {
    // Lower-casing ASCII keeps every place in the text.
    let folded = page.to_ascii_lowercase();
    let open = folded.find("<title>")? + "<title>".len();
    let close = open + folded[open..].find("</title>")?;
    Some(page[open..close].trim()).filter(|title| !title.is_empty())
}

fn without_tags(page: &str) -> String {
    if !page.trim_start().starts_with('<') {
        return page.to_owned();
    }
    let mut text = String::new();
    for piece in page.split('<') {
        let after = piece.split_once('>').map_or(piece, |(_, after)| after);
        text.push_str(after);
        text.push(' ');
    }
    text
}

//! The request that the generator sends, checked once, with a place for each request's own id.

use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use reqwest::{Method, Request};
use url::Url;

use crate::metrics::TrafficSpec;
use crate::model::problem::{Problem, ProblemKind};

/// The header that carries each request's id; one that the document sets is replaced.
const ID_HEADER: HeaderName = HeaderName::from_static("x-chaos-request-id");

/// What becomes the id in URL and body.
const ID_PLACE: &str = "{id}";

pub(super) struct Template {
    method: Method,
    url: UrlTemplate,
    headers: HeaderMap,
    body: Option<String>,
    tag: String,
}

enum UrlTemplate {
    Same(Url),
    /// Text, known to be a URL of one and the same origin with any id in it.
    WithId(String),
}

impl Template {
    /// Reads what a document says about the request.
    ///
    /// # Errors
    /// URL, method or headers that cannot be sent.
    pub(super) fn parse(spec: &TrafficSpec, tag: &str) -> Result<Self, Problem> {
        let method = Method::from_bytes(spec.method.as_bytes()).map_err(|_| {
            wrong(format!("`{}` is no HTTP method", spec.method)).hint("write GET, POST, PUT, …")
        })?;
        let mut headers = HeaderMap::new();
        for (name, value) in &spec.headers {
            let (name, value) = header(name, value)?;
            headers.insert(name, value);
        }
        if spec.body.is_some() && !headers.contains_key(CONTENT_TYPE) {
            headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        }
        Ok(Self {
            method,
            url: url(&spec.url)?,
            headers,
            body: spec.body.clone(),
            tag: plain(tag),
        })
    }

    /// The request with this number.
    pub(super) fn request(&self, number: u64) -> Request {
        let id = format!("{}-{number}", self.tag);
        let url = match &self.url {
            UrlTemplate::Same(url) => url.clone(),
            UrlTemplate::WithId(text) => text
                .replace(ID_PLACE, &id)
                .parse()
                .expect("an id of letters, digits, `-`, `_` and `.` leaves a URL a URL"),
        };
        let mut request = Request::new(self.method.clone(), url);
        *request.headers_mut() = self.headers.clone();
        *request.body_mut() = self
            .body
            .as_ref()
            .map(|body| body.replace(ID_PLACE, &id).into());
        let id = HeaderValue::from_str(&id).expect("an id is plain ASCII");
        request.headers_mut().insert(ID_HEADER, id);
        request
    }
}

fn url(text: &str) -> Result<UrlTemplate, Problem> {
    let parse = |id: &str| {
        let filled = text.replace(ID_PLACE, id);
        Url::parse(&filled).map_err(|why| {
            wrong(format!("`{text}` is no URL: {why}"))
                .hint("write an absolute one: `http://127.0.0.1:8080/orders/{id}`")
        })
    };
    let url = parse("a-1")?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(
            wrong(format!("`{text}` is neither http nor https")).hint("traffic is HTTP only")
        );
    }
    if !text.contains(ID_PLACE) {
        return Ok(UrlTemplate::Same(url));
    }
    // Whoever approved the plan approved one host.
    if parse("b-2")?.origin() != url.origin() || parse("3")?.origin() != url.origin() {
        return Err(wrong(format!("`{text}` has `{ID_PLACE}` in its host"))
            .hint("put it into the path or the query"));
    }
    Ok(UrlTemplate::WithId(text.to_owned()))
}

fn header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), Problem> {
    let parsed_name = HeaderName::from_bytes(name.as_bytes()).map_err(|_| {
        wrong(format!("`{name}` is no name of an HTTP header"))
            .hint("use letters, digits and dashes")
    })?;
    // The value may be a secret: it is not shown.
    let value = HeaderValue::from_str(value).map_err(|_| {
        wrong(format!("the value of header `{name}` cannot be sent"))
            .hint("use visible ASCII characters on one line")
    })?;
    Ok((parsed_name, value))
}

fn wrong(message: String) -> Problem {
    Problem::new(ProblemKind::Invalid, message)
}

/// A tag that may stand in a header, a URL and a JSON string as it is.
fn plain(tag: &str) -> String {
    let plain: String = tag
        .chars()
        .map(|c| match c {
            'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' | '.' => c,
            _ => '-',
        })
        .collect();
    if plain.is_empty() {
        "chaos".to_owned()
    } else {
        plain
    }
}

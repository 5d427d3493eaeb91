//! One page over HTTP, as Prometheus asks for it.

use std::time::Duration;

use reqwest::header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Client, Response, StatusCode};

use super::page::{self, Format, Sample};
use crate::model::units::Span;

/// A larger page is refused.
const LARGEST_PAGE: usize = 16 << 20;

/// OpenMetrics is preferred, since only such a page says where it ends.
const FORMATS: &str =
    "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

/// Reads one page.
///
/// # Errors
/// Why it was not read, in words that follow its URL.
pub(super) async fn fetch(
    client: &Client,
    url: &str,
    within: Duration,
) -> Result<Vec<Sample>, String> {
    let asked = client
        .get(url)
        .header(ACCEPT, FORMATS)
        .header(
            "X-Prometheus-Scrape-Timeout-Seconds",
            within.as_secs_f64().to_string(),
        )
        // Compressed pages would have no bound that is known before they are unpacked.
        .header("Accept-Encoding", "identity")
        .timeout(within);
    let answer = asked.send().await;
    let answer = answer.map_err(|why| no_answer(&why, within))?;
    let format = format_of(&answer)?;
    let page = body(answer, within).await?;
    page::read(&page, format).map_err(|problem| problem.message)
}

fn format_of(answer: &Response) -> Result<Format, String> {
    let header = |name| {
        let value = answer.headers().get(name);
        value
            .and_then(|value| value.to_str().ok())
            .unwrap_or_default()
    };
    let status = answer.status();
    if status.is_redirection() {
        let to = header(LOCATION);
        return Err(format!(
            "it sends us on to {to} ({status}), and no redirect is followed"
        ));
    }
    if status != StatusCode::OK {
        return Err(format!("it answers {status}"));
    }
    let encoding = header(CONTENT_ENCODING);
    if !matches!(encoding, "" | "identity") {
        return Err(format!("it is compressed ({encoding}) though nobody asked"));
    }
    let kind = header(CONTENT_TYPE);
    if kind.starts_with("application/vnd.google.protobuf") {
        return Err(format!("it is no text ({kind})"));
    }
    Ok(Format::announced_by(kind))
}

async fn body(mut answer: Response, within: Duration) -> Result<Vec<u8>, String> {
    let mut page = Vec::new();
    loop {
        match answer.chunk().await {
            Ok(None) => return Ok(page),
            Ok(Some(piece)) if page.len() + piece.len() > LARGEST_PAGE => {
                return Err(format!("it is larger than {} MiB", LARGEST_PAGE >> 20));
            }
            Ok(Some(piece)) => page.extend_from_slice(&piece),
            Err(why) => return Err(no_answer(&why, within)),
        }
    }
}

fn no_answer(why: &reqwest::Error, within: Duration) -> String {
    let mut root: &dyn std::error::Error = why;
    while let Some(deeper) = root.source() {
        root = deeper;
    }
    match (why.is_timeout(), why.is_connect(), why.is_dns()) {
        (_, _, true) => "the host name is not known here (DNS)".to_owned(),
        (true, true, _) => "no connection in time".to_owned(),
        (true, false, _) => format!("no whole page within {}", Span::of(within)),
        (false, true, _) => format!("no connection ({root})"),
        (false, false, _) => format!("the connection broke ({root})"),
    }
}

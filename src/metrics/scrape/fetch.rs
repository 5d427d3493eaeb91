//! One page over HTTP, as Prometheus asks for it.

use std::time::Duration;

use reqwest::header::{ACCEPT, ACCEPT_ENCODING, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use reqwest::{Response, StatusCode};

use super::super::access::Caller;
use super::super::prometheus::transport;
use super::page::{self, Format, Sample};
use crate::model::units::Span;

/// A larger page is refused.
const LARGEST_PAGE: usize = 16 << 20;

/// OpenMetrics is preferred, since only such a page says where it ends.
const FORMATS: &str =
    "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1";

/// How long we wait, in seconds, as Prometheus says it to exporters that work to a time limit.
const PATIENCE: &str = "x-prometheus-scrape-timeout-seconds";

/// One page, and who asks for it.
pub(super) struct Asker {
    pub(super) caller: Caller,
    pub(super) url: String,
    /// Host and port.
    pub(super) address: String,
}

impl Asker {
    /// Reads the page.
    ///
    /// # Errors
    /// Why it was not read, in words that follow its URL, without any secret.
    pub(super) async fn fetch(&self, within: Duration) -> Result<Vec<Sample>, String> {
        let read = self.read(within).await;
        read.map_err(|why| self.caller.quoted(&why))
    }

    async fn read(&self, within: Duration) -> Result<Vec<Sample>, String> {
        let client = self.caller.client();
        let asked = client
            .get(&self.url)
            .header(ACCEPT, FORMATS)
            // A compressed page would have no bound that is known before it is unpacked.
            .header(ACCEPT_ENCODING, "identity")
            .header(PATIENCE, within.as_secs_f64().to_string())
            .headers(self.caller.headers().await?)
            .timeout(within)
            .build()
            .map_err(|why| self.no_answer(&why, within))?;
        let again = asked.try_clone();
        let answer = match (client.execute(asked).await, again) {
            (Err(why), Some(again)) if transport::broke(&why) => client.execute(again).await,
            (answer, _) => answer,
        };
        let answer = answer.map_err(|why| self.no_answer(&why, within))?;
        let format = self.format_of(&answer)?;
        let page = self.body(answer, within).await?;
        page::read(&page, format).map_err(|problem| problem.message)
    }

    fn format_of(&self, answer: &Response) -> Result<Format, String> {
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
                "it redirects to {to} ({}); no redirect is followed: write the final address as the URL",
                status.as_u16()
            ));
        }
        let unknown = self.caller.is_nobody() && matches!(status.as_u16(), 401 | 403);
        if unknown {
            return Err(format!(
                "it answers {status}; say who asks, under `metrics.scrape.auth`"
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

    async fn body(&self, mut answer: Response, within: Duration) -> Result<Vec<u8>, String> {
        let mut page = Vec::new();
        loop {
            match answer.chunk().await {
                Ok(None) => return Ok(page),
                Ok(Some(piece)) if page.len() + piece.len() > LARGEST_PAGE => {
                    return Err(format!("it is larger than {} MiB", LARGEST_PAGE >> 20));
                }
                Ok(Some(piece)) => page.extend_from_slice(&piece),
                Err(why) if why.is_timeout() => return Err(self.no_answer(&why, within)),
                Err(_) => return Err(format!("it broke off after {} bytes", page.len())),
            }
        }
    }

    fn no_answer(&self, why: &reqwest::Error, within: Duration) -> String {
        if why.is_timeout() && !why.is_connect() {
            return format!("no whole page within {}", Span::of(within));
        }
        transport::trouble(why, &self.address).in_one_line()
    }
}

//! Prometheus's HTTP API: one query, one answer, each bounded in time and in size.
//!
//! Requests are built by the crate of the field; bodies are read here, since that crate reads them
//! without a limit and drops the warnings.

use std::future::Future;

use jiff::Timestamp;
use prometheus_http_query::Client;
use reqwest::Response;
use reqwest::header::{CACHE_CONTROL, HeaderMap, HeaderValue};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout};

use super::envelope::{self, Opened};
use super::refusal;
use super::staleness::Served;
use super::transport;
use super::trouble::Trouble;
use crate::clients::told_time;
use crate::metrics::access::Caller;
use crate::metrics::{PrometheusSpec, SourceSetup, WallClock};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::skew::ToldTime;
use crate::model::units::Span;

/// Bytes of an instant answer, at most: one number is all that is judged.
const LARGEST_INSTANT: usize = 4 << 20;

/// Bytes of a range answer, at most: 11,000 points of a few hundred series.
const LARGEST_RANGE: usize = 64 << 20;

/// Bytes of an error that are read, at most; of these one line is shown.
const LARGEST_ERROR: usize = 64 << 10;

/// How long the text of an error is waited for once its status is known.
const ERROR_TEXT_WITHIN: Span = Span::from_secs(1);

/// Longer queries go into a body: servers and proxies cut URLs at 8 KiB or less. Shorter ones stay
/// in the URL, since some proxies let only GET through.
const LONGEST_IN_URL: usize = 1_500;

/// Requests under way at once. Prometheus takes 512 connections by default, from everybody, and
/// evaluates 20 queries at once.
const AT_ONCE: usize = 100;

/// One server.
pub(super) struct Api {
    client: Client,
    caller: Caller,
    address: String,
    timeout: Span,
    turns: Semaphore,
}

/// What came back for a query.
pub(super) struct Answer {
    /// What it says.
    pub(super) opened: Opened,
    /// When it was answered, as far as the server says.
    pub(super) served: Served,
}

impl Api {
    /// The API below a base URL; nothing is sent yet.
    ///
    /// # Errors
    /// The URL cannot be used, a secret is not set, a file of certificates cannot be used.
    pub(super) fn new(spec: &PrometheusSpec, setup: &SourceSetup) -> Result<Self, Problem> {
        let base = base_url(&spec.url)?;
        let caller = Caller::new(&spec.access, base.as_str(), setup)?;
        let client = Client::from(caller.client().clone(), base.as_str().trim_end_matches('/'))
            .map_err(|why| unusable(&spec.url, &why.to_string()))?;
        Ok(Self {
            client,
            caller,
            address: base.as_str().trim_end_matches('/').to_owned(),
            timeout: spec.timeout,
            turns: Semaphore::new(AT_ONCE),
        })
    }

    /// Evaluates a query now.
    ///
    /// # Errors
    /// There is no answer in time, or none that is a result.
    pub(super) async fn instant(&self, query: &str) -> Result<Answer, Trouble> {
        self.in_time(async {
            let mut asked = self.client.query(query).query("nocache", 1);
            for (name, value) in &self.headers().await? {
                asked = asked.header(name, value.clone());
            }
            let sent = sent(|| {
                let asked = asked.clone();
                async {
                    match by(query) {
                        Method::Get => asked.get_raw().await,
                        Method::Post => asked.post_raw().await,
                    }
                }
            });
            self.answer(sent, LARGEST_INSTANT).await
        })
        .await
    }

    /// Evaluates a query at every `step` from `start_ms` up to `end_ms`, in milliseconds since 1970.
    /// Both are taken down to the whole second; the times in the answer tell.
    ///
    /// # Errors
    /// There is no answer in time, or none that is a result.
    pub(super) async fn range(
        &self,
        query: &str,
        start_ms: i64,
        end_ms: i64,
        step: Span,
    ) -> Result<Answer, Trouble> {
        let (start, end) = (start_ms.div_euclid(1_000), end_ms.div_euclid(1_000));
        let step = step.as_duration().as_secs_f64();
        self.in_time(async {
            let mut asked = self.client.query_range(query, start, end, step);
            asked = asked.query("nocache", 1);
            for (name, value) in &self.headers().await? {
                asked = asked.header(name, value.clone());
            }
            let sent = sent(|| {
                let asked = asked.clone();
                async {
                    match by(query) {
                        Method::Get => asked.get_raw().await,
                        Method::Post => asked.post_raw().await,
                    }
                }
            });
            self.answer(sent, LARGEST_RANGE).await
        })
        .await
    }

    /// What the server says of the time. Which version it is everybody may ask who may ask anything;
    /// a refusal tells the time as well.
    pub(super) async fn told_time(&self, clock: &WallClock) -> Option<ToldTime> {
        let headers = self.caller.headers().await.ok()?;
        let url = format!("{}/api/v1/status/buildinfo", self.address);
        let asked = self.caller.client().get(url).headers(headers);
        let now = Timestamp::from_millisecond(clock.now_ms()).ok()?;
        let server = format!("Prometheus at {}", self.redacted(&self.address));
        told_time(server, now, asked).await
    }

    /// A text without any secret of this server's.
    pub(super) fn redacted(&self, text: &str) -> String {
        self.caller.redacted(text)
    }

    /// Waits for a turn and for the whole exchange, together no longer than the time-out.
    async fn in_time(
        &self,
        exchange: impl Future<Output = Result<Answer, Trouble>>,
    ) -> Result<Answer, Trouble> {
        let in_turn = async {
            let _turn = self.turns.acquire().await.expect("nobody closes it");
            exchange.await
        };
        let answer = timeout(self.timeout.as_duration(), in_turn).await;
        let answer = answer.unwrap_or_else(|_| {
            Err(Trouble::passing(format!(
                "no answer from {} within {}",
                self.address, self.timeout
            )))
        });
        answer.map_err(|trouble| trouble.map(|text| self.redacted(text)))
    }

    /// The headers of one request. Together with `nocache` they keep every cache on the way from
    /// answering: Mimir's and Thanos's by `no-store`, VictoriaMetrics's by the parameter, which also
    /// makes it look at the newest samples instead of those of 30 s ago.
    async fn headers(&self) -> Result<HeaderMap, Trouble> {
        let mut headers = self.caller.headers().await.map_err(Trouble::passing)?;
        headers
            .entry(CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-cache, no-store"));
        Ok(headers)
    }

    async fn answer(
        &self,
        asking: impl Future<Output = Sent>,
        limit: usize,
    ) -> Result<Answer, Trouble> {
        let asked = Instant::now();
        let sent = asking.await;
        let mut response = sent.map_err(|why| transport::trouble(&why, &self.address))?;
        if !response.status().is_success() {
            let text = error_text(&mut response).await;
            return Err(refusal::trouble(
                &response,
                &text,
                &self.address,
                &self.caller,
            ));
        }
        let served = Served::by(response.headers(), asked.elapsed());
        let body = whole(&mut response, limit).await?;
        let opened = envelope::open(&body, &self.address, &self.caller)?;
        Ok(Answer { opened, served })
    }
}

type Sent = Result<Response, prometheus_http_query::Error>;

/// How a query is sent.
enum Method {
    Get,
    Post,
}

fn by(query: &str) -> Method {
    if query.len() > LONGEST_IN_URL {
        Method::Post
    } else {
        Method::Get
    }
}

/// Sends a request, and once more if the connection broke before a word of an answer.
async fn sent<F: Future<Output = Sent>>(ask: impl Fn() -> F) -> Sent {
    match ask().await {
        Err(why) if transport::broke(&why) => ask().await,
        sent => sent,
    }
}

/// A base URL that a path of the API can be put behind.
fn base_url(text: &str) -> Result<url::Url, Problem> {
    let url = url::Url::parse(text).map_err(|why| unusable(text, &why.to_string()))?;
    if !url.username().is_empty() || url.password().is_some() {
        let host = url.host_str().unwrap_or_default();
        return Err(Problem::new(
            ProblemKind::Invalid,
            format!("the URL of Prometheus at {host} holds credentials"),
        )
        .hint("give them as `auth.basic`, the password as a `${secret:NAME}`"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(unusable(text, "it ends in a query"));
    }
    if url.cannot_be_a_base() || !url.has_host() {
        return Err(unusable(text, "it names no host"));
    }
    Ok(url)
}

fn unusable(url: &str, why: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("the URL of Prometheus, `{url}`, cannot be used: {why}"),
    )
    .hint("write its base, such as `http://127.0.0.1:9090` or `https://metrics.example.com/prometheus`")
}

/// The body, refused as soon as it is known to be too large.
async fn whole(response: &mut Response, limit: usize) -> Result<Vec<u8>, Trouble> {
    let announced = response.content_length().map(usize::try_from);
    let announced = announced.map(|length| length.unwrap_or(usize::MAX));
    if announced.is_some_and(|length| length > limit) {
        return Err(too_large(limit));
    }
    let mut body = Vec::with_capacity(announced.unwrap_or_default());
    loop {
        match response.chunk().await {
            Ok(Some(chunk)) if body.len() + chunk.len() > limit => return Err(too_large(limit)),
            Ok(Some(chunk)) => body.extend_from_slice(&chunk),
            Ok(None) => return Ok(body),
            Err(_) => {
                let read = body.len();
                let why = format!("the answer broke off after {read} bytes");
                return Err(Trouble::passing(why));
            }
        }
    }
}

fn too_large(limit: usize) -> Trouble {
    Trouble::Unjudgeable {
        why: format!("the answer is larger than {} MiB", limit >> 20),
        way_out: "aggregate the query to one series".to_owned(),
    }
}

/// The beginning of an error's text, as much as comes soon.
async fn error_text(response: &mut Response) -> Vec<u8> {
    let mut text = Vec::new();
    let reading = async {
        while let Ok(Some(chunk)) = response.chunk().await {
            text.extend_from_slice(&chunk);
            if text.len() >= LARGEST_ERROR {
                break;
            }
        }
    };
    // Late or broken, it still has a status to tell.
    let _ = timeout(ERROR_TEXT_WITHIN.as_duration(), reading).await;
    text.truncate(LARGEST_ERROR);
    text
}

//! HTTP clients and those of Kubernetes, made once from plain values.

mod causes;
mod context;
mod kubeconfig;
mod unanswered;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;
use reqwest::RequestBuilder;
use reqwest::header::{AGE, DATE};
use tokio::sync::Mutex;
use tokio::time::Instant;

use crate::model::problem::{Problem, ProblemKind};
use crate::model::skew::ToldTime;
use crate::model::units::Span;

pub(crate) use causes::{causes, tls_error};
pub use context::KubeContext;
pub use kubeconfig::KubeconfigFiles;

/// How long a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// The clients that drivers and metric sources share.
#[derive(Debug, Clone)]
pub struct Clients {
    proxied: reqwest::Client,
    direct: reqwest::Client,
    kubeconfig: Arc<KubeconfigFiles>,
    /// Those in use, by the name that was asked for: credentials are fetched once.
    contexts: Arc<Mutex<BTreeMap<Option<String>, KubeContext>>>,
}

/// Whether a URL names this machine by its very host: `localhost`, `*.localhost`, a loopback
/// address. Nothing is looked up, since a name that resolves to loopback now may resolve to something
/// else a moment later.
pub fn is_loopback(url: &str) -> bool {
    match url::Url::parse(url).as_ref().map(url::Url::host) {
        Ok(Some(url::Host::Ipv4(address))) => address.is_loopback(),
        Ok(Some(url::Host::Ipv6(address))) => address.is_loopback(),
        Ok(Some(url::Host::Domain(name))) => name == "localhost" || name.ends_with(".localhost"),
        Ok(None) | Err(_) => false,
    }
}

/// Likely enough to be what somebody meant.
const ALIKE: f64 = 0.8;

/// The name that somebody probably meant.
pub(crate) fn nearest<'n>(wanted: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let alike = names.map(|name| (strsim::jaro_winkler(wanted, name), name));
    alike
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .max_by(|one, other| one.0.total_cmp(&other.0))
        .map(|(_, name)| name)
}

impl Clients {
    /// Makes the clients; no connection is opened yet.
    ///
    /// No redirect is followed: a control request must never reach another server than the one that
    /// was planned. Each request sets its own time-out; there is no request without one.
    ///
    /// # Errors
    /// The TLS set-up of this machine cannot be used.
    pub fn new() -> Result<Self, Problem> {
        Ok(Self {
            proxied: control(builder())?,
            direct: control(builder().no_proxy())?,
            kubeconfig: Arc::default(),
            contexts: Arc::default(),
        })
    }

    /// The same clients, which find clusters by these kubeconfigs.
    #[must_use]
    pub fn with_kubeconfig(self, files: KubeconfigFiles) -> Self {
        Self {
            kubeconfig: Arc::new(files),
            contexts: Arc::default(),
            ..self
        }
    }

    /// By which kubeconfigs they find clusters.
    pub fn kubeconfig(&self) -> &KubeconfigFiles {
        &self.kubeconfig
    }

    /// The client of a context; `None`: the current one, or, where there is no kubeconfig, the cluster
    /// that this process runs in. No connection is opened yet, but credentials are fetched.
    ///
    /// # Errors
    /// A kubeconfig cannot be read, has no such context, or says something that cannot be used; a
    /// credential plugin failed.
    pub async fn kubernetes(&self, context: Option<&str>) -> Result<KubeContext, Problem> {
        let mut contexts = self.contexts.lock().await;
        let asked = context.map(str::to_owned);
        if let Some(known) = contexts.get(&asked) {
            return Ok(known.clone());
        }
        install_crypto();
        let chosen = kubeconfig::choose(&self.kubeconfig, context).await?;
        let made = context::connect(chosen).await?;
        contexts.insert(made.name().map(str::to_owned), made.clone());
        contexts.insert(asked, made.clone());
        Ok(made)
    }

    /// The HTTP client for this URL; as `builder_for`.
    pub fn http(&self, url: &str) -> &reqwest::Client {
        if is_loopback(url) {
            &self.direct
        } else {
            &self.proxied
        }
    }
}

/// A builder for clients of this URL's host.
///
/// What is on this machine is asked directly, whatever the proxy variables say: a proxy's loopback is
/// another machine's.
pub(crate) fn builder_for(url: &str) -> reqwest::ClientBuilder {
    if is_loopback(url) {
        builder().no_proxy()
    } else {
        builder()
    }
}

/// How long a server may take to tell the time.
pub(crate) const TIME_WITHIN: Duration = Duration::from_secs(3);

/// What a server says of the time, whatever else it answers; `now` is when it is asked. `None`: it
/// says nothing, or something between here and there kept the answer.
pub async fn told_time(server: String, now: Timestamp, asked: RequestBuilder) -> Option<ToldTime> {
    let begun = Instant::now();
    let answer = asked.timeout(TIME_WITHIN).send().await.ok()?;
    let took = Span::of(begun.elapsed());
    let headers = answer.headers();
    let date = headers.get(DATE)?.to_str().ok()?.to_owned();
    (!headers.contains_key(AGE)).then_some(ToldTime {
        server,
        date,
        asked: now,
        took,
    })
}

/// A client could not be made.
pub(crate) fn cannot_be_made(why: reqwest::Error) -> Problem {
    Problem::new(
        ProblemKind::Unexpected,
        format!("no HTTP client can be made here: {why}"),
    )
    .hint("check SSL_CERT_FILE and the proxy variables")
}

/// One provider of cryptography for everybody.
fn install_crypto() {
    // A second installation reports an error that means "there is one already": all we need.
    let _ = rustls::crypto::ring::default_provider().install_default();
}

fn builder() -> reqwest::ClientBuilder {
    install_crypto();
    reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("chaos-gameday/", env!("CARGO_PKG_VERSION")))
}

fn control(builder: reqwest::ClientBuilder) -> Result<reqwest::Client, Problem> {
    builder
        .connect_timeout(CONNECT_TIMEOUT)
        .build()
        .map_err(cannot_be_made)
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_this_machine_is_local() {
        for (url, local) in [
            ("http://127.0.0.1:4566", true),
            ("http://127.9.9.9:4566", true),
            ("http://[::1]:4566", true),
            ("http://localhost:4566", true),
            ("http://shop.localhost/x", true),
            ("http://localhost.localstack.cloud:4566", false),
            ("http://10.0.0.1:4566", false),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://127.0.0.1@evil.example", false),
            ("http://0x7f000001", true),
            ("http://[::ffff:10.0.0.1]", false),
            ("file:///etc/passwd", false),
            ("nonsense", false),
        ] {
            assert_eq!(is_loopback(url), local, "{url}");
        }
    }
}

//! What a document declares of its metric sources.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::model::secret::SecretText;
use crate::model::units::Span;

/// What the traffic generator sends.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TrafficSpec {
    /// Absolute URL; `{id}` becomes the request's unique id.
    pub url: String,
    /// HTTP method, default GET.
    pub method: String,
    /// Extra headers.
    pub headers: BTreeMap<String, String>,
    /// Body; `{id}` becomes the request's unique id.
    pub body: Option<String>,
    /// Requests a second, default 10.
    pub rate: f64,
    /// Longer than this is a failure, default 5s.
    pub timeout: Span,
    /// Requests under way at once, at most, default 256.
    pub max_in_flight: usize,
    /// Figures are over this much of the past, default 10s.
    pub window: Span,
}

/// A Prometheus server, or anything with its HTTP API.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PrometheusSpec {
    /// Base URL, without a slash at its end; the API is at `/api/v1` below it.
    pub url: String,
    /// Longer than this is a failure, default 5s, never unlimited.
    pub timeout: Span,
    /// How the server is reached.
    #[serde(default, skip_serializing_if = "Access::is_plain")]
    pub access: Access,
}

/// Pages in the OpenMetrics or Prometheus text format that are read without any server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeSpec {
    /// The pages, at least one.
    pub targets: Vec<ScrapeTarget>,
    /// Time between two reads of each page, default 1s.
    pub every: Span,
    /// Longer than this is a failure: at most `every`, which is also the default up to 5s.
    pub timeout: Span,
    /// How the pages are reached.
    #[serde(default, skip_serializing_if = "Access::is_plain")]
    pub access: Access,
}

/// One page.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ScrapeTarget {
    /// Its URL.
    pub url: String,
    /// Labels that each of its series gets, besides `instance` (host and port).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub labels: BTreeMap<String, String>,
}

/// How a server is reached: who asks, and by which certificates the two know each other. Paths are
/// absolute, so that a plan means the same from every folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Access {
    /// Who asks; `None`: nobody in particular.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub auth: Option<Auth>,
    /// Extra headers, such as the tenant of Mimir and Thanos (`X-Scope-OrgID`, `THANOS-TENANT`).
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, SecretText>,
    /// Certificates; `None`: those that this machine trusts, and none of our own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<TlsFiles>,
}

impl Access {
    /// Whether nothing is special about it.
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }

    /// Whether a request holds something that others could log in with.
    pub fn has_credentials(&self) -> bool {
        !self.credentials().is_empty()
    }

    /// What a request holds that others could log in with, each once and in words: secrets by their
    /// names, a token by its file.
    fn credentials(&self) -> Vec<String> {
        let file = match &self.auth {
            Some(Auth::Bearer(BearerToken::File(path))) => Some(path),
            Some(Auth::Bearer(BearerToken::Token(_)) | Auth::Basic { .. }) | None => None,
        };
        let file = file.map(|path| format!("the token in {}", path.display()));
        let secrets = self.secrets().into_iter();
        let secrets = secrets.map(|name| format!("the secret `{name}`"));
        file.into_iter().chain(secrets).collect()
    }

    /// The names of the secrets that a request holds, each once.
    pub fn secrets(&self) -> Vec<&str> {
        let text = match &self.auth {
            Some(Auth::Bearer(BearerToken::Token(text)) | Auth::Basic { password: text, .. }) => {
                Some(text)
            }
            Some(Auth::Bearer(BearerToken::File(_))) | None => None,
        };
        let texts = text.into_iter().chain(self.headers.values());
        let mut all = Vec::new();
        for name in texts.flat_map(SecretText::names) {
            if !all.contains(&name) {
                all.push(name);
            }
        }
        all
    }
}

/// Who asks.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum Auth {
    /// A bearer token (RFC 6750).
    Bearer(BearerToken),
    /// A user's name and password (RFC 7617).
    Basic {
        /// The name.
        username: String,
        /// The password, a secret.
        password: SecretText,
    },
}

/// Where a bearer token comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BearerToken {
    /// A secret.
    Token(SecretText),
    /// A file, read again for every request: tokens of service accounts are replaced while they are
    /// in use.
    File(PathBuf),
}

/// PEM files.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TlsFiles {
    /// Certificates that the server's may come from, instead of those that this machine trusts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<PathBuf>,
    /// Our own certificate, with its chain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub certificate: Option<PathBuf>,
    /// The private key of our certificate.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<PathBuf>,
}

/// The sources that a document declares.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MetricSpecs {
    /// The traffic generator.
    pub traffic: Option<TrafficSpec>,
    /// Prometheus.
    pub prometheus: Option<PrometheusSpec>,
    /// Pages that are read without a server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scrape: Option<ScrapeSpec>,
}

impl MetricSpecs {
    /// The URLs that get credentials, each with what it gets.
    pub fn recipients(&self) -> Vec<(&str, Vec<String>)> {
        let prometheus = self.prometheus.iter();
        let prometheus = prometheus.map(|spec| (spec.url.as_str(), &spec.access));
        let pages = self.scrape.iter().flat_map(|spec| {
            let targets = spec.targets.iter();
            targets.map(|target| (target.url.as_str(), &spec.access))
        });
        let asked = prometheus.chain(pages);
        let asked = asked.map(|(url, access)| (url, access.credentials()));
        asked.filter(|(_, all)| !all.is_empty()).collect()
    }
}

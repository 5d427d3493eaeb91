//! Which hosts a policy means.

use std::fmt;
use std::str::FromStr;

use url::Url;

use super::document::HostPattern;
use crate::clients::is_loopback;
use crate::model::pattern::Pattern;
use crate::model::problem::Problem;

const LOOPBACK: &str = "loopback";

impl HostPattern {
    /// Whether the host of this URL is meant.
    pub fn matches(&self, url: &str) -> bool {
        let parsed = Url::parse(url).ok();
        let host = parsed.as_ref().and_then(Url::host_str);
        let port = parsed.as_ref().and_then(Url::port_or_known_default);
        match self {
            Self::Loopback => is_loopback(url),
            Self::Host(pattern) => host.is_some_and(|host| pattern.matches(host)),
            Self::HostAndPort(pattern, wanted) => {
                host.is_some_and(|host| pattern.matches(host)) && port == Some(*wanted)
            }
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => formatter.write_str(LOOPBACK),
            Self::Host(pattern) => write!(formatter, "{pattern}"),
            Self::HostAndPort(pattern, port) => write!(formatter, "{pattern}:{port}"),
        }
    }
}

impl FromStr for HostPattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        if text == LOOPBACK {
            return Ok(Self::Loopback);
        }
        let port = text.rsplit_once(':').and_then(|(host, port)| {
            let plain = !host.is_empty() && (!host.contains(':') || host.ends_with(']'));
            Some((host, port.parse().ok()?)).filter(|_| plain)
        });
        match port {
            Some((host, port)) => Ok(Self::HostAndPort(host.parse::<Pattern>()?, port)),
            None => Ok(Self::Host(text.parse::<Pattern>()?)),
        }
    }
}

impl TryFrom<String> for HostPattern {
    type Error = Problem;

    fn try_from(text: String) -> Result<Self, Problem> {
        text.parse()
    }
}

impl From<HostPattern> for String {
    fn from(pattern: HostPattern) -> String {
        pattern.to_string()
    }
}

//! Which hosts a policy means.

use std::fmt;
use std::str::FromStr;

use url::{Host, Url};

use super::document::HostPattern;
use crate::clients::is_loopback;
use crate::model::pattern::Pattern;
use crate::model::problem::{Problem, ProblemKind};

const LOOPBACK: &str = "loopback";

impl HostPattern {
    /// Whether the host of this URL is meant.
    pub fn matches(&self, url: &str) -> bool {
        let Ok(parsed) = Url::parse(url) else {
            return false;
        };
        let Some(host) = parsed.host() else {
            return false;
        };
        let host = plain(&host);
        let port = parsed.port_or_known_default();
        match self {
            Self::Loopback => is_loopback(url),
            Self::LoopbackPort(wanted) => is_loopback(url) && port == Some(*wanted),
            Self::Host(pattern) => pattern.matches(&host),
            Self::HostAndPort(pattern, wanted) => pattern.matches(&host) && port == Some(*wanted),
        }
    }
}

/// A host in its one spelling, so that none of its other spellings slips past a pattern: an IPv4
/// address is no IPv6 one, and a name has no dot at its end.
fn plain<T: AsRef<str>>(host: &Host<T>) -> String {
    match host {
        Host::Domain(name) => name.as_ref().trim_end_matches('.').to_owned(),
        Host::Ipv4(address) => address.to_string(),
        Host::Ipv6(address) => match address.to_ipv4_mapped() {
            Some(address) => address.to_string(),
            None => address.to_string(),
        },
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Loopback => formatter.write_str(LOOPBACK),
            Self::LoopbackPort(port) => write!(formatter, "{LOOPBACK}:{port}"),
            Self::Host(pattern) if is_ipv6(pattern) => write!(formatter, "[{pattern}]"),
            Self::Host(pattern) => write!(formatter, "{pattern}"),
            Self::HostAndPort(pattern, port) if is_ipv6(pattern) => {
                write!(formatter, "[{pattern}]:{port}")
            }
            Self::HostAndPort(pattern, port) => write!(formatter, "{pattern}:{port}"),
        }
    }
}

/// No name and no IPv4 address has a colon in it.
fn is_ipv6(pattern: &Pattern) -> bool {
    pattern.as_str().contains(':')
}

impl FromStr for HostPattern {
    type Err = Problem;

    fn from_str(text: &str) -> Result<Self, Problem> {
        let (host, port) = host_and_port(text)?;
        match (host, port) {
            (LOOPBACK, None) => Ok(Self::Loopback),
            (LOOPBACK, Some(port)) => Ok(Self::LoopbackPort(port)),
            (host, None) => Ok(Self::Host(pattern(text, host)?)),
            (host, Some(port)) => Ok(Self::HostAndPort(pattern(text, host)?, port)),
        }
    }
}

/// The host without the brackets of an IPv6 address, and the port.
fn host_and_port(text: &str) -> Result<(&str, Option<u16>), Problem> {
    if text.contains('/') || text.contains('@') || text.contains(char::is_whitespace) {
        return Err(wrong(text));
    }
    // `[ab].example.com` is a pattern over names: an address has a colon before its bracket closes.
    let bracketed = text
        .strip_prefix('[')
        .and_then(|rest| rest.split_once(']'))
        .filter(|(inner, _)| inner.contains(':'));
    let (host, port) = match bracketed {
        Some((inner, "")) => (inner, None),
        Some((inner, rest)) => (
            inner,
            Some(rest.strip_prefix(':').ok_or_else(|| wrong(text))?),
        ),
        None if text.matches(':').count() > 1 => (text, None),
        None => match text.split_once(':') {
            Some((host, port)) => (host, Some(port)),
            None => (text, None),
        },
    };
    if host.is_empty() {
        return Err(wrong(text));
    }
    let port = port.map(|port| port.parse().ok().filter(|port| *port > 0));
    match port {
        None => Ok((host, None)),
        Some(Some(port)) => Ok((host, Some(port))),
        Some(None) => Err(wrong(text)),
    }
}

/// A host in the spelling that `plain` gives.
fn pattern(text: &str, host: &str) -> Result<Pattern, Problem> {
    if !host.contains(':') {
        return host.trim_end_matches('.').parse();
    }
    let part = |c: char| c.is_ascii_hexdigit() || ":.*?".contains(c);
    match Host::parse(&format!("[{host}]")) {
        Ok(address) => plain(&address).parse(),
        Err(_) if host.contains(['*', '?']) && host.chars().all(part) => host.parse(),
        Err(_) => Err(wrong(text)),
    }
}

fn wrong(text: &str) -> Problem {
    let url = Url::parse(text).ok().filter(|url| url.has_host());
    let host = url.as_ref().and_then(Url::host_str);
    let port = url.as_ref().and_then(Url::port);
    let hint = match (host, port) {
        (Some(host), Some(port)) => format!("write only host and port: `{host}:{port}`"),
        (Some(host), None) => format!("write only the host: `{host}`"),
        (None, _) => {
            "write a host, with or without a port: `*.example.com`, `10.0.0.5:4566`, `[::1]:4566`, or `loopback`"
                .to_owned()
        }
    };
    Problem::new(ProblemKind::Invalid, format!("`{text}` is no host")).hint(hint)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_means_hosts_in_every_spelling() {
        for (pattern, url, meant) in [
            ("loopback", "http://127.0.0.1:4566", true),
            ("loopback", "http://[::1]:4566", true),
            ("loopback", "http://10.0.0.5", false),
            ("loopback:4566", "http://localhost:4566", true),
            ("loopback:4566", "http://localhost:4567", false),
            ("*.example.com", "https://shop.example.com/x", true),
            ("*.example.com", "https://SHOP.example.com.", true),
            ("*.example.com", "https://example.com", false),
            ("*.example.com", "https://example.com@evil.org", false),
            ("shop.example.com:443", "https://shop.example.com", true),
            ("shop.example.com:443", "http://shop.example.com", false),
            ("shop.example.com.:80", "http://shop.example.com", true),
            ("[ab].example.com", "http://b.example.com", true),
            ("[ab].example.com:80", "http://c.example.com", false),
            ("[::1]:4566", "http://[::1]:4566", true),
            ("[::1]:4566", "http://[::1]:4567", false),
            ("[::1]", "http://[0:0:0:0:0:0:0:1]:9", true),
            ("::1", "http://[::1]:9", true),
            ("fd00:0::5", "http://[fd00::5]:9", true),
            ("[fd00:*]:80", "http://[fd00:1::5]", true),
            ("[fd00:*]:80", "http://[fe00:1::5]", false),
            ("10.0.0.5", "http://[::ffff:10.0.0.5]:80", true),
            ("[::ffff:10.0.0.5]", "http://10.0.0.5", true),
            ("10.0.0.5", "http://0x0a000005", true),
            ("*", "nonsense", false),
        ] {
            let host: HostPattern = pattern.parse().expect("a pattern");
            assert_eq!(host.matches(url), meant, "{pattern} {url}");
            let again: HostPattern = host.to_string().parse().expect("what it shows");
            assert_eq!(again, host, "{pattern}");
        }
    }

    #[test]
    fn what_is_no_host_says_what_to_write() {
        for (text, hint) in [
            (
                "http://10.0.0.5:4566",
                "write only host and port: `10.0.0.5:4566`",
            ),
            (
                "https://shop.example.com/x",
                "write only the host: `shop.example.com`",
            ),
            ("shop:port", "write a host, with or without a port"),
            ("shop:0", "write a host"),
            ("shop:70000", "write a host"),
            ("[::1]4566", "write a host"),
            ("[::1]:", "write a host"),
            ("[zz::1]", "write a host"),
            (":80", "write a host"),
            ("a b", "write a host"),
            ("user@host", "write a host"),
        ] {
            let wrong = text.parse::<HostPattern>().expect_err(text);
            assert_eq!(wrong.message, format!("`{text}` is no host"));
            let found = wrong.hint.unwrap_or_default();
            assert!(found.starts_with(hint), "{text}: {found}");
        }
        assert!("".parse::<HostPattern>().is_err());
    }
}

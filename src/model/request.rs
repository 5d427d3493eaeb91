//! The literal requests of a plan and what came of them in a run.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use url::{Host, Url};

/// A request exactly as it will be, or was, sent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    /// HTTP method.
    pub method: String,
    /// Absolute URL.
    pub url: String,
    /// JSON body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<Value>,
}

/// A request that was sent and what came back.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Exchange {
    /// What was sent.
    pub request: Request,
    /// HTTP status; `None`: no answer.
    pub status: Option<u16>,
    /// Milliseconds until the answer, or until we gave up.
    pub took_ms: u64,
    /// The platform's own id for the request, when it gives one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub request_id: Option<String>,
}

/// Why a request is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Purpose {
    /// Puts the fault in.
    Inject,
    /// Takes the fault out.
    Undo,
}

/// What a fault platform says it is: who it is, and since when.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct WorldIdentity {
    /// `localstack`, `kubernetes`, `simulated`.
    pub platform: String,
    /// Base URL of the API.
    pub endpoint: String,
    /// What identifies this very instance (LocalStack: `session_id`, new at each start); `None`:
    /// it does not say, so a restart cannot be noticed.
    pub session: Option<String>,
    /// Product version, as the server tells it.
    pub version: String,
    /// Edition, as the server tells it.
    pub edition: String,
}

impl std::fmt::Display for WorldIdentity {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.platform, self.version)?;
        // Plain LocalStack calls its edition `unknown`, which tells nobody anything.
        if self.edition != "unknown" {
            write!(formatter, " ({})", self.edition)?;
        }
        write!(formatter, " at {}", self.endpoint)
    }
}

impl WorldIdentity {
    /// The names under which a run locks this world. The instance's own id catches one that is reached
    /// by two addresses; the address catches one that restarts or does not say who it is.
    pub fn lock_names(&self) -> Vec<String> {
        let platform = &self.platform;
        let session = self.session.as_ref();
        [format!("{platform} at {}", place(&self.endpoint))]
            .into_iter()
            .chain(session.map(|session| format!("{platform} session {session}")))
            .collect()
    }
}

/// Where an address leads: host, port and path, with every name of this machine as one. The scheme is
/// left out, as one port may answer to both.
fn place(endpoint: &str) -> String {
    let parsed = Url::parse(endpoint).ok();
    let Some((url, host)) = parsed.as_ref().and_then(|url| Some((url, url.host()?))) else {
        return endpoint.to_owned();
    };
    let this_machine = match &host {
        Host::Domain(name) => is_name_of_this_machine(name.trim_end_matches('.')),
        Host::Ipv4(address) => address.is_loopback() || address.is_unspecified(),
        Host::Ipv6(address) => {
            let mapped = address.to_ipv4_mapped();
            address.is_loopback()
                || address.is_unspecified()
                || mapped.is_some_and(|address| address.is_loopback())
        }
    };
    let host = match this_machine {
        true => "localhost".to_owned(),
        false => host.to_string(),
    };
    let port = url.port_or_known_default().unwrap_or_default();
    format!("{host}:{port}{}", url.path().trim_end_matches('/'))
}

/// LocalStack's own name resolves to 127.0.0.1 for everybody.
fn is_name_of_this_machine(name: &str) -> bool {
    let names = ["localhost", "localhost.localstack.cloud"];
    names.iter().any(|known| {
        let head = name.strip_suffix(known);
        head.is_some_and(|head| head.is_empty() || head.ends_with('.'))
    })
}

/// What was seen in place when the world was asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Proof {
    /// Parts of the fault seen in place (rules, and the latency as one more).
    pub injected: usize,
    /// Parts that the plan wanted.
    pub planned: usize,
    /// Whether the platform is still the instance that was planned.
    pub continuity: Continuity,
    /// What was seen, one line each, for the journal and the report.
    pub evidence: Vec<String>,
}

impl Proof {
    /// Every part is in, and there is one.
    pub fn is_complete(&self) -> bool {
        self.planned > 0
            && self.injected == self.planned
            && self.continuity != Continuity::Restarted
    }
}

/// Whether a platform is still the same instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Continuity {
    /// The same instance as before.
    Same,
    /// Another instance: what was in place died with the former one.
    Restarted,
    /// The platform does not say.
    Unknown,
}

/// What was found when the world was asked whether the fault is out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Absence {
    /// What of ours is still in place; empty: gone.
    pub remaining: Vec<String>,
    /// What others changed meanwhile; theirs, and only named.
    pub foreign_changes: Vec<String>,
    /// Whether the platform is still the same instance.
    pub continuity: Continuity,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(endpoint: &str, session: Option<&str>) -> WorldIdentity {
        WorldIdentity {
            platform: "localstack".to_owned(),
            endpoint: endpoint.to_owned(),
            session: session.map(ToOwned::to_owned),
            version: String::new(),
            edition: String::new(),
        }
    }

    #[test]
    fn a_world_is_locked_by_its_place_and_its_session() {
        for (endpoint, place) in [
            ("http://127.0.0.1:4566", "localhost:4566"),
            ("http://127.1.2.3:4566/", "localhost:4566"),
            ("http://0.0.0.0:4566", "localhost:4566"),
            ("http://[::1]:4566", "localhost:4566"),
            ("http://[::ffff:127.0.0.1]:4566", "localhost:4566"),
            ("https://LOCALHOST:4566", "localhost:4566"),
            ("http://localhost.:4566", "localhost:4566"),
            ("http://s3.localhost:4566", "localhost:4566"),
            ("http://localhost.localstack.cloud:4566", "localhost:4566"),
            ("http://localhost", "localhost:80"),
            ("http://notlocalhost:4566", "notlocalhost:4566"),
            (
                "https://rancher/k8s/clusters/a",
                "rancher:443/k8s/clusters/a",
            ),
            ("no address", "no address"),
        ] {
            let names = world(endpoint, None).lock_names();
            assert_eq!(names, [format!("localstack at {place}")], "{endpoint}");
        }
        assert_eq!(
            world("http://h:1", Some("s-1")).lock_names(),
            ["localstack at h:1", "localstack session s-1"]
        );
    }

    #[test]
    fn a_proof_is_complete_when_every_part_is_in_and_there_is_one() {
        for (injected, planned, continuity, complete) in [
            (2, 2, Continuity::Same, true),
            (2, 2, Continuity::Unknown, true),
            (2, 2, Continuity::Restarted, false),
            (1, 2, Continuity::Same, false),
            (3, 2, Continuity::Same, false),
            (0, 0, Continuity::Same, false),
        ] {
            let proof = Proof {
                injected,
                planned,
                continuity,
                evidence: Vec::new(),
            };
            assert_eq!(proof.is_complete(), complete, "{proof:?}");
        }
    }
}

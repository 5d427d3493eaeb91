//! The client of one context of a kubeconfig: credentials, proxy, time-outs.

use std::error::Error as _;
use std::fmt;
use std::time::Duration;

use hyper_util::client::proxy::matcher::Matcher;
use kube::client::{AuthError, ClientBuilder};
use kube::{Client, Config, Error};
use tokio::sync::oneshot;

use super::kubeconfig::{Chosen, Proxy};
use super::{CONNECT_TIMEOUT, is_loopback};
use crate::model::problem::{Problem, ProblemKind};

/// How long a request may take to be written.
const WRITE_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a credential plugin may take, in which a person may have to log in with a browser.
const PLUGIN_WITHIN: Duration = Duration::from_secs(120);

/// A cluster as one context knows it, and a client that is logged in there.
#[derive(Clone)]
pub struct KubeContext {
    client: Client,
    name: Option<String>,
    plugin: Option<String>,
    server: String,
    namespace: String,
    doubt: Option<&'static str>,
}

impl fmt::Debug for KubeContext {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KubeContext")
            .field("name", &self.name)
            .field("server", &self.server)
            .field("namespace", &self.namespace)
            .finish_non_exhaustive()
    }
}

impl KubeContext {
    /// The client. It has no time-out for answers, since a watch has none either: whoever asks sets
    /// one. It tries nothing twice.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The context's name; `None`: the cluster that this process runs in.
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// What its credential plugin is called, where it has one.
    pub(super) fn plugin(&self) -> Option<&str> {
        self.plugin.as_deref()
    }

    /// The problem that credentials are which cannot be had any more.
    pub(super) fn logged_out(&self, why: &str) -> Problem {
        without_credentials(self.name(), why)
    }

    /// Base URL of the API server, without credentials and without a slash at its end.
    pub fn server(&self) -> &str {
        &self.server
    }

    /// Why whoever answers may be another cluster than the kubeconfig's; `None`: its certificate proves
    /// who it is, or it is asked in the clear on this very machine.
    pub fn doubt(&self) -> Option<&'static str> {
        self.doubt
    }

    /// The namespace that counts where none is named.
    pub fn namespace(&self) -> &str {
        &self.namespace
    }
}

/// Makes the client of a context.
///
/// # Errors
/// Certificates that cannot be used; credentials that cannot be had.
pub(super) async fn connect(chosen: Chosen) -> Result<KubeContext, Problem> {
    let Chosen {
        context,
        plugin,
        proxy,
        mut config,
    } = chosen;
    let server = base_url(&config);
    config.connect_timeout = Some(CONNECT_TIMEOUT);
    config.write_timeout = Some(WRITE_TIMEOUT);
    config.default_retry = false;
    if proxy == Proxy::OfTheEnvironment && !is_proxied(&server, &config) {
        config.proxy_url = None;
    }
    let namespace = config.default_namespace.clone();
    let doubt = doubt(&server, &config);
    let made = made_elsewhere(config).await;
    let client = made.map_err(|failure| {
        without_credentials(context.as_deref(), &failure.words(plugin.as_deref()))
    })?;
    Ok(KubeContext {
        client,
        name: context,
        plugin,
        server,
        namespace,
        doubt,
    })
}

/// Making a client waits for a credential plugin without letting anybody else work meanwhile. So it has
/// a thread of its own, which nobody waits for when its time is over.
async fn made_elsewhere(config: Config) -> Result<Client, Failure> {
    let (done, made) = oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    let working = std::thread::Builder::new().name("kubernetes login".to_owned());
    working
        .spawn(move || {
            let _within = runtime.enter();
            let client = ClientBuilder::try_from(config).map(ClientBuilder::build);
            // Nobody waits any more once the time is over.
            let _ = done.send(client);
        })
        .map_err(Failure::NoThread)?;
    match tokio::time::timeout(PLUGIN_WITHIN, made).await {
        Ok(Ok(client)) => client.map_err(Failure::Refused),
        Ok(Err(_)) => Err(Failure::Died),
        Err(_) => Err(Failure::Late),
    }
}

enum Failure {
    Refused(Error),
    NoThread(std::io::Error),
    Died,
    Late,
}

impl Failure {
    fn words(&self, plugin: Option<&str>) -> String {
        match self {
            Self::Refused(Error::Auth(why)) => plugin_words(why, plugin),
            Self::Refused(why) => match why.source() {
                Some(cause) => cause.to_string(),
                None => why.to_string(),
            },
            Self::NoThread(why) => why.to_string(),
            Self::Died => "the thread that logs in panicked".to_owned(),
            Self::Late => format!(
                "its credential plugin `{}` did not end within {} s",
                plugin.unwrap_or("(none)"),
                PLUGIN_WITHIN.as_secs()
            ),
        }
    }
}

/// What went wrong with credentials, without what the library would quote: a plugin's environment and
/// its output, both of which hold secrets.
pub(super) fn plugin_words(why: &AuthError, plugin: Option<&str>) -> String {
    let plugin = plugin.unwrap_or("(none)");
    if let AuthError::AuthExecStart(why) = why {
        return format!("its credential plugin `{plugin}` cannot be started: {why}");
    }
    if let AuthError::AuthExecRun { out, .. } = why {
        let said = String::from_utf8_lossy(&out.stderr);
        let said = said.lines().rfind(|line| !line.trim().is_empty());
        let said = said.map_or(String::new(), |line| format!(": {}", line.trim()));
        return format!(
            "its credential plugin `{plugin}` failed ({}){said}",
            out.status
        );
    }
    if let AuthError::AuthExecParse(_) = why {
        return format!("its credential plugin `{plugin}` printed no ExecCredential");
    }
    why.to_string()
}

fn without_credentials(context: Option<&str>, why: &str) -> Problem {
    let whose = match context {
        Some(name) => format!("context `{name}`"),
        None => "the service account of this pod".to_owned(),
    };
    let hint = match context {
        Some(name) => {
            format!("log in as for kubectl: `kubectl --context {name} version` goes the same way")
        }
        None => {
            "a pod needs the token of its service account: automountServiceAccountToken".to_owned()
        }
    };
    let message = format!("{whose} gives no credentials: {why}");
    Problem::new(ProblemKind::Refused, message).hint(hint)
}

/// Whether the environment wants this server asked through a proxy. `NO_PROXY` speaks of the server;
/// the client library would look it up for the proxy.
fn is_proxied(server: &str, config: &Config) -> bool {
    !is_loopback(server) && Matcher::from_env().intercept(&config.cluster_url).is_some()
}

/// A certificate that nobody looks at is none, also behind a tunnel that ends on this machine. Without TLS
/// this machine alone is believed: `kubectl proxy` has looked at the certificate itself.
fn doubt(server: &str, config: &Config) -> Option<&'static str> {
    let encrypted = server.starts_with("https:");
    if encrypted && config.accept_invalid_certs {
        return Some("the kubeconfig says insecure-skip-tls-verify");
    }
    (!encrypted && !is_loopback(server)).then_some("it is asked without TLS")
}

/// What a person may see of the server's URL.
fn base_url(config: &Config) -> String {
    let whole = config.cluster_url.to_string();
    let Ok(mut url) = url::Url::parse(&whole) else {
        return whole;
    };
    // Neither can fail for a URL with a host.
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.as_str().trim_end_matches('/').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_api_server_is_doubted_unless_a_certificate_or_this_machine_vouches_for_it() {
        for (url, ignored, doubted) in [
            ("https://api.example:6443", false, false),
            ("https://api.example:6443", true, true),
            ("https://127.0.0.1:6443", true, true),
            ("http://api.example:8080", false, true),
            ("http://127.0.0.1:8001", false, false),
            ("http://localhost:8001", false, false),
        ] {
            let mut config = Config::new(url.parse().expect("a URL"));
            config.accept_invalid_certs = ignored;
            assert_eq!(doubt(url, &config).is_some(), doubted, "{url} {ignored}");
        }
    }
}

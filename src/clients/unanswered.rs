//! Why an API server gave no answer, in words that tell a person where to look.

use std::error::Error;
use std::io;

use kube::client::AuthError;
use rustls::CertificateError;

use super::causes::{causes, tls_error};
use super::context::{KubeContext, plugin_words};
use crate::model::problem::{Problem, ProblemKind};

impl KubeContext {
    /// The problem that a request without an answer is.
    pub fn unanswered(&self, error: &kube::Error) -> Problem {
        let server = self.server();
        let error: &(dyn Error + 'static) = error;
        if let Some(auth) = causes(error).find_map(|cause| cause.downcast_ref::<AuthError>()) {
            let why = plugin_words(auth, self.plugin());
            return self.logged_out(&why);
        }
        if let Some(tls) = causes(error).find_map(tls_error) {
            return self.without_tls(tls);
        }
        let mut io = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
        let why = match io.find_map(|io| words_for(io.kind())) {
            Some(words) => words.to_owned(),
            None => causes(error)
                .last()
                .map_or_else(String::new, ToString::to_string),
        };
        Problem::new(
            ProblemKind::Unreachable,
            format!("the API server {server} does not answer: {why}"),
        )
        .hint(self.try_by_hand("is the cluster up, the VPN on?"))
    }

    /// The problem that a request is whose answer does not come.
    pub fn too_late(&self, within: std::time::Duration) -> Problem {
        let message = format!(
            "the API server {} does not answer within {} s",
            self.server(),
            within.as_secs()
        );
        let hint = self.try_by_hand("is it up, the VPN on?");
        Problem::new(ProblemKind::Unreachable, message).hint(hint)
    }

    /// A question, and the command that goes the same way.
    fn try_by_hand(&self, question: &str) -> String {
        match self.name() {
            Some(name) => {
                format!("{question} `kubectl --context {name} version` goes the same way")
            }
            None => question.to_owned(),
        }
    }

    fn without_tls(&self, error: &rustls::Error) -> Problem {
        let (what, way_out) = tls_words(error);
        let message = format!(
            "no TLS connection to the API server {}: {what}",
            self.server()
        );
        Problem::new(ProblemKind::Refused, message).hint(way_out)
    }
}

fn words_for(kind: io::ErrorKind) -> Option<&'static str> {
    if kind == io::ErrorKind::ConnectionRefused {
        return Some("nothing listens there (connection refused)");
    }
    (kind == io::ErrorKind::TimedOut).then_some("no connection in time")
}

fn tls_words(error: &rustls::Error) -> (String, &'static str) {
    use CertificateError as E;
    let words = |what: &str, way_out| (what.to_owned(), way_out);
    if let rustls::Error::InvalidCertificate(why) = error {
        if matches!(why, E::UnknownIssuer | E::BadSignature) {
            return words(
                "the issuer of its certificate is not the one that the kubeconfig trusts: it is another cluster, or somebody in between",
                "compare `certificate-authority` of the kubeconfig with the cluster's; fetch the kubeconfig again",
            );
        }
        if matches!(why, E::Expired | E::ExpiredContext { .. }) {
            return words(
                "its certificate has expired",
                "renew it, or compare the clocks",
            );
        }
        if matches!(why, E::NotValidYet | E::NotValidYetContext { .. }) {
            return words("its certificate is not valid yet", "compare the clocks");
        }
        if matches!(why, E::NotValidForName | E::NotValidForNameContext { .. }) {
            return words(
                "its certificate is for another name",
                "write that name as `server`, or as `tls-server-name`",
            );
        }
        return (
            format!("its certificate cannot be used ({why})"),
            "fetch the kubeconfig again",
        );
    }
    if let rustls::Error::InvalidMessage(_) = error {
        return words(
            "it does not speak TLS",
            "is it plain `http`, or another port?",
        );
    }
    (
        error.to_string(),
        "is the client certificate of the kubeconfig still valid?",
    )
}

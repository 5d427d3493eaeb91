//! Why there was no answer at all, in words that tell a person where to look.

use std::io;
use std::time::Duration;

use crate::clients::{causes, tls_error};
use crate::model::problem::{Problem, ProblemKind};
use crate::model::units::Span;

/// What kept the answer away.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    NobodyListens,
    UnknownName,
    Tls,
    NoConnectionInTime,
    NoAnswerInTime,
    Broken,
}

/// The problem of a request that got no answer. All are `Unreachable`: worth another attempt.
pub(super) fn problem(error: &reqwest::Error, endpoint: &str, patience: Duration) -> Problem {
    let within = Span::of(patience);
    let (message, hint) = match trouble(error) {
        Trouble::NobodyListens => (
            format!("nothing listens at {endpoint} (connection refused)"),
            "start LocalStack, or correct `on.localstack.endpoint`; `chaos sandbox` starts a practice target",
        ),
        Trouble::UnknownName => (
            format!("the host name in {endpoint} is not known here (DNS)"),
            "check the spelling of `on.localstack.endpoint`; `http://127.0.0.1:4566` is LocalStack's usual address",
        ),
        Trouble::Tls => (
            format!("no TLS connection to {endpoint} ({})", root_cause(error)),
            "is it plain `http`? A certificate of your own goes into SSL_CERT_FILE",
        ),
        Trouble::NoConnectionInTime => (
            format!("no connection to {endpoint} in time"),
            "a firewall or a wrong address swallows the packets; check `on.localstack.endpoint`",
        ),
        Trouble::NoAnswerInTime => (
            format!("{endpoint} took the connection but gave no answer within {within}"),
            "it hangs, or a latency longer than that is in place; LocalStack's own log tells more",
        ),
        Trouble::Broken => (
            format!(
                "the connection to {endpoint} broke before the answer was complete ({})",
                root_cause(error)
            ),
            "it may be restarting; try again, and look into LocalStack's own log",
        ),
    };
    Problem::new(ProblemKind::Unreachable, message).hint(hint)
}

fn trouble(error: &reqwest::Error) -> Trouble {
    if error.is_dns() {
        return Trouble::UnknownName;
    }
    if error.is_timeout() {
        return match error.is_connect() {
            true => Trouble::NoConnectionInTime,
            false => Trouble::NoAnswerInTime,
        };
    }
    for cause in causes(error) {
        let io = cause.downcast_ref::<io::Error>();
        if io.is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
            return Trouble::NobodyListens;
        }
        if tls_error(cause).is_some() {
            return Trouble::Tls;
        }
    }
    Trouble::Broken
}

fn root_cause(error: &reqwest::Error) -> String {
    let root = causes(error).last();
    root.map_or_else(|| error.to_string(), ToString::to_string)
}

//! Why no answer came at all, in words that tell a person where to look.

use std::error::Error;
use std::io;

use rustls::{AlertDescription, CertificateError};

use super::trouble::Trouble;
use crate::clients::{causes, tls_error};

/// What kept the answer away. All of it may pass: a server that starts again, a certificate that is
/// renewed.
pub(in crate::metrics) fn trouble(error: &(dyn Error + 'static), address: &str) -> Trouble {
    let request = causes(error).find_map(|cause| cause.downcast_ref::<reqwest::Error>());
    if request.is_some_and(reqwest::Error::is_dns) {
        return Trouble::passing(format!(
            "the host name in {address} is not known here (DNS)"
        ));
    }
    if request.is_some_and(|request| request.is_connect() && request.is_timeout()) {
        return Trouble::passing(format!("no connection to {address} in time"));
    }
    if let Some(tls) = causes(error).find_map(tls_error) {
        return without_tls(tls, address);
    }
    let mut io = causes(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    if io.any(|io| io.kind() == io::ErrorKind::ConnectionRefused) {
        return Trouble::passing(format!("nothing listens at {address} (connection refused)"));
    }
    let root = causes(error).last();
    let root = root.map_or_else(|| error.to_string(), ToString::to_string);
    Trouble::passing(match request {
        Some(request) if request.is_connect() => format!("no connection to {address}: {root}"),
        Some(_) | None => format!("the connection to {address} broke without an answer: {root}"),
    })
}

/// Whether a connection that stood broke without an answer: a kept one may be closed by the other side
/// at the very moment that it is used again, which is worth one more attempt.
pub(in crate::metrics) fn broke(error: &(dyn Error + 'static)) -> bool {
    let mut requests = causes(error).filter_map(|cause| cause.downcast_ref::<reqwest::Error>());
    requests.any(|request| request.is_request() && !request.is_connect() && !request.is_timeout())
        && causes(error).find_map(tls_error).is_none()
}

fn without_tls(error: &rustls::Error, address: &str) -> Trouble {
    let (what, way_out) = tls_words(error);
    Trouble::Passing {
        why: format!("no TLS connection to {address}: {what}"),
        way_out: way_out.map(str::to_owned),
    }
}

/// What is wrong, and what to do about it where that is known.
type Words = (String, Option<&'static str>);

fn words(what: &str, way_out: &'static str) -> Words {
    (what.to_owned(), Some(way_out))
}

fn tls_words(error: &rustls::Error) -> Words {
    if let rustls::Error::InvalidCertificate(why) = error {
        return certificate_words(why);
    }
    if let rustls::Error::AlertReceived(alert) = error {
        return alert_words(*alert);
    }
    if let rustls::Error::InvalidMessage(_) = error {
        return words("it does not speak TLS", "is it plain `http`?");
    }
    (error.to_string(), None)
}

fn certificate_words(why: &CertificateError) -> Words {
    use CertificateError as E;
    if matches!(why, E::UnknownIssuer) {
        return words(
            "the issuer of its certificate is not trusted here",
            "name the issuer's certificate as `tls.ca`",
        );
    }
    if matches!(why, E::Expired | E::ExpiredContext { .. }) {
        return words("its certificate has expired", "renew it");
    }
    if matches!(why, E::NotValidYet | E::NotValidYetContext { .. }) {
        return words("its certificate is not valid yet", "compare the clocks");
    }
    if matches!(why, E::NotValidForName | E::NotValidForNameContext { .. }) {
        return words(
            "its certificate is for another name",
            "write the name that the certificate is for",
        );
    }
    (format!("its certificate cannot be used ({why})"), None)
}

fn alert_words(alert: AlertDescription) -> Words {
    use AlertDescription as A;
    if alert == A::CertificateRequired {
        return words(
            "it asks for a client certificate",
            "name ours as `tls.certificate` and `tls.key`",
        );
    }
    let about_ours = [
        A::BadCertificate,
        A::UnsupportedCertificate,
        A::CertificateRevoked,
        A::CertificateExpired,
        A::CertificateUnknown,
        A::UnknownCA,
        A::AccessDenied,
    ];
    if about_ours.contains(&alert) {
        return (
            format!("it does not accept our certificate ({alert:?})"),
            None,
        );
    }
    (format!("it ended the handshake ({alert:?})"), None)
}

//! A client with certificates of the document's, from PEM files.

use std::error::Error;
use std::path::Path;
use std::time::Duration;

use reqwest::{Certificate, Client, Identity};
use rustls::RootCertStore;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};

use super::token::contents;
use crate::clients;
use crate::metrics::TlsFiles;
use crate::model::problem::{Problem, ProblemKind};

/// Bytes of a PEM file, at most: the bundle of a whole machine has 200 KiB.
const LARGEST: u64 = 4 << 20;

/// How long a connection may take to stand.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// A client of its own for this URL's host.
///
/// # Errors
/// A file cannot be read or holds something else; the problem names it.
pub(super) fn client(files: &TlsFiles, url: &str) -> Result<Client, Problem> {
    let mut builder = clients::builder_for(url).connect_timeout(CONNECT_TIMEOUT);
    if let Some(path) = &files.ca {
        builder = builder.tls_certs_only(trusted(path)?);
    }
    match (&files.certificate, &files.key) {
        (None, None) => {}
        (None, Some(key)) => {
            return Err(wrong(key, "tls.key", "belongs to no certificate")
                .hint("name the certificate's file as `tls.certificate`"));
        }
        (Some(certificate), key) => {
            builder = builder.identity(identity(certificate, key.as_deref())?);
        }
    }
    builder.build().map_err(|why| match &files.certificate {
        Some(path) => {
            let why = root_cause(&why);
            wrong(
                path,
                "tls.certificate",
                &format!("cannot be used with its key: {why}"),
            )
        }
        None => clients::cannot_be_made(why),
    })
}

/// Certificates that the server's may come from.
fn trusted(path: &Path) -> Result<Vec<Certificate>, Problem> {
    let place = "tls.ca";
    let mut store = RootCertStore::empty();
    let mut trusted = Vec::new();
    for (index, der) in certificates(path, place)?.into_iter().enumerate() {
        let number = index + 1;
        let unusable = |why: String| {
            wrong(
                path,
                place,
                &format!("holds an unusable certificate (no. {number}: {why})"),
            )
        };
        store
            .add(der.clone())
            .map_err(|why| unusable(why.to_string()))?;
        trusted.push(Certificate::from_der(&der).map_err(|why| unusable(why.to_string()))?);
    }
    Ok(trusted)
}

/// Our certificate with its chain and its key; without a file of its own the key stands next to the
/// certificate.
fn identity(certificate: &Path, key: Option<&Path>) -> Result<Identity, Problem> {
    let (key, place) = match key {
        Some(key) => (key, "tls.key"),
        None => (certificate, "tls.certificate"),
    };
    certificates(certificate, "tls.certificate")?;
    let mut pem = bytes(certificate, "tls.certificate")?;
    let key_pem = bytes(key, place)?;
    if PrivateKeyDer::from_pem_slice(&key_pem).is_err() {
        let text = String::from_utf8_lossy(&key_pem);
        let problem = if text.contains("ENCRYPTED") {
            wrong(key, place, "is protected by a passphrase").hint("give a key without one")
        } else {
            wrong(key, place, "holds no private key in PEM form")
                .hint("it begins with `-----BEGIN PRIVATE KEY-----`; name its file as `tls.key`")
        };
        return Err(problem);
    }
    if key != certificate {
        pem.push(b'\n');
        pem.extend_from_slice(&key_pem);
    }
    Identity::from_pem(&pem).map_err(|why| {
        wrong(
            certificate,
            "tls.certificate",
            &format!("cannot be used: {why}"),
        )
    })
}

fn certificates(path: &Path, place: &str) -> Result<Vec<CertificateDer<'static>>, Problem> {
    let pem = bytes(path, place)?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&pem).collect();
    match found {
        Ok(found) if !found.is_empty() => Ok(found),
        Ok(_) | Err(_) => Err(wrong(path, place, "holds no certificate in PEM form")
            .hint("it begins with `-----BEGIN CERTIFICATE-----`")),
    }
}

fn bytes(path: &Path, place: &str) -> Result<Vec<u8>, Problem> {
    contents(path, LARGEST).map_err(|why| {
        let mut problem = wrong(path, place, &format!("cannot be read: {why}"));
        problem.kind = ProblemKind::Absent;
        problem
    })
}

fn root_cause(mut error: &dyn Error) -> String {
    while let Some(cause) = error.source() {
        error = cause;
    }
    error.to_string()
}

fn wrong(path: &Path, place: &str, what: &str) -> Problem {
    Problem::new(
        ProblemKind::Invalid,
        format!("the file {} (`{place}`) {what}", path.display()),
    )
}

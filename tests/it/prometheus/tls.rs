//! Certificates: those that a server shows, those that we show, and files that are none.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot make certificates has failed"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chaos_gameday::metrics::{Access, MetricSource, TlsFiles};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::sample::Reading;
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair, date_time_ymd,
};
use rustls::crypto::ring;
use rustls::pki_types::PrivateKeyDer;
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig};
use tempfile::TempDir;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;

use super::server::{Server, one};
use super::{PATIENT, down, read, source, spec};

/// An issuer of certificates and a folder for what it issues.
struct Issuer {
    issuer: CertifiedIssuer<'static, KeyPair>,
    folder: TempDir,
}

/// A certificate and its key, in files.
struct Issued {
    certificate: PathBuf,
    key: PathBuf,
    chain: rcgen::Certificate,
    secret: KeyPair,
}

impl Issuer {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        params.distinguished_name.push(DnType::CommonName, name);
        let issuer = CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap();
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("ca.pem"), issuer.pem()).unwrap();
        Self { issuer, folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn issue(&self, name: &str, years: (i32, i32)) -> Issued {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = date_time_ymd(years.0, 1, 1);
        params.not_after = date_time_ymd(years.1, 1, 1);
        let secret = KeyPair::generate().unwrap();
        let chain = params.signed_by(&secret, &self.issuer).unwrap();
        let issued = Issued {
            certificate: self.file(&format!("{name}.pem")),
            key: self.file(&format!("{name}.key")),
            chain,
            secret,
        };
        fs::write(&issued.certificate, issued.chain.pem()).unwrap();
        fs::write(&issued.key, issued.secret.serialize_pem()).unwrap();
        issued
    }

    /// What a server shows, and, with an issuer, whose clients it takes.
    fn server(&self, shown: &Issued, clients: Option<&Self>) -> ServerConfig {
        let provider = Arc::new(ring::default_provider());
        let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
            .with_safe_default_protocol_versions()
            .unwrap();
        let config = match clients {
            None => config.with_no_client_auth(),
            Some(clients) => {
                let mut roots = RootCertStore::empty();
                roots.add(clients.issuer.der().clone()).unwrap();
                let verifier =
                    WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
                config.with_client_cert_verifier(verifier.build().unwrap())
            }
        };
        let key = PrivateKeyDer::try_from(shown.secret.serialize_der()).unwrap();
        config
            .with_single_cert(vec![shown.chain.der().clone()], key)
            .unwrap()
    }

    fn trusted(&self) -> TlsFiles {
        TlsFiles {
            ca: Some(self.file("ca.pem")),
            ..TlsFiles::default()
        }
    }
}

fn over(url: &str, files: TlsFiles) -> Result<Arc<dyn MetricSource>, Problem> {
    let access = Access {
        tls: Some(files),
        ..Access::default()
    };
    source(spec(url, PATIENT, access))
}

const ALWAYS: (i32, i32) = (2000, 2100);

#[tokio::test]
async fn a_certificate_that_cannot_be_trusted_says_why() {
    let ours = Issuer::new("ours");
    let theirs = Issuer::new("theirs");
    for (shown, trusted, what) in [
        (
            ours.issue("localhost", ALWAYS),
            theirs.trusted(),
            "the issuer of its certificate is not trusted here; name the issuer's certificate as `tls.ca`",
        ),
        (
            ours.issue("localhost", ALWAYS),
            TlsFiles::default(),
            "the issuer of its certificate is not trusted here; name the issuer's certificate as `tls.ca`",
        ),
        (
            ours.issue("localhost", (2000, 2001)),
            ours.trusted(),
            "its certificate has expired; renew it",
        ),
        (
            ours.issue("localhost", (2099, 2100)),
            ours.trusted(),
            "its certificate is not valid yet; compare the clocks",
        ),
        (
            ours.issue("metrics.example.com", ALWAYS),
            ours.trusted(),
            "its certificate is for another name; write the name that the certificate is for",
        ),
    ] {
        let server = Server::start_tls(ours.server(&shown, None), one("1")).await;
        let source = over(&server.url, trusted).unwrap();
        let why = format!("no TLS connection to {}: {what}", server.url);
        assert_eq!(read(&source, "up").await, down(&why));
    }
}

#[tokio::test]
async fn a_server_of_ones_own_issuer_is_read() {
    let ours = Issuer::new("ours");
    let shown = ours.issue("localhost", ALWAYS);
    let server = Server::start_tls(ours.server(&shown, None), one("0.5")).await;
    let source = over(&server.url, ours.trusted()).unwrap();
    for _ in 0..3 {
        assert_eq!(read(&source, "up").await, Reading::Value(0.5));
    }
    assert_eq!(server.connections(), 1);
}

#[tokio::test]
async fn a_server_without_tls_is_told_from_one_that_is_not_trusted() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    tokio::spawn(async move {
        // As Go's servers do with bytes that are no request.
        let (mut stream, _) = listener.accept().await.unwrap();
        let answer = b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n400 Bad Request";
        stream.write_all(answer).await.unwrap();
    });
    let source = over(&url, TlsFiles::default()).unwrap();
    let why = format!("no TLS connection to {url}: it does not speak TLS; is it plain `http`?");
    assert_eq!(read(&source, "up").await, down(&why));
}

#[tokio::test]
async fn a_client_certificate_is_shown_to_a_server_that_asks_for_one() {
    let ours = Issuer::new("ours");
    let theirs = Issuer::new("theirs");
    let shown = ours.issue("localhost", ALWAYS);
    let accepted = ours.issue("chaos", ALWAYS);
    let stranger = theirs.issue("chaos", ALWAYS);
    let with = |issued: &Issued| TlsFiles {
        certificate: Some(issued.certificate.clone()),
        key: Some(issued.key.clone()),
        ..ours.trusted()
    };
    // Certificate and key in one file, as many tools write them.
    let both = ours.file("both.pem");
    let pem = format!(
        "{}{}",
        accepted.secret.serialize_pem(),
        accepted.chain.pem()
    );
    fs::write(&both, pem).unwrap();
    let in_one_file = TlsFiles {
        certificate: Some(both),
        ..ours.trusted()
    };
    let refused = |url: &str, what: &str| down(&format!("no TLS connection to {url}: {what}"));
    for (files, what) in [
        (with(&accepted), None),
        (in_one_file, None),
        (
            ours.trusted(),
            Some("it asks for a client certificate; name ours as `tls.certificate` and `tls.key`"),
        ),
        (
            with(&stranger),
            Some("it does not accept our certificate (UnknownCA)"),
        ),
    ] {
        let server = Server::start_tls(ours.server(&shown, Some(&ours)), one("1")).await;
        let source = over(&server.url, files).unwrap();
        let expected = what.map_or(Reading::Value(1.0), |what| refused(&server.url, what));
        assert_eq!(read(&source, "up").await, expected);
        assert_eq!(server.requests().len(), usize::from(what.is_none()));
    }
}

#[test]
fn a_file_that_holds_no_certificate_is_named_before_anything_is_sent() {
    let ours = Issuer::new("ours");
    let one = ours.issue("one", ALWAYS);
    let other = ours.issue("other", ALWAYS);
    let encrypted = ours.file("encrypted.key");
    let pem = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n";
    fs::write(&encrypted, pem).unwrap();
    let garbage = ours.file("garbage.pem");
    let pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
    fs::write(&garbage, pem).unwrap();
    let text = ours.file("text");
    fs::write(&text, "hello").unwrap();
    let missing = ours.file("missing");

    let ca = |path: &Path| TlsFiles {
        ca: Some(path.to_owned()),
        ..TlsFiles::default()
    };
    let pair = |certificate: Option<&Path>, key: Option<&Path>| TlsFiles {
        certificate: certificate.map(Path::to_owned),
        key: key.map(Path::to_owned),
        ..TlsFiles::default()
    };
    for (files, path, place, what) in [
        (
            ca(&missing),
            &missing,
            "ca",
            "cannot be read: No such file or directory (os error 2)",
        ),
        (ca(&text), &text, "ca", "holds no certificate in PEM form"),
        (
            ca(&one.key),
            &one.key,
            "ca",
            "holds no certificate in PEM form",
        ),
        (
            ca(&garbage),
            &garbage,
            "ca",
            "holds an unusable certificate (no. 1: invalid peer certificate: BadEncoding)",
        ),
        (
            pair(None, Some(&one.key)),
            &one.key,
            "key",
            "belongs to no certificate",
        ),
        (
            pair(Some(&one.key), Some(&one.key)),
            &one.key,
            "certificate",
            "holds no certificate in PEM form",
        ),
        (
            pair(Some(&one.certificate), None),
            &one.certificate,
            "certificate",
            "holds no private key in PEM form",
        ),
        (
            pair(Some(&one.certificate), Some(&text)),
            &text,
            "key",
            "holds no private key in PEM form",
        ),
        (
            pair(Some(&one.certificate), Some(&encrypted)),
            &encrypted,
            "key",
            "is protected by a passphrase",
        ),
        (
            pair(Some(&one.certificate), Some(&other.key)),
            &one.certificate,
            "certificate",
            "cannot be used with its key: keys may not be consistent: KeyMismatch",
        ),
    ] {
        let problem = over("https://localhost:1", files).err().expect("a problem");
        let expected = format!("the file {} (`tls.{place}`) {what}", path.display());
        assert_eq!(problem.message, expected);
    }
}

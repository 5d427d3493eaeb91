//! Who asks, checked by the bytes that arrive, and that no secret comes back out.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use chaos_gameday::metrics::{Access, Auth, BearerToken, MetricSource};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::secret::SecretText;

use super::server::{Answer, Server, http, ok, one, result};
use super::{PASSWORD, PATIENT, TOKEN, down, read, rehearse, source, spec};

/// `me:p&ss<w"rd' 1%` in base64 (RFC 7617).
const BASIC: &str = "bWU6cCZzczx3InJkJyAxJQ==";

fn bearer() -> Access {
    authenticated(Auth::Bearer(BearerToken::Token(SecretText::new(
        "${secret:TOKEN}",
    ))))
}

fn bearer_file(path: &Path) -> Access {
    authenticated(Auth::Bearer(BearerToken::File(path.to_owned())))
}

fn basic() -> Access {
    authenticated(Auth::Basic {
        username: "me".to_owned(),
        password: SecretText::new("${secret:PASSWORD}"),
    })
}

fn authenticated(auth: Auth) -> Access {
    Access {
        auth: Some(auth),
        ..Access::default()
    }
}

fn headers(headers: &[(&str, &str)]) -> Access {
    let headers = headers.iter();
    Access {
        headers: headers
            .map(|(name, value)| ((*name).to_owned(), SecretText::new(*value)))
            .collect(),
        ..Access::default()
    }
}

fn reached(url: &str, access: Access) -> Arc<dyn MetricSource> {
    source(spec(url, PATIENT, access)).expect("a source")
}

fn refused(access: Access) -> Problem {
    let made = source(spec("http://127.0.0.1:1", PATIENT, access));
    made.err().expect("a problem")
}

/// The value of a header in a request as it arrived.
fn header<'r>(request: &'r str, name: &str) -> Option<&'r str> {
    request.lines().find_map(|line| {
        let (key, value) = line.split_once(": ")?;
        key.eq_ignore_ascii_case(name).then_some(value)
    })
}

#[tokio::test]
async fn a_request_says_who_asks() {
    let tenant = headers(&[
        ("X-Scope-OrgID", "shop"),
        ("THANOS-TENANT", "shop-${secret:TOKEN}"),
        ("Cache-Control", "only-if-cached"),
    ]);
    let bearer_text = format!("Bearer {TOKEN}");
    let basic_text = format!("Basic {BASIC}");
    let tenant_text = format!("shop-{TOKEN}");
    for (access, expected) in [
        (
            Access::default(),
            BTreeMap::from([("cache-control", "no-cache, no-store")]),
        ),
        (
            bearer(),
            BTreeMap::from([("authorization", bearer_text.as_str())]),
        ),
        (
            basic(),
            BTreeMap::from([("authorization", basic_text.as_str())]),
        ),
        (
            tenant,
            BTreeMap::from([
                ("x-scope-orgid", "shop"),
                ("thanos-tenant", tenant_text.as_str()),
                ("cache-control", "only-if-cached"),
            ]),
        ),
    ] {
        let server = Server::always(one("1")).await;
        let source = reached(&server.url, access);
        assert_eq!(read(&source, "up").await, Reading::Value(1.0));
        let request = server.requests().concat();
        for (name, value) in expected {
            assert_eq!(header(&request, name), Some(value), "{request}");
        }
    }
}

#[tokio::test]
async fn a_token_in_a_file_is_read_again_for_every_request() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    let server = Server::always(one("1")).await;
    let source = reached(&server.url, bearer_file(&path));
    let shown = path.display();

    let missing =
        format!("the token file {shown} cannot be read: No such file or directory (os error 2)");
    assert_eq!(read(&source, "up").await, down(&missing));
    for (written, reading) in [
        (" first-token\n", Reading::Value(1.0)),
        ("second-token\r\n\n", Reading::Value(1.0)),
        (" \n", down(&format!("the token file {shown} is empty"))),
        (
            "abc\n",
            down(&format!(
                "the token in {shown} is too short to be hidden in what a server says"
            )),
        ),
        (
            "two\nlines",
            down(&format!(
                "the token file {shown} holds more than one line, or what no header can carry"
            )),
        ),
        ("third-token", Reading::Value(1.0)),
    ] {
        fs::write(&path, written).expect("written");
        assert_eq!(read(&source, "up").await, reading, "{written:?}");
    }
    fs::write(&path, [0xff, 0xfe]).expect("written");
    let bytes = format!("the token file {shown} holds no text");
    assert_eq!(read(&source, "up").await, down(&bytes));
    fs::write(&path, "x".repeat(70_000)).expect("written");
    let large = format!("the token file {shown} cannot be read: it is larger than 64 KiB");
    assert_eq!(read(&source, "up").await, down(&large));
    fs::remove_file(&path).expect("removed");
    fs::create_dir(&path).expect("created");
    let folder = format!("the token file {shown} cannot be read: it is no ordinary file");
    assert_eq!(read(&source, "up").await, down(&folder));

    let requests = server.requests();
    let sent: Vec<_> = requests
        .iter()
        .map(|request| header(request, "authorization"))
        .collect();
    assert_eq!(
        sent,
        [
            Some("Bearer first-token"),
            Some("Bearer second-token"),
            Some("Bearer third-token")
        ]
    );
}

#[test]
fn what_no_request_can_carry_is_refused_before_any_is_sent() {
    let twice = Access {
        headers: BTreeMap::from([("authorization".to_owned(), SecretText::new("x"))]),
        ..bearer()
    };
    let twice_with_a_file = Access {
        headers: BTreeMap::from([("Authorization".to_owned(), SecretText::new("x"))]),
        ..bearer_file(&PathBuf::from("/no/such/token"))
    };
    let colon = authenticated(Auth::Basic {
        username: "a:b".to_owned(),
        password: SecretText::new("${secret:PASSWORD}"),
    });
    for (access, message) in [
        (
            headers(&[("Tenant Name", "x")]),
            "`Tenant Name` is no name of a header",
        ),
        (
            headers(&[("Tenant", "${secret:TOKEN}\nx")]),
            "the value of the header `Tenant` holds a line break, or another character that no header can carry",
        ),
        (
            headers(&[("Tenant", "${secret:OTHER}")]),
            "the secret `OTHER` is not set",
        ),
        (twice, "the header `authorization` is given twice"),
        (
            twice_with_a_file,
            "the header `Authorization` is given twice",
        ),
        (colon, "the user's name `a:b` holds a colon"),
    ] {
        assert_eq!(refused(access).message, message);
    }
}

#[tokio::test]
async fn credentials_that_are_not_accepted_are_not_asked_for_again() {
    for (status, way_out) in [
        (
            "401 Unauthorized",
            "the credentials under `metrics.prometheus` are not accepted",
        ),
        (
            "403 Forbidden",
            "the credentials under `metrics.prometheus` may not read this",
        ),
    ] {
        let server = Server::always(Answer::Bytes(http(status, &[], ""))).await;
        let expected = down(&format!("Prometheus answers {status}; {way_out}"));
        assert_eq!(read(&reached(&server.url, bearer()), "up").await, expected);
    }
}

/// What a server may do with what it was sent, each in a place that we show.
fn echoes(request: &str) -> Vec<Answer> {
    let credentials = header(request, "authorization").unwrap_or_default();
    let tenant = header(request, "x-tenant").unwrap_or_default();
    let all = format!("{PASSWORD} {credentials} {tenant}");
    let json = serde_json::Value::from(all.as_str());
    let html = all.replace('&', "&amp;").replace('<', "&lt;");
    let html = html.replace('"', "&#34;").replace('\'', "&#39;");
    let url: String = url::form_urlencoded::byte_serialize(all.as_bytes()).collect();
    let series = |label: &str| format!(r#"{{"metric":{{{json}:"{label}"}},"value":[1,"1"]}}"#);
    let empty = r#""data":{"resultType":"vector","result":[]}"#;
    let error = format!(r#"{{"status":"error","errorType":"internal","error":{json}}}"#);
    let plain = |status: &str, body: &str| Answer::Bytes(http(status, &[], body));
    vec![
        plain("500 Oh", &all),
        // Shown only up to 200 characters: what is cut there must not begin with half a secret.
        plain("500 Oh", &format!("{} {all}", "x".repeat(185))),
        plain("500 Oh", &format!("<title>{html}</title>")),
        plain("500 Oh", &html.replace("&#34;", "&quot;")),
        plain("401 Unauthorized", &error),
        plain("400 Bad Request", &error.replace("internal", "bad_data")),
        plain("404 Not Found", &url),
        plain("200 OK", &all),
        ok(&error),
        ok(&format!(
            r#"{{"status":"success",{empty},"warnings":[{json}]}}"#
        )),
        result("vector", &format!("[{},{}]", series("1"), series("2"))),
        Answer::Bytes(http(
            "302 Found",
            &[&format!("Location: http://x/?{url}")],
            "",
        )),
        Answer::Bytes(http(
            "302 Found",
            &[&format!("Location: {credentials}")],
            "",
        )),
        Answer::Bytes(http("429 Slow", &[&format!("Retry-After: {tenant}")], "")),
    ]
}

#[tokio::test]
async fn no_secret_comes_back_out_whatever_a_server_does_with_it() {
    const IN_A_FILE: &str = "t0ken/in+a=file";
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("token");
    fs::write(&path, IN_A_FILE).expect("written");
    let tenant = headers(&[("X-Tenant", "${secret:TOKEN}")]).headers;
    let secrets = [TOKEN, PASSWORD, IN_A_FILE, BASIC];
    let spelled = secrets.iter().flat_map(|secret| {
        let json = serde_json::Value::from(*secret).to_string();
        let url = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
        [(*secret).to_owned(), json.trim_matches('"').to_owned(), url]
    });
    let spelled: Vec<String> = spelled.collect();
    for access in [bearer(), bearer_file(&path), basic()] {
        let access = Access {
            headers: tenant.clone(),
            ..access
        };
        for number in 0..echoes("").len() {
            let server = Server::start(move |request| echoes(request).remove(number)).await;
            let source = reached(&server.url, access.clone());
            let reading = read(&source, "up").await;
            let rehearsal = rehearse(&source, "up").await;
            assert_eq!(reading.value(), None, "{reading:?}");
            let shown = format!("{reading:?} {rehearsal:?} {access:?}");
            let written = serde_json::json!([reading, rehearsal]).to_string();
            for secret in &spelled {
                let told = shown.contains(secret) || written.contains(secret);
                assert!(!told, "echo {number}: {secret} in {shown}");
            }
            // Half a secret at the cut of a long text is one too many.
            assert!(!shown.contains(&TOKEN[..6]), "echo {number}: {shown}");
        }
    }
}

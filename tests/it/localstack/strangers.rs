//! What listens there may be anything: each situation has words of its own, and none is written to.

use chaos_gameday::clients::Clients;
use chaos_gameday::model::problem::ProblemKind;
use serde_json::json;

use super::{Case, put_record};
use crate::support::localstack::{EFFECTS, FAULTS, HEALTH, INFO, LICENCE, Misfit, Quirk};

const NO_SUCH_BUCKET: &str = "<?xml version=\"1.0\"?><Error><Code>NoSuchBucket</Code></Error>";
const DENIED: &str = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>";
const PAGE: &str = "<!doctype html><title>Welcome</title>";

#[tokio::test]
async fn each_stranger_is_told_apart_and_never_written_to() {
    use ProblemKind::{Absent, Refused, Unexpected, Unreachable};
    use Quirk::{Answers, AnswersAll, Redirects};
    let clients = Clients::new().unwrap();
    let at = |path, status, text: &str| Answers(path, status, text.to_owned());
    let all = |status, text: &str| AnswersAll(status, text.to_owned());
    let plugins = |names: &[&str]| json!({"available_plugins": names}).to_string();
    let unlicensed = r#"{"session_id": "s", "is_license_activated": false}"#;
    for (quirks, kind, words) in [
        (
            vec![all(404, NO_SUCH_BUCKET)],
            Unexpected,
            "answers like S3 (`NoSuchBucket`), as moto",
        ),
        (
            vec![all(403, DENIED)],
            Unexpected,
            "answers like S3 (`AccessDenied`)",
        ),
        (vec![all(200, PAGE)], Unexpected, "a web page"),
        (
            vec![all(200, "{\"status\": \"ok\"}")],
            Unexpected,
            "without `services` and `version`",
        ),
        (
            vec![at(HEALTH, 200, "{\"services\": {}}")],
            Unexpected,
            "`services` and `version`",
        ),
        (
            vec![at(HEALTH, 200, "pong")],
            Unexpected,
            "neither JSON nor anything known",
        ),
        (vec![at(HEALTH, 200, "")], Unexpected, "but is nothing"),
        (
            vec![at(HEALTH, 200, &"x".repeat(1_100_000))],
            Unexpected,
            "more than 1 MiB",
        ),
        (
            vec![at(HEALTH, 404, "")],
            Unexpected,
            "answers 404, nothing",
        ),
        (vec![at(HEALTH, 401, "")], Refused, "not for us: 401"),
        (
            vec![at(HEALTH, 500, "{}")],
            Unexpected,
            "failed on the server: 500",
        ),
        (
            vec![at(HEALTH, 503, PAGE)],
            Unreachable,
            "cannot be had now: 503, a web page",
        ),
        (
            vec![Redirects(HEALTH)],
            Unexpected,
            "redirects elsewhere (302)",
        ),
        (
            vec![at(FAULTS, 404, "")],
            Absent,
            "although a licence is activated",
        ),
        (
            vec![at(FAULTS, 404, ""), at(INFO, 200, unlicensed)],
            Absent,
            "no licence is activated",
        ),
        (
            vec![at(FAULTS, 404, ""), at(INFO, 404, "")],
            Absent,
            "freely available LocalStack",
        ),
        (
            vec![at(FAULTS, 404, ""), at(LICENCE, 200, &plugins(&["x"]))],
            Absent,
            "its licence does not cover it",
        ),
        (
            vec![
                at(FAULTS, 404, ""),
                at(
                    LICENCE,
                    200,
                    &plugins(&["localstack.platform.plugin/chaos"]),
                ),
            ],
            Absent,
            "although its licence covers it",
        ),
        (vec![at(FAULTS, 403, "{}")], Refused, "not for us: 403"),
        (
            vec![at(FAULTS, 405, "{}")],
            Unexpected,
            "does not take this method (405)",
        ),
        (
            vec![at(FAULTS, 500, "")],
            Unexpected,
            "failed on the server: 500",
        ),
        (
            vec![at(FAULTS, 200, "[")],
            Unexpected,
            "neither JSON nor anything known",
        ),
        (vec![at(FAULTS, 200, "{}")], Unexpected, "no list of rules"),
        (vec![at(FAULTS, 200, "[1]")], Unexpected, "no list of rules"),
        (
            vec![Redirects(FAULTS)],
            Unexpected,
            "redirects elsewhere (302)",
        ),
        (vec![at(EFFECTS, 404, "")], Absent, "no network effects"),
        (
            vec![at(EFFECTS, 200, "{\"latency\": 5.5}")],
            Unexpected,
            "whole number",
        ),
    ] {
        let misfit = Misfit::start(quirks.clone()).await;
        // A latency makes the effects matter.
        let rules = json!([put_record()]);
        let case = Case::with(&clients, &misfit.url, rules, Some(1));
        let problem = case.prepare().await.unwrap_err();
        assert_eq!(problem.kind, kind, "{quirks:?}: {problem}");
        assert!(problem.message.contains(words), "{quirks:?}: {problem}");
        assert!(problem.message.contains(&misfit.url), "{problem}");
        assert!(problem.hint.is_some(), "{problem}");
        assert_eq!(misfit.writes(), Vec::<String>::new(), "{quirks:?}");
        let heard = misfit.inner().heard.join("\n");
        assert!(!heard.contains("/elsewhere"), "{quirks:?}");
        assert!(heard.starts_with("GET /_localstack/health"), "{heard}");
    }
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up() {
    let clients = Clients::new().unwrap();
    for path in [HEALTH, INFO, FAULTS, EFFECTS] {
        let misfit = Misfit::start(vec![Quirk::Hangs(path)]).await;
        let rules = json!([put_record()]);
        let case = Case::with(&clients, &misfit.url, rules, Some(1)).hasty(&clients);
        let problem = case.prepare().await.unwrap_err();
        assert_eq!(problem.kind, ProblemKind::Unreachable, "{path}");
        let words = "took the connection but gave no answer within 501ms";
        assert_eq!(problem.message, format!("{} {words}", misfit.url), "{path}");
        assert_eq!(misfit.writes(), Vec::<String>::new(), "{path}");
    }
}

#[tokio::test]
async fn silence_is_told_apart_by_its_reason() {
    let closed = {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        format!("http://{}", listener.local_addr().unwrap())
    };
    let misfit = Misfit::start(Vec::new()).await;
    let plain = misfit.url.replace("http://", "https://");
    // Longer than any label may be: the resolver refuses it without asking the network.
    let nameless = format!("http://{}.example", "x".repeat(64));
    for (endpoint, kind, words) in [
        (closed, ProblemKind::Unreachable, "nothing listens at"),
        (plain, ProblemKind::Unreachable, "no TLS connection to"),
        (
            nameless,
            ProblemKind::Unreachable,
            "is not known here (DNS)",
        ),
        ("http://".to_owned(), ProblemKind::Invalid, "empty host"),
        (
            "localhost:4566".to_owned(),
            ProblemKind::Invalid,
            "neither `http://`",
        ),
        (
            "http:h".to_owned(),
            ProblemKind::Invalid,
            "neither `http://`",
        ),
        (
            "ftp://h".to_owned(),
            ProblemKind::Invalid,
            "neither `http://`",
        ),
        ("http://h/?a=b".to_owned(), ProblemKind::Invalid, "a query"),
        (
            "http://me:hush@h".to_owned(),
            ProblemKind::Invalid,
            "`the endpoint` is no",
        ),
    ] {
        let case = Case::new(&endpoint, json!([put_record()]), None);
        let problem = case.prepare().await.unwrap_err();
        assert_eq!(problem.kind, kind, "{endpoint}: {problem}");
        assert!(problem.message.contains(words), "{endpoint}: {problem}");
        assert!(problem.hint.is_some(), "{problem}");
    }
    assert_eq!(misfit.inner().heard, Vec::<String>::new());
}

#[tokio::test]
async fn a_bad_rule_is_refused_before_anything_is_sent() {
    let misfit = Misfit::start(Vec::new()).await;
    let rule = json!({"service": "sfn", "operation": "ListObjectsV2"});
    let problem = Case::new(&misfit.url, json!([rule]), Some(0))
        .prepare()
        .await
        .unwrap_err();
    assert_eq!(problem.kind, ProblemKind::Invalid);
    assert_eq!(
        problem.message,
        "faults[0].service: LocalStack knows no service `sfn`; \
         faults[0].operation: the operation `ListObjectsV2` has digits, which the Chaos API refuses; \
         latency: a latency of 0 breaks nothing"
    );
    assert_eq!(misfit.inner().heard, Vec::<String>::new());
}

//! Every state of the world that a server can be in, over real sockets: what it does, what is read,
//! and whether the rehearsal calls it a flaw that no waiting heals.

use std::time::Duration;

use chaos_gameday::metrics::Access;
use chaos_gameday::model::rehearsal::Now;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::units::Span;
use tokio::net::TcpListener;
use tokio::time::Instant;

use super::server::{Answer, Server, http, ok, one, result};
use super::{down, no_data, plain, read, rehearse, rehearsed, source, spec, state};

/// Short enough to wait for a server that hangs.
const SHORT: Span = Span::from_millis(400);

struct Row {
    what: &'static str,
    answer: Answer,
    /// `{url}` stands for the server's.
    reading: Reading,
    heals: Heals,
}

/// Whether the next reading may be another one.
#[derive(Debug, PartialEq)]
enum Heals {
    Maybe,
    Never,
}

fn passes(what: &'static str, answer: Answer, reading: Reading) -> Row {
    Row {
        what,
        answer,
        reading,
        heals: Heals::Maybe,
    }
}

fn lasts(what: &'static str, answer: Answer, reading: Reading) -> Row {
    Row {
        what,
        answer,
        reading,
        heals: Heals::Never,
    }
}

fn answers(status: &str, headers: &[&str], body: &str) -> Answer {
    Answer::Bytes(http(status, headers, body))
}

/// An error as Prometheus writes it.
fn error(status: &str, kind: &str, text: &str) -> Answer {
    let body = format!(r#"{{"status":"error","errorType":"{kind}","error":"{text}"}}"#);
    answers(status, &[], &body)
}

fn raw(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn dated(headers: &[&str]) -> Answer {
    // 1700000000 is Tue, 14 Nov 2023 22:13:20 GMT.
    let data = r#"{"resultType":"scalar","result":[1700000000,"1"]}"#;
    let body = format!(r#"{{"status":"success","data":{data}}}"#);
    answers("200 OK", headers, &body)
}

fn values() -> Vec<Row> {
    let value = Reading::Value;
    let three = r#"[{"metric":{"job":"shop","instance":"a","code":"500"},"value":[1,"1"]},
        {"metric":{"job":"shop","instance":"b","code":"500"},"value":[1,"2"]},
        {"metric":{"job":"shop","instance":"b"},"value":[1,"3"]}]"#;
    let eight = r#"[{"metric":{"a":"1","b":"1","c":"1","d":"1","e":"1","f":"1","g":"1"},"value":[1,"1"]},
        {"metric":{"a":"2","b":"2","c":"2","d":"2","e":"2","f":"2","g":"2"},"value":[1,"1"]}]"#;
    let histogram = r#"[{"metric":{},"histogram":[1,{"count":"1","sum":"2","buckets":[]}]}]"#;
    let empty = r#""data":{"resultType":"vector","result":[]}"#;
    let warned = format!(r#"{{"status":"success",{empty},"warnings":["store b\nis down"]}}"#);
    let partial = |data: &str| format!(r#"{{"status":"success","isPartial":true,"data":{data}}}"#);
    let in_part = no_data("the answer is partial: some of the storage did not answer");
    vec![
        passes("a value", one("0.25"), value(0.25)),
        passes("a value with an exponent", one("1.5e-05"), value(1.5e-5)),
        passes(
            "a scalar",
            result("scalar", r#"[1700000000,"7"]"#),
            value(7.0),
        ),
        passes(
            "an empty vector",
            result("vector", "[]"),
            no_data("the query finds nothing"),
        ),
        passes(
            "an empty vector with a warning",
            ok(&warned),
            no_data("the query finds nothing (warning: store b is down)"),
        ),
        passes(
            "an empty vector of a part of the storage",
            ok(&partial(r#"{"resultType":"vector","result":[]}"#)),
            in_part.clone(),
        ),
        passes(
            "a value of a part of the storage",
            ok(&partial(
                r#"{"resultType":"scalar","result":[1700000000,"1"]}"#,
            )),
            in_part,
        ),
        passes("NaN", one("NaN"), no_data("the query's value is NaN")),
        passes(
            "infinity",
            one("+Inf"),
            no_data("the query's value is +Inf"),
        ),
        passes(
            "minus infinity",
            one("-Inf"),
            no_data("the query's value is -Inf"),
        ),
        lasts(
            "several series",
            result("vector", three),
            no_data(
                "3 series that differ in `code`, `instance`; wrap the query in `sum(…)`, `max(…)` or another aggregation",
            ),
        ),
        lasts(
            "series that differ in much",
            result("vector", eight),
            no_data(
                "2 series that differ in `a`, `b`, `c`, `d`, `e` and 2 more; wrap the query in `sum(…)`, `max(…)` or another aggregation",
            ),
        ),
        lasts(
            "series with a label that would clear the screen",
            result(
                "vector",
                r#"[{"metric":{"a\u001b[2J":"1"},"value":[1,"1"]},{"metric":{},"value":[1,"1"]}]"#,
            ),
            no_data(
                "2 series that differ in `a[2J`; wrap the query in `sum(…)`, `max(…)` or another aggregation",
            ),
        ),
        lasts(
            "a matrix",
            result("matrix", r#"[{"metric":{},"values":[[1,"1"],[2,"2"]]}]"#),
            no_data(
                "the query returns a range of samples, not one number; wrap it in a function over time, such as `rate(…)` or `avg_over_time(…)`",
            ),
        ),
        lasts(
            "a text",
            result("string", r#"[1,"hello"]"#),
            no_data("the query returns a text; write one that returns a number"),
        ),
        lasts(
            "a native histogram",
            result("vector", histogram),
            no_data(
                "the query returns a native histogram; wrap it in `histogram_quantile(…)`, `histogram_count(…)` or `histogram_sum(…)`",
            ),
        ),
    ]
}

fn stale() -> Vec<Row> {
    let old = no_data("the answer is from 37s ago");
    vec![
        passes(
            "an answer of just now",
            dated(&["Date: Tue, 14 Nov 2023 22:13:24 GMT", "Age: 2"]),
            Reading::Value(1.0),
        ),
        passes(
            "an answer that is older than the page around it",
            dated(&["Date: Tue, 14 Nov 2023 22:13:57 GMT"]),
            old.clone(),
        ),
        passes(
            "an answer that a cache kept",
            dated(&["Date: Tue, 14 Nov 2023 22:13:20 GMT", "Age: 37"]),
            old,
        ),
        passes(
            "a date that is none",
            dated(&["Date: yesterday", "Age: old"]),
            Reading::Value(1.0),
        ),
    ]
}

fn refusals() -> Vec<Row> {
    let page = "<html>\r\n<head><title>401 Authorization Required</title></head>\r\n<body>";
    vec![
        lasts(
            "400: a query that does not parse",
            error(
                "400 Bad Request",
                "bad_data",
                r#"invalid parameter \"query\": 1:5: parse error"#,
            ),
            down(
                "Prometheus refuses the query: invalid parameter \"query\": 1:5: parse error; correct the query",
            ),
        ),
        lasts(
            "400 of something else",
            answers(
                "400 Bad Request",
                &[],
                "Client sent an HTTP request to an HTTPS server.\n",
            ),
            down(
                "Prometheus answers 400 Bad Request: Client sent an HTTP request to an HTTPS server.; check the URL, and what stands between here and Prometheus",
            ),
        ),
        lasts(
            "422: a query that cannot be evaluated",
            error(
                "422 Unprocessable Entity",
                "execution",
                "many-to-many matching not allowed",
            ),
            down(
                "Prometheus refuses the query: many-to-many matching not allowed; correct the query",
            ),
        ),
        lasts(
            "401",
            answers("401 Unauthorized", &[], page),
            down(
                "Prometheus answers 401 Unauthorized: 401 Authorization Required; say who asks, under `metrics.prometheus`: a bearer token, a password, a tenant header",
            ),
        ),
        lasts(
            "401 of Mimir: no tenant",
            answers("401 Unauthorized", &[], "no org id\n"),
            down(
                "Prometheus answers 401 Unauthorized: no org id; say who asks, under `metrics.prometheus`: a bearer token, a password, a tenant header",
            ),
        ),
        lasts(
            "403",
            answers(
                "403 Forbidden",
                &[],
                r#"{"kind":"Status","message":"cannot get services"}"#,
            ),
            down(
                "Prometheus answers 403 Forbidden: cannot get services; say who asks, under `metrics.prometheus`: a bearer token, a password, a tenant header",
            ),
        ),
        lasts(
            "404",
            answers("404 Not Found", &[], "404 page not found\n"),
            down(
                "Prometheus answers 404 Not Found: 404 page not found; correct the URL: the API is looked for at {url}/api/v1",
            ),
        ),
        lasts(
            "405 without a word",
            answers("405 Method Not Allowed", &[], ""),
            down(
                "Prometheus answers 405 Method Not Allowed; check the URL, and what stands between here and Prometheus",
            ),
        ),
        lasts(
            "a redirect",
            answers(
                "302 Found",
                &["Location: https://me:pw@sso.example.com/login?next=%2F"],
                "",
            ),
            down(
                "{url} redirects to https://sso.example.com/login (302); no redirect is followed: write the final address as the URL",
            ),
        ),
        lasts(
            "a redirect to nowhere",
            answers("301 Moved Permanently", &[], ""),
            down(
                "{url} redirects to nowhere (301); no redirect is followed: write the final address as the URL",
            ),
        ),
        lasts(
            "an error of the query with a good status",
            error("200 OK", "bad_data", "parse error"),
            down("Prometheus refuses the query: parse error; correct the query"),
        ),
    ]
}

fn troubles() -> Vec<Row> {
    let nginx = "<html>\r\n<head><title>502 Bad Gateway</title></head>\r\n<body>\r\n<center><h1>502 Bad Gateway</h1></center>";
    let long = format!("{} end", "word ".repeat(100));
    vec![
        passes(
            "429",
            answers("429 Too Many Requests", &[], "slow down"),
            down("too many requests (429): slow down"),
        ),
        passes(
            "429 with a time",
            answers("429 Too Many Requests", &["Retry-After: 30"], ""),
            down("too many requests (429), again after 30s"),
        ),
        passes(
            "429 with a date",
            answers(
                "429 Too Many Requests",
                &["Retry-After: Tue, 14 Nov 2023 22:13:57 GMT"],
                "",
            ),
            down("too many requests (429), again after Tue, 14 Nov 2023 22:13:57 GMT"),
        ),
        passes(
            "500",
            error("500 Internal Server Error", "internal", "out of memory"),
            down("Prometheus answers 500 Internal Server Error: out of memory"),
        ),
        passes(
            "502 of a proxy",
            answers("502 Bad Gateway", &["Content-Type: text/html"], nginx),
            down("Prometheus answers 502 Bad Gateway: 502 Bad Gateway"),
        ),
        passes(
            "503: the server's own time-out",
            error(
                "503 Service Unavailable",
                "timeout",
                "query timed out in expression evaluation",
            ),
            down(
                "Prometheus answers 503 Service Unavailable: query timed out in expression evaluation",
            ),
        ),
        passes(
            "503 while it starts, in colour and at length",
            answers("503 Service Unavailable", &[], &format!("\u{1b}[31m{long}")),
            down(&format!(
                "Prometheus answers 503 Service Unavailable: [31m{}…",
                &long[..196]
            )),
        ),
        passes(
            "a page without a title",
            answers(
                "504 Gateway Timeout",
                &[],
                "<h1>\n  upstream <b>timed out</b></h1>",
            ),
            down("Prometheus answers 504 Gateway Timeout: upstream timed out"),
        ),
        passes(
            "a status that nobody knows",
            answers("599 Odd", &[], ""),
            down("Prometheus answers 599"),
        ),
        passes(
            "an error that never ends",
            Answer::Endless(raw("HTTP/1.1 500 Oh\r\n\r\n"), raw(&"no ".repeat(10_000))),
            down(&format!(
                "Prometheus answers 500 Internal Server Error: {}no…",
                "no ".repeat(66)
            )),
        ),
        passes(
            "an error of the server with a good status",
            error("200 OK", "internal", "disk"),
            down("Prometheus answers with an error: disk"),
        ),
    ]
}

fn no_answers() -> Vec<Row> {
    let elsewhere = "; the API is looked for at `/api/v1` below the URL";
    let not_prometheus = |found: &str| {
        down(&format!(
            "{{url}} does not answer as Prometheus does: {found}{elsewhere}"
        ))
    };
    let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let mebibyte = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    let too_large = no_data("the answer is larger than 4 MiB; aggregate the query to one series");
    vec![
        passes(
            "a page with a good status",
            answers("200 OK", &[], "<!DOCTYPE html><title>Sign in</title>"),
            not_prometheus("`Sign in`"),
        ),
        passes(
            "nothing with a good status",
            answers("204 No Content", &[], ""),
            not_prometheus("nothing"),
        ),
        passes(
            "JSON of something else",
            ok(r#"{"message":"hello"}"#),
            not_prometheus("`hello`"),
        ),
        passes(
            "success without a result",
            ok(r#"{"status":"success"}"#),
            not_prometheus(r#"`{"status":"success"}`"#),
        ),
        passes(
            "a value that is no number",
            one("many"),
            not_prometheus(
                r#"`{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1700000000.123,"many"]}]}}`"#,
            ),
        ),
        passes(
            "a body that breaks off",
            Answer::Cut(raw(&format!("{head}{{\"status\":"))),
            down("the answer broke off after 10 bytes"),
        ),
        passes(
            "a chunked body that breaks off",
            Answer::Cut(raw(&format!("{chunked}3\r\n{{\"s\r\n"))),
            down("the answer broke off after 3 bytes"),
        ),
        passes(
            "a body that is whole and half a document",
            ok(r#"{"status":"success","data":{"resultType":"vector","#),
            not_prometheus(r#"`{"status":"success","data":{"resultType":"vector",`"#),
        ),
        lasts(
            "a body that is announced as huge",
            Answer::Hang(raw("HTTP/1.1 200 OK\r\nContent-Length: 4194305\r\n\r\n")),
            too_large.clone(),
        ),
        lasts(
            "a body without an end",
            Answer::Endless(raw(chunked), raw(&mebibyte)),
            too_large,
        ),
        passes(
            "no answer and the end",
            Answer::Cut(Vec::new()),
            down(
                "the connection to {url} broke without an answer: connection closed before message completed",
            ),
        ),
        passes(
            "another protocol",
            Answer::Cut(raw("SSH-2.0-OpenSSH_9.2\r\n")),
            down("the connection to {url} broke without an answer: invalid HTTP version parsed"),
        ),
    ]
}

fn hangs() -> Vec<Row> {
    let hung = down("no answer from {url} within 400ms");
    vec![
        passes("silence", Answer::Hang(Vec::new()), hung.clone()),
        passes(
            "a head and silence",
            Answer::Hang(raw("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n")),
            hung.clone(),
        ),
        passes(
            "half a body and silence",
            Answer::Hang(raw(
                "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"status\":",
            )),
            hung,
        ),
    ]
}

fn with_url(reading: Reading, url: &str) -> Reading {
    match reading {
        Reading::Value(value) => Reading::Value(value),
        Reading::NoData { why } => no_data(&why.replace("{url}", url)),
        Reading::SourceDown { why } => down(&why.replace("{url}", url)),
    }
}

/// Reads and rehearses each row; both must say the same.
async fn holds(rows: Vec<Row>, timeout: Span) {
    for row in rows {
        let what = row.what;
        let server = Server::always(row.answer).await;
        let expected = with_url(row.reading, &server.url);
        let source = source(spec(&server.url, timeout, Access::default())).expect("a source");
        assert_eq!(read(&source, "up").await, expected, "{what}");

        let (heals, seen) = match rehearse(&source, "up").await.now {
            Now::Read { reading, state: is } => {
                assert_eq!(is, state(&reading), "{what}");
                (Heals::Maybe, reading)
            }
            Now::Flawed { why, way_out } => {
                let why = format!("{why}; {way_out}");
                let reading = match &expected {
                    Reading::SourceDown { .. } => Reading::SourceDown { why },
                    Reading::NoData { .. } | Reading::Value(_) => Reading::NoData { why },
                };
                (Heals::Never, reading)
            }
            Now::NotYet { why } => panic!("{what}: {why}"),
        };
        assert_eq!((seen, heals), (expected, row.heals), "{what}");
    }
}

#[tokio::test]
async fn every_result_is_a_value_or_says_why_it_is_none() {
    holds(values(), super::PATIENT).await;
}

#[tokio::test]
async fn an_answer_that_is_not_about_now_is_no_data() {
    holds(stale(), super::PATIENT).await;
}

#[tokio::test]
async fn a_refusal_says_what_to_change() {
    holds(refusals(), super::PATIENT).await;
}

#[tokio::test]
async fn a_server_in_trouble_is_quoted() {
    holds(troubles(), super::PATIENT).await;
}

#[tokio::test]
async fn what_is_no_answer_of_prometheus_is_told_apart() {
    holds(no_answers(), super::PATIENT).await;
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_in_time() {
    let begun = Instant::now();
    holds(hangs(), SHORT).await;
    // Three rows, read and rehearsed.
    assert!(begun.elapsed() < SHORT.as_duration() * 6 + Duration::from_secs(5));
}

#[tokio::test]
async fn a_port_where_nobody_listens_is_named() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.expect("a port");
    let url = format!("http://{}", listener.local_addr().expect("an address"));
    drop(listener);
    let source = plain(&url);
    let expected = down(&format!("nothing listens at {url} (connection refused)"));
    assert_eq!(read(&source, "up").await, expected);
    let now = Now::Read {
        state: state(&expected),
        reading: expected,
    };
    assert_eq!(rehearse(&source, "up").await, rehearsed(now, &[]));
}

#[tokio::test]
async fn a_body_without_an_end_is_not_read_on() {
    let chunk = format!("100000\r\n{}\r\n", " ".repeat(1 << 20));
    let head = raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    let server = Server::always(Answer::Endless(head, raw(&chunk))).await;
    read(&plain(&server.url), "up").await;
    tokio::time::sleep(Duration::from_millis(100)).await;
    let taken = server.sent();
    tokio::time::sleep(Duration::from_millis(100)).await;
    // What the sockets of both sides hold comes on top of the 4 MiB.
    assert_eq!((server.sent(), taken < 32 << 20), (taken, true), "{taken}");
}

#[tokio::test]
async fn a_value_with_warnings_is_a_value_and_the_rehearsal_tells_them() {
    let data = r#""data":{"resultType":"scalar","result":[1700000000,"2"]}"#;
    let told = r#""warnings":["store b is down"],"infos":["`x` might be no counter"]"#;
    let server = Server::always(ok(&format!(r#"{{"status":"success",{data},{told}}}"#))).await;
    let source = plain(&server.url);
    assert_eq!(read(&source, "up").await, Reading::Value(2.0));
    let reading = Reading::Value(2.0);
    let now = Now::Read {
        state: state(&reading),
        reading,
    };
    let warnings = ["store b is down", "`x` might be no counter"];
    assert_eq!(rehearse(&source, "up").await, rehearsed(now, &warnings));
}

#[tokio::test]
async fn an_evaluation_that_stands_still_is_no_data_until_it_moves_on() {
    let times = std::sync::Mutex::new(vec![1_700_000_040, 1_700_000_000, 1_700_000_000]);
    let server = Server::start(move |_| {
        let time = times.lock().expect("nobody panics").pop();
        result("scalar", &format!(r#"[{},"5"]"#, time.unwrap_or_default()))
    })
    .await;
    let source = plain(&server.url);
    assert_eq!(read(&source, "up").await, Reading::Value(5.0));
    tokio::time::pause();
    tokio::time::advance(Duration::from_secs(21)).await;
    tokio::time::resume();
    assert_eq!(
        read(&source, "up").await,
        no_data("the answer is from 21s ago")
    );
    assert_eq!(read(&source, "up").await, Reading::Value(5.0));
}

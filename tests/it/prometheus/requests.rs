//! What is sent, over how many connections, and for how long anybody waits.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use chaos_gameday::metrics::Access;
use chaos_gameday::model::sample::Reading;
use chaos_gameday::model::units::Span;
use tokio::time::Instant;

use super::server::{Answer, Server, one};
use super::{down, plain, query, read, source, spec};

const SHORT: Span = Span::from_millis(400);

#[tokio::test]
async fn connections_are_kept_and_no_more_are_opened_than_a_server_takes() {
    let server = Server::always(one("1")).await;
    let source = plain(&server.url);
    for _ in 0..20 {
        assert_eq!(read(&source, "up").await, Reading::Value(1.0));
    }
    assert_eq!(server.connections(), 1);

    let metric = query("up");
    let all = (0..1_000).map(|_| source.read(&metric));
    let all = futures_util::future::join_all(all).await;
    assert_eq!(all, vec![Reading::Value(1.0); 1_000]);
    assert!(server.connections() <= 100, "{}", server.connections());
}

#[tokio::test]
async fn a_kept_connection_that_is_closed_as_it_is_used_again_is_no_lost_reading() {
    let asked = AtomicUsize::new(0);
    let server = Server::start(move |_| match asked.fetch_add(1, Ordering::SeqCst) {
        1 => Answer::Cut(Vec::new()),
        _ => one("1"),
    })
    .await;
    let source = plain(&server.url);
    assert_eq!(read(&source, "up").await, Reading::Value(1.0));
    assert_eq!(read(&source, "up").await, Reading::Value(1.0));
    assert_eq!((server.requests().len(), server.connections()), (3, 2));
}

#[tokio::test]
async fn who_waits_for_a_turn_waits_no_longer_than_anybody() {
    let server = Server::always(Answer::Hang(Vec::new())).await;
    let source = source(spec(&server.url, SHORT, Access::default())).expect("a source");
    let metric = query("up");
    let begun = Instant::now();
    let all = (0..150).map(|_| source.read(&metric));
    let all = futures_util::future::join_all(all).await;
    let hung = down(&format!("no answer from {} within 400ms", server.url));
    assert_eq!(all, vec![hung; 150]);
    assert!(begun.elapsed() < SHORT.as_duration() + Duration::from_secs(2));
}

#[tokio::test]
async fn what_is_sent_is_what_every_server_with_this_api_understands() {
    let server = Server::always(one("1")).await;
    let host = server.url.trim_start_matches("http://").to_owned();
    let headers = format!(
        "cache-control: no-cache, no-store\r\naccept: */*\r\nuser-agent: chaos-gameday/{}\r\nhost: {host}\r\n",
        env!("CARGO_PKG_VERSION")
    );
    for (below, path) in [
        ("", "/api/v1/query"),
        ("/", "/api/v1/query"),
        ("/prometheus", "/prometheus/api/v1/query"),
        ("/select/0/prometheus/", "/select/0/prometheus/api/v1/query"),
    ] {
        let source = plain(&format!("{}{below}", server.url));
        let query = r#"sum(rate(errors{code=~"5.."}[1m]))"#;
        assert_eq!(read(&source, query).await, Reading::Value(1.0));
        let asked = "sum%28rate%28errors%7Bcode%3D%7E%225..%22%7D%5B1m%5D%29%29";
        assert_eq!(
            server.requests().last(),
            Some(&format!(
                "GET {path}?query={asked}&nocache=1 HTTP/1.1\r\n{headers}\r\n"
            ))
        );
    }

    let long = "x".repeat(2_000);
    read(&plain(&server.url), &long).await;
    let body = format!("query={long}&nocache=1");
    let form = "content-type: application/x-www-form-urlencoded\r\n";
    let length = format!("content-length: {}\r\n", body.len());
    assert_eq!(
        server.requests().last(),
        Some(&format!(
            "POST /api/v1/query HTTP/1.1\r\n{form}{headers}{length}\r\n{body}"
        ))
    );
}

#[tokio::test]
async fn a_url_that_no_request_can_be_made_of_is_refused_with_the_reason() {
    for (url, message) in [
        (
            "nonsense",
            "the URL of Prometheus, `nonsense`, cannot be used: relative URL without a base",
        ),
        (
            "http://host/?x=1",
            "the URL of Prometheus, `http://host/?x=1`, cannot be used: it ends in a query",
        ),
        (
            "file:///etc/passwd",
            "the URL of Prometheus, `file:///etc/passwd`, cannot be used: it names no host",
        ),
        (
            "http://me:s3cr3t@host",
            "the URL of Prometheus at host holds credentials",
        ),
    ] {
        let problem = source(spec(url, SHORT, Access::default()))
            .err()
            .expect("a problem");
        assert_eq!(problem.message, message);
        assert!(problem.hint.is_some_and(|hint| !hint.contains("s3cr3t")));
    }
}

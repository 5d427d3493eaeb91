//! What a Prometheus says of the time, by the bytes that it sends.

use chaos_gameday::metrics::{Access, Auth, BearerToken, told_times};
use chaos_gameday::model::secret::SecretText;
use chaos_gameday::model::skew::ToldTime;

use super::server::{Answer, Server, http};
use super::{PATIENT, TOKEN, setup, spec, specs};

const DATE: &str = "Date: Mon, 30 Nov 2026 12:00:00 GMT";

/// What is told by an answer with this status and these headers to somebody with a token, and the
/// request that was sent for it.
async fn told(status: &str, headers: &[&str]) -> (Vec<ToldTime>, String, Server) {
    let server = Server::always(Answer::Bytes(http(status, headers, "no JSON"))).await;
    let access = Access {
        auth: Some(Auth::Bearer(BearerToken::Token(SecretText::new(
            "${secret:TOKEN}",
        )))),
        ..Access::default()
    };
    let times = told_times(&specs(spec(&server.url, PATIENT, access)), &setup()).await;
    let request = server.requests().pop().expect("it was asked");
    (times, request, server)
}

#[tokio::test]
async fn any_answer_tells_the_time_and_one_from_a_cache_does_not() {
    for status in ["200 OK", "401 Unauthorized", "404 Not Found"] {
        let (times, request, server) = told(status, &[DATE]).await;
        let dates: Vec<&str> = times.iter().map(|told| told.date.as_str()).collect();
        assert_eq!(dates, ["Mon, 30 Nov 2026 12:00:00 GMT"], "{status}");
        assert_eq!(times[0].server, format!("Prometheus at {}", server.url));
        assert!(
            request.starts_with("GET /api/v1/status/buildinfo "),
            "{request}"
        );
        assert!(request.contains(&format!("Bearer {TOKEN}")), "{request}");
    }
    for headers in [&[][..], &[DATE, "Age: 30"]] {
        assert_eq!(told("200 OK", headers).await.0, [], "{headers:?}");
    }
}

#[tokio::test]
async fn who_does_not_answer_says_nothing() {
    let nobody = spec("http://127.0.0.1:1", PATIENT, Access::default());
    assert_eq!(told_times(&specs(nobody), &setup()).await, []);
}

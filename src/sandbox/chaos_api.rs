//! The paths under `/_localstack`: the Chaos API, health and info, as LocalStack documents them.
//!
//! It is the practice target's control path and the reference server of the driver's tests, so it
//! is strict: what the contract refuses is refused here, in the same words.

use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use axum::routing::{any, get};
use axum::{Json, Router};
use serde_json::{Value, json};

use super::edge::Edge;
use super::rules::{InvalidBody, Rule, RuleBook, parse_latency, parse_rules};

/// What plain LocalStack reports too: nothing here is licensed.
const EDITION: &str = "unknown";

/// The routes; everything else on the port is for AWS calls.
pub(super) fn routes() -> Router<Arc<Edge>> {
    Router::new()
        .route(
            "/_localstack/chaos/faults",
            get(list_faults)
                .post(replace_faults)
                .patch(append_faults)
                .delete(remove_faults),
        )
        .route(
            "/_localstack/chaos/effects",
            get(show_effects).post(set_effects),
        )
        .route("/_localstack/health", get(health))
        .route("/_localstack/info", get(info))
        .route("/_localstack", any(not_here))
        .route("/_localstack/", any(not_here))
        .route("/_localstack/{*path}", any(not_here))
        .method_not_allowed_fallback(method_not_allowed)
}

async fn list_faults(State(edge): State<Arc<Edge>>) -> Response {
    ours(StatusCode::OK, &edge.rule_book().listed())
}

async fn replace_faults(
    State(edge): State<Arc<Edge>>,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    change_faults(&edge, &headers, &body, RuleBook::replace)
}

async fn append_faults(State(edge): State<Arc<Edge>>, headers: HeaderMap, body: Bytes) -> Response {
    change_faults(&edge, &headers, &body, RuleBook::append)
}

async fn remove_faults(State(edge): State<Arc<Edge>>, headers: HeaderMap, body: Bytes) -> Response {
    change_faults(&edge, &headers, &body, RuleBook::remove)
}

fn change_faults(
    edge: &Edge,
    headers: &HeaderMap,
    body: &[u8],
    change: fn(&mut RuleBook, Vec<Rule>) -> Result<(), InvalidBody>,
) -> Response {
    let mut book = edge.rule_book();
    let changed = json_body(headers, body)
        .and_then(parse_rules)
        .and_then(|rules| change(&mut book, rules));
    match changed {
        Ok(()) => ours(StatusCode::OK, &book.listed()),
        Err(InvalidBody) => bad_request(),
    }
}

async fn show_effects(State(edge): State<Arc<Edge>>) -> Response {
    let latency = edge.rule_book().latency_ms();
    ours(StatusCode::OK, &json!({"latency": latency}))
}

async fn set_effects(State(edge): State<Arc<Edge>>, headers: HeaderMap, body: Bytes) -> Response {
    match json_body(&headers, &body).and_then(parse_latency) {
        Ok(latency) => {
            edge.rule_book().set_latency_ms(latency);
            ours(StatusCode::OK, &json!({"latency": latency}))
        }
        Err(InvalidBody) => bad_request(),
    }
}

async fn health(State(edge): State<Arc<Edge>>) -> Response {
    ours(
        StatusCode::OK,
        &json!({
            "services": {"cloudwatch": "running", "dynamodb": "running", "kinesis": "running"},
            "edition": EDITION,
            "version": edge.version(),
        }),
    )
}

async fn info(State(edge): State<Arc<Edge>>) -> Response {
    ours(
        StatusCode::OK,
        &json!({
            "version": edge.version(),
            "edition": EDITION,
            "is_license_activated": false,
            "session_id": edge.session_id(),
            "machine_id": "sandbox",
            "system": std::env::consts::OS,
            "is_docker": false,
            "uptime": edge.uptime().as_secs(),
        }),
    )
}

async fn not_here() -> Response {
    (
        StatusCode::NOT_FOUND,
        [
            (CONTENT_TYPE.as_str(), "text/plain; charset=utf-8"),
            ("x-localstack", "true"),
        ],
    )
        .into_response()
}

async fn method_not_allowed(method: Method, uri: Uri) -> Response {
    let message = format!("{method} is not allowed on {}", uri.path());
    ours(
        StatusCode::METHOD_NOT_ALLOWED,
        &json!({"error": "Method Not Allowed", "message": message}),
    )
}

fn bad_request() -> Response {
    ours(
        StatusCode::BAD_REQUEST,
        &json!({"error": "Bad Request", "message": "Request body validation error"}),
    )
}

fn ours(status: StatusCode, body: &Value) -> Response {
    (status, [("x-localstack", "true")], Json(body)).into_response()
}

/// The body, if its sender called it JSON.
fn json_body<'a>(headers: &HeaderMap, body: &'a [u8]) -> Result<&'a [u8], InvalidBody> {
    headers
        .get(CONTENT_TYPE)
        .and_then(|value| value.to_str().ok())
        .and_then(|value| value.split(';').next())
        .filter(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
        .map(|_| body)
        .ok_or(InvalidBody)
}

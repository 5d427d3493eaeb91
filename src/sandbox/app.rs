//! The order pipeline's HTTP API and what both versions of the app share: orders in, pages out.
//!
//! `POST /orders` hands the order to the version's first hop; `fragile.rs` and `fixed.rs` hold all
//! that the versions differ in.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::body::Bytes;
use axum::extract::{DefaultBodyLimit, State};
use axum::http::header::{CONTENT_TYPE, RETRY_AFTER};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::aws_client::AwsClient;
use super::ledger::{Ledger, OrderId};
use super::life::Life;
use super::stores::ORDERS;
use super::{AppVersion, fixed, fragile, metrics_page};

/// Larger orders are refused, so that a full stream stays small.
const LARGEST_ORDER: usize = 16 << 10;
const LONGEST_ID: usize = 64;
/// How long the middle hop waits before it asks an empty stream again.
pub(super) const IDLE_PAUSE: Duration = Duration::from_millis(20);

/// The running app.
pub(super) struct App {
    pub(super) version: AppVersion,
    pub(super) aws: AwsClient,
    pub(super) ledger: Ledger,
    dice: Mutex<ChaCha8Rng>,
    started: Instant,
}

/// An order that the first hop could not hand over.
pub(super) struct NotAccepted;

impl App {
    pub(super) fn new(version: AppVersion, aws: AwsClient, seed: u64) -> Arc<Self> {
        let mut dice = ChaCha8Rng::seed_from_u64(seed);
        // Another stream of the same seed than the fault rules draw from.
        dice.set_stream(1);
        Arc::new(Self {
            version,
            aws,
            ledger: Ledger::default(),
            dice: Mutex::new(dice),
            started: Instant::now(),
        })
    }

    /// Starts the hops behind the API and answers its routes.
    pub(super) fn start(self: Arc<Self>, life: &Life) -> Router {
        let app = Arc::clone(&self);
        match self.version {
            AppVersion::Fragile => drop(life.spawn(fragile::consume(app))),
            AppVersion::Fixed => drop(life.spawn(fixed::consume(app, life.clone()))),
        }
        Router::new()
            .route("/orders", post(take_order))
            .layer(DefaultBodyLimit::max(LARGEST_ORDER))
            .route("/dead-letters", get(dead_letters))
            .route("/healthz", get(healthz))
            .route("/metrics", get(metrics))
            .route("/status", get(status))
            .fallback(not_here)
            .with_state(self)
    }

    /// Between half and all of a pause, so that those who failed together don't return together.
    pub(super) fn jittered(&self, pause: Duration) -> Duration {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        pause.mul_f64(dice.random_range(0.5..=1.0))
    }

    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    fn new_id(&self) -> OrderId {
        let mut dice = self.dice.lock().unwrap_or_else(PoisonError::into_inner);
        format!("order-{:016x}", dice.random::<u64>()).into()
    }
}

async fn take_order(State(app): State<Arc<App>>, headers: HeaderMap, body: Bytes) -> Response {
    let arrived = Instant::now();
    let answer = match order_from(&app, &headers, &body) {
        Ok((id, record)) => hand_over(&app, id, record).await,
        Err(why) => (StatusCode::BAD_REQUEST, Json(json!({"error": why}))).into_response(),
    };
    app.ledger
        .answer(answer.status().as_u16(), arrived.elapsed());
    answer
}

async fn hand_over(app: &App, id: OrderId, record: Value) -> Response {
    let handed_over = match app.version {
        AppVersion::Fragile => fragile::hand_over(app, &record).await,
        AppVersion::Fixed => fixed::hand_over(app, &id, &record).await,
    };
    match (handed_over, app.version) {
        (Ok(()), _) => {
            app.ledger.accept(&id);
            (StatusCode::ACCEPTED, Json(json!({"id": &*id}))).into_response()
        }
        (Err(NotAccepted), AppVersion::Fragile) => StatusCode::BAD_GATEWAY.into_response(),
        (Err(NotAccepted), AppVersion::Fixed) => (
            StatusCode::SERVICE_UNAVAILABLE,
            [(RETRY_AFTER, "1")],
            Json(json!({"error": "stream unavailable", "retryAfterSeconds": 1})),
        )
            .into_response(),
    }
}

/// The order's id and the stream record that carries it.
fn order_from(app: &App, headers: &HeaderMap, body: &[u8]) -> Result<(OrderId, Value), String> {
    let id = match headers.get("x-order-id") {
        None => app.new_id(),
        Some(value) => value
            .to_str()
            .ok()
            .filter(|id| is_order_id(id))
            .ok_or("x-order-id takes 1 to 64 letters, digits, '.', '_' and '-'")?
            .into(),
    };
    serde_json::from_slice::<serde::de::IgnoredAny>(body)
        .map_err(|why| format!("the order is no JSON: {why}"))?;
    let record = json!({"StreamName": ORDERS, "PartitionKey": &*id, "Data": base64(body)});
    Ok((id, record))
}

fn is_order_id(text: &str) -> bool {
    let admitted = |letter: char| letter.is_ascii_alphanumeric() || "._-".contains(letter);
    (1..=LONGEST_ID).contains(&text.len()) && text.chars().all(admitted)
}

/// Kinesis and DynamoDB take bytes as base64; what one gives out the other takes in as it is.
fn base64(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 4];
        group[1..=chunk.len()].copy_from_slice(chunk);
        let group = u32::from_be_bytes(group);
        for place in 0..4 {
            let letter = ALPHABET[(group >> (18 - 6 * place)) as usize & 63];
            let letter = if place > chunk.len() { b'=' } else { letter };
            text.push(char::from(letter));
        }
    }
    text
}

/// The records of a GetRecords answer: which order each carries, and the table item to write for it.
pub(super) fn items_of(answer: &Value) -> Vec<(OrderId, Value)> {
    let records = answer["Records"].as_array().map_or(&[][..], Vec::as_slice);
    records
        .iter()
        .filter_map(|record| {
            let id = record["PartitionKey"].as_str()?;
            let item = json!({"id": {"S": id}, "body": {"B": record["Data"]}});
            Some((id.into(), json!({"TableName": ORDERS, "Item": item})))
        })
        .collect()
}

/// The metric that says "one more order".
pub(super) fn one_more_order() -> Value {
    let datum = json!({"MetricName": "OrdersStored", "Value": 1, "Unit": "Count"});
    json!({"Namespace": "Orders", "MetricData": [datum]})
}

async fn healthz() -> &'static str {
    "ok\n"
}

async fn status(State(app): State<Arc<App>>) -> Json<Value> {
    let mut status = json!(app.ledger.totals());
    status["app"] = json!(app.version.to_string());
    status["oldestPendingMs"] = json!(app.ledger.oldest_pending().as_millis() as u64);
    status["uptimeMs"] = json!(app.uptime().as_millis() as u64);
    Json(status)
}

async fn dead_letters(State(app): State<Arc<App>>) -> Response {
    Json(app.ledger.dead_letters()).into_response()
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    ([(CONTENT_TYPE, kind)], metrics_page::render(&app)).into_response()
}

async fn not_here() -> Response {
    let pages = "POST /orders, GET /status, /metrics, /healthz, /dead-letters";
    let body = json!({"error": format!("not found; there is {pages}")});
    (StatusCode::NOT_FOUND, Json(body)).into_response()
}

#[cfg(test)]
mod tests {
    use super::base64;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let vectors = ["", "f", "fo", "foo", "foob", "fooba", "foobar"];
        let expected = [
            "", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy",
        ];
        assert_eq!(vectors.map(|text| base64(text.as_bytes())), expected);
    }
}

//! The other side: instant queries of Prometheus's API, each answered after a millisecond, and the
//! practice platform.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime};

use axum::Router;
use axum::body::Bytes;
use axum::extract::{Path, RawQuery, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse;
use axum::routing::{any, post};
use chaos_gameday::sandbox::{AppVersion, Sandbox, SandboxSettings};
use tokio::net::TcpListener;

use super::Failure;

const ANSWER: Duration = Duration::from_millis(1);

/// The SLOs that breach.
type Bad = Arc<Mutex<BTreeSet<String>>>;

#[tokio::main(flavor = "current_thread")]
pub async fn serve() -> Result<(), Failure> {
    let sandbox = Sandbox::start(SandboxSettings {
        app: AppVersion::Fixed,
        app_port: 0,
        aws_port: 0,
        seed: 1,
    })
    .await?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("http://{}", listener.local_addr()?);
    println!("{}", sandbox.aws_url());
    let router = Router::new()
        .route("/api/v1/query", any(query))
        .route("/breach/{number}", post(breach))
        .route("/heal", post(heal))
        .with_state(Bad::default());
    tokio::spawn(async move { axum::serve(listener, router).await });
    let until_alone = tokio::task::spawn_blocking(|| io::copy(&mut io::stdin(), &mut io::sink()));
    until_alone.await??;
    Ok(())
}

async fn query(
    State(bad): State<Bad>,
    RawQuery(query): RawQuery,
    body: Bytes,
) -> impl IntoResponse {
    tokio::time::sleep(ANSWER).await;
    let asked = query.unwrap_or_default() + &String::from_utf8_lossy(&body);
    // `slo{number="17"}`, percent-encoded or not: the first digits after `number`.
    let after = asked.split_once("number").map_or("", |(_, after)| after);
    let after = after.replace("%3D", "").replace("%22", "");
    let number: String = after
        .chars()
        .skip_while(|letter| !letter.is_ascii_digit())
        .take_while(char::is_ascii_digit)
        .collect();
    let breaches = bad
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .contains(&number);
    let now = SystemTime::now()
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0.0, |since| since.as_secs_f64());
    let value = if breaches { "0.5" } else { "0.001" };
    let answer = format!(
        "{{\"status\":\"success\",\"data\":{{\"resultType\":\"vector\",\"result\":[{{\"metric\":\
         {{\"number\":\"{number}\"}},\"value\":[{now:.3},\"{value}\"]}}]}}}}"
    );
    ([(CONTENT_TYPE, "application/json")], answer)
}

async fn breach(State(bad): State<Bad>, Path(number): Path<String>) {
    bad.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .insert(number);
}

async fn heal(State(bad): State<Bad>) {
    bad.lock().unwrap_or_else(PoisonError::into_inner).clear();
}

//! The "AWS" port of the sandbox: names the call, lets latency and fault rules have their say, and
//! only then executes it.
//!
//! An executing call belongs to the service, not to its connection: a client that gives up does not
//! stop it, which is how a time-out shorter than the latency makes real duplicates.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep};

use super::AppVersion;
use super::chaos_api;
use super::life::Life;
use super::rules::{Call, Failure, RuleBook};
use super::stores::{AwsError, Stores};

/// A call takes a while even on loopback, as it would over a network.
const SERVICE_TIME: Duration = Duration::from_millis(2);
/// A service in trouble answers late. Without it, immediate retries would be bounded by nothing but
/// the CPU of the machine that somebody practises on.
const FAILURE_TIME: Duration = Duration::from_millis(40);
const DEFAULT_REGION: &str = "us-east-1";

/// What the edge knows and holds.
pub(super) struct Edge {
    rules: Mutex<RuleBook>,
    stores: Mutex<Stores>,
    life: Life,
    /// What it says it is: the application and the seed decide how it behaves.
    version: String,
    session_id: String,
    started: Instant,
}

impl Edge {
    pub(super) fn new(app: AppVersion, seed: u64, life: Life) -> Arc<Self> {
        Arc::new(Self {
            rules: Mutex::new(RuleBook::new(seed)),
            stores: Mutex::new(Stores::default()),
            life,
            version: format!("sandbox-{}-{app}-seed-{seed}", env!("CARGO_PKG_VERSION")),
            // New at every start whatever the seed: this is how clients notice a restart.
            session_id: format!("{:032x}", rand::random::<u128>()),
            started: Instant::now(),
        })
    }

    /// The version that health and info report.
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    /// Everything that the port answers.
    pub(super) fn router(self: Arc<Self>) -> Router {
        chaos_api::routes().fallback(aws_call).with_state(self)
    }

    pub(super) fn rule_book(&self) -> MutexGuard<'_, RuleBook> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn session_id(&self) -> &str {
        &self.session_id
    }

    pub(super) fn uptime(&self) -> Duration {
        self.started.elapsed()
    }

    async fn perform(&self, call: Call, body: Bytes) -> Response {
        let latency = self.rule_book().latency_ms();
        if latency > 0 {
            sleep(Duration::from_millis(latency)).await;
        }
        let injected = self.rule_book().failure_for(&call);
        if let Some(failure) = injected {
            sleep(FAILURE_TIME).await;
            return injected_error(&call, &failure);
        }
        sleep(SERVICE_TIME).await;
        let mut stores = self.stores.lock().unwrap_or_else(PoisonError::into_inner);
        match stores.execute(&call, &body) {
            Ok(answer) => json_answer(&call, StatusCode::OK, &answer),
            Err(error) => error_answer(&call, &error),
        }
    }
}

async fn aws_call(State(edge): State<Arc<Edge>>, headers: HeaderMap, body: Bytes) -> Response {
    let Some(call) = named(&headers) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let work = {
        let edge = Arc::clone(&edge);
        async move { edge.perform(call, body).await }
    };
    match edge.life.spawn(work).await {
        Ok(Some(answer)) => answer,
        Ok(None) | Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

/// Which call this is: by its target header, else by the scope that it was signed for.
fn named(headers: &HeaderMap) -> Option<Call> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    let target = text("x-amz-target").and_then(|target| target.split_once('.'));
    let scope = text("authorization").and_then(credential_scope);
    let signed_for = scope.map(|(_, service)| service);
    let service = match target {
        Some(("Kinesis_20131202", _)) => "kinesis",
        Some(("DynamoDB_20120810", _)) => "dynamodb",
        Some(("GraniteServiceVersion20100801", _)) => "cloudwatch",
        Some(_) | None => service_id(signed_for?),
    };
    Some(Call {
        service: service.to_owned(),
        operation: target.map(|(_, operation)| operation.to_owned()),
        region: scope
            .map_or(DEFAULT_REGION, |(region, _)| region)
            .to_owned(),
    })
}

/// Region and signing name out of `Credential=<key>/<date>/<region>/<service>/aws4_request`.
fn credential_scope(authorization: &str) -> Option<(&str, &str)> {
    let (_, credential) = authorization.split_once("Credential=")?;
    let credential = credential.split([',', ' ']).next()?;
    let mut parts = credential.rsplit('/');
    let ("aws4_request", service, region) = (parts.next()?, parts.next()?, parts.next()?) else {
        return None;
    };
    Some((region, service))
}

/// Rules name services by their id, which is not always the name that requests are signed with.
fn service_id(signing_name: &str) -> &str {
    match signing_name {
        "monitoring" => "cloudwatch",
        "states" => "stepfunctions",
        other => other,
    }
}

fn injected_error(call: &Call, failure: &Failure) -> Response {
    let operation = call.operation.as_deref().unwrap_or("the call");
    let message = format!(
        "{operation} of '{}' in {} is made to fail by a fault rule",
        call.service, call.region
    );
    let error = AwsError {
        status: failure.status,
        code: failure.code.clone(),
        message,
    };
    error_answer(call, &error)
}

/// An error as the JSON protocols send it.
fn error_answer(call: &Call, error: &AwsError) -> Response {
    let status = StatusCode::from_u16(error.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    let body = serde_json::json!({"__type": error.code, "message": error.message});
    let mut answer = json_answer(call, status, &body);
    let mut set = |name: &'static str, text: String| {
        if let Ok(value) = text.parse() {
            answer.headers_mut().insert(name, value);
        }
    };
    set("x-amzn-errortype", error.code.clone());
    if call.service == "cloudwatch" {
        // Its clients may speak the query protocol, and read the code from here.
        let fault = if error.status < 500 {
            "Sender"
        } else {
            "Receiver"
        };
        set("x-amzn-query-error", format!("{};{fault}", error.code));
    }
    answer
}

fn json_answer(call: &Call, status: StatusCode, body: &Value) -> Response {
    let kind = match call.service.as_str() {
        "dynamodb" | "cloudwatch" => "application/x-amz-json-1.0",
        _ => "application/x-amz-json-1.1",
    };
    (status, [(CONTENT_TYPE, kind)], body.to_string()).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(service: &str, operation: Option<&str>, region: &str) -> Option<Call> {
        Some(Call {
            service: service.to_owned(),
            operation: operation.map(str::to_owned),
            region: region.to_owned(),
        })
    }

    #[test]
    fn a_call_is_named_by_its_target_and_the_scope_it_was_signed_for() {
        let put = "Kinesis_20131202.PutRecord";
        let signed =
            "AWS4-HMAC-SHA256 Credential=k/20260101/eu-west-1/states/aws4_request, Signature=0";
        let torn = "AWS4-HMAC-SHA256 Credential=k/eu-west-1";
        let cases = [
            (
                Some(put),
                Some(signed),
                call("kinesis", Some("PutRecord"), "eu-west-1"),
            ),
            (
                Some(put),
                None,
                call("kinesis", Some("PutRecord"), "us-east-1"),
            ),
            (
                Some(put),
                Some(torn),
                call("kinesis", Some("PutRecord"), "us-east-1"),
            ),
            (
                Some("AWSStepFunctions.ListActivities"),
                Some(signed),
                call("stepfunctions", Some("ListActivities"), "eu-west-1"),
            ),
            (None, Some(signed), call("stepfunctions", None, "eu-west-1")),
            (None, Some(torn), None),
            (None, None, None),
        ];
        for (target, authorization, expected) in cases {
            let mut headers = HeaderMap::new();
            for (name, value) in [("x-amz-target", target), ("authorization", authorization)] {
                if let Some(value) = value {
                    headers.insert(name, value.parse().unwrap());
                }
            }
            assert_eq!(named(&headers), expected, "{target:?} {authorization:?}");
        }
    }
}

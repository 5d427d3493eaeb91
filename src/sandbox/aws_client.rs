//! How the pipeline calls its "AWS" dependencies: real HTTP, signed for us-east-1, one attempt at a
//! time. What to do about a failed attempt is the business of the two app versions.

use std::fmt;
use std::time::Duration;

use serde_json::Value;

use crate::clients::Clients;

/// The calls that the pipeline makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Operation {
    PutRecord,
    GetRecords,
    PutItem,
    PutMetricData,
}

impl Operation {
    fn target(self) -> &'static str {
        match self {
            Self::PutRecord => "Kinesis_20131202.PutRecord",
            Self::GetRecords => "Kinesis_20131202.GetRecords",
            Self::PutItem => "DynamoDB_20120810.PutItem",
            Self::PutMetricData => "GraniteServiceVersion20100801.PutMetricData",
        }
    }

    fn signing_name(self) -> &'static str {
        match self {
            Self::PutRecord | Self::GetRecords => "kinesis",
            Self::PutItem => "dynamodb",
            Self::PutMetricData => "monitoring",
        }
    }
}

/// Why an attempt failed, as the app can know it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum CallFailed {
    /// The service answered with an error.
    Answered { status: u16, code: String },
    /// No answer in time; the call may be executed all the same.
    TimedOut(Duration),
    /// The connection failed or the answer could not be read.
    Broken(String),
}

impl fmt::Display for CallFailed {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Answered { status, code } => write!(formatter, "{status} {code}"),
            Self::TimedOut(after) => write!(formatter, "no answer in {} ms", after.as_millis()),
            Self::Broken(why) => formatter.write_str(why),
        }
    }
}

/// A client of the edge.
pub(super) struct AwsClient {
    http: reqwest::Client,
    url: String,
}

impl AwsClient {
    pub(super) fn new(clients: &Clients, url: &str) -> Self {
        Self {
            http: clients.http(url).clone(),
            url: url.to_owned(),
        }
    }

    /// One attempt.
    pub(super) async fn call(
        &self,
        operation: Operation,
        body: &Value,
        time_out: Duration,
    ) -> Result<Value, CallFailed> {
        let failed = |why: reqwest::Error| {
            if why.is_timeout() {
                CallFailed::TimedOut(time_out)
            } else {
                CallFailed::Broken(why.to_string())
            }
        };
        // The scope is what region and service are read from; the sandbox checks no signature, so
        // its date and signature are constants.
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential=sandbox/20260101/us-east-1/{}/aws4_request, \
             SignedHeaders=host;x-amz-target, Signature=none",
            operation.signing_name()
        );
        let request = self
            .http
            .post(&self.url)
            .header("X-Amz-Target", operation.target())
            .header("Authorization", scope)
            .timeout(time_out)
            .json(body);
        let response = request.send().await.map_err(failed)?;
        let status = response.status();
        let answer: Value = response.json().await.map_err(failed)?;
        if status.is_success() {
            return Ok(answer);
        }
        Err(CallFailed::Answered {
            status: status.as_u16(),
            code: answer["__type"].as_str().unwrap_or("no code").to_owned(),
        })
    }
}

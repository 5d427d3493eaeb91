//! What the LocalStack Chaos API exchanges, as pure data.
//!
//! Shapes and defaults: LocalStack's public OpenAPI description, release 2026.4.0, paths
//! `/_localstack/chaos/faults` and `/_localstack/chaos/effects`.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// The status that a rule without one answers with.
pub const DEFAULT_STATUS_CODE: u16 = 503;
/// The AWS error code that a rule without one answers with.
pub const DEFAULT_ERROR_CODE: &str = "ServiceUnavailable";
/// What stands for the run's id in the requests of a plan: a plan is made before its run.
pub const RUN_PLACEHOLDER: &str = "{run}";
/// How the description of every rule of ours starts; the run's id follows.
pub const OWNER_PREFIX: &str = "chaos:";

/// The AWS error that a faulted call gets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultError {
    /// HTTP status, 400 to 599.
    #[serde(default = "default_status")]
    #[schemars(range(min = 400, max = 599))]
    pub status_code: u16,
    /// AWS error code, letters and digits.
    #[serde(default = "default_code")]
    #[schemars(regex(pattern = "^[a-zA-Z0-9]+$"))]
    pub code: String,
}

fn default_status() -> u16 {
    DEFAULT_STATUS_CODE
}

fn default_code() -> String {
    DEFAULT_ERROR_CODE.to_owned()
}

impl Default for FaultError {
    fn default() -> Self {
        Self {
            status_code: DEFAULT_STATUS_CODE,
            code: DEFAULT_ERROR_CODE.to_owned(),
        }
    }
}

/// One rule: which calls fail, how often, and how. An absent field matches every call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FaultRule {
    /// AWS region, no wildcard.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// AWS service id as botocore names it (`stepfunctions`, not `states`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<String>,
    /// Operation in its canonical case (`PutRecord`), letters only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Share of the HTTP requests that fail, 0 to 1; drawn for each attempt, not for each logical call.
    #[serde(default = "certain")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub probability: f64,
    /// What a faulted call gets.
    #[serde(default)]
    pub error: FaultError,
}

fn certain() -> f64 {
    1.0
}

impl FaultRule {
    /// The rule as it is sent: every field written out, and our tag as its description.
    pub fn to_wire(&self, owner: &str) -> Value {
        let mut wire = json!({
            "probability": self.probability,
            "description": format!("{OWNER_PREFIX}{owner}"),
            "error": {"statusCode": self.error.status_code, "code": self.error.code},
        });
        for (key, value) in [
            ("region", &self.region),
            ("service", &self.service),
            ("operation", &self.operation),
        ] {
            if let Some(value) = value {
                wire[key] = json!(value);
            }
        }
        wire
    }
}

/// A probability as a person reads it, without the noise of binary fractions: `7%`.
pub fn percentage(probability: f64) -> String {
    format!("{}%", (probability * 1e9).round() / 1e7)
}

impl fmt::Display for FaultRule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let part =
            |value: &Option<String>, any: &str| value.clone().unwrap_or_else(|| any.to_owned());
        write!(
            formatter,
            "{} {} in {}: {} {} for {} of requests",
            part(&self.service, "every service"),
            part(&self.operation, "(every operation)"),
            part(&self.region, "every region"),
            self.error.status_code,
            self.error.code,
            percentage(self.probability),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn probabilities_show_without_binary_noise() {
        for (probability, shown) in [
            (1.0, "100%"),
            (0.07, "7%"),
            (0.29, "29%"),
            (0.125, "12.5%"),
            (0.00001, "0.001%"),
        ] {
            assert_eq!(percentage(probability), shown);
        }
    }

    #[test]
    fn a_rule_is_sent_with_every_field_and_our_tag() {
        let rule: FaultRule = serde_json::from_value(json!({"service": "kinesis"}))
            .expect("every field has a default");
        assert_eq!(
            rule.to_wire("r-1"),
            json!({
                "service": "kinesis",
                "probability": 1.0,
                "description": "chaos:r-1",
                "error": {"statusCode": 503, "code": "ServiceUnavailable"},
            })
        );
        assert_eq!(
            rule.to_string(),
            "kinesis (every operation) in every region: 503 ServiceUnavailable for 100% of requests"
        );
    }
}

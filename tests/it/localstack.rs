//! The LocalStack driver over real sockets: against servers that misbehave, and through whole cycles
//! on the sandbox, which keeps the contract strictly.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

mod cycle;
mod misfits;
mod others;
mod strangers;

use std::sync::Arc;

use chaos_gameday::clients::Clients;
use chaos_gameday::faults::{
    Fault, FaultDriver, LocalStackFault, Owner, Prepared, driver_for, driver_with,
};
use chaos_gameday::model::problem::Problem;
use chaos_gameday::model::units::Span;
use serde_json::{Value, json};

/// A fault, its driver and its owner.
struct Case {
    fault: Fault,
    driver: Arc<dyn FaultDriver>,
    owner: Owner,
}

impl Case {
    fn new(endpoint: &str, rules: Value, latency_ms: Option<u64>) -> Self {
        Self::with(&Clients::new().unwrap(), endpoint, rules, latency_ms)
    }

    /// With clients that a table of cases shares: making them takes longer than a case.
    fn with(clients: &Clients, endpoint: &str, rules: Value, latency_ms: Option<u64>) -> Self {
        let fault = fault(endpoint, rules, latency_ms);
        Self {
            driver: driver_for(&fault, clients).unwrap(),
            fault,
            owner: Owner::Run("r-20261130-1200-abcd".parse().unwrap()),
        }
    }

    /// The same case with little patience, for servers that hang.
    fn hasty(self, clients: &Clients) -> Self {
        let driver = driver_with(&self.fault, clients, Span::from_millis(500)).unwrap();
        Self { driver, ..self }
    }

    async fn prepare(&self) -> Result<Prepared, Problem> {
        self.driver.prepare(&self.fault, &self.owner).await
    }
}

fn fault(endpoint: &str, rules: Value, latency_ms: Option<u64>) -> Fault {
    Fault::LocalStack(LocalStackFault {
        endpoint: endpoint.to_owned(),
        faults: serde_json::from_value(rules).unwrap(),
        latency: latency_ms.map(Span::from_millis),
    })
}

fn put_record() -> Value {
    json!({"region": "us-east-1", "service": "kinesis", "operation": "PutRecord"})
}

fn send_message() -> Value {
    json!({"region": "us-east-1", "service": "sqs", "operation": "SendMessage", "probability": 0.5})
}

/// The rule as it stands on the server.
fn tagged(rule: Value) -> Value {
    let mut wire = json!({
        "probability": 1.0,
        "description": "chaos:r-20261130-1200-abcd",
        "error": {"statusCode": 503, "code": "ServiceUnavailable"},
    });
    for (key, value) in rule.as_object().unwrap() {
        wire[key] = value.clone();
    }
    wire
}

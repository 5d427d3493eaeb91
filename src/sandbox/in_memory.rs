//! The sandbox's Chaos API without its port, for whoever speaks to it in the same process: the rules
//! mean and become what they do behind the port.

use serde_json::{Value, json};

use super::rules::{InvalidBody, RuleBook, parse_latency, parse_rules};

/// An instance.
pub struct InMemory {
    book: RuleBook,
    session: String,
}

impl InMemory {
    /// A fresh instance that says that this is its session.
    pub fn new(session: impl Into<String>) -> Self {
        Self {
            // Its dice decide about AWS calls only, and none is made here.
            book: RuleBook::new(0),
            session: session.into(),
        }
    }

    /// Status and body of the answer to a request of the control paths.
    pub fn answer(&mut self, method: &str, path: &str, body: &[u8]) -> (u16, Value) {
        let done = match (method, path) {
            ("GET", "/_localstack/health") => Ok(json!({
                "services": {"dynamodb": "running", "kinesis": "running"},
                "edition": "unknown",
                "version": "in-memory",
            })),
            ("GET", "/_localstack/info") => Ok(json!({"session_id": self.session})),
            ("GET", "/_localstack/chaos/faults") => Ok(self.book.listed()),
            ("POST", "/_localstack/chaos/faults") => self.change(body, RuleBook::replace),
            ("PATCH", "/_localstack/chaos/faults") => self.change(body, RuleBook::append),
            ("DELETE", "/_localstack/chaos/faults") => self.change(body, RuleBook::remove),
            ("GET", "/_localstack/chaos/effects") => Ok(self.effects()),
            ("POST", "/_localstack/chaos/effects") => parse_latency(body).map(|latency| {
                self.book.set_latency_ms(latency);
                self.effects()
            }),
            _ => return (404, Value::Null),
        };
        match done {
            Ok(shown) => (200, shown),
            Err(InvalidBody) => (
                400,
                json!({"error": "Bad Request", "message": "Request body validation error"}),
            ),
        }
    }

    fn effects(&self) -> Value {
        json!({"latency": self.book.latency_ms()})
    }

    fn change(
        &mut self,
        body: &[u8],
        change: fn(&mut RuleBook, Vec<super::rules::Rule>) -> Result<(), InvalidBody>,
    ) -> Result<Value, InvalidBody> {
        change(&mut self.book, parse_rules(body)?)?;
        Ok(self.book.listed())
    }
}

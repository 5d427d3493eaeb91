//! A sandbox on free ports and the few requests that its tests send to it.
#![expect(clippy::unwrap_used, reason = "a test that cannot ask has failed")]

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::sandbox::{AppVersion, Sandbox, SandboxSettings, status};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;
use tokio::time::{Instant, sleep};

/// What came back: status and JSON body (`null` for an empty one).
pub type Answer = (u16, Value);

/// A running sandbox with a client.
pub struct Bench {
    pub sandbox: Sandbox,
    pub clients: Clients,
}

impl Bench {
    pub async fn start(app: AppVersion) -> Self {
        let settings = SandboxSettings {
            app,
            app_port: 0,
            aws_port: 0,
            seed: 7,
        };
        let sandbox = Sandbox::start(settings).await.unwrap();
        let clients = Clients::new().unwrap();
        Self { sandbox, clients }
    }

    fn request(&self, method: Method, url: String) -> RequestBuilder {
        let http = self.clients.http(&url);
        http.request(method, url).timeout(Duration::from_secs(20))
    }

    /// A request to the edge.
    pub fn edge(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap();
        self.request(method, format!("{}{path}", self.sandbox.aws_url()))
    }

    /// A request to the app.
    pub fn app(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap();
        self.request(method, format!("{}{path}", self.sandbox.app_url()))
    }

    pub async fn faults(&self, method: &str, rules: Value) -> Answer {
        let request = self.edge(method, "/_localstack/chaos/faults");
        answer(request.json(&rules)).await
    }

    pub async fn effects(&self, effects: Value) -> Answer {
        let request = self.edge("POST", "/_localstack/chaos/effects");
        answer(request.json(&effects)).await
    }

    /// Posts an order under an id and waits for the answer.
    pub async fn order(&self, id: &str) -> Answer {
        let order = self.app("POST", "/orders").header("x-order-id", id);
        answer(order.json(&serde_json::json!({"item": "tea"}))).await
    }

    /// Posts so many orders at once, `order-0` and so on; returns their answers.
    pub async fn orders(&self, count: usize) -> Vec<Answer> {
        let ids: Vec<String> = (0..count).map(|number| format!("order-{number}")).collect();
        futures_util::future::join_all(ids.iter().map(|id| self.order(id))).await
    }

    /// The app's own account, less what only time decides.
    pub async fn status(&self) -> Value {
        let status = status(self.sandbox.app_url(), &self.clients).await;
        let mut status = status.unwrap();
        for timing in ["uptimeMs", "oldestPendingMs"] {
            assert!(status[timing].is_u64(), "{timing} in {status}");
            status.as_object_mut().unwrap().remove(timing);
        }
        status
    }

    /// Asks for the status until it is as wanted, and returns it.
    pub async fn status_when(&self, wanted: impl Fn(&Value) -> bool) -> Value {
        let give_up = Instant::now() + Duration::from_secs(8);
        loop {
            let status = self.status().await;
            if wanted(&status) {
                return status;
            }
            assert!(Instant::now() < give_up, "it stays at {status}");
            sleep(Duration::from_millis(20)).await;
        }
    }

    /// Asks for the status until these fields of it are as wanted, and returns it.
    pub async fn status_once(&self, wanted: Value) -> Value {
        let wanted = wanted.as_object().unwrap();
        self.status_when(|status| wanted.iter().all(|(field, value)| status[field] == *value))
            .await
    }

    /// An AWS call signed for a region, as `Kinesis_20131202.PutRecord`.
    pub fn aws(&self, target: &str, region: &str) -> RequestBuilder {
        let scope = format!(
            "AWS4-HMAC-SHA256 Credential=test/20260101/{region}/any/aws4_request, SignedHeaders=host, Signature=0"
        );
        self.edge("POST", "/")
            .header("X-Amz-Target", target)
            .header("Authorization", scope)
    }
}

pub async fn answer(request: RequestBuilder) -> Answer {
    read(request.send().await.unwrap()).await
}

pub async fn read(response: Response) -> Answer {
    let status = response.status().as_u16();
    let body = response.text().await.unwrap();
    (status, serde_json::from_str(&body).unwrap_or_default())
}

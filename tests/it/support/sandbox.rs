//! A sandbox on free ports and the few requests that its tests send to it.

use std::time::Duration;

use chaos_gameday::clients::Clients;
use chaos_gameday::sandbox::{AppVersion, Sandbox, SandboxSettings};
use reqwest::{Method, RequestBuilder, Response};
use serde_json::Value;

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
        let http = self.clients.http();
        http.request(method, url).timeout(Duration::from_secs(20))
    }

    /// A request to the edge, with this body as JSON.
    pub fn edge(&self, method: &str, path: &str) -> RequestBuilder {
        let method = method.parse().unwrap();
        self.request(method, format!("{}{path}", self.sandbox.aws_url()))
    }

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

//! A LocalStack that misbehaves on demand: it obeys the contract except for the quirks it is given,
//! and remembers every request.
#![expect(clippy::unwrap_used, reason = "a test that cannot serve has failed")]

use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub const HEALTH: &str = "/_localstack/health";
pub const INFO: &str = "/_localstack/info";
pub const LICENCE: &str = "/_localstack/licenseinfo";
pub const FAULTS: &str = "/_localstack/chaos/faults";
pub const EFFECTS: &str = "/_localstack/chaos/effects";

/// A way in which it departs from the contract.
#[derive(Debug, Clone, PartialEq)]
pub enum Quirk {
    /// This path gets this status and body, whatever the method.
    Answers(&'static str, u16, String),
    /// Requests of this method get this status and body, and are not carried out.
    Snubs(Method, u16, String),
    /// Every path gets this.
    AnswersAll(u16, String),
    /// This path never gets an answer.
    Hangs(&'static str),
    /// This path redirects to `/elsewhere`.
    Redirects(&'static str),
    /// PATCH is acknowledged and stores nothing.
    DropsRules,
    /// PATCH is acknowledged and stores all rules but the last one.
    DropsLastRule,
    /// PATCH stores every rule twice.
    DuplicatesRules,
    /// DELETE is acknowledged and removes nothing.
    IgnoresDelete,
    /// DELETE takes one copy of each rule only.
    DeletesOneCopy,
    /// DELETE removes, and answers 400 all the same.
    RefusesWhatItDeletes,
    /// POST of a latency is acknowledged and forgotten.
    IgnoresLatency,
    /// Rules are shown with every absent field as `null`, and compared as they were sent.
    ShowsDefaults,
    /// Rules are stored without their description.
    StripsDescriptions,
    /// Rules with a description are invalid.
    RefusesDescriptions,
    /// The info page has no `session_id`.
    NoSession,
    /// Another instance starts right after each PATCH.
    RestartsAfterPatch,
    /// The latency delays control requests too.
    DelaysControl,
    /// Requests of this method are carried out and get no answer.
    LosesAnswers(Method),
    /// Somebody else's rule slips in before each PATCH.
    OthersComeFirst(Value),
}

/// What it has and what it heard.
#[derive(Debug, Default)]
pub struct Inner {
    pub rules: Vec<Value>,
    pub latency: u64,
    pub session: usize,
    pub quirks: Vec<Quirk>,
    /// Requests in order: `PATCH /_localstack/chaos/faults [{…}]`.
    pub heard: Vec<String>,
}

/// A running server.
pub struct Misfit {
    pub url: String,
    inner: Arc<Mutex<Inner>>,
    task: JoinHandle<()>,
}

impl Misfit {
    pub async fn start(quirks: Vec<Quirk>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let inner = Arc::new(Mutex::new(Inner {
            quirks,
            ..Inner::default()
        }));
        let router = Router::new().fallback(take).with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, task }
    }

    pub fn inner(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap()
    }

    /// Every request that was no GET.
    pub fn writes(&self) -> Vec<String> {
        let inner = self.inner();
        let heard = inner.heard.iter();
        heard
            .filter(|line| !line.starts_with("GET "))
            .cloned()
            .collect()
    }

    /// Another instance: new session, nothing in place.
    pub fn restart(&self) {
        self.inner().restart();
    }
}

impl Drop for Misfit {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn take(
    State(inner): State<Arc<Mutex<Inner>>>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let typed = headers
        .get("content-type")
        .is_some_and(|kind| kind == "application/json");
    let value: Value = match typed {
        true => serde_json::from_slice(&body).unwrap_or_default(),
        false => Value::Null,
    };
    let (answer, delay) = {
        let mut inner = inner.lock().unwrap();
        let line = format!("{method} {} {value}", uri.path());
        inner.heard.push(line.trim_end_matches(" null").to_owned());
        let delay = inner.delay(&method, uri.path());
        (inner.answer(&method, uri.path(), &value), delay)
    };
    tokio::time::sleep(delay).await;
    answer
}

const NEVER: Duration = Duration::from_secs(3_600);

impl Inner {
    fn has(&self, quirk: &Quirk) -> bool {
        self.quirks.contains(quirk)
    }

    pub fn restart(&mut self) {
        self.session += 1;
        self.rules.clear();
        self.latency = 0;
    }

    fn delay(&self, method: &Method, path: &str) -> Duration {
        let hangs = |quirk: &Quirk| {
            matches!(quirk, Quirk::Hangs(place) if *place == path)
                || matches!(quirk, Quirk::LosesAnswers(lost) if lost == method)
        };
        if self.quirks.iter().any(hangs) {
            NEVER
        } else if self.has(&Quirk::DelaysControl) {
            Duration::from_millis(self.latency)
        } else {
            Duration::ZERO
        }
    }

    fn answer(&mut self, method: &Method, path: &str, body: &Value) -> Response {
        if let Some(answer) = self.odd_answer(method, path) {
            return answer;
        }
        match (method.as_str(), path) {
            ("GET", HEALTH) => json_answer(&json!({
                "services": {"kinesis": "running", "sqs": "available", "dynamodb": "error"},
                "edition": "pro",
                "version": "2026.4.0",
            })),
            ("GET", INFO) if self.has(&Quirk::NoSession) => json_answer(&json!({})),
            ("GET", INFO) => json_answer(&json!({
                "session_id": format!("session-{}", self.session),
                "is_license_activated": true,
            })),
            ("GET", FAULTS) => json_answer(&self.shown()),
            ("PATCH", FAULTS) => self.patch(body),
            ("DELETE", FAULTS) => self.delete(body),
            ("POST", FAULTS) => panic!("a POST replaces everybody's rules"),
            ("GET", EFFECTS) => json_answer(&json!({"latency": self.latency})),
            ("POST", EFFECTS) => self.set_latency(body),
            _ => plain(404, ""),
        }
    }

    fn odd_answer(&self, method: &Method, path: &str) -> Option<Response> {
        self.quirks.iter().find_map(|quirk| {
            if let Quirk::Answers(place, status, text) = quirk {
                return (*place == path).then(|| plain(*status, text));
            }
            if let Quirk::Snubs(snubbed, status, text) = quirk {
                return (snubbed == method).then(|| plain(*status, text));
            }
            if let Quirk::AnswersAll(status, text) = quirk {
                return Some(plain(*status, text));
            }
            let redirects = matches!(quirk, Quirk::Redirects(place) if *place == path);
            let away = (StatusCode::FOUND, [("location", "/elsewhere")]);
            redirects.then(|| away.into_response())
        })
    }

    fn shown(&self) -> Value {
        let show = |rule: &Value| match self.has(&Quirk::ShowsDefaults) {
            true => with_nulls(rule),
            false => rule.clone(),
        };
        self.rules.iter().map(show).collect()
    }

    fn patch(&mut self, body: &Value) -> Response {
        let Some(mut rules) = body.as_array().cloned() else {
            return bad_request();
        };
        if self.has(&Quirk::RefusesDescriptions) {
            return bad_request();
        }
        if self.has(&Quirk::DropsRules) {
            rules.clear();
        }
        if self.has(&Quirk::DropsLastRule) {
            rules.pop();
        }
        if self.has(&Quirk::DuplicatesRules) {
            rules.extend(rules.clone());
        }
        if self.has(&Quirk::StripsDescriptions) {
            rules.iter_mut().for_each(strip);
        }
        for quirk in &self.quirks {
            if let Quirk::OthersComeFirst(rule) = quirk {
                self.rules.push(rule.clone());
            }
        }
        self.rules.extend(rules);
        let answer = json_answer(&self.shown());
        if self.has(&Quirk::RestartsAfterPatch) {
            self.restart();
        }
        answer
    }

    fn delete(&mut self, body: &Value) -> Response {
        let Some(mut rules) = body.as_array().cloned() else {
            return bad_request();
        };
        if rules
            .iter()
            .enumerate()
            .any(|(place, rule)| rules[..place].contains(rule))
        {
            return bad_request();
        }
        if self.has(&Quirk::StripsDescriptions) {
            rules.iter_mut().for_each(strip);
        }
        if self.has(&Quirk::DeletesOneCopy) {
            for rule in &rules {
                if let Some(place) = self.rules.iter().position(|other| other == rule) {
                    self.rules.remove(place);
                }
            }
        } else if !self.has(&Quirk::IgnoresDelete) {
            self.rules.retain(|rule| !rules.contains(rule));
        }
        match self.has(&Quirk::RefusesWhatItDeletes) {
            true => bad_request(),
            false => json_answer(&self.shown()),
        }
    }

    fn set_latency(&mut self, body: &Value) -> Response {
        let Some(latency) = body["latency"].as_u64() else {
            return bad_request();
        };
        if !self.has(&Quirk::IgnoresLatency) {
            self.latency = latency;
        }
        json_answer(&json!({"latency": latency}))
    }
}

fn strip(rule: &mut Value) {
    if let Some(fields) = rule.as_object_mut() {
        fields.remove("description");
    }
}

fn with_nulls(rule: &Value) -> Value {
    let mut shown = Map::new();
    for key in [
        "region",
        "service",
        "operation",
        "description",
        "probability",
        "error",
    ] {
        shown.insert(key.to_owned(), rule[key].clone());
    }
    Value::Object(shown)
}

fn json_answer(value: &Value) -> Response {
    let headers = [
        ("content-type", "application/json"),
        ("x-localstack", "true"),
    ];
    (StatusCode::OK, headers, value.to_string()).into_response()
}

fn bad_request() -> Response {
    let body = r#"{"error":"Bad Request","message":"Request body validation error"}"#;
    (StatusCode::BAD_REQUEST, body).into_response()
}

fn plain(status: u16, text: &str) -> Response {
    let status = StatusCode::from_u16(status).unwrap();
    (status, text.to_owned()).into_response()
}

//! An API server that says what it is told to, for the answers that a real one gives only on a bad day.
#![expect(clippy::unwrap_used, reason = "a test that cannot serve has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{Method, Uri};
use axum::response::Response;
use chaos_gameday::clients::Clients;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

use super::kubernetes::{clients_of, kubeconfig};

/// What it answers to one request.
#[derive(Debug, Clone)]
pub enum Say {
    /// This status and this object.
    Json(u16, Value),
    /// This status and these bytes.
    Text(u16, &'static str),
    /// 429, and to come back after so many seconds.
    Busy(u64),
    /// Nothing, ever.
    Hang,
}

/// What time it is there.
#[derive(Debug, Clone, Copy)]
enum Clock {
    /// One and the same.
    Stopped,
    /// This machine's, and so much more.
    Off(SignedDuration),
}

impl Clock {
    #[expect(
        clippy::disallowed_methods,
        reason = "its time is the wall clock's, and some"
    )]
    fn date(self) -> String {
        match self {
            Self::Stopped => "Mon, 30 Nov 2026 12:00:00 GMT".to_owned(),
            Self::Off(by) => (Timestamp::now() + by)
                .strftime("%a, %d %b %Y %H:%M:%S GMT")
                .to_string(),
        }
    }
}

/// A refusal as an API server words it.
pub fn status(code: u16, message: &str) -> Say {
    let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "code": code});
    Say::Json(code, body)
}

struct Inner {
    /// Each for a method and a path: answers in turn, of which the last stays.
    scripts: Vec<(String, Vec<Say>)>,
    clock: Clock,
    heard: Vec<String>,
}

/// A running server.
pub struct Scripted {
    pub url: String,
    inner: Arc<Mutex<Inner>>,
    task: JoinHandle<()>,
}

impl Scripted {
    /// A healthy cluster with the namespace `shop`, except for these: `GET /version`.
    pub async fn start(scripts: &[(&str, &[Say])]) -> Self {
        let namespace = |name: &str| {
            let metadata =
                json!({"name": name, "uid": format!("uid-{name}"), "labels": {"team": "a"}});
            Say::Json(200, json!({"kind": "Namespace", "metadata": metadata}))
        };
        let healthy = [
            (
                "GET /version",
                Say::Json(200, json!({"gitVersion": "v1.35.4"})),
            ),
            (
                "GET /api/v1/namespaces/kube-system",
                namespace("kube-system"),
            ),
            ("GET /api/v1/namespaces/shop", namespace("shop")),
        ];
        let scripts = scripts
            .iter()
            .map(|(line, says)| ((*line).to_owned(), says.to_vec()));
        let healthy = healthy.map(|(line, say)| (line.to_owned(), vec![say]));
        let inner = Arc::new(Mutex::new(Inner {
            scripts: scripts.chain(healthy).collect(),
            clock: Clock::Stopped,
            heard: Vec::new(),
        }));
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(take).with_state(Arc::clone(&inner));
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { url, inner, task }
    }

    /// From now on its clock goes, ahead of this machine's by so much.
    pub fn is_ahead_by(&self, seconds: i64) {
        self.inner.lock().unwrap().clock = Clock::Off(SignedDuration::from_secs(seconds));
    }

    /// The text of a kubeconfig that knows it as the context of this name.
    pub fn kubeconfig(&self, context: &str) -> String {
        let cluster = json!({"server": self.url});
        kubeconfig(context, Some("shop"), &cluster, &json!({"token": "t"}))
    }

    /// Clients that know it as the context `odd`.
    pub async fn clients(&self) -> Clients {
        clients_of(&self.kubeconfig("odd")).await
    }

    /// Requests in order: `GET /version`.
    pub fn heard(&self) -> Vec<String> {
        self.inner.lock().unwrap().heard.clone()
    }
}

impl Drop for Scripted {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Inner {
    fn answer(&mut self, line: &str) -> Say {
        self.heard.push(line.to_owned());
        let script = self.scripts.iter_mut().find(|(known, _)| known == line);
        match script {
            None => status(404, "not found"),
            Some((_, says)) if says.len() > 1 => says.remove(0),
            Some((_, says)) => says[0].clone(),
        }
    }
}

async fn take(State(inner): State<Arc<Mutex<Inner>>>, method: Method, uri: Uri) -> Response {
    let (say, date) = {
        let mut inner = inner.lock().unwrap();
        let say = inner.answer(&format!("{method} {}", uri.path()));
        (say, inner.clock.date())
    };
    let answer = |code: u16, text: String| {
        let built = Response::builder().status(code);
        built.header("date", date).body(Body::from(text))
    };
    match say {
        Say::Json(code, body) => answer(code, body.to_string()).unwrap(),
        Say::Text(code, text) => answer(code, text.to_owned()).unwrap(),
        Say::Busy(seconds) => {
            let mut busy = answer(429, String::new()).unwrap();
            busy.headers_mut().insert("retry-after", seconds.into());
            busy
        }
        Say::Hang => {
            tokio::time::sleep(Duration::from_secs(3_600)).await;
            unreachable!("nobody waits so long")
        }
    }
}

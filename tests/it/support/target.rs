//! A service under traffic whose behaviour a test changes while it runs.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::task::JoinHandle;

/// What the target does with a request.
#[derive(Debug, Clone)]
pub enum Behaviour {
    /// Answers at once, with each of these statuses in turn.
    Answer(Vec<u16>),
    /// Answers 200 after so long.
    Delay(Duration),
    /// Answers nothing until the behaviour changes, then does what that one says.
    Hang,
    /// Answers 200 with a body that never ends.
    EndlessBody,
}

/// A request as the target saw it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seen {
    pub id: String,
    pub uri: String,
    pub headers: BTreeMap<String, String>,
    pub body: String,
}

/// The target; it ends with its handle.
pub struct Target {
    address: SocketAddr,
    behaviour: watch::Sender<Behaviour>,
    log: Arc<Log>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Log {
    seen: Mutex<Vec<Seen>>,
    busy: AtomicUsize,
    busiest: AtomicUsize,
}

/// Counts a request as under way for as long as it lives: hyper drops it when the client hangs up.
struct UnderWay(Arc<Log>);

impl UnderWay {
    fn enter(log: &Arc<Log>) -> Self {
        let busy = log.busy.fetch_add(1, Ordering::SeqCst) + 1;
        log.busiest.fetch_max(busy, Ordering::SeqCst);
        Self(Arc::clone(log))
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.busy.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Target {
    pub async fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let address = listener.local_addr().expect("a bound address");
        let (sender, receiver) = watch::channel(behaviour);
        let log = Arc::new(Log::default());
        let app = Router::new()
            .fallback(answer)
            .with_state((Arc::clone(&log), receiver));
        let task = tokio::spawn(async move {
            axum::serve(listener, app).await.expect("the target serves");
        });
        Self {
            address,
            behaviour: sender,
            log,
            task,
        }
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub fn becomes(&self, behaviour: Behaviour) {
        self.behaviour.send_replace(behaviour);
    }

    pub fn seen(&self) -> Vec<Seen> {
        self.log.seen.lock().expect("no test panics here").clone()
    }

    /// Requests under way now.
    pub fn busy(&self) -> usize {
        self.log.busy.load(Ordering::SeqCst)
    }

    /// The most requests that were ever under way at once.
    pub fn busiest(&self) -> usize {
        self.log.busiest.load(Ordering::SeqCst)
    }
}

impl Drop for Target {
    fn drop(&mut self) {
        self.task.abort();
    }
}

type Handed = (Arc<Log>, watch::Receiver<Behaviour>);

async fn answer(State((log, mut behaviour)): State<Handed>, request: Request) -> Response {
    let _under_way = UnderWay::enter(&log);
    let number = note(&log, request).await;
    loop {
        let now = behaviour.borrow_and_update().clone();
        match now {
            Behaviour::Answer(statuses) => return status(statuses[number % statuses.len()]),
            Behaviour::Delay(delay) => {
                tokio::time::sleep(delay).await;
                return status(200);
            }
            Behaviour::Hang => {
                if behaviour.changed().await.is_err() {
                    return status(500);
                }
            }
            Behaviour::EndlessBody => {
                let chunk = || Ok::<_, std::io::Error>(Bytes::from_static(&[b'x'; 8 * 1024]));
                let chunks = futures_util::stream::repeat_with(chunk);
                return Body::from_stream(chunks).into_response();
            }
        }
    }
}

/// Writes the request down and says how many came before it.
async fn note(log: &Log, request: Request) -> usize {
    let (head, body) = request.into_parts();
    let body = axum::body::to_bytes(body, 1024 * 1024).await;
    let headers: BTreeMap<_, _> = head
        .headers
        .iter()
        .map(|(name, value)| {
            let value = String::from_utf8_lossy(value.as_bytes()).into_owned();
            (name.to_string(), value)
        })
        .collect();
    let seen = Seen {
        id: headers
            .get("x-chaos-request-id")
            .cloned()
            .unwrap_or_default(),
        uri: head.uri.to_string(),
        headers,
        body: String::from_utf8_lossy(&body.expect("a small body")).into_owned(),
    };
    let mut all = log.seen.lock().expect("no test panics here");
    all.push(seen);
    all.len() - 1
}

fn status(code: u16) -> Response {
    let code = StatusCode::from_u16(code).expect("a status");
    if code.is_redirection() {
        return (code, [("location", "/elsewhere")]).into_response();
    }
    code.into_response()
}

/// A server that reads each request, sends these bytes and hangs up.
pub async fn hanging_up_after(bytes: &'static [u8]) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("a bound address");
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut request = [0; 4096];
            if stream.read(&mut request).await.is_ok() {
                // A client that is gone already is no concern of this server.
                let _ = stream.write_all(bytes).await;
            }
        }
    });
    address
}

/// An address where nobody listens.
pub async fn nobody() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    listener.local_addr().expect("a bound address")
}

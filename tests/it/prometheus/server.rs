//! A server of raw bytes, over TCP or TLS, that remembers what it was asked.
#![expect(clippy::unwrap_used, reason = "a test that cannot start it has failed")]

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;
use tokio_rustls::TlsAcceptor;

/// What a request is answered with.
#[derive(Clone)]
pub enum Answer {
    /// These bytes; the connection stays open for the next request.
    Bytes(Vec<u8>),
    /// These bytes and the end of the connection.
    Cut(Vec<u8>),
    /// These bytes and then silence.
    Hang(Vec<u8>),
    /// The first bytes once and the second ones for as long as they are taken.
    Endless(Vec<u8>, Vec<u8>),
}

type Script = Arc<dyn Fn(&str) -> Answer + Send + Sync>;

/// A running server; gone with its handle.
pub struct Server {
    pub url: String,
    seen: Arc<Seen>,
    task: JoinHandle<()>,
}

#[derive(Default)]
struct Seen {
    requests: Mutex<Vec<String>>,
    connections: AtomicUsize,
    sent: AtomicUsize,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Over TCP, answering each request by its text.
    pub async fn start(script: impl Fn(&str) -> Answer + Send + Sync + 'static) -> Self {
        Self::serve(None, Arc::new(script)).await
    }

    /// Over TCP, with the same answer for everybody.
    pub async fn always(answer: Answer) -> Self {
        Self::start(move |_| answer.clone()).await
    }

    /// Over TLS; the URL names it `localhost`.
    pub async fn start_tls(config: rustls::ServerConfig, answer: Answer) -> Self {
        let acceptor = TlsAcceptor::from(Arc::new(config));
        Self::serve(Some(acceptor), Arc::new(move |_| answer.clone())).await
    }

    async fn serve(tls: Option<TlsAcceptor>, script: Script) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = match tls {
            Some(_) => format!("https://localhost:{port}"),
            None => format!("http://127.0.0.1:{port}"),
        };
        let seen = Arc::new(Seen::default());
        let shared = Arc::clone(&seen);
        let task = tokio::spawn(async move {
            loop {
                let (stream, _) = listener.accept().await.unwrap();
                shared.connections.fetch_add(1, Ordering::SeqCst);
                let (tls, script, seen) = (tls.clone(), Arc::clone(&script), Arc::clone(&shared));
                tokio::spawn(async move {
                    match tls {
                        None => converse(stream, script, seen).await,
                        Some(tls) => {
                            if let Ok(stream) = tls.accept(stream).await {
                                converse(stream, script, seen).await;
                            }
                        }
                    }
                });
            }
        });
        Self { url, seen, task }
    }

    /// The requests so far, each as it came.
    pub fn requests(&self) -> Vec<String> {
        self.seen.requests.lock().unwrap().clone()
    }

    /// Connections so far.
    pub fn connections(&self) -> usize {
        self.seen.connections.load(Ordering::SeqCst)
    }

    /// Bytes that were taken from it so far.
    pub fn sent(&self) -> usize {
        self.seen.sent.load(Ordering::SeqCst)
    }
}

async fn converse(
    mut stream: impl AsyncRead + AsyncWrite + Unpin,
    script: Script,
    seen: Arc<Seen>,
) {
    while let Some(request) = next_request(&mut stream).await {
        let answer = script(&request);
        seen.requests.lock().unwrap().push(request);
        let (first, again) = match &answer {
            Answer::Bytes(bytes) | Answer::Cut(bytes) | Answer::Hang(bytes) => (bytes, None),
            Answer::Endless(first, again) => (first, Some(again)),
        };
        let mut next = Some(first);
        while let Some(bytes) = next {
            if stream.write_all(bytes).await.is_err() || stream.flush().await.is_err() {
                return;
            }
            seen.sent.fetch_add(bytes.len(), Ordering::SeqCst);
            next = again;
        }
        match answer {
            Answer::Bytes(_) | Answer::Endless(..) => {}
            Answer::Cut(_) => return,
            Answer::Hang(_) => std::future::pending().await,
        }
    }
}

/// One request, head and body; `None`: the other side has gone.
async fn next_request(stream: &mut (impl AsyncRead + Unpin)) -> Option<String> {
    let mut bytes = Vec::new();
    let wanted = loop {
        let text = String::from_utf8_lossy(&bytes);
        if let Some((head, _)) = text.split_once("\r\n\r\n") {
            let length = head.lines().find_map(|line| {
                let (name, value) = line.split_once(':')?;
                let is_length = name.eq_ignore_ascii_case("content-length");
                is_length.then(|| value.trim().parse::<usize>().unwrap())
            });
            break head.len() + 4 + length.unwrap_or_default();
        }
        more(stream, &mut bytes).await?;
    };
    while bytes.len() < wanted {
        more(stream, &mut bytes).await?;
    }
    Some(String::from_utf8(bytes).unwrap())
}

async fn more(stream: &mut (impl AsyncRead + Unpin), bytes: &mut Vec<u8>) -> Option<()> {
    let read = stream.read_buf(bytes).await.ok()?;
    (read > 0).then_some(())
}

/// A whole answer.
pub fn http(status: &str, headers: &[&str], body: &str) -> Vec<u8> {
    let mut text = format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\n", body.len());
    for header in headers {
        text.push_str(header);
        text.push_str("\r\n");
    }
    format!("{text}\r\n{body}").into_bytes()
}

/// A good answer with this body.
pub fn ok(body: &str) -> Answer {
    Answer::Bytes(http("200 OK", &["Content-Type: application/json"], body))
}

/// A good answer with this `data`.
pub fn result(kind: &str, result: &str) -> Answer {
    let data = format!(r#"{{"resultType":"{kind}","result":{result}}}"#);
    ok(&format!(r#"{{"status":"success","data":{data}}}"#))
}

/// A good answer with one series of this value.
pub fn one(value: &str) -> Answer {
    result(
        "vector",
        &format!(r#"[{{"metric":{{}},"value":[1700000000.123,"{value}"]}}]"#),
    )
}

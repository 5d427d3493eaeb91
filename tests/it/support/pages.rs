//! A server of pages whose every byte a test decides.
#![expect(clippy::unwrap_used, reason = "a test that cannot serve has failed")]

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub const TEXT: &str = "text/plain; version=0.0.4";
pub const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What is sent for a path.
#[derive(Debug, Clone)]
pub enum Reply {
    /// These bytes, and then the connection is closed.
    Bytes(Vec<u8>),
    /// These bytes, and then nothing more while the client waits.
    Stall(Vec<u8>),
    /// A head, and then lines for as long as the client takes them.
    Endless(String),
}

/// A good answer.
pub fn page(kind: &str, body: &str) -> Reply {
    reply("200 OK", &[("content-type", kind)], body)
}

/// An answer with a status and headers.
pub fn reply(status: &str, headers: &[(&str, &str)], body: &str) -> Reply {
    let headers = headers
        .iter()
        .map(|(name, value)| format!("{name}: {value}\r\n"));
    let headers: String = headers.collect();
    let length = body.len();
    let text = format!(
        "HTTP/1.1 {status}\r\n{headers}content-length: {length}\r\nconnection: close\r\n\r\n{body}"
    );
    Reply::Bytes(text.into_bytes())
}

#[derive(Default)]
struct Shelf {
    replies: Mutex<BTreeMap<String, Reply>>,
    heads: Mutex<Vec<String>>,
}

/// The server; it ends with its handle.
pub struct Pages {
    address: SocketAddr,
    shelf: Arc<Shelf>,
    task: JoinHandle<()>,
}

impl Pages {
    pub async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let shelf = Arc::new(Shelf::default());
        let served = Arc::clone(&shelf);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(serve(stream, Arc::clone(&served)));
            }
        });
        Self {
            address,
            shelf,
            task,
        }
    }

    /// Puts a page at `/name`.
    pub fn put(&self, name: &str, reply: Reply) {
        let mut replies = self.shelf.replies.lock().unwrap();
        replies.insert(format!("/{name}"), reply);
    }

    /// The URL of `/name`.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Host and port.
    pub fn address(&self) -> String {
        self.address.to_string()
    }

    /// The heads of the requests so far.
    pub fn heads(&self) -> Vec<String> {
        self.shelf.heads.lock().unwrap().clone()
    }
}

impl Drop for Pages {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut stream: TcpStream, shelf: Arc<Shelf>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
    shelf.heads.lock().unwrap().push(head);
    let reply = shelf.replies.lock().unwrap().get(&path).cloned();
    // A client that hung up has what it wanted.
    let _ = match reply {
        None => {
            stream
                .write_all(b"HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\n\r\n")
                .await
        }
        Some(Reply::Bytes(bytes)) => stream.write_all(&bytes).await,
        Some(Reply::Stall(bytes)) => {
            let written = stream.write_all(&bytes).await;
            let _ = stream.read_u8().await;
            written
        }
        Some(Reply::Endless(head)) => {
            let lines = "# more and more\n".repeat(4_096);
            let mut written = stream.write_all(head.as_bytes()).await;
            while written.is_ok() {
                written = stream.write_all(lines.as_bytes()).await;
            }
            written
        }
    };
}

//! A TCP relay on a thread of its own that notes when each request begins to come in.

use std::io;
use std::net::TcpListener as Listener;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// Methods of requests, and when their first byte came in.
type Heard = Arc<Mutex<Vec<(String, Instant)>>>;

/// A running relay.
pub struct Relay {
    url: String,
    heard: Heard,
}

impl Relay {
    /// Starts one in front of this URL.
    pub fn start(platform: &str) -> io::Result<Self> {
        let listener = Listener::bind("127.0.0.1:0")?;
        listener.set_nonblocking(true)?;
        let url = format!("http://{}", listener.local_addr()?);
        let heard = Heard::default();
        let noted = Arc::clone(&heard);
        let upstream = platform.trim_start_matches("http://").to_owned();
        std::thread::Builder::new()
            .name("relay".to_owned())
            .spawn(move || pass_on(listener, upstream, noted))?;
        Ok(Self { url, heard })
    }

    pub fn url(&self) -> &str {
        &self.url
    }

    /// Forgets all that was heard.
    pub fn forget(&self) {
        self.lock().clear();
    }

    /// When the first request of this method since then began.
    pub fn first(&self, method: &str, since: Instant) -> Option<Instant> {
        let heard = self.lock();
        let mut found = heard
            .iter()
            .filter(|(name, at)| name == method && *at >= since);
        found.next().map(|(_, at)| *at)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Vec<(String, Instant)>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[tokio::main(flavor = "current_thread")]
async fn pass_on(listener: Listener, upstream: String, heard: Heard) -> io::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    loop {
        let (client, _) = listener.accept().await?;
        let platform = TcpStream::connect(&upstream).await?;
        client.set_nodelay(true)?;
        platform.set_nodelay(true)?;
        let (mut asks, mut hears) = client.into_split();
        let (mut answers, mut takes) = platform.into_split();
        let heard = Arc::clone(&heard);
        tokio::spawn(async move { tokio::io::copy(&mut answers, &mut hears).await });
        tokio::spawn(async move {
            let mut bytes = vec![0; 64 * 1024];
            while let Ok(read @ 1..) = asks.read(&mut bytes).await {
                note(&bytes[..read], &heard);
                takes.write_all(&bytes[..read]).await?;
            }
            Ok::<(), io::Error>(())
        });
    }
}

/// A client sends the head of a request in one piece, so a piece that begins with a method begins one.
fn note(piece: &[u8], heard: &Heard) {
    let now = Instant::now();
    let method = ["GET", "PATCH", "POST", "DELETE"]
        .into_iter()
        .find(|method| piece.starts_with(format!("{method} /").as_bytes()));
    let mut heard = heard.lock().unwrap_or_else(PoisonError::into_inner);
    heard.extend(method.map(|method| (method.to_owned(), now)));
}

//! A gate before a server: lets everything through, keeps writes back, or lets nobody in.
#![expect(clippy::unwrap_used, reason = "a test without its gate has failed")]

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _, copy};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// What the gate does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// Everything goes through.
    Open,
    /// A PATCH that comes is kept, whatever becomes of who sent it; it goes on once the gate opens.
    KeepsPatches,
    /// Whoever comes, or is there, is cut off.
    Shut,
}

/// A gate on a port of its own.
pub struct Gate {
    pub url: String,
    way: watch::Sender<Way>,
    kept: Arc<AtomicUsize>,
}

impl Gate {
    /// A gate before the server at this base URL, open.
    pub async fn before(url: &str) -> Self {
        let server = url.trim_start_matches("http://").to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (way, _) = watch::channel(Way::Open);
        let kept = Arc::new(AtomicUsize::new(0));
        let (ways, count) = (way.clone(), Arc::clone(&kept));
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let through = pass(client, server.clone(), ways.subscribe(), Arc::clone(&count));
                let mut shut = ways.subscribe();
                tokio::spawn(async move {
                    tokio::select! {
                        _ = through => {}
                        _ = shut.wait_for(|way| *way == Way::Shut) => {}
                    }
                });
            }
        });
        Self { url, way, kept }
    }

    pub fn becomes(&self, way: Way) {
        self.way.send_replace(way);
    }

    /// How many requests it has kept back so far.
    pub fn kept(&self) -> usize {
        self.kept.load(Ordering::SeqCst)
    }
}

async fn pass(
    client: TcpStream,
    server: String,
    ways: watch::Receiver<Way>,
    kept: Arc<AtomicUsize>,
) -> std::io::Result<()> {
    let (from_server, to_server) = TcpStream::connect(server).await?.into_split();
    let (from_client, to_client) = client.into_split();
    let back = tokio::spawn(answer(from_server, to_client));
    // Kept until the server has answered: it need not hear that nobody waits for that.
    let _to_server = ask(from_client, to_server, ways, kept).await?;
    back.await.unwrap();
    Ok(())
}

async fn answer(mut from_server: OwnedReadHalf, mut to_client: OwnedWriteHalf) {
    // A client that went away hears nothing.
    let _ = copy(&mut from_server, &mut to_client).await;
}

async fn ask(
    mut from_client: OwnedReadHalf,
    mut to_server: OwnedWriteHalf,
    mut ways: watch::Receiver<Way>,
    kept: Arc<AtomicUsize>,
) -> std::io::Result<OwnedWriteHalf> {
    let mut piece = [0; 4096];
    loop {
        let length = from_client.read(&mut piece).await?;
        if length == 0 {
            return Ok(to_server);
        }
        if piece.starts_with(b"PATCH") && *ways.borrow() == Way::KeepsPatches {
            kept.fetch_add(1, Ordering::SeqCst);
            let _ = ways.wait_for(|way| *way == Way::Open).await;
        }
        to_server.write_all(&piece[..length]).await?;
    }
}

//! The way between a run and its platform: every message takes its time, and what was sent arrives,
//! whatever became of its sender. Without it the platform of a sandbox answers in no time, and no kill
//! would ever find a write on its way.

use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

/// Ends with its handle, not so what is on its way.
pub struct Proxy {
    pub url: String,
    task: JoinHandle<()>,
}

impl Proxy {
    /// To this address.
    pub async fn start(target: String, on_the_way: Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&target).await else {
                    continue;
                };
                let (from_client, to_client) = client.into_split();
                let (from_server, to_server) = server.into_split();
                tokio::spawn(carry(from_client, to_server, on_the_way));
                tokio::spawn(carry(from_server, to_client, on_the_way));
            }
        });
        Self { url, task }
    }
}

impl Drop for Proxy {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn carry(mut from: OwnedReadHalf, mut to: OwnedWriteHalf, on_the_way: Duration) {
    let mut chunk = vec![0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut chunk).await {
        tokio::time::sleep(on_the_way).await;
        if to.write_all(&chunk[..count]).await.is_err() {
            return;
        }
    }
}

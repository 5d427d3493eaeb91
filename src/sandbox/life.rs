//! How everything that the sandbox runs comes to its end with the sandbox.
//!
//! Every task and every connection holds a `Life`. It ends when the one `LifeOwner` is dropped, and
//! `LifeOwner::end` returns once the last of them is gone.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::Router;
use axum::serve::Listener;
use futures_util::future::BoxFuture;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio::task::JoinHandle;

/// Ends every `Life` made from it when it is dropped.
#[derive(Debug)]
pub(super) struct LifeOwner {
    end: watch::Sender<()>,
    last_one_gone: mpsc::Receiver<()>,
}

/// Held by everything that must not outlive the sandbox.
#[derive(Clone)]
pub(super) struct Life {
    ended: watch::Receiver<()>,
    _counted: mpsc::Sender<()>,
}

impl LifeOwner {
    pub(super) fn new() -> (Self, Life) {
        let (end, ended) = watch::channel(());
        let (counted, last_one_gone) = mpsc::channel(1);
        let owner = Self { end, last_one_gone };
        let life = Life {
            ended,
            _counted: counted,
        };
        (owner, life)
    }

    /// Ends everything and waits until it is gone.
    pub(super) async fn end(self) {
        let Self {
            end,
            mut last_one_gone,
        } = self;
        drop(end);
        while last_one_gone.recv().await.is_some() {}
    }
}

impl Life {
    /// Waits for the end.
    pub(super) async fn ended(mut self) {
        // Nothing is ever sent, so the only way out is the error that says "the owner is gone".
        while self.ended.changed().await.is_ok() {}
    }

    /// Runs work that is dropped at the end; its result is `None` then.
    pub(super) fn spawn<Work>(&self, work: Work) -> JoinHandle<Option<Work::Output>>
    where
        Work: Future + Send + 'static,
        Work::Output: Send,
    {
        let life = self.clone();
        tokio::spawn(async move {
            tokio::select! {
                biased;
                () = life.ended() => None,
                output = work => Some(output),
            }
        })
    }

    /// Serves a router until the end, closing its connections with it.
    pub(super) fn serve(&self, listener: TcpListener, router: Router) {
        let listener = MortalListener {
            listener,
            life: self.clone(),
        };
        let server = axum::serve(listener, router);
        self.spawn(async move { server.await });
    }
}

/// A listener whose connections break at the end; axum's own would stay until the client leaves.
struct MortalListener {
    listener: TcpListener,
    life: Life,
}

impl Listener for MortalListener {
    type Io = MortalStream;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Self::Io, Self::Addr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        // Small answers must not wait for more of them.
        let _ = stream.set_nodelay(true);
        let ended = Box::pin(self.life.clone().ended());
        (MortalStream { stream, ended }, address)
    }

    fn local_addr(&self) -> io::Result<Self::Addr> {
        self.listener.local_addr()
    }
}

/// A connection that reads an error at the end; hyper then drops it with whatever it was doing.
struct MortalStream {
    stream: TcpStream,
    ended: BoxFuture<'static, ()>,
}

impl AsyncRead for MortalStream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.ended.as_mut().poll(context).is_ready() {
            // The future may not be polled again once it is ready.
            self.ended = Box::pin(std::future::ready(()));
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for MortalStream {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

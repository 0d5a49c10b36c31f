//! The listener of the admin API: a bounded number of connections, none of which may stay idle for long.
//!
//! So the API uses a bounded number of the process's open files, and leaves the others to clients' requests.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, Sleep, sleep};

/// For how long nothing may be read or taken.
const IDLE: Duration = Duration::from_secs(75);

/// A listener with room for so many connections; further ones wait to be accepted.
#[derive(Debug)]
pub(super) struct Bounded {
    listener: TcpListener,
    room: Arc<Semaphore>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener, most: usize) -> Self {
        Self { listener, room: Arc::new(Semaphore::new(most)) }
    }
}

impl Listener for Bounded {
    type Io = BoundedConn;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedConn, SocketAddr) {
        // It is never closed.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        let (stream, address) = Listener::accept(&mut self.listener).await;
        (BoundedConn { stream, idle: Box::pin(sleep(IDLE)), _room: room }, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, which takes room until it is dropped.
#[derive(Debug)]
pub(super) struct BoundedConn {
    stream: TcpStream,
    idle: Pin<Box<Sleep>>,
    _room: Option<OwnedSemaphorePermit>,
}

impl BoundedConn {
    /// What came of reading or writing; an error where nothing has moved for too long.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.idle.as_mut().reset(Instant::now() + IDLE);
            return polled;
        }
        ready!(self.idle.as_mut().poll(cx));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl AsyncRead for BoundedConn {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let polled = Pin::new(&mut own.stream).poll_read(cx, into);
        own.in_time(cx, polled)
    }
}

impl AsyncWrite for BoundedConn {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let polled = Pin::new(&mut own.stream).poll_write(cx, bytes);
        own.in_time(cx, polled)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_flush(cx)
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::net;

    use tokio::runtime;
    use tokio::time::timeout;

    use super::*;

    #[test]
    fn further_connections_wait_for_room() {
        let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let address = listener.local_addr().unwrap();
            let mut bounded = Bounded::new(listener, 1);
            let clients = [(); 2].map(|()| net::TcpStream::connect(address).unwrap());
            let (first, _) = bounded.accept().await;
            assert!(timeout(Duration::from_millis(50), bounded.accept()).await.is_err());
            drop(first);
            let (_second, _) = bounded.accept().await;
            drop(clients);
        });
    }
}

//! The listener of the admin API: a bounded number of connections, with deadlines for requests and responses.
//!
//! So the API uses a bounded number of the process's open files, leaves the others to clients' requests, and whoever sends or
//! reads slowly keeps nobody else out.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};
use tokio::time::{Instant, Sleep, sleep};

/// How long connections may take.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    /// For a whole request, from its first byte; for the first one of a connection, from when it was accepted.
    pub(super) request: Duration,
    /// For the client to take some more of a response, and after that to begin its next request.
    pub(super) response: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Self { request: Duration::from_secs(30), response: Duration::from_secs(75) }
    }
}

/// A listener with room for so many connections. Where there is no room for another one, the connection whose last request
/// began first is closed.
#[derive(Debug)]
pub(super) struct Bounded {
    listener: TcpListener,
    deadlines: Deadlines,
    room: Arc<Semaphore>,
    open: Vec<OpenConn>,
    /// Requests that have begun, on all connections.
    requests: Arc<AtomicU64>,
}

/// An open connection, as the listener knows it.
#[derive(Debug)]
struct OpenConn {
    /// The number of its last request; before the first, one of its own.
    request: Arc<AtomicU64>,
    /// Dropped to close it.
    close: oneshot::Sender<()>,
}

impl Bounded {
    pub(super) fn new(listener: TcpListener, most: usize, deadlines: Deadlines) -> Self {
        let room = Arc::new(Semaphore::new(most));
        Self { listener, deadlines, room, open: Vec::new(), requests: Arc::default() }
    }

    /// Has the connection closed whose last request began first.
    fn make_room(&mut self) {
        let begun = |number: &usize| self.open[*number].request.load(Ordering::Relaxed);
        if let Some(oldest) = (0..self.open.len()).min_by_key(begun) {
            drop(self.open.swap_remove(oldest));
        }
    }
}

impl Listener for Bounded {
    type Io = BoundedConn;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (BoundedConn, SocketAddr) {
        let (stream, address) = Listener::accept(&mut self.listener).await;
        self.open.retain(|conn| !conn.close.is_closed());
        if self.room.available_permits() == 0 {
            self.make_room();
        }
        // It is never closed.
        let room = Arc::clone(&self.room).acquire_owned().await.ok();
        let (close, close_requested) = oneshot::channel();
        let request = Arc::new(AtomicU64::new(self.requests.fetch_add(1, Ordering::Relaxed)));
        self.open.push(OpenConn { request: Arc::clone(&request), close });
        let conn = BoundedConn {
            stream,
            deadlines: self.deadlines,
            receiving: true,
            deadline: Box::pin(sleep(self.deadlines.request)),
            request,
            requests: Arc::clone(&self.requests),
            close_requested: Some(close_requested),
            _room: room,
        };
        (conn, address)
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection, which takes room until it is dropped.
#[derive(Debug)]
pub(super) struct BoundedConn {
    stream: TcpStream,
    deadlines: Deadlines,
    /// A request is being received: nothing of its response has been sent.
    receiving: bool,
    deadline: Pin<Box<Sleep>>,
    request: Arc<AtomicU64>,
    requests: Arc<AtomicU64>,
    /// Ends when the connection is to give way; `None` once it has.
    close_requested: Option<oneshot::Receiver<()>>,
    _room: Option<OwnedSemaphorePermit>,
}

impl BoundedConn {
    /// What came of reading or writing; an error where the connection has to wait and has no time left.
    fn in_time<T>(
        &mut self,
        cx: &mut Context<'_>,
        polled: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            return polled;
        }
        let gives_way = match &mut self.close_requested {
            Some(close_requested) => Pin::new(close_requested).poll(cx).is_ready(),
            None => true,
        };
        if gives_way {
            self.close_requested = None;
            return Poll::Ready(Err(io::ErrorKind::ConnectionAborted.into()));
        }
        self.deadline.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }

    /// The next request begins, or the response to it.
    fn turn(&mut self, receiving: bool) {
        self.receiving = receiving;
        let time = match receiving {
            true => self.deadlines.request,
            false => self.deadlines.response,
        };
        self.deadline.as_mut().reset(Instant::now() + time);
    }
}

impl AsyncRead for BoundedConn {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let before = into.filled().len();
        let polled = Pin::new(&mut own.stream).poll_read(cx, into);
        if !own.receiving && into.filled().len() > before {
            own.turn(true);
            own.request.store(own.requests.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
        }
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
        let took_some = matches!(polled, Poll::Ready(Ok(taken)) if taken > 0);
        // Whatever time the response took to make: that was not the client's.
        if own.receiving || took_some {
            own.turn(false);
        }
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
    use std::future::poll_fn;
    use std::io::{Read, Write};
    use std::net::TcpStream as Client;
    use std::thread;

    use tokio::runtime;

    use super::*;

    const LONG: Deadlines =
        Deadlines { request: Duration::from_secs(60), response: Duration::from_secs(60) };

    fn run<T>(work: impl Future<Output = T>) -> T {
        runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(work)
    }

    async fn bounded(most: usize, deadlines: Deadlines) -> (Bounded, SocketAddr) {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        (Bounded::new(listener, most, deadlines), address)
    }

    /// Bytes that came; an error once the connection is to be closed.
    async fn read(conn: &mut BoundedConn) -> io::Result<usize> {
        let mut bytes = [0; 64];
        let mut into = ReadBuf::new(&mut bytes);
        poll_fn(|cx| Pin::new(&mut *conn).poll_read(cx, &mut into)).await?;
        Ok(into.filled().len())
    }

    async fn write(conn: &mut BoundedConn, bytes: &[u8]) -> io::Result<usize> {
        poll_fn(|cx| Pin::new(&mut *conn).poll_write(cx, bytes)).await
    }

    /// Those who hold all room in silence kept everybody else out.
    #[test]
    fn the_connection_whose_request_began_first_gives_way() {
        run(async {
            let (mut bounded, address) = bounded(2, LONG).await;
            let mut clients = [(); 2].map(|()| Client::connect(address).unwrap());
            let (mut first, _) = bounded.accept().await;
            let (mut second, _) = bounded.accept().await;
            // The first one begins another request, so the second's is the older one.
            write(&mut first, b"response").await.unwrap();
            clients[0].write_all(b"GET").unwrap();
            assert_eq!(read(&mut first).await.unwrap(), 3);
            let ended = tokio::spawn(async move { read(&mut second).await });
            let third = Client::connect(address).unwrap();
            let (_third, _) = bounded.accept().await;
            let gave_way = ended.await.unwrap().unwrap_err().kind();
            assert_eq!(gave_way, io::ErrorKind::ConnectionAborted);
            assert_eq!(clients[1].read(&mut [0]).unwrap(), 0, "it is closed");
            clients[0].write_all(b" /").unwrap();
            assert_eq!(read(&mut first).await.unwrap(), 2, "it is open");
            drop(third);
        });
    }

    /// Each byte gave it as much time as the first.
    #[test]
    fn a_request_that_drips_comes_to_an_end() {
        run(async {
            let deadlines = Deadlines { request: Duration::from_millis(100), ..LONG };
            let (mut bounded, address) = bounded(1, deadlines).await;
            let mut client = Client::connect(address).unwrap();
            let (mut conn, _) = bounded.accept().await;
            let drip = move |_| {
                thread::sleep(Duration::from_millis(5));
                client.write_all(b"x").is_ok()
            };
            let drips = thread::spawn(move || (0..2_000).all(drip));
            let ended = loop {
                match read(&mut conn).await {
                    Ok(0) => break None,
                    Ok(_) => {}
                    Err(error) => break Some(error.kind()),
                }
            };
            assert_eq!(ended, Some(io::ErrorKind::TimedOut));
            drop(conn);
            drips.join().unwrap();
        });
    }

    /// Who takes a long response slowly and steadily was cut off.
    #[test]
    fn who_takes_some_of_a_response_has_time_for_more() {
        run(async {
            let (mut bounded, address) = bounded(1, LONG).await;
            let _client = Client::connect(address).unwrap();
            let (mut conn, _) = bounded.accept().await;
            write(&mut conn, b"some").await.unwrap();
            let first = conn.deadline.deadline();
            thread::sleep(Duration::from_millis(1));
            write(&mut conn, b"more").await.unwrap();
            assert!(conn.deadline.deadline() > first);
        });
    }

    /// A reload may take longer than a client has for its request.
    #[test]
    fn a_response_has_time_of_its_own() {
        run(async {
            let deadlines = Deadlines { request: Duration::ZERO, ..LONG };
            let (mut bounded, address) = bounded(1, deadlines).await;
            let _client = Client::connect(address).unwrap();
            let (mut conn, _) = bounded.accept().await;
            assert_eq!(write(&mut conn, b"response").await.unwrap(), 8);
            let mut bytes = [0; 64];
            let mut into = ReadBuf::new(&mut bytes);
            let waits = poll_fn(|cx| {
                let read = Pin::new(&mut conn).poll_read(cx, &mut into);
                Poll::Ready(read.is_pending())
            });
            assert!(waits.await, "for the next request");
        });
    }
}

//! Connections to PostgreSQL over which only so much may come: its client keeps an answer whole, so that one
//! without an end would take all memory.
//!
//! The client offers one place at which its stream may be replaced, which is where TLS begins. So plain connections
//! take this way too, as if TLS had been agreed on (`sslnegotiation=direct`), and speak none.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, ready};

use postgres::config::{Host, SslMode, SslNegotiation};
use postgres::tls::{ChannelBinding, MakeTlsConnect, TlsConnect, TlsStream};
use postgres::{Client, Config, Error, NoTls, Socket};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio_postgres_rustls::MakeRustlsConnect;

/// Bytes that may still come over a connection.
#[derive(Debug, Default)]
pub struct Allowance(AtomicU64);

impl Allowance {
    /// From now on so many bytes may come.
    pub fn grant(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }

    /// Takes what came; false where it was more than may.
    fn spend(&self, bytes: usize) -> bool {
        let take = |left: u64| left.checked_sub(bytes as u64);
        self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take).is_ok()
    }
}

/// Connects; more than is allowed ends the connection. Sockets in the file system are not bounded.
pub(crate) fn connect(
    config: &Config,
    tls: Option<&MakeRustlsConnect>,
    allowance: &Arc<Allowance>,
) -> Result<Client, Error> {
    let bounded = |tls: Option<&MakeRustlsConnect>| {
        let mut config = config.clone();
        config.ssl_mode(SslMode::Require);
        if tls.is_none() {
            config.ssl_negotiation(SslNegotiation::Direct);
        }
        config.connect(MakeBounded { tls: tls.cloned(), allowance: allowance.clone() })
    };
    if !config.get_hosts().iter().all(|host| matches!(host, Host::Tcp(_))) {
        return match tls {
            Some(tls) => config.connect(tls.clone()),
            None => config.connect(NoTls),
        };
    }
    match bounded(tls) {
        Err(error) if config.get_ssl_mode() == SslMode::Prefer && has_no_tls(&error) => {
            bounded(None)
        }
        done => done,
    }
}

/// Whether the server said that it speaks no TLS.
fn has_no_tls(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    source.is_some_and(|source| source.to_string().contains("does not support TLS"))
}

/// The stream that TLS makes.
type Encrypted = <MakeRustlsConnect as MakeTlsConnect<Socket>>::Stream;

#[derive(Clone)]
struct MakeBounded {
    tls: Option<MakeRustlsConnect>,
    allowance: Arc<Allowance>,
}

struct ConnectBounded {
    tls: Option<<MakeRustlsConnect as MakeTlsConnect<Socket>>::TlsConnect>,
    allowance: Arc<Allowance>,
}

struct Bounded {
    stream: Stream,
    allowance: Arc<Allowance>,
}

enum Stream {
    Plain(Box<Socket>),
    Encrypted(Box<Encrypted>),
}

impl MakeTlsConnect<Socket> for MakeBounded {
    type Stream = Bounded;
    type TlsConnect = ConnectBounded;
    type Error = io::Error;

    fn make_tls_connect(&mut self, domain: &str) -> io::Result<ConnectBounded> {
        let make = |tls: &mut MakeRustlsConnect| {
            MakeTlsConnect::<Socket>::make_tls_connect(tls, domain).map_err(io::Error::other)
        };
        let tls = self.tls.as_mut().map(make).transpose()?;
        Ok(ConnectBounded { tls, allowance: self.allowance.clone() })
    }
}

impl TlsConnect<Socket> for ConnectBounded {
    type Stream = Bounded;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = io::Result<Bounded>> + Send>>;

    fn connect(self, socket: Socket) -> Self::Future {
        Box::pin(async move {
            let stream = match self.tls {
                None => Stream::Plain(Box::new(socket)),
                Some(tls) => Stream::Encrypted(Box::new(tls.connect(socket).await?)),
            };
            Ok(Bounded { stream, allowance: self.allowance })
        })
    }
}

impl TlsStream for Bounded {
    fn channel_binding(&self) -> ChannelBinding {
        match &self.stream {
            Stream::Plain(_) => ChannelBinding::none(),
            Stream::Encrypted(stream) => stream.channel_binding(),
        }
    }
}

impl AsyncRead for Bounded {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        ready!(match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream.as_mut()).poll_read(context, into),
            Stream::Encrypted(stream) => Pin::new(stream.as_mut()).poll_read(context, into),
        })?;
        let came = into.filled().len().saturating_sub(before);
        Poll::Ready(match self.allowance.spend(came) {
            true => Ok(()),
            false => Err(io::Error::other("it sent more than any answer to this has")),
        })
    }
}

impl AsyncWrite for Bounded {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
            Stream::Encrypted(stream) => Pin::new(stream.as_mut()).poll_write(context, bytes),
        }
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream.as_mut()).poll_flush(context),
            Stream::Encrypted(stream) => Pin::new(stream.as_mut()).poll_flush(context),
        }
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        match &mut self.stream {
            Stream::Plain(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
            Stream::Encrypted(stream) => Pin::new(stream.as_mut()).poll_shutdown(context),
        }
    }
}

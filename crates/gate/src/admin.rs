//! The admin API: keys, configuration, usage and health, on its own address, for whoever has the token.
//!
//! Owns HTTP and the page; `gateway::Control` does the work. It has its own thread and runtime, at a lower priority than
//! the workers, so that it does not delay requests.

mod api;
mod bounded;
mod metrics;
mod views;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use self::bounded::{Bounded, Deadlines};
use crate::gateway::{Control, GatewayError};

/// Connections at once.
const CONNECTIONS: usize = 64;

/// The admin API, served until it is dropped.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    socket: Option<std::net::TcpListener>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// The address that it listens on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Its listening socket, for a process that is to serve it later.
    pub fn socket(&self) -> Option<std::net::TcpListener> {
        self.socket.as_ref()?.try_clone().ok()
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // The other end is gone where the thread is.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Serves the admin API of a gateway, on a socket that listens already where there is one.
///
/// # Errors
/// When the address is taken, or a thread cannot be made.
pub fn serve(
    address: SocketAddr,
    socket: Option<std::net::TcpListener>,
    control: Arc<Control>,
) -> Result<Served, GatewayError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(GatewayError::Thread)?;
    let refused = |error| GatewayError::Admin(address, error);
    let listener = match socket {
        Some(socket) => socket,
        None => {
            // Bound by tokio, so that a port of a process that has just ended can be used again.
            let bound = runtime.block_on(TcpListener::bind(address)).map_err(refused)?;
            bound.into_std().map_err(refused)?
        }
    };
    let address = listener.local_addr().map_err(refused)?;
    listener.set_nonblocking(true).map_err(refused)?;
    let socket = listener.try_clone().ok();
    let listener = {
        let _entered = runtime.enter();
        TcpListener::from_std(listener).map_err(refused)?
    };
    let (stop, stopped) = oneshot::channel::<()>();
    let work = move || {
        // A scrape goes over thousands of rows: requests go first where all share a processor.
        net::limits::give_way();
        let listener = Bounded::new(listener, CONNECTIONS, Deadlines::default());
        runtime.spawn(axum::serve(listener, api::routes(control)).into_future());
        // Told to stop, or forgotten: either way what is open ends with the runtime.
        let _ = runtime.block_on(stopped);
    };
    let thread = thread::Builder::new()
        .name("gate-admin".into())
        .spawn(work)
        .map_err(GatewayError::Thread)?;
    Ok(Served { address, socket, stop: Some(stop), thread: Some(thread) })
}

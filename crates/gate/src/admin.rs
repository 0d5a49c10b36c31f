//! The admin API: keys, configuration, usage and health, on an address of its own, for who has the token.
//!
//! Owns HTTP and the page; what is done is `gateway::Control`'s. It runs on a thread of its own with a runtime of
//! its own, so that nothing of it is in the way of requests.

mod api;
mod metrics;
mod views;

use std::future::IntoFuture;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tokio::net::TcpListener;
use tokio::runtime;
use tokio::sync::oneshot;

use crate::gateway::{Control, GatewayError};

/// The admin API, served until it is dropped.
#[derive(Debug)]
pub struct Served {
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Served {
    /// Where.
    pub fn address(&self) -> SocketAddr {
        self.address
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

/// Serves the admin API of a gateway.
///
/// # Errors
/// When the address is taken, or a thread cannot be made.
pub fn serve(address: SocketAddr, control: Arc<Control>) -> Result<Served, GatewayError> {
    let runtime = runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(GatewayError::Thread)?;
    let refused = |error| GatewayError::Admin(address, error);
    let listener = runtime.block_on(TcpListener::bind(address)).map_err(refused)?;
    let address = listener.local_addr().map_err(refused)?;
    let (stop, stopped) = oneshot::channel::<()>();
    let work = move || {
        runtime.spawn(axum::serve(listener, api::routes(control)).into_future());
        // Told to stop, or forgotten: either way what is open ends with the runtime.
        let _ = runtime.block_on(stopped);
    };
    let thread = thread::Builder::new()
        .name("gate-admin".into())
        .spawn(work)
        .map_err(GatewayError::Thread)?;
    Ok(Served { address, stop: Some(stop), thread: Some(thread) })
}

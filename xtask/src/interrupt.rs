//! Ctrl-C and `kill` as an ordinary error, so that guards run: servers are ended, temporary folders removed.
//!
//! Owns the process's signal dispositions. A second signal ends the process at once.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::{Result, bail};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::flag;

static RECEIVED: OnceLock<Arc<AtomicBool>> = OnceLock::new();

/// From now on the first SIGINT, SIGTERM or SIGHUP is only noted.
pub fn watch() -> Result<()> {
    let received = RECEIVED.get_or_init(Arc::default);
    for signal in [SIGINT, SIGTERM, SIGHUP] {
        flag::register_conditional_shutdown(signal, 130, Arc::clone(received))?;
        flag::register(signal, Arc::clone(received))?;
    }
    Ok(())
}

/// Whether a signal has asked this process to end.
pub fn received() -> bool {
    RECEIVED.get().is_some_and(|flag| flag.load(Ordering::Relaxed))
}

/// Fails once a signal has come; called between steps.
pub fn check() -> Result<()> {
    if received() {
        bail!("interrupted");
    }
    Ok(())
}

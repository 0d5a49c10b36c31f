//! The rigged gallery: measurements spoilt on purpose, over real sockets. Each is told by its code; none
//! is a silent VALID.
//!
//! They run one at a time: what spoils one would spoil the others too.

mod ceiling;
#[path = "../run/harness.rs"]
#[expect(dead_code, reason = "the harness of `run`, of which the gallery needs a part")]
mod harness;
mod rigged;
mod slow;

use std::sync::{Mutex, MutexGuard, PoisonError};

fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

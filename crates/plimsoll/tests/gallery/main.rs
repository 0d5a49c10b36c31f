//! The rigged gallery: measurements spoilt on purpose, over real sockets. Each is told by its code; none
//! is a silent VALID. And healthy twins: what looks alike and is sound, of which nothing is told.
//!
//! They measure, so they belong to `cargo xtask truth gallery`, on a machine with little else to do, and
//! not to `cargo test`: each is ignored there. They run one at a time: what spoils one would spoil the
//! others too.
//!
//! To add a rig: a test in `rigged`, ignored as those there are, that begins with `let _alone =
//! alone();`, makes a run with [`harness::load`], and hands it to `told` with the code that must be there;
//! for a twin to `healthy`, with the codes that may be there all the same. Each prints its claim.

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

//! The rigged gallery: measurements spoilt on purpose, over real sockets. Each is reported by its code; none
//! is a silent VALID. And healthy twins: what looks alike and is sound, and has nothing reported.
//!
//! They measure, so they belong to `cargo xtask truth gallery`, on a machine with little else to do, and
//! not to `cargo test`: each is ignored there. They run one at a time: what spoils one would spoil the
//! others too.
//!
//! To add a rig: a test in the module it is about, ignored as those there are, that begins with `let
//! _alone = alone();`, makes a run with [`harness::load`], and hands it to `claims::reported` with the code that
//! must be there, or to `claims::refused` where its exit code must say so too; for a twin to
//! `claims::healthy`, with the codes that may be there all the same. Each prints its claim.
//!
//! * `gone`: servers that go away or begin to respond differently in the middle, by `run` in both loops.
//! * `stopped`: the same under `sweep`, `capacity` and `compare`.
//! * `held`: a generator that is held up.
//! * `commands`: what spoils a part of the load, or the generator, under `sweep`, `capacity` and `compare`.
//! * `rigged`, `ceiling`: everything else that is spoilt.
//! * `healthy`: twins.

mod ceiling;
mod claims;
mod commands;
mod gone;
#[path = "../run/harness.rs"]
#[expect(dead_code, reason = "the harness of `run`, of which the gallery needs a part")]
mod harness;
mod healthy;
mod held;
mod rigged;
mod servers;
mod slow;
mod stopped;

use std::sync::{Mutex, MutexGuard, PoisonError};

fn alone() -> MutexGuard<'static, ()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Ctrl-C, and SIGTERM and SIGHUP (a terminal that is gone), which are taken for it.
//!
//! Owns the flag that they set, and ending the process while no command checks the flag: a handler that is installed
//! once stays installed, so between two periods of work that check the flag something else must. Commands handle
//! what an interrupted load leaves behind.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use verdict::exit::INTERRUPTED;

use crate::failure::Failure;

/// How often the flag is checked while no command does.
const LOOK_EVERY: Duration = Duration::from_millis(20);

static STOP: OnceLock<Arc<AtomicBool>> = OnceLock::new();
/// Whether no command checks the flag.
static UNWATCHED: AtomicBool = AtomicBool::new(false);

/// The flag that Ctrl-C raises, for those who look at it from now on; a third Ctrl-C ends the process at
/// once. One that came while nobody looked ends it here.
///
/// # Errors
/// When signals cannot be caught.
pub fn stop_on_signal() -> Result<Arc<AtomicBool>, Failure> {
    let stop = caught(true)?;
    if UNWATCHED.swap(false, Ordering::SeqCst) && stopped(&stop) {
        end_before_the_load();
    }
    Ok(stop)
}

/// The same for a server to which SIGHUP means something else.
///
/// # Errors
/// When signals cannot be caught.
pub fn stop_on_signal_but_hangup() -> Result<Arc<AtomicBool>, Failure> {
    caught(false)
}

/// Says that those who had the flag look at it no more: until the next [`stop_on_signal`], Ctrl-C ends the
/// process, as it would if it had never been caught.
pub fn stop_at_once() {
    // Nothing was caught: the kernel's own way.
    let Some(stop) = STOP.get() else { return };
    if UNWATCHED.swap(true, Ordering::SeqCst) {
        return;
    }
    thread::spawn(move || {
        while UNWATCHED.load(Ordering::SeqCst) {
            if stopped(stop) && UNWATCHED.swap(false, Ordering::SeqCst) {
                end_before_the_load();
            }
            thread::sleep(LOOK_EVERY);
        }
    });
}

/// Whether Ctrl-C was pressed.
pub fn stopped(stop: &AtomicBool) -> bool {
    stop.load(Ordering::Relaxed)
}

fn caught(hangup: bool) -> Result<Arc<AtomicBool>, Failure> {
    if let Some(stop) = STOP.get() {
        return Ok(stop.clone());
    }
    let wrong = |error| Failure::CannotRun(format!("cannot catch signals: {error}"));
    let mut caught = vec![SIGINT, SIGTERM];
    // What `nohup` starts goes on without its terminal.
    if hangup && !ignores(SIGHUP) {
        caught.push(SIGHUP);
    }
    let mut signals = Signals::new(caught).map_err(wrong)?;
    let stop = STOP.get_or_init(Arc::default).clone();
    let raised = stop.clone();
    thread::spawn(move || {
        for (before, _) in signals.forever().enumerate() {
            match before {
                0 => raised.store(true, Ordering::SeqCst),
                // Impatience must not cost what was measured: the last responses are awaited for a second at most.
                1 => eprintln!("plimsoll: ending; once more, and the result is not printed"),
                _ => process::exit(INTERRUPTED.into()),
            }
        }
    });
    Ok(stop)
}

/// Whether this process was started with a signal ignored.
fn ignores(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0);
    mask >> (signal - 1) & 1 == 1
}

fn end_before_the_load() -> ! {
    eprintln!("plimsoll: interrupted before the load began: nothing was sent");
    process::exit(INTERRUPTED.into());
}

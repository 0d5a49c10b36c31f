//! Watches for hooks that do not return.
//!
//! Loops that LuaJIT has compiled look at no debug hook, so nothing inside the state can stop them.
//! Each state has a [`HookActivity`] that it marks when a hook begins and ends, without reading a
//! clock; a separate thread checks the marks and reports a mark that has not changed for too long. The
//! code that started it decides what to do then: a thread inside Lua cannot be ended, only the process
//! can.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::hook::Hook;

/// How often the marks are checked.
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// What counts of the time between two looks at most. Where it is longer, this process did not run, and neither did its
/// hooks.
const LONGEST_LOOK: Duration = Duration::from_millis(200);
/// Low bits of a mark: 0, or one more than the hook's place in [`Hook::ALL`].
const HOOK_BITS: u64 = 0xf;

/// What one state is doing. Marked by the state's thread only.
#[derive(Debug, Default)]
pub(crate) struct HookActivity(AtomicU64);

impl HookActivity {
    /// Marks that a hook begins; when what is returned is dropped, it has ended.
    #[inline]
    pub(crate) fn enter(&self, hook: Hook) -> Inside<'_> {
        let count = self.0.load(Ordering::Relaxed) | HOOK_BITS;
        self.0.store(count + 1 + hook as u64 + 1, Ordering::Relaxed);
        Inside(self)
    }

    fn mark(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }
}

fn hook_of(mark: u64) -> Option<Hook> {
    Hook::ALL.get((mark & HOOK_BITS).checked_sub(1)? as usize).copied()
}

/// A hook under way.
#[derive(Debug)]
pub(crate) struct Inside<'a>(&'a HookActivity);

impl Drop for Inside<'_> {
    #[inline]
    fn drop(&mut self) {
        self.0.0.store(self.0.mark() & !HOOK_BITS, Ordering::Relaxed);
    }
}

/// A hook that has run for too long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Overrun {
    /// The script.
    pub file: Box<str>,
    /// The hook.
    pub hook: Hook,
}

impl std::fmt::Display for Overrun {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { file, hook } = self;
        let limit_s = hook.limit().as_secs();
        write!(f, "{file}: {hook} had not returned after {limit_s} s")
    }
}

/// The watched states, with the last mark seen and for how long it has stood.
#[derive(Debug, Default)]
struct Activities(Mutex<Vec<Watched>>);

#[derive(Debug)]
struct Watched {
    activity: Arc<HookActivity>,
    file: Box<str>,
    mark: u64,
    stands: Duration,
    looked: Instant,
}

/// A thread that checks the scripts' states ten times a second until it is dropped.
#[derive(Debug)]
pub struct Watchdog {
    activities: Arc<Activities>,
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Watchdog {
    /// Starts it. `bite` is called once, from its thread, with the first hook that runs over
    /// [`HOOK_LIMIT`](crate::HOOK_LIMIT) ([`LOAD_LIMIT`](crate::LOAD_LIMIT) before and after the load); after that nothing
    /// is watched.
    ///
    /// # Errors
    /// When no thread can be started.
    pub fn start(bite: impl FnOnce(Overrun) + Send + 'static) -> std::io::Result<Self> {
        let activities = Arc::new(Activities::default());
        let over = Arc::new(AtomicBool::new(false));
        let (looked_at, ended) = (activities.clone(), over.clone());
        let look = move || {
            while !ended.load(Ordering::Relaxed) {
                if let Some(overrun) = looked_at.overrun(Instant::now()) {
                    return bite(overrun);
                }
                thread::park_timeout(LOOK_EVERY);
            }
        };
        let thread = thread::Builder::new().name("watchdog".into()).spawn(look)?;
        Ok(Self { activities, over, thread: Some(thread) })
    }

    /// The activity of a new state of the script `file`.
    pub(crate) fn activity(&self, file: &str) -> Arc<HookActivity> {
        let activity = Arc::new(HookActivity::default());
        let watched = Watched {
            activity: activity.clone(),
            file: file.into(),
            mark: 0,
            stands: Duration::ZERO,
            looked: Instant::now(),
        };
        self.activities.0.lock().unwrap_or_else(PoisonError::into_inner).push(watched);
        activity
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // If it panicked there is nothing left to end.
            let _ = thread.join();
        }
    }
}

impl Activities {
    /// Checks all states and returns the first whose hook has run for too long. Dropped states are
    /// forgotten.
    fn overrun(&self, now: Instant) -> Option<Overrun> {
        let mut activities = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        activities.retain(|watched| Arc::strong_count(&watched.activity) > 1);
        activities.iter_mut().find_map(|watched| watched.overrun(now))
    }
}

impl Watched {
    /// Whether its hook has run for too long.
    fn overrun(&mut self, now: Instant) -> Option<Overrun> {
        let since = now.saturating_duration_since(self.looked).min(LONGEST_LOOK);
        self.looked = now;
        let mark = self.activity.mark();
        self.stands = if mark == self.mark { self.stands + since } else { Duration::ZERO };
        self.mark = mark;
        let hook = hook_of(mark)?;
        (self.stands > hook.limit()).then(|| Overrun { file: self.file.clone(), hook })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::RecvTimeoutError;

    use super::*;

    fn watched() -> (Arc<HookActivity>, Activities, Instant) {
        let (activity, looked) = (Arc::new(HookActivity::default()), Instant::now());
        let one = Watched {
            activity: activity.clone(),
            file: "x.lua".into(),
            mark: 0,
            stands: Duration::ZERO,
            looked,
        };
        (activity, Activities(Mutex::new(vec![one])), looked)
    }

    /// Checks ten times a second from one instant to another, and says when a hook was over its limit.
    fn first_overrun(
        activities: &Activities,
        start: Instant,
        millis: std::ops::Range<u64>,
    ) -> Option<u64> {
        let mut checks = millis.step_by(100);
        checks.find(|at| activities.overrun(start + Duration::from_millis(*at)).is_some())
    }

    #[test]
    fn a_hook_that_does_not_return_is_reported_after_its_limit() {
        for (hook, reported) in [
            (Hook::Delay, 1200),
            (Hook::Request, 1200),
            (Hook::Response, 1200),
            (Hook::Load, 10_200),
            (Hook::Setup, 10_200),
            (Hook::Init, 10_200),
            (Hook::Done, 10_200),
        ] {
            let (activity, activities, start) = watched();
            let _inside = activity.enter(hook);
            // The first check sees the hook begin.
            assert_eq!(first_overrun(&activities, start, 100..60_000), Some(reported), "{hook}");
        }
        let words = Overrun { file: "x.lua".into(), hook: Hook::Response }.to_string();
        assert_eq!(words, "x.lua: response() had not returned after 1 s");
    }

    #[test]
    fn hooks_that_return_are_never_reported_however_often_they_run() {
        let (activity, activities, start) = watched();
        for second in 1..100 {
            drop(activity.enter(Hook::Request));
            let _inside = activity.enter(Hook::Request);
            assert_eq!(first_overrun(&activities, start, second * 1000..(second + 1) * 1000), None);
        }
    }

    #[test]
    fn time_in_which_the_process_was_stopped_is_no_hooks() {
        let (activity, activities, start) = watched();
        let _inside = activity.enter(Hook::Request);
        assert_eq!(first_overrun(&activities, start, 100..600), None);
        // A minute later it goes on; the hook has half a second left.
        assert_eq!(first_overrun(&activities, start, 60_000..60_300), None);
        assert_eq!(first_overrun(&activities, start, 60_300..70_000), Some(60_500));
    }

    #[test]
    fn the_thread_reports_once_and_ends() {
        let (sender, receiver) = std::sync::mpsc::channel();
        let watchdog = Watchdog::start(move |overrun| sender.send(overrun).unwrap()).unwrap();
        let activity = watchdog.activity("x.lua");
        let _inside = activity.enter(Hook::Response);
        let overrun = receiver.recv_timeout(Duration::from_secs(60)).unwrap();
        assert_eq!(overrun, Overrun { file: "x.lua".into(), hook: Hook::Response });
        let again = receiver.recv_timeout(Duration::from_secs(60));
        assert_eq!(again, Err(RecvTimeoutError::Disconnected), "its thread has ended");
    }
}

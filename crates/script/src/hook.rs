//! The hooks of a script, and what a script may use.

use std::fmt;
use std::time::Duration;

/// Bytes that one state may hold; a script runs in one state a worker and one more.
pub const MEMORY_LIMIT: usize = 512 << 20;
/// The longest that a hook may run.
pub const HOOK_LIMIT: Duration = Duration::from_secs(1);
/// The longest that a file's own statements may: they commonly read data.
pub const LOAD_LIMIT: Duration = Duration::from_secs(10);
/// What of a script runs: the file itself, or a function that it defines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hook {
    /// The file's own statements.
    Load,
    /// `setup(thread)`.
    Setup,
    /// `init(args)`.
    Init,
    /// `delay()`.
    Delay,
    /// `request()`.
    Request,
    /// `response(status, headers, body)`.
    Response,
    /// `done(summary, latency, requests)`.
    Done,
}

impl Hook {
    /// As a user calls it.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Load => "the file's own statements",
            Self::Setup => "setup()",
            Self::Init => "init()",
            Self::Delay => "delay()",
            Self::Request => "request()",
            Self::Response => "response()",
            Self::Done => "done()",
        }
    }

    /// The longest that it may run.
    pub(crate) fn limit(self) -> Duration {
        if self == Self::Load { LOAD_LIMIT } else { HOOK_LIMIT }
    }

    pub(crate) const ALL: [Self; 7] = [
        Self::Load,
        Self::Setup,
        Self::Init,
        Self::Delay,
        Self::Request,
        Self::Response,
        Self::Done,
    ];
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

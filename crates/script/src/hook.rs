//! The hooks of a script, and what a script may use.

use std::fmt;
use std::time::Duration;

/// Bytes that one state may hold; a script runs in one state a worker and one more.
pub const MEMORY_LIMIT: usize = 512 << 20;
/// The longest that a hook may run while the load does.
pub const HOOK_LIMIT: Duration = Duration::from_secs(1);
/// The longest that a file's own statements may, and the hooks before and after the load: they commonly read data, look
/// addresses up, try them one after the other, and write tables.
pub const LOAD_LIMIT: Duration = Duration::from_secs(10);

/// Declares the hooks: each with its name in messages and its documentation.
macro_rules! hooks {
    ($($variant:ident $name:literal $is:literal)*) => {
        /// The part of a script that runs: the file itself, or a function that it defines.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum Hook {
            $(#[doc = $is] $variant,)*
        }

        impl Hook {
            pub(crate) const ALL: &[Self] = &[$(Self::$variant),*];

            /// Its name in messages.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }
        }
    };
}

hooks! {
    Load "the main chunk" "The main chunk."
    Setup "setup()" "`setup(thread)`."
    Init "init()" "`init(args)`."
    Delay "delay()" "`delay()`."
    Request "request()" "`request()`."
    Response "response()" "`response(status, headers, body)`."
    Done "done()" "`done(summary, latency, requests)`."
}

impl Hook {
    /// The longest that it may run.
    pub(crate) fn limit(self) -> Duration {
        match self {
            Self::Load | Self::Setup | Self::Init | Self::Done => LOAD_LIMIT,
            Self::Delay | Self::Request | Self::Response => HOOK_LIMIT,
        }
    }
}

impl fmt::Display for Hook {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

//! The configuration: TOML with the place of every value, or flags alone.
//!
//! [`Config`] is the configuration as written; [`Built`] is what it means: the settings of a policy, the listeners, and where
//! keys and usage are stored. A file is checked completely before any of it is used. Pure: the caller reads files and resolves names.

mod build;
mod file;
mod flags;
mod place;
mod values;

pub(crate) use build::NO_ADDRESS;
pub use build::{AccessLog, Built, ListenerSettings, Resolve, STORE};
pub(crate) use file::LONGEST;
pub use file::{
    AccessLogConfig, AdminConfig, CheckConfig, ClientConfig, Config, HeaderConfig, KeysConfig,
    LimitConfig, LimitsConfig, ListenConfig, RewriteConfig, RouteConfig, ShadowConfig,
    SharedConfig, TierConfig, TimeoutConfig, UnsharedConfig, UpstreamConfig, UsageConfig,
};
pub use flags::Flags;
pub use place::ConfigError;
pub(crate) use place::{in_words, place_of};
pub use values::{Bytes, Duration, RateText};

//! Errors of a gateway.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;

use model::quote::visible;

use crate::admission::LineError;
use crate::config::ConfigError;
use crate::keys::StoreError;
use crate::path::{StartError, files_advice};
use crate::policy::TooManyNames;

/// What keeps a gateway from starting, or a change from being made.
#[derive(Debug)]
pub enum GatewayError {
    /// The configuration is wrong. `None` stands for the flags.
    Config(Option<PathBuf>, ConfigError),
    /// The load line cannot be used.
    Line(PathBuf, LineError),
    /// The keys cannot be used.
    Store(StoreError),
    /// Another file cannot be used; named in the text.
    File(String),
    /// A file that a setting of the configuration names cannot be used.
    Named {
        /// The configuration.
        file: PathBuf,
        /// Line and column of the setting.
        place: (usize, usize),
        /// The setting.
        setting: &'static str,
        /// Why, with the name of the file.
        error: Box<GatewayError>,
    },
    /// The configuration has too many names.
    Names(TooManyNames),
    /// The data path did not start.
    Path(StartError),
    /// The admin API did not start.
    Admin(SocketAddr, io::Error),
    /// A thread could not be made.
    Thread(io::Error),
}

impl GatewayError {
    /// Whether it is the user's configuration that is wrong, rather than the machine.
    pub fn is_usage(&self) -> bool {
        match self {
            Self::Named { error, .. } => error.is_usage(),
            error => matches!(error, Self::Config(..) | Self::Line(..) | Self::Names(_)),
        }
    }
}

impl fmt::Display for GatewayError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Config(Some(path), error) => write!(f, "{}: {error}", path.display()),
            Self::Config(None, error) => error.fmt(f),
            Self::Line(path, error) => write!(f, "{}: {error}", path.display()),
            Self::Store(error) => error.fmt(f),
            Self::File(text) => f.write_str(&visible(text, &[])),
            Self::Named { file, place: (line, column), setting, error } => {
                write!(f, "{}: line {line}, column {column}: {setting}: {error}", file.display())
            }
            Self::Names(error) => error.fmt(f),
            Self::Path(error) => error.fmt(f),
            Self::Admin(address, error) => {
                let advice = files_advice(error).unwrap_or("choose another with --admin");
                write!(f, "the admin API cannot listen on {address}: {error}; {advice}")
            }
            Self::Thread(error) => match files_advice(error) {
                Some(advice) => write!(f, "cannot start a thread: {error}; {advice}"),
                None => write!(f, "cannot start a thread: {error}"),
            },
        }
    }
}

impl std::error::Error for GatewayError {}

#[cfg(test)]
mod tests {
    use rustix::io::Errno;

    use super::*;

    #[test]
    fn files_that_lack_are_no_fault_of_the_admin_apis_address() {
        let address = SocketAddr::from(([127, 0, 0, 1], 80));
        let said = |errno: Errno| GatewayError::Admin(address, errno.into()).to_string();
        let files = said(Errno::MFILE);
        assert!(files.contains("ulimit -Hn") && !files.contains("--admin"), "{files}");
        assert!(said(Errno::ADDRINUSE).ends_with("choose another with --admin"));
        let thread = GatewayError::Thread(Errno::MFILE.into()).to_string();
        assert!(thread.contains("ulimit -Hn"), "{thread}");
    }
}

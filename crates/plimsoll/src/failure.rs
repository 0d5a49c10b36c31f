//! Why a command failed, in words for the user, with its exit code.

use std::fmt;

use verdict::exit::INTERRUPTED;

/// What stops a command. A failed request never does: it is a counted sample.
#[derive(Debug)]
pub enum Failure {
    /// The command line or a file named on it is wrong: exit code 2.
    Usage(String),
    /// The command is right and could not be carried out: exit code 1.
    CannotRun(String),
    /// Ctrl-C ended it before there was a result: exit code 130.
    Interrupted(String),
}

impl Failure {
    /// The exit code.
    pub fn code(&self) -> u8 {
        match self {
            Self::Usage(_) => 2,
            Self::CannotRun(_) => 1,
            Self::Interrupted(_) => INTERRUPTED,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Usage(message) | Self::CannotRun(message) | Self::Interrupted(message)) = self;
        f.write_str(message)
    }
}

impl std::error::Error for Failure {}

/// The command line is wrong.
pub fn usage<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::Usage(message.into()))
}

/// The command could not be carried out.
pub fn cannot_run<T>(message: impl Into<String>) -> Result<T, Failure> {
    Err(Failure::CannotRun(message.into()))
}

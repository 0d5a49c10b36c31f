//! A script as it is read: its text, and the values that it gets from the URL and the flags.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;
use std::sync::Arc;

use crate::error::ScriptError;

/// Bytes of a script at most.
const SCRIPT_LIMIT: u64 = 64 << 20;
/// Longest name that LuaJIT puts into its messages whole.
const CHUNK_NAME: usize = 55;

/// The contents of the table `wrk` that come from the URL and the flags.
#[derive(Debug, Clone, Default)]
pub struct Site {
    /// `http` or `https`.
    pub scheme: String,
    /// Host without brackets.
    pub host: String,
    /// Port, if the URL has one.
    pub port: Option<u16>,
    /// Path and query as they are sent.
    pub path: String,
    /// Method of `wrk.format` where none is given.
    pub method: String,
    /// Header fields.
    pub headers: Vec<(String, String)>,
    /// Body of `wrk.format` where none is given.
    pub body: Option<Vec<u8>>,
    /// The whole URL: `args[0]` of `init`.
    pub url: String,
    /// What followed `--`: `args[1]` on.
    pub args: Vec<String>,
}

/// Where what scripts print goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Printed {
    /// To standard output, as under wrk.
    ToStdout,
    /// To standard error: a program reads standard output.
    ToStderr,
}

/// A script and the values that it gets.
#[derive(Debug, Clone)]
pub struct Script {
    pub(crate) file: Arc<str>,
    pub(crate) text: Arc<[u8]>,
    pub(crate) site: Site,
    pub(crate) printed: Printed,
}

impl Script {
    /// Reads a script's file.
    ///
    /// # Errors
    /// When it cannot be read or is larger than 64 MiB.
    pub fn read(path: &Path, site: Site, printed: Printed) -> Result<Self, ScriptError> {
        let shown = path.display().to_string();
        let unreadable = |error| ScriptError::unreadable(&shown, &error);
        let mut text = Vec::new();
        // The bound also holds for files without a length, such as devices.
        let file = File::open(path).map_err(unreadable)?;
        file.take(SCRIPT_LIMIT + 1).read_to_end(&mut text).map_err(unreadable)?;
        if text.len() as u64 > SCRIPT_LIMIT {
            return Err(unreadable(std::io::Error::other("a script may have 64 MiB at most")));
        }
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let file = if shown.len() > CHUNK_NAME { name.into_owned() } else { shown };
        Ok(Self::of(&file, &text, site, printed))
    }

    /// A script by its name and text.
    pub fn of(file: &str, text: &[u8], site: Site, printed: Printed) -> Self {
        Self { file: file.into(), text: without_shebang(text).into(), site, printed }
    }

    /// Sets where its output goes.
    pub fn print_to(&mut self, printed: Printed) {
        self.printed = printed;
    }
}

/// `text` with a first line for the shell (`#!`) emptied, as Lua's own loader does.
fn without_shebang(text: &[u8]) -> &[u8] {
    match text {
        [b'#', ..] => {
            let end = text.iter().position(|&byte| byte == b'\n').unwrap_or(text.len());
            &text[end..]
        }
        _ => text,
    }
}

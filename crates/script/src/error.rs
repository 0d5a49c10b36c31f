//! Errors of scripts, with file, line and hook.
//!
//! Owns the reading of Lua's messages: a message of LuaJIT begins with chunk and line where Lua knows
//! them, and otherwise the traceback below it does.

use std::fmt;

use traffic::Halt;

use crate::hook::{Hook, MEMORY_LIMIT};

/// A script that cannot be run, or failed while it ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptError(String);

impl ScriptError {
    /// `message` is about the file as a whole, or about what a hook returned.
    pub(crate) fn new(file: &str, hook: Hook, message: impl fmt::Display) -> Self {
        Self(format!("{file}: {message} (in {hook})"))
    }

    /// The file cannot be read.
    pub(crate) fn unreadable(file: &str, error: &std::io::Error) -> Self {
        Self(format!("-s {file}: {error}"))
    }

    /// An error that Lua reported.
    pub(crate) fn raised(file: &str, hook: Hook, error: &mlua::Error) -> Self {
        let text = words(error);
        let (message, traceback) = text.split_once("\nstack traceback:").unwrap_or((&text, ""));
        let message = first_line(message);
        if place(message, file).is_some_and(|(_, at)| at == 0) {
            return Self(format!("{message} (in {hook})"));
        }
        let line = place(traceback, file).map(|(line, _)| format!(":{line}")).unwrap_or_default();
        let message = without_host(message);
        Self(format!("{file}{line}: {message} (in {hook})"))
    }
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ScriptError {}

impl From<ScriptError> for Halt {
    fn from(error: ScriptError) -> Self {
        Self(error.0.into())
    }
}

/// The message that a user is to see, with the traceback after it.
fn words(error: &mlua::Error) -> String {
    match error {
        mlua::Error::CallbackError { traceback, cause } => {
            let inner = words(cause);
            format!("{}\nstack traceback:\n{traceback}", first_line(&inner))
        }
        mlua::Error::RuntimeError(text) | mlua::Error::SyntaxError { message: text, .. } => {
            text.clone()
        }
        mlua::Error::MemoryError(_) => format!(
            "the script uses more than {} MiB in one thread, the maximum",
            MEMORY_LIMIT >> 20
        ),
        other => other.to_string(),
    }
}

/// A message without its place in the host's own Lua.
fn without_host(message: &str) -> &str {
    let rest = message.strip_prefix("wrk:").and_then(|rest| rest.split_once(": "));
    match rest {
        Some((line, rest)) if line.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => message,
    }
}

fn first_line(text: &str) -> &str {
    text.trim_start().lines().next().unwrap_or_default()
}

/// The first `FILE:LINE:` in `text`, and where it begins.
fn place(text: &str, file: &str) -> Option<(u32, usize)> {
    let mut from = 0;
    while let Some(found) = text[from..].find(file) {
        let at = from + found;
        let rest = text[at + file.len()..].strip_prefix(':');
        let digits = rest.map(|rest| rest.split(|c: char| !c.is_ascii_digit()).next());
        if let Some(Some(line)) = digits.map(|digits| digits.and_then(|d| d.parse().ok())) {
            return Some((line, at));
        }
        from = at + file.len();
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        let error = mlua::Error::RuntimeError(text.into());
        ScriptError::raised("x.lua", Hook::Request, &error).to_string()
    }

    #[test]
    fn a_message_with_its_line_is_kept() {
        let text = "x.lua:3: attempt to call a nil value\nstack traceback:\n\tx.lua:3: in function";
        assert_eq!(message(text), "x.lua:3: attempt to call a nil value (in request())");
    }

    #[test]
    fn a_message_without_a_line_takes_the_tracebacks() {
        let text =
            "bad argument\nstack traceback:\n\t[C]: in f\n\tx.lua:41: in function <x.lua:40>";
        assert_eq!(message(text), "x.lua:41: bad argument (in request())");
        let text = "wrk:7: bad\nstack traceback:\n\twrk:7: in function\n\tx.lua:2: in function";
        assert_eq!(message(text), "x.lua:2: bad (in request())");
        assert_eq!(message("no place"), "x.lua: no place (in request())");
    }

    #[test]
    fn a_file_named_in_passing_is_no_place() {
        assert_eq!(message("cannot open x.lua"), "x.lua: cannot open x.lua (in request())");
    }
}

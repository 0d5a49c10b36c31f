//! The one way to standard output and standard error.
//!
//! Servers, scripts and files from elsewhere have a say in much that is printed: a sample of a response, why a
//! script ended, the URL in a result. Whatever a terminal would obey in it is spelled here, as in `\u{1b}`; only
//! the colours of `report` and the live line's own two sequences pass. `cargo xtask tidy` keeps every other
//! module from writing to the two streams. What a script prints by itself is the script's, and goes out as it is.

use std::io::{self, IsTerminal, Write};

use model::quote::visible;
use report::text::{SEQUENCES, Style};

/// Returns to the first column and clears the line.
const ANEW: &str = "\r\x1b[2K";

/// The standard library's macro with the same name, by way of [`tell`].
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::terminal::screen::tell(&format!("{}\n", format_args!($($words)*))) };
}

/// The standard library's macro with the same name, by way of [`tell`].
macro_rules! eprint {
    ($($words:tt)*) => { $crate::terminal::screen::tell(&format!($($words)*)) };
}

/// Writes to standard error. A terminal that is gone is no reason to end a measurement.
pub fn tell(text: &str) {
    let _ = io::stderr().lock().write_all(visible(text, &[]).as_bytes());
}

/// Writes text of `report` to standard error, in the colours that it was asked for in.
pub fn tell_styled(text: &str, style: Style) {
    let _ = io::stderr().lock().write_all(visible(text, own(style)).as_bytes());
}

/// Writes over the line that the cursor of the terminal is in.
pub fn tell_anew(line: &str) {
    let mut err = io::stderr().lock();
    // See `tell`.
    let _ = err.write_all(format!("{ANEW}{}", visible(line, &[])).as_bytes());
    let _ = err.flush();
}

/// Writes to standard output what is text, or JSON of [`crate::results::output::json`].
///
/// # Errors
/// When it cannot be written to.
pub fn print(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(visible(text, own(style())).as_bytes())?;
    out.flush()
}

/// How standard output wants to be written to.
pub fn style() -> Style {
    style_of(io::stdout().is_terminal())
}

/// How standard error wants to be written to.
pub fn style_of_stderr() -> Style {
    style_of(is_watched())
}

/// Whether standard error is a terminal.
pub fn is_watched() -> bool {
    io::stderr().is_terminal()
}

fn style_of(terminal: bool) -> Style {
    Style { colour: terminal && std::env::var_os("NO_COLOR").is_none() }
}

fn own(style: Style) -> &'static [&'static str] {
    if style.colour { &SEQUENCES } else { &[] }
}

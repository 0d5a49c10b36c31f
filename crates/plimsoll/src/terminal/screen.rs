//! The one way to standard output and standard error.
//!
//! Servers, scripts and files from elsewhere have a say in much that is printed: a sample of a response, why a
//! script ended, the URL in a result. Whatever a terminal would obey in it is spelled here, as in `\u{1b}`; only
//! the colours of `report` and the live line's own two sequences pass. `cargo xtask tidy` keeps every other
//! module from writing to the two streams. What a script prints by itself is the script's, and goes out as it is.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::quote::visible;
use report::text::{SEQUENCES, Style};

/// The standard library's macro with the same name, by way of [`print_to_stderr`].
macro_rules! eprintln {
    ($($words:tt)*) => { $crate::terminal::screen::print_to_stderr(&format!("{}\n", format_args!($($words)*))) };
}

/// The standard library's macro with the same name, by way of [`print_to_stderr`].
macro_rules! eprint {
    ($($words:tt)*) => { $crate::terminal::screen::print_to_stderr(&format!($($words)*)) };
}

/// Writes to standard error. A terminal that is gone is no reason to end a measurement.
pub fn print_to_stderr(text: &str) {
    let _ = io::stderr().lock().write_all(visible(text, &[]).as_bytes());
}

/// Writes text of `report` to standard error, in the colours that it was asked for in.
pub fn print_styled_to_stderr(text: &str, style: Style) {
    let _ = io::stderr().lock().write_all(visible(text, own(style)).as_bytes());
}

/// The last lines on the terminal at standard error, which are drawn again and again.
#[derive(Debug)]
pub struct Block(ProgressBar);

impl Default for Block {
    fn default() -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        let style = ProgressStyle::with_template("{msg}").expect("a template");
        Self(bar.with_style(style))
    }
}

impl Block {
    /// Draws lines over those drawn before.
    pub fn draw(&self, lines: &str) {
        self.0.reset();
        self.0.set_message(visible(lines, &[]).into_owned());
        self.0.tick();
    }

    /// How wide a line may be.
    pub fn columns(&self) -> usize {
        columns_of(io::stderr())
    }

    /// Takes the lines away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }
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

/// Whether standard error is a terminal that can draw over what it has.
pub fn is_watched() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

fn style_of(terminal: bool) -> Style {
    let terminal = terminal && !is_dumb();
    Style { colour: terminal && std::env::var_os("NO_COLOR").is_none(), columns: columns() }
}

/// How wide standard output is, where text is still easy to read; 80 where it is no terminal.
fn columns() -> usize {
    columns_of(io::stdout())
}

fn columns_of(stream: impl AsFd) -> usize {
    let window = rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    window.filter(|&columns| columns > 0).unwrap_or(80_usize).clamp(40, 100)
}

fn own(style: Style) -> &'static [&'static str] {
    if style.colour { &SEQUENCES } else { &[] }
}

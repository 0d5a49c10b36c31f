//! The only module that writes to standard output and standard error; `cargo xtask tidy` checks that.
//!
//! Much of what is printed comes from servers, scripts and files from elsewhere: a sample of a response, a script's error,
//! the URL in a result. Control characters in it are escaped here, as in `\u{1b}`; only the colours of `report` and the two
//! sequences of the live line pass. Secrets in all messages to standard error are masked here. What a script prints by
//! itself is not changed.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use model::quote::visible;
use report::text::{SEQUENCES, Style};
use unicode_width::UnicodeWidthStr;

use crate::secrets::mask_message;

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
    let text = mask_message(text);
    let text = visible(&text, &[]);
    // Elsewhere than on a terminal, other programs read whole lines.
    let fitted = columns_known(io::stderr()).map(|columns| broken(&text, columns));
    let _ = io::stderr().lock().write_all(fitted.as_deref().unwrap_or(&text).as_bytes());
}

/// As [`print_to_stderr`] for progress, which is for people wherever it is written to.
pub fn tell(text: &str) {
    let text = mask_message(text);
    let text = visible(&text, &[]);
    let fitted = within(&text, columns_of_lines()) + "\n";
    let _ = io::stderr().lock().write_all(fitted.as_bytes());
}

/// Writes text of `report` to standard error, in the colours that it was asked for in.
pub fn print_styled_to_stderr(text: &str, style: Style) {
    let text = mask_message(text);
    let _ = io::stderr().lock().write_all(visible(&text, own(style)).as_bytes());
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
        columns(io::stderr())
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

/// How wide the lines on standard error may be that follow how a run goes.
pub fn columns_of_lines() -> usize {
    columns(io::stderr())
}

/// How standard output wants to be written to.
pub fn style() -> Style {
    style_of(io::stdout().is_terminal(), columns(io::stdout()))
}

/// As [`style`], for text with wide tables: what is no terminal takes them whole.
pub fn style_of_tables() -> Style {
    style_of(io::stdout().is_terminal(), columns_known(io::stdout()).unwrap_or(100))
}

/// How standard error wants to be written to.
pub fn style_of_stderr() -> Style {
    style_of(is_watched(), columns(io::stderr()))
}

/// Whether standard error is a terminal that can draw over what it has.
pub fn is_watched() -> bool {
    io::stderr().is_terminal() && !is_dumb()
}

/// Whether standard output is read at a terminal, and standard error is one that can draw.
pub fn is_read_live() -> bool {
    io::stdout().is_terminal() && is_watched()
}

fn is_dumb() -> bool {
    std::env::var_os("TERM").is_some_and(|name| name == "dumb")
}

fn style_of(terminal: bool, columns: usize) -> Style {
    // As https://no-color.org has it: set, and not empty.
    let plain = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
    Style { colour: terminal && !is_dumb() && !plain, columns }
}

/// How wide text may be: as wide as was asked for, or as the terminal is; 80 where neither says.
fn columns(stream: impl AsFd) -> usize {
    columns_known(stream).unwrap_or(80)
}

/// What `COLUMNS` asks for, or else the width of a terminal, where text is still easy to read.
fn columns_known(stream: impl AsFd) -> Option<usize> {
    let terminal = || rustix::termios::tcgetwinsize(stream).ok().map(|size| size.ws_col.into());
    let asked = std::env::var("COLUMNS").ok();
    width(asked.as_deref(), terminal)
}

fn width(asked: Option<&str>, terminal: impl FnOnce() -> Option<usize>) -> Option<usize> {
    let asked = asked.and_then(|columns| columns.trim().parse().ok());
    let known = |columns: &usize| *columns > 0;
    asked.filter(known).or_else(|| terminal().filter(known)).map(|columns| columns.clamp(40, 100))
}

/// Messages in lines of at most `columns`, broken between words; what is laid out already keeps its lines.
fn broken(text: &str, columns: usize) -> String {
    let line = |line: &str| match is_laid_out(line) {
        true => line.to_owned(),
        false => within(line, columns),
    };
    text.split('\n').map(line).collect::<Vec<_>>().join("\n")
}

fn is_laid_out(line: &str) -> bool {
    line.trim_end().contains("  ") || line.starts_with(' ')
}

/// How far the rest of a line is indented, and that of one in columns.
const INDENTS: (&str, &str) = ("  ", "     ");

/// A line in lines of at most `columns`, broken between words.
fn within(line: &str, columns: usize) -> String {
    if line.width() <= columns {
        return line.to_owned();
    }
    let indent = if is_laid_out(line) { INDENTS.1 } else { INDENTS.0 };
    let mut lines: Vec<String> = Vec::new();
    for word in line.split(' ') {
        match lines.last_mut() {
            // Blanks that follow one another are columns, which a break ends.
            Some(last) if word.is_empty() || last.width() + 1 + word.width() <= columns => {
                last.push(' ');
                *last += word;
            }
            Some(last) => {
                last.truncate(last.trim_end().len());
                lines.push(format!("{indent}{word}"));
            }
            None => lines.push(word.to_owned()),
        }
    }
    lines.join("\n")
}

fn own(style: Style) -> &'static [&'static str] {
    if style.colour { &SEQUENCES } else { &[] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_width_is_what_was_asked_for_or_the_terminal_s() {
        for (asked, terminal, expected) in [
            (None, None, None),
            (Some("60"), None, Some(60)),
            (Some("60"), Some(120), Some(60)),
            (None, Some(72), Some(72)),
            (Some("0"), Some(72), Some(72)),
            (Some("wide"), Some(500), Some(100)),
            (Some("7"), None, Some(40)),
            (None, Some(0), None),
        ] {
            assert_eq!(width(asked, || terminal), expected, "{asked:?}, {terminal:?}");
        }
    }

    #[test]
    fn messages_are_broken_between_words() {
        assert_eq!(broken("one two three\n", 8), "one two\n  three\n");
        assert_eq!(
            broken("see /a/long/path/of/a/file now", 9),
            "see\n  /a/long/path/of/a/file\n  now"
        );
        let step = "  1  search 12,400/s        held              p99 12.3ms of 50ms, success 100 % of 99 %";
        let lines = within(step, 60);
        assert!(lines.lines().all(|line| line.width() <= 60), "{lines}");
        assert!(
            lines.starts_with("  1  search 12,400/s        held") && lines.contains("\n     "),
            "{lines}"
        );
        for kept in ["a  table of words", "  an indented line", "short"] {
            assert_eq!(broken(kept, 8), kept);
        }
    }
}

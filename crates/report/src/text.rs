//! A run in a terminal: its [`summary`], and its [`details`]: wrk's block, then what wrk leaves out, and last whether
//! to believe it.
//!
//! Owns words and layout. Everything fits [`Style::columns`] but wrk's own lines. Does not own the figures
//! (`model::Run`) nor the verdict, which is printed as found.

mod detail;
pub(crate) mod mix;
pub mod objectives;
mod spectrum;
mod summary;
mod unwatched;
mod validity;

use model::run::Run;
use unicode_width::UnicodeWidthStr;

pub(crate) use detail::{
    attempts, available, ceiling, concurrency, dip_cells, load, load_of, processor_time, qps_over,
    success, users, workers,
};
pub use summary::summary;
pub(crate) use unwatched::dropped_samples;
pub(crate) use validity::{bounds_latency, meaning};

use crate::figure::wrap;
use crate::wrk;

/// How text may look.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Whether ANSI colours may be used.
    pub colour: bool,
    /// How wide a line may be.
    pub columns: usize,
}

impl Default for Style {
    fn default() -> Self {
        Self { colour: false, columns: COLUMNS }
    }
}

/// Ways to set words apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tone {
    Strong,
    Soft,
    Good,
    Doubtful,
    Bad,
}

impl Tone {
    /// The sequence that begins it.
    const fn begins(self) -> &'static str {
        match self {
            Self::Strong => "\u{1b}[1m",
            Self::Soft => "\u{1b}[2m",
            Self::Good => "\u{1b}[1;32m",
            Self::Doubtful => "\u{1b}[1;30;43m",
            Self::Bad => "\u{1b}[1;97;41m",
        }
    }
}

/// The sequence that ends every tone.
const ENDS: &str = "\u{1b}[0m";

/// Every sequence that text in colours has, so that the code that prints it can distinguish them from
/// those of a server or a file.
pub const SEQUENCES: [&str; 6] = [
    Tone::Strong.begins(),
    Tone::Soft.begins(),
    Tone::Good.begins(),
    Tone::Doubtful.begins(),
    Tone::Bad.begins(),
    ENDS,
];

impl Style {
    /// `text` in `tone` where colours are wanted, as it is where they are not.
    pub(crate) fn paint(self, tone: Tone, text: &str) -> String {
        if self.colour { format!("{}{text}{ENDS}", tone.begins()) } else { text.to_owned() }
    }
}

/// Columns of a line at most.
pub(crate) const COLUMNS: usize = 100;
/// Columns of prose at most: longer lines are hard to read.
const PROSE: usize = 80;
/// Columns that a text has beside its mark at least.
const LEAST: usize = 20;
/// How far lines stand below a mark that leaves fewer.
const HANGING: usize = 2;

/// A text in lines that fit, the first after `mark` and the others below its text.
pub fn paragraph(text: &str, mark: &str, style: Style) -> String {
    paragraph_in(text, mark, style.columns.min(PROSE))
}

/// As [`paragraph`], in lines of at most `columns`.
pub(crate) fn paragraph_in(text: &str, mark: &str, columns: usize) -> String {
    let width = mark.width();
    // Behind a mark that takes most of a narrow line, the text goes on below it.
    if columns < width + LEAST {
        return hanging(&format!("{mark}{text}"), columns)
            .iter()
            .map(|line| format!("{line}\n"))
            .collect();
    }
    let lines = wrap(text, columns.saturating_sub(width));
    let start = |i: usize| if i == 0 { mark.to_owned() } else { " ".repeat(width) };
    lines.iter().enumerate().map(|(i, line)| format!("{}{line}\n", start(i))).collect()
}

/// A text in lines of at most `columns`, those after the first indented.
pub(crate) fn hanging(text: &str, columns: usize) -> Vec<String> {
    let whole = wrap(text, columns);
    if whole.len() == 1 {
        return whole;
    }
    let lines = wrap(text, columns.saturating_sub(HANGING).max(LEAST));
    let indent = |i: usize| if i == 0 { 0 } else { HANGING };
    lines.iter().enumerate().map(|(i, line)| " ".repeat(indent(i)) + line).collect()
}

/// Everything there is to say of a run: wrk's block, with its distribution if `latency`, then what wrk leaves out, the
/// validity last.
pub fn details(run: &Run, latency: bool, style: Style) -> String {
    let block = wrk::block(run, latency);
    let objectives = objectives::section(run, style).map_or_else(String::new, |text| text + "\n");
    let sections = detail::sections(run, style);
    let limits = run.observed.as_ref().map_or_else(String::new, |_| {
        let found = crate::findings::text(&verdict::explain(run), style);
        let failed =
            unwatched::lines(run).into_iter().map(|line| paragraph_in(&line, "  ", style.columns));
        let failed: String = failed.collect();
        let failed = match failed.is_empty() {
            true => failed,
            false => format!("\n{}\n{failed}", style.paint(Tone::Strong, "Not watched")),
        };
        format!("{failed}\n{}\n{found}", style.paint(Tone::Strong, "What limits it"))
    });
    format!("{block}\n{sections}\n{objectives}{}{limits}", validity::banner(run, style))
}

/// The verdict with its reasons, as it closes the text of a run: one line when `VALID`, between
/// rules when not.
pub fn validity(run: &Run, style: Style) -> String {
    validity::verdict(run, style)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn stripped(text: &str) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('\u{1b}') {
            out.push_str(before);
            rest = after.split_once('m').map_or("", |(_, tail)| tail);
        }
        out + rest
    }

    #[test]
    fn the_text_of_a_closed_loop() {
        insta::assert_snapshot!(details(&sample::closed_loop(), false, Style::default()));
    }

    #[test]
    fn the_text_of_an_open_loop() {
        insta::assert_snapshot!(details(&sample::open_loop(), false, Style::default()));
    }

    #[test]
    fn the_text_of_a_run_without_responses() {
        insta::assert_snapshot!(details(&sample::hostile(), false, Style::default()));
    }

    #[test]
    fn colours_change_nothing_but_the_colours() {
        let coloured =
            details(&sample::open_loop(), false, Style { colour: true, ..Style::default() });
        assert_ne!(coloured, details(&sample::open_loop(), false, Style::default()));
        assert_eq!(stripped(&coloured), details(&sample::open_loop(), false, Style::default()));
    }

    #[test]
    fn lines_fit_and_hostile_text_is_tame() {
        let runs = [sample::closed_loop(), sample::open_loop(), sample::hostile()];
        for (run, columns) in
            runs.iter().flat_map(|run| [100, 80, 60].map(|columns| (run, columns)))
        {
            let text = details(run, false, Style { columns, ..Style::default() });
            // Tools that read wrk's block take it line by line.
            let block = wrk::block(run, false).lines().count();
            for line in text.lines().skip(block) {
                assert!(line.chars().count() <= columns, "{line}");
                assert!(!line.contains('\u{1b}'), "{line}");
                assert_eq!(line, line.trim_end_matches(' '), "no line ends in blanks");
            }
        }
    }
}

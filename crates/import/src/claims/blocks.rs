//! Printouts, one or several in a file: a shell loop that appends to a log makes such files.
//!
//! Owns cutting a text into blocks at the line that opens each. What precedes the first (a shell's
//! own lines) is passed over.

use model::{Claim, Claims, Tool};

use super::MOST_ROWS;
use crate::BadFile;

/// One printout being read, line by line.
pub(super) trait Block: Default {
    /// Whether a line is the first of a printout.
    fn opens(line: &str) -> bool;

    /// Takes the next line, the first included.
    fn line(&mut self, number: usize, line: &str) -> Result<(), BadFile>;

    /// The figures, once the printout has ended.
    ///
    /// # Errors
    /// The name of the first figure that is missing.
    fn finish(self) -> Result<Claim, &'static str>;
}

/// Every printout of a text.
pub(super) fn read<B: Block>(text: &str, tool: Tool) -> Result<Claims, BadFile> {
    let mut rows = Vec::new();
    let mut open: Option<(usize, B)> = None;
    for (number, line) in (1..).zip(text.lines()) {
        if B::opens(line) {
            if let Some((began, block)) = open.take() {
                rows.push(finish(tool, began, block)?);
            }
            if rows.len() >= MOST_ROWS {
                let what = format!("the output of more than {MOST_ROWS} runs");
                return Err(BadFile::at(number, what));
            }
            open = Some((number, B::default()));
        }
        if let Some((_, block)) = &mut open {
            block.line(number, line)?;
        }
    }
    if let Some((began, block)) = open {
        rows.push(finish(tool, began, block)?);
    }
    if rows.is_empty() {
        let what = format!("the first line of an output of {} is missing", tool.name());
        return Err(BadFile::whole(what));
    }
    Ok(Claims::new(tool, rows))
}

fn finish<B: Block>(tool: Tool, began: usize, block: B) -> Result<Claim, BadFile> {
    block.finish().map_err(|missing| {
        let tool = tool.name();
        let what = format!("the output of {tool} that begins here has no {missing}: truncated?");
        BadFile::at(began, what)
    })
}

/// What follows a label at the start of a line: `Requests/sec:  12.5` is `12.5`.
pub(super) fn labelled<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    line.trim_start().strip_prefix(label).map(str::trim)
}

/// The first word after a label.
pub(super) fn word_after<'a>(line: &'a str, label: &str) -> Option<&'a str> {
    labelled(line, label)?.split_whitespace().next()
}

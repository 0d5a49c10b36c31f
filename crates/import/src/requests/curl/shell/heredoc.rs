//! Text that the shell hands to a command: `<<EOF` with the lines up to `EOF`, and `<<< text`.

use super::super::super::template::{literal, plain};
use super::{LONGEST_WORD, Shell, push_plain};
use crate::BadFile;

/// What a line opens, whose text begins with the next line.
#[derive(Debug)]
pub(super) struct Heredoc {
    delimiter: String,
    /// The delimiter is quoted: nothing in the text is filled in.
    is_literal: bool,
    strips_tabs: bool,
}

impl Shell<'_> {
    /// Reads what follows `<<`, `<<-` or `<<<`; the text of the last.
    pub(super) fn open_heredoc(
        &mut self,
        signs: &str,
        aside: &mut Vec<String>,
    ) -> Result<Option<String>, BadFile> {
        let from = self.at;
        let strips_tabs = signs == "<<" && self.skip("-");
        let word = self.word(aside)?;
        if signs != "<<" {
            return Ok(Some(word + "\n"));
        }
        let is_literal = self.text[from..self.at].contains(['\'', '"', '\\']);
        let delimiter = plain(&word).unwrap_or(word);
        self.heredocs.push((self.begin, Heredoc { delimiter, is_literal, strips_tabs }));
        Ok(None)
    }

    /// The text of what the line before opened; it has just ended.
    pub(super) fn heredoc(
        &mut self,
        opened: &Heredoc,
        aside: &mut Vec<String>,
    ) -> Result<String, BadFile> {
        let Heredoc { delimiter, is_literal, strips_tabs } = opened;
        let begin = self.line;
        let mut text = String::new();
        while !self.rest().is_empty() {
            let end = self.rest().find('\n').map_or(self.rest().len(), |end| end + 1);
            let line = self.text[self.at..self.at + end].to_owned();
            self.at += end;
            self.line += line.matches('\n').count();
            let line = if *strips_tabs { line.trim_start_matches('\t') } else { &line };
            if line.trim_end_matches(['\r', '\n']) == delimiter.as_str() {
                break;
            }
            text += line;
        }
        if *is_literal {
            return Ok(literal(&text));
        }
        let variables = std::mem::take(&mut self.variables);
        let (filled, outputs) = (self.filled, self.outputs);
        let (heredocs, late) = (Vec::new(), Vec::new());
        let (text, line) = (text.as_str(), begin);
        let mut inner =
            Shell { text, at: 0, line, variables, filled, outputs, begin: 0, heredocs, late };
        let handed = inner.handed(aside)?;
        (self.variables, self.filled, self.outputs) =
            (inner.variables, inner.filled, inner.outputs);
        Ok(handed)
    }

    /// All of the text, in which nothing but variables, commands and backslashes means anything.
    fn handed(&mut self, aside: &mut Vec<String>) -> Result<String, BadFile> {
        let mut word = String::new();
        while let Some(c) = self.peek() {
            if matches!(c, '$' | '`') {
                self.expansion(&mut word, aside)?;
            } else {
                self.next();
                match self.peek() {
                    Some(escaped @ ('$' | '`' | '\\')) if c == '\\' => {
                        self.next();
                        push_plain(&mut word, escaped);
                    }
                    Some('\n') if c == '\\' => drop(self.next()),
                    _ => push_plain(&mut word, c),
                }
            }
            if word.len() > LONGEST_WORD {
                let most = LONGEST_WORD >> 20;
                return Err(BadFile::at(self.line, format!("a text is longer than {most} MiB")));
            }
        }
        Ok(word)
    }
}

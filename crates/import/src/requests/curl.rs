//! curl commands, as people paste them out of documentation, terminals and browsers.
//!
//! [`shell`] cuts the text into words, [`flags`] says what each flag means, [`request`] makes a
//! request of them, [`form`] the parts
//! of `-F`, and [`url`] the path. Flags about curl's own output change nothing; any other flag that a workload has
//! no place for becomes a note.

mod flags;
mod form;
mod request;
mod shell;
mod url;

use super::assembly::Assembly;
use super::note::Kind;
use super::template::{Piece, pieces};
use super::{BadFile, text};
use model::quote::quote;
use model::secret::mask_text;

use shell::Command;

/// Prompts that are pasted along with a command.
const PROMPTS: [&str; 2] = ["$", "%"];

/// Reads every curl command of the text.
pub(super) fn read(bytes: &[u8], assembly: &mut Assembly) -> Result<(), BadFile> {
    let text = text(bytes)?;
    refuse_other_shells(text)?;
    for command in shell::commands(text)? {
        read_command(command, assembly)?;
    }
    Ok(())
}

fn read_command(mut command: Command, assembly: &mut Assembly) -> Result<(), BadFile> {
    let place = format!("line {}", command.line.max(1));
    for aside in &command.aside {
        assembly.note(Kind::NotCarriedOver, place.clone(), aside);
    }
    if command.words.first().is_some_and(|word| PROMPTS.contains(&word.as_str())) {
        command.words.remove(0);
    }
    for word in command.words.iter().chain(&command.stdin) {
        ask_for_variables(word, &place, assembly);
    }
    let Some(name) = command.words.first() else { return Ok(()) };
    if !matches!(name.rsplit('/').next(), Some("curl" | "curl.exe")) {
        let what = format!("the command {}: it is not curl", quote(&mask_text(name)));
        assembly.note(Kind::NotCarriedOver, place, what);
        return Ok(());
    }
    request::read(&place, &command.words[1..], command.stdin.as_deref(), assembly)
}

/// Says which variables of the shell a word takes from the environment.
fn ask_for_variables(word: &str, place: &str, assembly: &mut Assembly) {
    for piece in pieces(word) {
        let Piece::Hole(hole) = piece else { continue };
        if let Some(name) = hole.strip_prefix("${env.").and_then(|rest| rest.strip_suffix('}')) {
            assembly.vault.wanted_as(name, &format!("a variable of the shell, {place}"));
        }
    }
}

/// Browsers copy commands for other shells too, whose quoting is another language.
fn refuse_other_shells(text: &str) -> Result<(), BadFile> {
    let cut_by = |mark: &str| {
        text.lines().position(|line| line.contains("curl") && line.trim_end().ends_with(mark))
    };
    for (mark, shell) in [(" ^", "Windows' cmd"), (" `", "PowerShell")] {
        if let Some(at) = cut_by(mark) {
            let what = format!("this is written for {shell}: copy it as cURL (bash) instead");
            return Err(BadFile::at(at + 1, what));
        }
    }
    Ok(())
}

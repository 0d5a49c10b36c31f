//! `plimsoll import`: other tools' requests become a workload file.
//!
//! Owns where the file comes from, where the workload goes, and that everything that could not be
//! carried over is reported. Reading formats and printing YAML is `import`'s.

use std::io::Read;
use std::path::Path;

use import::requests::{self, Imported, Kind, MOST_BYTES, Options};

use crate::args::ImportArgs;
use crate::failure::{Failure, cannot_run};
use crate::load::workload_file;
use crate::results::output::Readers;
use crate::results::{input, output};

/// Runs the command; the exit code.
///
/// # Errors
/// When the file cannot be read or holds nothing that can be sent, and when the workload cannot be
/// written.
pub fn import(args: &ImportArgs) -> Result<u8, Failure> {
    let name = args.file.display();
    let bytes = match read(&args.file) {
        Ok(bytes) => bytes,
        Err(why) => return cannot_run(format!("{name}: {why}")),
    };
    let options = Options { target: args.target.clone(), keep_secrets: args.keep_secrets };
    let imported = match requests::import(args.format.into(), &bytes, &options) {
        Ok(imported) => imported,
        Err(error) => return cannot_run(format!("{name}: {error}")),
    };
    let yaml = requests::yaml(&imported);
    match &args.out {
        Some(path) => {
            let readers = if args.keep_secrets { Readers::Owner } else { Readers::Usual };
            workload_file::write(path, &yaml, args.force, readers)?;
        }
        None if !output::print(&yaml) => return Ok(1),
        None => {}
    }
    eprint!("{}", account(&imported, args.out.as_deref()));
    Ok(0)
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    if path != Path::new("-") {
        return input::read(path);
    }
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that a longer input is reported as too long.
    let mut stdin = std::io::stdin().lock().take(MOST_BYTES as u64 + 1);
    stdin.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Every note, what the workload holds, and what to do next; a line each.
fn account(imported: &Imported, out: Option<&Path>) -> String {
    let mut text = String::new();
    for note in &imported.notes {
        text += &format!("{note}\n");
    }
    if imported.further_notes > 0 {
        text += &format!("... and {} further notes\n", imported.further_notes);
    }
    let workload = &imported.workload;
    let steps: usize = workload.flows.iter().map(|flow| flow.steps.len()).sum();
    let left = imported.notes.iter().filter(|note| note.kind == Kind::NotCarriedOver).count();
    text += &format!(
        "plimsoll: {} and {} with {}; {} not converted\n",
        counted(workload.endpoints.len(), "endpoint"),
        counted(workload.flows.len(), "flow"),
        counted(steps, "step"),
        counted(left, "item"),
    );
    if let Some(path) = out {
        text += &format!("plimsoll: see what it would send: plimsoll plan {}\n", path.display());
    }
    text
}

/// `1 flow`, `2 flows`.
fn counted(count: usize, thing: &str) -> String {
    format!("{count} {thing}{}", if count == 1 { "" } else { "s" })
}

//! `plimsoll import`: other tools' requests become a workload file.
//!
//! Owns where the file comes from, where the workload goes, that everything that could not be carried
//! over is reported, and that what is written is accepted by the commands that take workload files once the
//! files that it names are there.
//! Reading formats and printing YAML is `import`'s.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;

use import::requests::{self, Anchor, Format, Imported, Kind, MOST_BYTES, Options};
use model::quote::{counted, quote};
use traffic::Finding;

use crate::args::ImportArgs;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::address;
use crate::load::stand_in::{self, Refused};
use crate::load::workload_file;
use crate::results::output::Readers;
use crate::results::{input, output};

/// How often requests that would be refused are left out. Each time all that the compiler lists are.
const MOST_TRIALS: usize = 20;

/// Runs the command; the exit code.
///
/// # Errors
/// When the file cannot be read or holds nothing that can be sent, when no workload that would be accepted
/// can be made of it, and when the workload cannot be written.
pub fn import(args: &ImportArgs) -> Result<u8, Failure> {
    let name = args.file.display();
    if args.file.to_str().is_some_and(|file| file.starts_with("http") && file.contains("://")) {
        return usage(format!(
            "{name} is a URL, and files are read: curl -s {name} | plimsoll import -"
        ));
    }
    let target = args.target.as_deref().map(address::target).transpose()?;
    let bytes = match read(&args.file) {
        Ok(bytes) => bytes,
        Err(_) if args.format.is_none() && is_format(&args.file) => {
            return usage(format!(
                "a file is missing: `plimsoll import {name} FILE`; `-` reads standard input"
            ));
        }
        Err(why) => return cannot_run(format!("{name}: {why}")),
    };
    let options = Options { target, keep_secrets: args.keep_secrets };
    let Some(format) = args.format.map(Format::from).or_else(|| Format::of(&bytes)) else {
        return usage(of_no_format(&args.file, &bytes));
    };
    let made = requests::import(format, &bytes, &options);
    let made = made.map_err(|error| error.to_string()).and_then(accepted);
    let made = match made {
        Ok(made) => made,
        Err(why) => {
            return match other_format(&bytes, format, &args.file) {
                Some(other) => usage(other),
                None => cannot_run(format!("{name}: {why}")),
            };
        }
    };
    match &args.out {
        Some(path) => {
            let readers = if args.keep_secrets { Readers::Owner } else { Readers::Usual };
            workload_file::write(path, &made.yaml, args.force, readers)?;
        }
        None if !output::print(&made.yaml) => return Ok(1),
        None => {}
    }
    eprint!("{}", account(&made, format, args.out.as_deref()));
    Ok(0)
}

/// What to do with a file that begins as none of the formats.
fn of_no_format(file: &Path, bytes: &[u8]) -> String {
    let name = file.display();
    let begins = |scheme: &str| bytes.trim_ascii_start().starts_with(scheme.as_bytes());
    if begins("http://") || begins("https://") {
        return format!(
            "{name} is a list of URLs: with GET before each of them they are targets of vegeta: sed 's/^http/GET http/' {name} | \
             plimsoll import vegeta -"
        );
    }
    format!(
        "{name} begins as none of curl, vegeta, har, openapi, postman does: say which it is, as in \
         `plimsoll import har {name}`"
    )
}

/// Whether an argument in place of a file is the name of a format, and no such file exists.
fn is_format(file: &Path) -> bool {
    const NAMES: [&str; 5] = ["curl", "vegeta", "har", "openapi", "postman"];
    NAMES.iter().any(|name| file == Path::new(name)) && !file.exists()
}

/// What to type where a file that could not be read as the format asked for begins as one of another.
fn other_format(bytes: &[u8], asked: Format, file: &Path) -> Option<String> {
    let found = Format::of(bytes).filter(|&found| found != asked && found.is_read())?;
    let (name, found_in, wanted) = (file.display(), found.contents(), asked.contents());
    let command = output::typed(&["plimsoll", "import", found.name()], file);
    Some(format!("{name} holds {found_in}, and not {wanted}: use `{command}`"))
}

/// A workload that is accepted once its files are there.
#[derive(Debug)]
struct Accepted {
    imported: Imported,
    yaml: String,
    /// Names of the files.
    files: BTreeSet<String>,
}

/// The workload without the requests that would be refused.
fn accepted(mut imported: Imported) -> Result<Accepted, String> {
    for _ in 0..MOST_TRIALS {
        let yaml = requests::yaml(&imported);
        let findings = match stand_in::try_out(&yaml) {
            Ok(files) => return Ok(Accepted { imported, yaml, files }),
            Err(Refused::Meaning(findings)) => findings,
            Err(Refused::Form(faults)) => {
                return Err(refused(faults.first().map(ToString::to_string)));
            }
        };
        let mut reasons = BTreeMap::new();
        for finding in findings {
            let Some(anchor) = request_of(&finding) else {
                return Err(refused(Some(finding.to_string())));
            };
            reasons.entry(anchor).or_insert_with(|| reason(anchor, &finding));
        }
        imported.leave_out(&reasons).map_err(|error| error.to_string())?;
    }
    Err(refused(Some("too many of its requests would be refused".to_owned())))
}

fn refused(why: Option<String>) -> String {
    format!("cannot be made a workload: {}", why.unwrap_or_default())
}

/// A finding in the words of a note: `its body: is not JSON`.
fn reason(anchor: Anchor, finding: &Finding) -> String {
    let depth = if matches!(anchor, Anchor::Step(..)) { 4 } else { 2 };
    let within = finding.path.split('/').skip(depth).collect::<Vec<_>>().join(" ");
    // What stands near the place may be a secret.
    let what = finding.what.split(", near `").next().unwrap_or_default();
    if within.is_empty() { what.to_owned() } else { format!("its {within}: {what}") }
}

/// The endpoint or step that a finding is about.
fn request_of(finding: &Finding) -> Option<Anchor> {
    let parts: Vec<&str> = finding.path.split('/').collect();
    match parts[..] {
        ["endpoints", at, ..] => Some(Anchor::Endpoint(at.parse().ok()?)),
        ["flows", at, "steps", step, ..] => {
            Some(Anchor::Step(at.parse().ok()?, step.parse().ok()?))
        }
        _ => None,
    }
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    if path != Path::new("-") {
        return input::read_at_most(path, MOST_BYTES as u64);
    }
    let mut bytes = Vec::new();
    // One byte more than is allowed, so that a longer input is reported as too long.
    let mut stdin = std::io::stdin().lock().take(MOST_BYTES as u64 + 1);
    stdin.read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}

/// Every note, what the workload holds, and what to do next; a line each.
fn account(made: &Accepted, format: Format, out: Option<&Path>) -> String {
    let Accepted { imported, files, .. } = made;
    let mut text = String::new();
    for note in &imported.notes {
        text += &format!("{note}\n");
    }
    if imported.further_notes > 0 {
        let further = counted(imported.further_notes as u64, "further note");
        text += &format!("... and {further}\n");
    }
    let folder = out.and_then(Path::parent).unwrap_or(Path::new(""));
    for name in files.iter().filter(|name| !folder.join(name).exists()) {
        text += &format!("file: put {} into the workload's folder before a run\n", quote(name));
    }
    let workload = &imported.workload;
    let steps: usize = workload.flows.iter().map(|flow| flow.steps.len()).sum();
    let left = imported.notes.iter().filter(|note| note.kind == Kind::NotCarriedOver).count();
    let mut parts = Vec::new();
    if !workload.endpoints.is_empty() || workload.flows.is_empty() {
        parts.push(counted(workload.endpoints.len() as u64, "endpoint"));
    }
    if !workload.flows.is_empty() {
        let flows = counted(workload.flows.len() as u64, "flow");
        parts.push(format!("{flows} with {}", counted(steps as u64, "step")));
    }
    let left = match left {
        0 => String::new(),
        left => format!("; {} not converted", counted(left as u64, "item")),
    };
    text += &format!("plimsoll: {}{left}\n", parts.join(" and "));
    let in_order = matches!(format, Format::Curl | Format::Postman);
    if in_order && workload.flows.is_empty() && workload.endpoints.len() > 1 {
        text += "plimsoll: the requests are endpoints, each sent as often as the others; to send them one after \
                 another, as one user would, make them steps of one of `flows` (`plimsoll init` writes an example)\n";
    }
    if let Some(path) = out {
        let plan = output::typed(&["plimsoll", "plan"], path);
        text += &format!("plimsoll: see what it would send: {plan}\n");
    }
    text
}

#[cfg(test)]
mod tests;

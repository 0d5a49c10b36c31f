//! `plimsoll audit`: judges results of other tools.
//!
//! Owns the command: which files, under which names, and the exit code if a file cannot be read.
//! `import` reads the files, `verdict` judges them, `report` renders the result.

use std::path::{Path, PathBuf};

use model::{Claims, LoopKind};
use verdict::exit::{COULD_NOT_RUN, DONE};

use crate::args::{AuditArgs, TableFormat};
use crate::failure::{Failure, cannot_run, usage};
use crate::results::folder::named;
use crate::results::{input, output, stored_run};

/// Names standard input.
const STDIN: &str = "-";

/// Runs the command; the exit code. A file that cannot be read is reported and passed over: the others
/// are judged all the same.
///
/// # Errors
/// When no file could be read.
pub fn audit(args: &AuditArgs) -> Result<u8, Failure> {
    if args.connections == Some(0) {
        return usage("--connections 0: at least one connection is needed");
    }
    let mut files = Vec::new();
    let mut unreadable = Vec::new();
    for path in &args.files {
        match read(path) {
            Ok(claims) => files.push((name(path), claims)),
            Err(why) => unreadable.push(format!("{}: {why}", name(path))),
        }
    }
    if files.is_empty() && unreadable.len() == 1 {
        return cannot_run(unreadable.remove(0));
    }
    for why in &unreadable {
        eprintln!("plimsoll: {why}");
    }
    if files.is_empty() {
        return cannot_run("none of the files could be read");
    }
    if let Some(connections) = args.connections {
        fill_in(&mut files, connections as f64);
    }
    let audit = verdict::audit(files, args.same_target);
    let printed = output::print(&match args.format {
        TableFormat::Text => report::audit::text(&audit, output::style()),
        TableFormat::Csv => report::audit::csv(&audit),
        TableFormat::Json => output::json(&report::audit::document(&audit)) + "\n",
    });
    let code = verdict::exit_code_of_audit(&audit);
    let all = printed && unreadable.is_empty();
    Ok(if code == DONE && !all { COULD_NOT_RUN } else { code })
}

fn name(path: &Path) -> String {
    if path == Path::new(STDIN) { "standard input".into() } else { path.display().to_string() }
}

fn read(path: &Path) -> Result<Claims, String> {
    if path == Path::new(STDIN) {
        let bytes = input::read_all(std::io::stdin().lock())?;
        return import::claims(&bytes).map_err(|error| error.to_string());
    }
    let given = named(path);
    let file: PathBuf = input::in_folder(&given)
        .ok_or_else(|| "a folder without sweep.json or run.json: name the file".to_owned())?;
    if let Some(dir) = stored_run::folder_of(&file) {
        let run = stored_run::of_folder(dir).map_err(|failure| failure.to_string())?.run;
        return Ok(Claims::of_run(&run));
    }
    import::claims(&input::read_found(&given, &file)?).map_err(|error| error.to_string())
}

/// Gives closed loops that do not say their connections those of the command line.
fn fill_in(files: &mut [(String, Claims)], connections: f64) {
    let rows = files.iter_mut().flat_map(|(_, claims)| &mut claims.rows);
    for row in rows.filter(|row| row.loop_kind != LoopKind::Open && row.connections.is_none()) {
        (row.connections, row.connections_given) = (Some(connections), true);
    }
}

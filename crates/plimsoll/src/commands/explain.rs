//! `plimsoll explain DIR`: what limits a run, judging by its folder and, if allowed, by experiments.

mod confirm;

use std::path::{Path, PathBuf};

use ::profile::Filter;
use model::profiled::Profiled;

use crate::args::{ExplainArgs, TextOrJson};
use crate::commands::capacity::{SEARCH_JSON, STEPS};
use crate::commands::compare::COMPARE_JSON;
use crate::failure::{Failure, usage};
use crate::profiles::stored::Stored;
use crate::results::folder::LAST_RUN;
use crate::results::input::SWEEP_JSON;
use crate::results::output;
use crate::results::stored_run;

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no run, or it cannot be made again to confirm what was found.
pub fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let args = &ExplainArgs { dir: asked(&args.dir)?, ..args.clone() };
    refuse_several_runs(&args.dir)?;
    let mut run = stored_run::of_path(&args.dir)?;
    run.validity = verdict::judge(&run);
    let mut findings = verdict::explain_with(&run, profiled(&args.dir).as_ref());
    if args.confirm {
        confirm::confirm(args, &run, &mut findings)?;
        verdict::explain::reconsider(&run, &mut findings);
    }
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&findings) + "\n")),
        TextOrJson::Text => output::print(&report_text(&findings)),
    };
    Ok(if printed { 0 } else { 1 })
}

/// The folder that is to be explained: where the last run would be and is not, that of the last result.
fn asked(dir: &Path) -> Result<PathBuf, Failure> {
    let dir = stored_run::folder_named(dir);
    if dir == Path::new(LAST_RUN) && !dir.exists() {
        return stored_run::last_result("explain");
    }
    Ok(dir)
}

/// A folder of several runs says which of them may be meant.
fn refuse_several_runs(dir: &Path) -> Result<(), Failure> {
    let shown = dir.display();
    let (what, which) = match () {
        () if stored_run::is_in(dir) => return Ok(()),
        () if dir.join(SWEEP_JSON).exists() => (
            "sweep",
            "make the level that you ask about by itself, plimsoll run URL -c LEVEL --out DIR (-R LEVEL for a rate), and \
             explain that"
                .to_owned(),
        ),
        () if dir.join(SEARCH_JSON).exists() => {
            ("search", format!("name one of its steps, a file in {shown}/{STEPS}"))
        }
        () if dir.join(COMPARE_JSON).exists() => {
            ("comparison", format!("name one of its runs, such as {shown}/round-01-new"))
        }
        () => return Ok(()),
    };
    usage(format!(
        "explain: {shown} holds a {what}, and explain looks at one run: {which}; plimsoll report {shown} prints the {what}"
    ))
}

/// What the profile showed that was taken with the run; none where none was, or where it cannot be read, which is said.
fn profiled(dir: &Path) -> Option<Profiled> {
    if !Stored::is_in(dir) {
        return None;
    }
    let read =
        Stored::of_run(dir).and_then(|mut stored| stored.costs(None, &[], &Filter::default()));
    read.inspect_err(|failure| eprintln!("plimsoll: without the profile: {failure}")).ok()
}

fn report_text(findings: &model::Findings) -> String {
    ::report::findings::text(findings, output::style())
}

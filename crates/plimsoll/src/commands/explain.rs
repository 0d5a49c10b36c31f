//! `plimsoll explain DIR`: what limits a run, by what its folder holds, and by experiments where it may make some.

mod confirm;

use std::path::Path;

use ::profile::Filter;
use model::profiled::Profiled;

use crate::args::{ExplainArgs, TextOrJson};
use crate::failure::{Failure, usage};
use crate::profiles::stored::Stored;
use crate::results::input::SWEEP_JSON;
use crate::results::output;
use crate::results::stored_run;

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no run, or it cannot be made again to confirm what was found.
pub fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    if args.dir.join(SWEEP_JSON).exists() && !args.dir.join("run.json").exists() {
        return usage(format!(
            "explain: {dir} holds a sweep, and explain looks at one run: make the level that you ask about by itself, \
             plimsoll run URL -c LEVEL --out DIR (-R LEVEL for a rate), and explain that; plimsoll report {dir} prints \
             the sweep",
            dir = args.dir.display()
        ));
    }
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

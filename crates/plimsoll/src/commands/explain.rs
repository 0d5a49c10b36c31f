//! `plimsoll explain DIR`: what limits a run, by what its folder holds.

use crate::args::{ExplainArgs, TextOrJson};
use crate::commands::report;
use crate::failure::Failure;
use crate::results::output;

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder holds no run.
pub fn explain(args: &ExplainArgs) -> Result<u8, Failure> {
    let mut run = report::run_of(&args.dir)?;
    run.validity = verdict::judge(&run);
    let findings = verdict::explain(&run);
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&findings) + "\n")),
        TextOrJson::Text => output::print(&report_text(&findings)),
    };
    Ok(if printed { 0 } else { 1 })
}

fn report_text(findings: &model::Findings) -> String {
    ::report::findings::text(findings, output::style())
}

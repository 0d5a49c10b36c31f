//! `plimsoll generate DIR`: writes everything that is generated from the flag table and the result types.

use std::path::Path;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::args::{Cli, GenerateArgs};
use crate::commands::{compare, diff};
use crate::failure::{Failure, cannot_run};
use crate::results::output::{Readers, json, make_folder, write_file_for};

/// Runs the command; the exit code.
///
/// # Errors
/// When the folder cannot be written.
pub fn generate(args: &GenerateArgs) -> Result<u8, Failure> {
    let dir = &args.dir;
    for sub in ["man", "completions", "schema"] {
        make_folder(&dir.join(sub))?;
    }
    for (name, schema) in [
        ("run", schemars::schema_for!(model::Run)),
        ("sweep", schemars::schema_for!(model::Sweep)),
        ("capacity", schemars::schema_for!(model::CapacitySearch)),
        ("loadline", schemars::schema_for!(model::LoadLine)),
        ("scaling", schemars::schema_for!(model::Scaling)),
        ("plan", schemars::schema_for!(report::preview::Preview)),
        ("calibration", schemars::schema_for!(model::Calibration)),
        ("audit", schemars::schema_for!(report::audit::Document<'static>)),
        ("compare", schemars::schema_for!(compare::files::Document<'static>)),
        ("diff", schemars::schema_for!(diff::json::Document<'static>)),
        ("profile", schemars::schema_for!(model::profiled::Profiled)),
        ("whatif", schemars::schema_for!(model::profiled::WhatIf)),
        ("profilediff", schemars::schema_for!(model::profiled::ProfileDiff)),
        ("profiledwindow", schemars::schema_for!(model::profiled::ProfiledWindow)),
        ("tune", schemars::schema_for!(model::tuning::Tuning)),
        ("mine", schemars::schema_for!(model::Mined)),
        ("sample", schemars::schema_for!(model::Sample)),
        ("findings", schemars::schema_for!(model::Findings)),
        ("gate", schemars::schema_for!(gate::config::Config)),
        ("gateusage", schemars::schema_for!(model::GateUsage)),
        ("gatekeys", schemars::schema_for!(model::GateKeys)),
        ("workload", schemars::schema_for!(model::Workload)),
    ] {
        let path = dir.join(format!("schema/plimsoll.{name}-1.json"));
        put(&path, (json(&schema) + "\n").as_bytes())?;
    }
    put(&dir.join("validity.md"), verdict::validity::rules_as_markdown().as_bytes())?;
    put(&dir.join("findings.md"), verdict::explain::as_markdown().as_bytes())?;
    put(&dir.join("audit.md"), verdict::audit::as_markdown().as_bytes())?;
    let mut command = Cli::command();
    command.build();
    put(&dir.join("cli.md"), reference(&mut command).as_bytes())?;
    manual_pages(&command, "plimsoll", &dir.join("man"))?;
    for shell in [Shell::Bash, Shell::Zsh, Shell::Fish] {
        let mut bytes = Vec::new();
        clap_complete::generate(shell, &mut Cli::command(), "plimsoll", &mut bytes);
        put(&dir.join("completions").join(format!("plimsoll.{shell}")), &bytes)?;
    }
    Ok(0)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    match write_file_for(Readers::Usual, path, bytes) {
        Ok(()) => Ok(()),
        Err(error) => cannot_run(format!("cannot write {}: {error}", path.display())),
    }
}

fn manual_pages(command: &clap::Command, name: &str, dir: &Path) -> Result<(), Failure> {
    let mut bytes = Vec::new();
    let page = clap_mangen::Man::new(command.clone()).title(name.to_uppercase());
    if let Err(error) = page.render(&mut bytes) {
        return cannot_run(format!("cannot make the manual page {name}: {error}"));
    }
    put(&dir.join(format!("{name}.1")), &bytes)?;
    for sub in
        command.get_subcommands().filter(|sub| !sub.is_hide_set() && sub.get_name() != "help")
    {
        manual_pages(sub, &format!("{name}-{}", sub.get_name()), dir)?;
    }
    Ok(())
}

/// The long help of every command, as one page.
fn reference(command: &mut clap::Command) -> String {
    let mut page = String::from(
        "# Command line\n\nMade by `cargo xtask docs` from the flag table; do not edit.\n",
    );
    section(command, "plimsoll", &mut page);
    page
}

fn section(command: &mut clap::Command, name: &str, page: &mut String) {
    let help = command.clone().term_width(100).render_long_help().to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    page.push_str(&format!("\n## {name}\n\n```text\n{}\n```\n", help.join("\n").trim_end()));
    for sub in command.get_subcommands_mut() {
        if !sub.is_hide_set() && sub.get_name() != "help" {
            let name = format!("{name} {}", sub.get_name());
            section(sub, &name, page);
        }
    }
}

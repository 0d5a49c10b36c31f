//! The project's own chores, so that they are the same on every machine. `HELP` lists them.
//!
//! Owns how the project is checked and measured. Nothing here is part of the product: no crate depends on it, and it
//! depends on no crate of the project, so that it compiles in seconds and works while the others do not.

mod bench;
mod casestudy;
mod dist;
mod docs;
mod fuzz;
mod golang;
mod interrupt;
mod licences;
mod needs;
mod noise;
mod pictures;
mod repo;
mod table;
mod test;
mod tidy;
mod truth;

use std::process::ExitCode;

use anyhow::{Result, bail};
use pico_args::Arguments;

const HELP: &str = "\
The project's own chores.

Usage: cargo xtask <COMMAND> [OPTIONS]

Commands:
  test      install what is missing, then check everything that CI checks
  noise     run the tests that use real sockets repeatedly, under a background load
  tidy      check the style rules that a program can check
  docs      write docs/reference from the program's own flag table and types
  pictures  make the pictures of README and the guide by the program
  bench     measure against the numbers that the project promises
  truth     compare the program's judgements with what is known
  casestudy play the case study and write docs/casestudy.html
  dist      build what others install: a tarball and a Debian package
  licences  check the licences and sources of the dependencies
  fuzz      run every fuzz target for a while

`cargo xtask <COMMAND> --help` describes one.";

fn main() -> ExitCode {
    match dispatch(Arguments::from_env()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn dispatch(mut arguments: Arguments) -> Result<()> {
    interrupt::watch()?;
    let Some(command) = arguments.subcommand()? else {
        println!("{HELP}");
        return Ok(());
    };
    let (help, run): (String, fn(Arguments) -> Result<()>) = match command.as_str() {
        "test" => (test::help(), test::main),
        "noise" => (noise::HELP.into(), noise::main),
        "tidy" => (tidy::HELP.into(), |arguments| no_names(arguments).and_then(|()| tidy::check())),
        "docs" => (docs::HELP.into(), docs::main),
        "pictures" => (pictures::HELP.into(), pictures::main),
        "bench" => (bench::help(), bench::main),
        "truth" => (truth::help(), truth::main),
        "licences" => (licences::HELP.into(), |arguments| {
            no_names(arguments).and_then(|()| licences::check())
        }),
        "casestudy" => (casestudy::HELP.into(), casestudy::main),
        "dist" => (dist::HELP.into(), dist::main),
        "fuzz" => (fuzz::HELP.into(), fuzz::main),
        other => bail!("no command `{other}`; `cargo xtask --help` lists them"),
    };
    if arguments.contains(["-h", "--help"]) {
        println!("{help}");
        return Ok(());
    }
    run(arguments)
}

/// What is left once the options are taken: names. Anything that looks like an option is unknown.
fn names(arguments: Arguments) -> Result<Vec<String>> {
    let names: Vec<String> =
        arguments.finish().iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(option) = names.iter().find(|name| name.starts_with('-')) {
        bail!("no option `{option}`; `--help` lists them");
    }
    Ok(names)
}

/// For commands that take no names.
fn no_names(arguments: Arguments) -> Result<()> {
    match names(arguments)?.first() {
        Some(name) => bail!("`{name}` is not expected here"),
        None => Ok(()),
    }
}

/// The entries of a table that `wanted` names, in the table's order; all of them if it names none.
fn pick<'t, T>(table: &'t [T], wanted: &[String], name: fn(&T) -> &str) -> Result<Vec<&'t T>> {
    if let Some(stranger) = wanted.iter().find(|want| !table.iter().any(|t| name(t) == *want)) {
        let known: Vec<&str> = table.iter().map(name).collect();
        bail!("nothing is named `{stranger}`; there are: {}", known.join(", "));
    }
    let picked = |entry: &&T| wanted.is_empty() || wanted.iter().any(|want| name(entry) == want);
    Ok(table.iter().filter(picked).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_picked_in_the_tables_order() {
        let table = ["a", "b", "c"];
        let wanted = |names: &[&str]| names.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!(pick(&table, &wanted(&["c", "a"]), |t| t).unwrap(), [&"a", &"c"]);
        assert_eq!(pick(&table, &[], |t| t).unwrap().len(), 3);
        assert!(pick(&table, &wanted(&["d"]), |t| t).is_err());
    }
}

//! Where the repository is, and commands run at its root.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::interrupt;

/// The root of the workspace: this crate's manifest lies one folder below it.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask lies inside the workspace")
}

/// A command that will run at the root.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    let mut command = Command::new(program);
    command.current_dir(root());
    command
}

/// What the variables begin with by which cargo tells a program that it runs of that program's own package. Build scripts that
/// look at them would run again, and what depends on them be built anew, whenever a chore and a developer's own `cargo` take
/// turns: half of the workspace.
const ABOUT_US: [&str; 2] = ["CARGO_PKG_", "CARGO_MANIFEST_"];

/// The cargo that started us, at the root, with a subcommand. What it builds is what the lock file says: a dependency
/// that the lock file does not have ends it.
pub fn cargo(subcommand: &str) -> Command {
    let mut cargo = command(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.arg(subcommand);
    for (name, _) in env::vars_os() {
        if name.to_str().is_some_and(|name| ABOUT_US.iter().any(|begin| name.starts_with(begin))) {
            cargo.env_remove(name);
        }
    }
    // rustfmt reads no dependency.
    if subcommand != "fmt" {
        cargo.arg("--locked");
    }
    cargo
}

/// A command as a person would type it.
pub fn shown(command: &Command) -> String {
    let program = Path::new(command.get_program()).file_name().unwrap_or_default();
    let words = std::iter::once(program).chain(command.get_args());
    words.map(|word| word.to_string_lossy().into_owned()).collect::<Vec<_>>().join(" ")
}

/// Shows the command, runs it with our output, and fails unless it succeeds.
pub fn run(command: &mut Command) -> Result<()> {
    let line = shown(command);
    println!("$ {line}");
    let status = command
        .stdin(Stdio::null())
        .status()
        .with_context(|| format!("`{line}` could not be started"))?;
    interrupt::check()?;
    ensure!(status.success(), "`{line}` failed ({status})");
    Ok(())
}

/// What the command prints; fails, with its standard error, unless it succeeds.
pub fn output(command: &mut Command) -> Result<String> {
    let line = shown(command);
    let output = command
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("`{line}` could not be started"))?;
    interrupt::check()?;
    if !output.status.success() {
        bail!("`{line}` failed ({})\n{}", output.status, String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Where a program lies: on the PATH, or in the folders of system programs that an ordinary user's PATH lacks.
pub fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .chain(["/usr/local/sbin", "/usr/sbin", "/sbin"].map(PathBuf::from))
        .map(|folder| folder.join(name))
        .find(|file| fs::metadata(file).is_ok_and(|found| found.is_file()))
}

/// Like [`program`], but its absence is an error.
pub fn require(name: &str) -> Result<PathBuf> {
    program(name).with_context(|| format!("`{name}` is not installed"))
}

/// The program of a crate of this name and version from the registry: built the first time, and kept beside what
/// cargo builds.
pub fn install(name: &str, version: &str) -> Result<PathBuf> {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    let folder = root().join(target).join("installed").join(format!("{name}-{version}"));
    let program = folder.join("bin").join(name);
    if !program.is_file() {
        let mut cargo = cargo("install");
        cargo.args(["--quiet", "--version", version, "--root"]).arg(&folder);
        run(cargo.arg(name))?;
    }
    Ok(program)
}

/// Runs `cargo build ...` and returns the path of the one program that it built.
pub fn build(arguments: &[&str]) -> Result<PathBuf> {
    println!("$ cargo build --locked {}", arguments.join(" "));
    let mut cargo = cargo("build");
    let messages = cargo.args(arguments).arg("--message-format=json-render-diagnostics");
    let output = messages.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    interrupt::check()?;
    ensure!(output.status.success(), "`cargo build {}` failed", arguments.join(" "));
    let printed = String::from_utf8_lossy(&output.stdout);
    let executable = |line: &str| {
        let message: Value = serde_json::from_str(line).ok()?;
        let is_test = message["target"]["kind"] == serde_json::json!(["test"]);
        message["executable"].as_str().filter(|_| !is_test).map(PathBuf::from)
    };
    printed.lines().rev().find_map(executable).context("cargo built no program")
}

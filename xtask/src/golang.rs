//! A Go that is new enough for casestudy/, and programs that are built with it.
//!
//! Debian's Go may be older than `go.mod` requires. Go publishes its toolchains as modules, and every
//! Go can fetch a module: so an old one is used only to fetch the required one.

use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, io};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::repo;

/// Go and gofmt, in a version that casestudy/ can be built with.
pub struct Go {
    /// The folder that Go calls GOROOT.
    root: PathBuf,
}

impl Go {
    pub fn find() -> Result<Go> {
        let installed = repo::require("go")?;
        let manifest = fs::read_to_string(repo::root().join("casestudy/go.mod"))?;
        let wanted = wanted(&manifest).context("casestudy/go.mod names no Go version")?;
        let printed = repo::output(repo::command(&installed).args(["env", "GOVERSION", "GOROOT"]))?;
        let (version, root) =
            printed.trim().split_once('\n').context("go env printed too little")?;
        if parse(version) >= parse(wanted) {
            return Ok(Go { root: root.into() });
        }
        println!("{version} is older than {wanted}, which casestudy/ needs");
        Ok(Go { root: fetch(&installed, wanted)? })
    }

    /// `go` or `gofmt`, to be run in casestudy/.
    pub fn command(&self, program: &str) -> Command {
        let mut command = repo::command(self.root.join("bin").join(program));
        command.current_dir(repo::root().join("casestudy")).env("GOROOT", &self.root);
        command
    }

    /// The program of a package, named with its version (`go.k6.io/k6@v1.8.1`): built the first time, and kept beside
    /// what cargo builds.
    pub fn install(&self, package: &str) -> Result<PathBuf> {
        let name = program_of(package).with_context(|| format!("{package} has no version"))?;
        let target = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
        let target = repo::root().join(target.unwrap_or_else(|| "target".into()));
        let folder = target.join("go").join(package.replace('/', "-"));
        let program = folder.join(name);
        if !program.is_file() {
            repo::run(self.command("go").args(["install", package]).env("GOBIN", &folder))?;
        }
        Ok(program)
    }

    /// Lets a command, and what it starts, find this Go before any other.
    pub fn first_on_path(&self, command: &mut Command) -> Result<()> {
        let path = env::var_os("PATH").unwrap_or_default();
        let folders = [self.root.join("bin")].into_iter().chain(env::split_paths(&path));
        command.env("PATH", env::join_paths(folders)?).env("GOROOT", &self.root);
        Ok(())
    }
}

/// What `go install` calls the program of a package with a version.
fn program_of(package: &str) -> Option<&str> {
    let (path, _) = package.split_once('@')?;
    path.rsplit('/').next()
}

/// The version after `go ` in a go.mod.
fn wanted(manifest: &str) -> Option<&str> {
    manifest.lines().find_map(|line| line.strip_prefix("go ")).map(str::trim)
}

/// `go1.25.3` and `1.25` as numbers that compare; what is not a number ends it.
fn parse(version: &str) -> Vec<u32> {
    let numbers = version.trim_start_matches("go").split('.');
    numbers.map_while(|number| number.parse().ok()).collect()
}

fn fetch(installed: &Path, wanted: &str) -> Result<PathBuf> {
    let platform = repo::output(repo::command(installed).args(["env", "GOOS", "GOARCH"]))?;
    let platform = platform.split_whitespace().collect::<Vec<_>>().join("-");
    let module = format!("golang.org/toolchain@v0.0.1-go{wanted}.{platform}");
    println!("fetching {module}");
    let mut download = repo::command(installed);
    download.args(["mod", "download", "-json", &module]).current_dir("/");
    let module: Value = serde_json::from_str(&repo::output(&mut download)?)?;
    let folder = Path::new(module["Dir"].as_str().context("go named no folder")?).to_owned();
    // A module's files come without permission to run.
    make_executable(&folder.join("bin"))?;
    make_executable(&folder.join("pkg/tool"))?;
    Ok(folder)
}

fn make_executable(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            make_executable(&path)?;
        } else {
            fs::set_permissions(&path, fs::Permissions::from_mode(0o555))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_compare_as_numbers() {
        let older = [("go1.19.8", "1.25.0"), ("go1.9", "1.10"), ("go1.25.1", "1.25.2")];
        for (a, b) in older {
            assert!(parse(a) < parse(b), "{a} is older than {b}");
        }
        assert!(parse("go1.26.8") >= parse("1.25.0"));
        assert!(parse("go1.25.0-custom") >= parse("1.25"));
    }

    #[test]
    fn a_program_is_called_as_its_package() {
        assert_eq!(program_of("go.k6.io/k6@v1.8.1"), Some("k6"));
        assert_eq!(program_of("go.k6.io/k6"), None);
    }

    #[test]
    fn the_version_is_read_from_go_mod() {
        assert_eq!(wanted("module m\n\ngo 1.25.0\n\nrequire x v1.0.0\n"), Some("1.25.0"));
        assert_eq!(wanted("module m\n"), None);
    }
}

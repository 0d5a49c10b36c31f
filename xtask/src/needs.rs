//! Programs that the chores call, and how a Debian machine comes by them.
//!
//! Only what is missing is installed, in one go. A package's service is not started: tests and
//! benchmarks start their own servers.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use anyhow::{Result, anyhow, bail, ensure};

use crate::repo;

/// A program that a step calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Need {
    /// A command, and the Debian packages that bring it.
    Program { command: &'static str, packages: &'static [&'static str] },
    /// A cargo subcommand, and the rustup component that brings it.
    Component { subcommand: &'static str, component: &'static str },
}

pub const AB: Need = debian("ab", &["apache2-utils"]);
/// Charts and reports are looked at in a browser; without a font it would draw no text.
pub const CHROMIUM: Need = debian("chromium", &["chromium", "fonts-liberation"]);
pub const DEBOOTSTRAP: Need = debian("debootstrap", &["debootstrap"]);
pub const GO: Need = debian("go", &["golang-go"]);
pub const GOACCESS: Need = debian("goaccess", &["goaccess"]);
pub const HAPROXY: Need = debian("haproxy", &["haproxy"]);
pub const MARIADB: Need = debian("mariadbd", &["mariadb-server", "mariadb-client"]);
pub const MEMCACHED: Need = debian("memcached", &["memcached"]);
pub const NGINX: Need = debian("nginx", &["nginx"]);
pub const OPENSSL: Need = debian("openssl", &["openssl"]);
/// Its programs lie in a folder of their version; this one comes with the server alone.
pub const POSTGRES: Need = debian("pg_createcluster", &["postgresql"]);
pub const REDIS: Need = debian("redis-server", &["redis-server", "redis-tools"]);
/// What `sar` tells is compared with samples of processors.
pub const SYSSTAT: Need = debian("sar", &["sysstat"]);
pub const VALGRIND: Need = debian("valgrind", &["valgrind"]);
pub const WRK: Need = debian("wrk", &["wrk"]);

pub const CLIPPY: Need = Need::Component { subcommand: "clippy", component: "clippy" };
pub const RUSTFMT: Need = Need::Component { subcommand: "fmt", component: "rustfmt" };

const fn debian(command: &'static str, packages: &'static [&'static str]) -> Need {
    Need::Program { command, packages }
}

/// Installs those that are missing; fails with the command to run where it may not.
pub fn install(mut needs: Vec<Need>) -> Result<()> {
    needs.sort();
    needs.dedup();
    let mut packages: Vec<&str> = Vec::new();
    for need in needs {
        match need {
            Need::Program { command, packages: brings } if repo::program(command).is_none() => {
                println!("{command} is missing: Debian has it in {}", brings.join(" "));
                packages.extend(brings);
            }
            Need::Program { .. } => {}
            Need::Component { subcommand, component } => ensure_component(subcommand, component)?,
        }
    }
    if packages.is_empty() { Ok(()) } else { install_packages(&packages) }
}

fn ensure_component(subcommand: &str, component: &str) -> Result<()> {
    if repo::output(repo::cargo(subcommand).arg("--version")).is_ok() {
        return Ok(());
    }
    ensure!(
        repo::program("rustup").is_some(),
        "`cargo {subcommand}` is missing, and so is rustup: install the {component} of your Rust"
    );
    repo::run(repo::command("rustup").args(["component", "add", component]))
}

fn install_packages(packages: &[&str]) -> Result<()> {
    apt_get(packages).map_err(|error| {
        let packages = packages.join(" ");
        anyhow!(
            "{error:#}\nrun this, then try again:\n  \
             sudo apt-get update && sudo apt-get install --no-install-recommends {packages}"
        )
    })
}

fn apt_get(packages: &[&str]) -> Result<()> {
    let prefix = privilege()?;
    let apt = |arguments: &[&str]| {
        let mut words = prefix.iter().chain(&["env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]);
        let mut command = repo::command(words.next().expect("never empty"));
        command.args(words).args(arguments);
        command
    };
    let _quiet = NoServices::declare(&prefix)?;
    repo::run(&mut apt(&["update", "-q"]))?;
    // Another installation may be going on: wait for it.
    let install =
        ["install", "-q", "-y", "--no-install-recommends", "-o", "DPkg::Lock::Timeout=300"];
    repo::run(apt(&install).args(packages))
}

/// What to put before a command so that root runs it.
fn privilege() -> Result<Vec<&'static str>> {
    ensure!(repo::program("apt-get").is_some(), "this machine has no apt-get");
    if rustix::process::geteuid().is_root() {
        return Ok(Vec::new());
    }
    let may = repo::program("sudo").is_some()
        && repo::output(Command::new("sudo").args(["-n", "true"])).is_ok();
    if !may {
        bail!("installing needs root, or sudo without a password");
    }
    Ok(vec!["sudo", "-n"])
}

/// Debian's way to say that packages being installed start no service; withdrawn when dropped.
struct NoServices {
    prefix: Vec<&'static str>,
}

impl NoServices {
    const POLICY: &str = "/usr/sbin/policy-rc.d";

    /// `None` where the machine has a policy already, which stays as it is.
    fn declare(prefix: &[&'static str]) -> Result<Option<NoServices>> {
        if Path::new(Self::POLICY).exists() {
            return Ok(None);
        }
        let folder = tempfile::tempdir()?;
        let policy = folder.path().join("policy-rc.d");
        fs::write(&policy, "#!/bin/sh\nexit 101\n")?;
        fs::set_permissions(&policy, fs::Permissions::from_mode(0o755))?;
        let declared = NoServices { prefix: prefix.to_vec() };
        declared.as_root("cp", &[&policy.to_string_lossy(), Self::POLICY])?;
        Ok(Some(declared))
    }

    fn as_root(&self, program: &str, arguments: &[&str]) -> Result<String> {
        let mut words = self.prefix.iter().copied().chain([program]);
        let mut command = Command::new(words.next().expect("never empty"));
        repo::output(command.args(words).args(arguments))
    }
}

impl Drop for NoServices {
    fn drop(&mut self) {
        if let Err(error) = self.as_root("rm", &["-f", Self::POLICY]) {
            eprintln!("{} stays behind: {error:#}", Self::POLICY);
        }
    }
}

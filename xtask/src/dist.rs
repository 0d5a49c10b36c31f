//! `cargo xtask dist`: the program as others install it: a stripped binary, a tarball and a Debian package.
//!
//! Owns what is in them and where it goes. `--try` installs both on a bare root file system, made by
//! debootstrap for the purpose, and runs them there.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use pico_args::Arguments;

use crate::needs::{self, DEBOOTSTRAP};
use crate::repo;

pub const HELP: &str = "\
Builds what others install, into cargo's folder target/dist: the binary, a tarball with man pages and completions, and a Debian package.

Usage: cargo xtask dist [OPTIONS]

Options:
      --try           install the packages on a bare root file system made by debootstrap, and run them (needs root)
      --mirror <URL>  with --try: where debootstrap gets its packages [default: http://deb.debian.org/debian]
  -h, --help          print this

Fails when the binary is larger than 35 MiB.";

/// Bytes that the binary may have.
const MOST_BYTES: u64 = 35 << 20;
const MIRROR: &str = "http://deb.debian.org/debian";
/// The release that the package is tried on: the oldest whose C library has what Rust's standard library needs.
const SUITE: &str = "bookworm";

/// In a shell: whether bash completes a flag.
const COMPLETES: &str = "bash -c '. /usr/share/bash-completion/completions/plimsoll; \
                         COMP_WORDS=(plimsoll sweep --lev) COMP_CWORD=2; _plimsoll plimsoll --lev sweep; echo $COMPREPLY; test \
                         \"$COMPREPLY\" = --levels'";

/// Where each file of the repository goes below the root of a system.
const FILES: [(&str, &str); 12] = [
    ("docs/reference/completions/plimsoll.bash", "usr/share/bash-completion/completions/plimsoll"),
    ("docs/reference/completions/plimsoll.zsh", "usr/share/zsh/vendor-completions/_plimsoll"),
    (
        "docs/reference/completions/plimsoll.fish",
        "usr/share/fish/vendor_completions.d/plimsoll.fish",
    ),
    ("README.md", "usr/share/doc/plimsoll/README.md"),
    ("CHANGELOG.md", "usr/share/doc/plimsoll/CHANGELOG.md"),
    ("docs/quickstart.md", "usr/share/doc/plimsoll/docs/quickstart.md"),
    ("docs/guide.md", "usr/share/doc/plimsoll/docs/guide.md"),
    ("docs/measurement.md", "usr/share/doc/plimsoll/docs/measurement.md"),
    ("docs/TERMS.md", "usr/share/doc/plimsoll/docs/TERMS.md"),
    ("LICENSE-MIT", "usr/share/doc/plimsoll/LICENSE-MIT"),
    ("LICENSE-APACHE", "usr/share/doc/plimsoll/LICENSE-APACHE"),
    ("crates/report/assets/fonts/OFL.txt", "usr/share/doc/plimsoll/OFL.txt"),
];

pub fn main(mut arguments: Arguments) -> Result<()> {
    let wants_trial = arguments.contains("--try");
    let mirror: Option<String> = arguments.opt_value_from_str("--mirror")?;
    crate::no_names(arguments)?;
    ensure!(wants_trial || mirror.is_none(), "--mirror goes with --try");
    // Before minutes of building.
    let is_root = fs::metadata("/proc/self")?.uid() == 0;
    ensure!(is_root || !wants_trial, "--try makes a root file system, which only root may");
    let binary = repo::build(&["--profile", "dist", "--workspace", "--bin", "plimsoll"])?;
    let bytes = fs::metadata(&binary)?.len();
    println!("{}: {:.1} MiB", binary.display(), bytes as f64 / (1 << 20) as f64);
    ensure!(bytes <= MOST_BYTES, "the binary may have {} MiB at most", MOST_BYTES >> 20);
    let dist = binary.parent().context("a program lies in a folder")?;
    let stage = tempfile::tempdir()?;
    fill(stage.path(), &binary)?;
    control(stage.path(), &binary)?;
    // Unpacked as root, the folders get these modes, /usr among them: not what the umask here made of them.
    repo::run(repo::command("chmod").args(["-R", "u=rwX,go=rX"]).arg(stage.path()))?;
    let name = format!("plimsoll_{}_{}", version()?, architecture()?);
    let tarball = dist.join(format!("{name}.tar.gz"));
    let owner = ["--owner=0", "--group=0", "--sort=name"];
    repo::run(
        repo::command("tar")
            .args(owner)
            .arg("-czf")
            .arg(&tarball)
            .arg("-C")
            .arg(stage.path())
            .arg("usr"),
    )?;
    let package = dist.join(format!("{name}.deb"));
    let build = ["--root-owner-group", "-Zxz", "--build"];
    repo::run(repo::command("dpkg-deb").args(build).arg(stage.path()).arg(&package))?;
    if wants_trial {
        try_out([&package, &tarball], mirror.as_deref().unwrap_or(MIRROR))?;
    }
    println!("{}\n{}", tarball.display(), package.display());
    Ok(())
}

/// Lays the files out as they will lie in a system.
fn fill(stage: &Path, binary: &Path) -> Result<()> {
    put(binary, &stage.join("usr/bin/plimsoll"), 0o755)?;
    for (from, to) in FILES {
        put(&repo::root().join(from), &stage.join(to), 0o644)?;
    }
    for page in fs::read_dir(repo::root().join("docs/reference/man"))? {
        let page = page?;
        put(&page.path(), &stage.join("usr/share/man/man1").join(page.file_name()), 0o644)?;
    }
    Ok(())
}

fn put(from: &Path, to: &Path, mode: u32) -> Result<()> {
    fs::create_dir_all(to.parent().expect("it lies in a folder"))?;
    fs::copy(from, to).with_context(|| format!("cannot copy {}", from.display()))?;
    Ok(fs::set_permissions(to, fs::Permissions::from_mode(mode))?)
}

/// What the package manager reads.
fn control(stage: &Path, binary: &Path) -> Result<()> {
    let text = format!(
        "Package: plimsoll
Version: {}
Architecture: {}
Maintainer: The authors of Plimsoll <plimsoll@localhost>
Depends: libc6 (>= {}), libgcc-s1
Section: net
Priority: optional
Description: finds how much load an HTTP API carries
 Sends load to an HTTP API, measures how much it carries within its objectives,
 and says whether that number can be believed, and what limits it.
",
        version()?,
        architecture()?,
        libc_version(binary)?
    );
    fs::create_dir_all(stage.join("DEBIAN"))?;
    Ok(fs::write(stage.join("DEBIAN/control"), text)?)
}

fn version() -> Result<String> {
    let manifest = fs::read_to_string(repo::root().join("Cargo.toml"))?;
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = "));
    Ok(line.context("the workspace has a version")?.trim_matches('"').to_owned())
}

fn architecture() -> Result<String> {
    Ok(repo::output(repo::command("dpkg").arg("--print-architecture"))?.trim().to_owned())
}

/// The newest version of the C library that the binary names a symbol of.
fn libc_version(binary: &Path) -> Result<String> {
    let bytes = fs::read(binary)?;
    let mark = b"GLIBC_";
    let versions = bytes.windows(mark.len()).enumerate().filter(|(_, window)| window == mark);
    let numbers = versions.filter_map(|(at, _)| {
        let rest = &bytes[at + mark.len()..];
        let end = rest.iter().position(|byte| !byte.is_ascii_digit() && *byte != b'.')?;
        let text = std::str::from_utf8(&rest[..end]).ok()?;
        let parts: Option<Vec<u32>> = text.split('.').map(|part| part.parse().ok()).collect();
        parts
    });
    let newest = numbers.max().context("the binary names no version of the C library")?;
    Ok(newest.iter().map(u32::to_string).collect::<Vec<_>>().join("."))
}

/// Installs the package where nothing else is, and runs it there as a user would; then the same of the tarball.
fn try_out([package, tarball]: [&Path; 2], mirror: &str) -> Result<()> {
    needs::install(vec![DEBOOTSTRAP])?;
    let folder = tempfile::tempdir()?;
    let root: PathBuf = folder.path().join("root");
    let bootstrap = repo::require("debootstrap")?;
    repo::run(repo::command(bootstrap).args(["--variant=minbase", SUITE]).arg(&root).arg(mirror))?;
    fs::copy(package, root.join("plimsoll.deb"))?;
    fs::copy(tarball, root.join("plimsoll.tar.gz"))?;
    for line in [
        "dpkg -i /plimsoll.deb",
        "plimsoll --version",
        COMPLETES,
        // On a busy machine its levels may be no results, which is another matter.
        "plimsoll sweep --levels 1,8 -d 1s --out /srv/out || test $? = 98",
        "dpkg -r plimsoll",
        "tar -xzf /plimsoll.tar.gz -C / && plimsoll --version",
        COMPLETES,
        // Each command has its page, and there are commands.
        "plimsoll --help | grep -q '^  run '",
        "plimsoll --help | sed -n '/^Commands:/,/^$/s/^  \\([a-z][a-z]*\\) .*/\\1/p' | grep -v help | while read name; do test -s \
         /usr/share/man/man1/plimsoll-$name.1 || exit 1; done",
    ] {
        // With a /proc of its own, as every system has one.
        let mut unshare = repo::command(repo::require("unshare")?);
        unshare.args(["--mount", "--pid", "--fork"]);
        unshare.arg(format!("--mount-proc={}", root.join("proc").display()));
        // `dpkg` wants the programs of the system, which root's own path may lack.
        unshare.env("PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
        repo::run(unshare.arg("chroot").arg(&root).args(["sh", "-c", line]))?;
    }
    ensure!(root.join("srv/out/report.html").exists(), "the sweep left no report");
    Ok(())
}

//! `cargo xtask licences`: under what licence each dependency comes, and from where.
//!
//! Owns the list of licences that the project accepts, and reading licence expressions (SPDX
//! specification, annex D). `cargo metadata` lists the dependencies, from the lock file.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::repo;

pub const HELP: &str = "\
Checks that every dependency comes from crates.io under a permissive licence.

Usage: cargo xtask licences

Options:
  -h, --help  print this";

/// Licences that require no more than that their text be kept.
const ACCEPTED: [&str; 13] = [
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    "NCSA",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];
/// Crates that come with the text of a licence and do not name it; the text was read.
const READ: [(&str, &str); 1] = [("webpki 0.22.4", "ISC")];
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// Prints what is wrong with any dependency; fails if something is.
pub fn check() -> Result<()> {
    let mut wrong = Vec::new();
    let mut seen = BTreeMap::new();
    let mut cargo = repo::cargo("metadata");
    // What other systems would need is neither built nor fetched.
    cargo.args(["--format-version", "1", "--filter-platform", "x86_64-unknown-linux-gnu"]);
    let metadata: Value = serde_json::from_str(&repo::output(&mut cargo)?)?;
    for package in packages(&metadata).context("cargo metadata has an unknown form")? {
        wrong.extend(judge(&package, repo::root()));
        *seen.entry(package.licence.unwrap_or_default()).or_insert(0usize) += 1;
    }
    for (licence, count) in &seen {
        println!("{count:4} {licence}");
    }
    wrong.iter().for_each(|complaint| println!("{complaint}"));
    if wrong.is_empty() { Ok(()) } else { bail!("{} dependencies may not be used", wrong.len()) }
}

/// A crate as the lock file has it.
struct Package {
    name: String,
    licence: Option<String>,
    /// Where it comes from; none of a folder.
    source: Option<String>,
    manifest: String,
}

fn packages(metadata: &Value) -> Option<Vec<Package>> {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let read = |package: &Value| {
        Some(Package {
            name: format!("{} {}", package["name"].as_str()?, package["version"].as_str()?),
            licence: text(&package["license"]),
            source: text(&package["source"]),
            manifest: text(&package["manifest_path"])?,
        })
    };
    metadata["packages"].as_array()?.iter().map(read).collect()
}

/// Why a crate may not be used.
fn judge(package: &Package, root: &Path) -> Option<String> {
    let Package { name, licence, source, manifest } = package;
    match source.as_deref() {
        Some(CRATES_IO) => {}
        None if Path::new(manifest).starts_with(root) => {}
        None => {
            return Some(format!("{name}: comes from a folder outside of the project, {manifest}"));
        }
        Some(other) => return Some(format!("{name}: comes from {other}, not from crates.io")),
    }
    let read = READ.iter().find(|(read, _)| read == name).map(|(_, licence)| *licence);
    match licence.as_deref().or(read) {
        None => Some(format!("{name}: names no licence")),
        Some(licence) => match accepts(licence) {
            Ok(true) => None,
            Ok(false) => Some(format!("{name}: {licence} is not accepted")),
            Err(why) => Some(format!("{name}: {licence}: {why}")),
        },
    }
}

/// Whether the expression can be met by accepted licences alone.
fn accepts(expression: &str) -> Result<bool> {
    // Crates of before 2018 write a slash for OR.
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (accepted, rest) = either(&words)?;
    if rest.is_empty() { Ok(accepted) } else { bail!("`{}` is not expected here", rest[0]) }
}

/// `a OR b`, which binds less than AND.
fn either<'w, 'a>(words: &'w [&'a str]) -> Result<(bool, &'w [&'a str])> {
    joined(words, "OR", |words| joined(words, "AND", one, |a, b| a && b), |a, b| a || b)
}

/// One or several terms with an operator between them.
fn joined<'w, 'a>(
    words: &'w [&'a str],
    operator: &str,
    term: impl Fn(&'w [&'a str]) -> Result<(bool, &'w [&'a str])>,
    join: fn(bool, bool) -> bool,
) -> Result<(bool, &'w [&'a str])> {
    let (mut accepted, mut rest) = term(words)?;
    while let Some((_, after)) = rest.split_first().filter(|(word, _)| **word == operator) {
        let (other, behind) = term(after)?;
        (accepted, rest) = (join(accepted, other), behind);
    }
    Ok((accepted, rest))
}

/// A licence, with its exception if it has one, or an expression in parentheses.
fn one<'w, 'a>(words: &'w [&'a str]) -> Result<(bool, &'w [&'a str])> {
    match words {
        ["(", inside @ ..] => match either(inside)? {
            (accepted, [")", rest @ ..]) => Ok((accepted, rest)),
            _ => bail!("a parenthesis is not closed"),
        },
        [licence, "WITH", exception, rest @ ..] => {
            Ok((ACCEPTED.contains(&format!("{licence} WITH {exception}").as_str()), rest))
        }
        [licence, rest @ ..] if !["OR", "AND", "WITH", ")"].contains(licence) => {
            Ok((ACCEPTED.contains(licence), rest))
        }
        _ => bail!("a licence is expected"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn expressions_are_met_or_not() {
        for (expression, met) in [
            ("MIT", true),
            ("GPL-3.0-only", false),
            ("MIT OR GPL-3.0-only", true),
            ("MIT AND GPL-3.0-only", false),
            ("Unlicense/MIT", true),
            ("GPL-2.0 OR MIT AND ISC", true),
            ("(GPL-2.0 OR MIT) AND MPL-2.0", false),
            ("(MIT OR Apache-2.0) AND Unicode-3.0", true),
            ("Apache-2.0 WITH LLVM-exception", true),
            ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ] {
            assert_eq!(accepts(expression).ok(), Some(met), "{expression}");
        }
        for expression in ["", "MIT OR", "(MIT", "MIT ISC", "AND", "MIT)"] {
            assert!(accepts(expression).is_err(), "{expression}");
        }
    }

    #[test]
    fn a_dependency_is_from_crates_io_and_names_its_licence() {
        let verdict = |source: Option<&str>, licence: Option<&str>, manifest: &str| {
            let package = Package {
                name: "a 1.0.0".into(),
                licence: licence.map(str::to_owned),
                source: source.map(str::to_owned),
                manifest: manifest.into(),
            };
            judge(&package, Path::new("/project"))
        };
        assert_eq!(verdict(Some(CRATES_IO), Some("MIT"), "/cache/a/Cargo.toml"), None);
        assert_eq!(verdict(None, Some("MIT"), "/project/crates/a/Cargo.toml"), None);
        for (source, licence, manifest, needle) in [
            (Some("git+https://host/a"), Some("MIT"), "/cache", "not from crates.io"),
            (None, Some("MIT"), "/elsewhere/Cargo.toml", "outside of the project"),
            (Some(CRATES_IO), None, "/cache", "names no licence"),
            (Some(CRATES_IO), Some("SSPL-1.0"), "/cache", "SSPL-1.0 is not accepted"),
        ] {
            let why = verdict(source, licence, manifest).unwrap();
            assert!(why.contains(needle), "{why}");
        }
    }
}

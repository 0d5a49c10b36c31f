//! Claims that tests of a crate print. The tests assert them too: here they are shown.

use std::process::Stdio;
use std::sync::OnceLock;

use anyhow::{Result, ensure};

use super::claim::{self, Claim};
use crate::{interrupt, repo};

/// The profile that tests are built in.
pub static PROFILE: OnceLock<String> = OnceLock::new();

/// Runs the tests of what `target` chooses (cargo's own flags) whose names hold `filter`, those marked as slow included, in
/// [`PROFILE`], else in the release profile. A test that fails after having told its claims has told them all the same.
pub fn by_tests(target: [&str; 3], filter: &str) -> Result<Vec<Claim>> {
    let mut cargo = repo::cargo("test");
    let profile = PROFILE.get().map_or("release", String::as_str);
    cargo.args(["--profile", profile]).args(target).args([filter, "--"]);
    cargo.args(["--include-ignored", "--nocapture", "--test-threads=1"]);
    println!("$ {}", repo::shown(&cargo));
    let output = cargo.stdin(Stdio::null()).stderr(Stdio::inherit()).output()?;
    interrupt::check()?;
    let told = String::from_utf8_lossy(&output.stdout);
    let claims = claim::read(&told);
    let missed = claims.iter().any(|claim| claim.met == Some(false));
    ensure!(output.status.success() || missed, "the tests failed before they told why:\n{told}");
    ensure!(!claims.is_empty(), "no test of {target:?} named like `{filter}` told a claim");
    Ok(claims)
}

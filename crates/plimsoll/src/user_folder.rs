//! The user's state and cache folders by the XDG base directory specification, and names for files in them.

use std::env::var_os;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The program's own folder in the one that `variable` names, or else in `under_home`; none where neither
/// it nor HOME is set.
pub fn find(variable: &str, under_home: &str) -> Option<PathBuf> {
    Some(base(variable, under_home)?.join("plimsoll"))
}

/// The folder that `variable` names, or else `under_home`; none where neither it nor HOME is set.
pub fn base(variable: &str, under_home: &str) -> Option<PathBuf> {
    set(variable).or_else(|| self::under_home(under_home))
}

/// This path in the user's home, where HOME is set.
pub fn under_home(path: &str) -> Option<PathBuf> {
    Some(set("HOME")?.join(path))
}

/// A variable that is there and not empty.
fn set(variable: &str) -> Option<PathBuf> {
    var_os(variable).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// A file name for what these facts identify: the first 16 digits of their SHA-256.
pub fn name_of(facts: &str) -> String {
    Sha256::digest(facts).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

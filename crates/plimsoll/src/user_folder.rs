//! Folders of the user's that outlast a command, by the XDG base directory specification, and names for
//! files in them.

use std::env::var_os;
use std::path::PathBuf;

use sha2::{Digest, Sha256};

/// The program's own folder in the one that `variable` names, or else in `under_home`; none where neither
/// it nor HOME is set.
pub fn find(variable: &str, under_home: &str) -> Option<PathBuf> {
    let set = |name: &str| var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let folder = set(variable).or_else(|| Some(set("HOME")?.join(under_home)))?;
    Some(folder.join("plimsoll"))
}

/// A name for what these facts tell from anything else: the first 16 digits of their SHA-256.
pub fn name_of(facts: &str) -> String {
    Sha256::digest(facts).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}

//! Names of result folders.

use std::path::{Path, PathBuf};

/// `20261121-074500`, in UTC.
pub fn folder_name() -> String {
    jiff::Timestamp::now().strftime("%Y%m%d-%H%M%S").to_string()
}

/// `parent/name`, or the first of `parent/name-2`, `-3` ... that does not exist.
pub fn unused(parent: &Path, name: &str) -> PathBuf {
    let numbered = (2..).map(|n| parent.join(format!("{name}-{n}")));
    let mut candidates = std::iter::once(parent.join(name)).chain(numbered);
    candidates.find(|dir| !dir.exists()).expect("some number is free")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_results_is_never_used_twice() {
        let dir = tempfile::tempdir().unwrap();
        for wanted in ["now", "now-2", "now-3"] {
            let found = unused(dir.path(), "now");
            assert_eq!(found, dir.path().join(wanted));
            std::fs::create_dir(found).unwrap();
        }
    }

    #[test]
    fn folders_are_named_by_date_and_time() {
        let name = folder_name();
        assert_eq!((name.len(), name.as_bytes()[8]), (15, b'-'), "{name}");
    }
}

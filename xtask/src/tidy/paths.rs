//! Rules about any tracked file: no private folder of a machine, no mark of a merge, no large fuzz seed.

use std::path::Path;

use super::Complaint;

/// First parts of absolute paths that exist on a developer's or CI's machine and on no user's. Written in pieces, so
/// that this file keeps its own rule.
const PRIVATE: [&str; 5] = ["root", "home", "Users", "work", concat!("tmp/bash", "_jobs")];

const SEED_BYTES: usize = 4096;

/// What git begins the sides of a conflict with; in the middle stands a line that a heading may be underlined by.
const CONFLICTS: [&str; 2] = [concat!("<<<<", "<<< "), concat!(">>>>", ">>> ")];

/// Complains about each line that names an absolute path under a private folder, or that a merge left.
pub fn check(path: &Path, text: &str) -> Vec<Complaint> {
    let needles = PRIVATE.map(|folder| format!("/{folder}/"));
    let names_one = |line: &str| {
        needles
            .iter()
            .any(|needle| line.match_indices(needle).any(|(at, _)| starts_a_path(line, at)))
    };
    let of_merge = |line: &str| CONFLICTS.iter().any(|mark| line.starts_with(mark));
    let rule_of = |line: &str| match () {
        () if of_merge(line) => Some("merge conflict"),
        () if names_one(line) => Some("machine path"),
        () => None,
    };
    text.lines()
        .enumerate()
        .filter_map(|(index, line)| {
            Some(Complaint {
                rule: rule_of(line)?,
                place: format!("{}:{}", path.display(), index + 1),
                what: line.trim().chars().take(100).collect(),
            })
        })
        .collect()
}

/// Not in the middle of a longer path or of a URL.
fn starts_a_path(line: &str, at: usize) -> bool {
    let before = line[..at].chars().next_back();
    !before.is_some_and(|c| c.is_alphanumeric() || "/._-~%}>*".contains(c))
}

pub fn check_seed(path: &Path, bytes: usize) -> Option<Complaint> {
    (path.starts_with("fuzz/seeds") && bytes > SEED_BYTES).then(|| Complaint {
        rule: "large seed",
        place: path.display().to_string(),
        what: format!("{bytes} bytes"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(line: &str) -> bool {
        !check(Path::new("a.md"), line).is_empty()
    }

    #[test]
    fn folders_of_a_machine_are_found() {
        for folder in PRIVATE {
            assert!(found(&format!("see /{folder}/x")), "{folder}");
            assert!(found(&format!("file:`/{folder}/x`")), "{folder}");
        }
    }

    #[test]
    fn urls_and_other_paths_are_not() {
        for line in ["http://a.test/home/x", "./work/x", "{root}/home/x", "/tmp/x", "/homely/x"] {
            assert!(!found(line), "{line}");
        }
    }

    #[test]
    fn what_a_merge_left_is_found() {
        assert!(CONFLICTS.iter().all(|mark| found(&format!("{mark}main"))));
        assert!(!found("=======") && !found("a >>>> b"));
    }

    #[test]
    fn the_line_is_named() {
        let text = format!("a\n  b /{}/c\n", "root");
        let complaints = check(Path::new("x/y.md"), &text);
        assert_eq!(complaints[0].place, "x/y.md:2");
    }

    #[test]
    fn seeds_are_small() {
        assert!(check_seed(Path::new("fuzz/seeds/wire/a"), 4097).is_some());
        assert!(check_seed(Path::new("fuzz/seeds/wire/a"), 4096).is_none());
        assert!(check_seed(Path::new("docs/a.png"), 4097).is_none());
    }
}

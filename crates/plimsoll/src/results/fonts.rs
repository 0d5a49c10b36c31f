//! Fonts installed on this machine, for characters that the charts' own font lacks.
//!
//! Owns where they are and which are tried first. `report` decides what a font can draw, and draws with the fonts
//! returned.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use report::chart::OtherFont;

use crate::user_folder;

/// Entries of folders looked at most, files read, folders deep, and bytes of a file: a bound for folders that
/// somebody put something else into, or links that lead round. The largest fonts in use, those of Chinese, have 20 to
/// 40 MB.
const MOST_ENTRIES: usize = 50_000;
const MOST_FILES: usize = 5_000;
const DEEPEST: usize = 8;
const LARGEST: u64 = 64 << 20;

/// What this command has found, so that a sweep, which draws after every level, searches once.
#[derive(Debug)]
struct Found {
    fonts: Vec<OtherFont>,
    /// Looked for, whether found or not.
    known: BTreeSet<char>,
}

static FOUND: Mutex<Found> = Mutex::new(Found { fonts: Vec::new(), known: BTreeSet::new() });

/// Installed fonts that between them have as many of these characters as can be had here.
pub fn having(chars: &BTreeSet<char>) -> Vec<OtherFont> {
    let mut found = FOUND.lock().unwrap_or_else(PoisonError::into_inner);
    let new: BTreeSet<char> = chars.difference(&found.known).copied().collect();
    if !new.is_empty() {
        let more = search(&folders(), &new);
        found.fonts.extend(more);
        found.known.extend(new);
    }
    found.fonts.clone()
}

/// The folders that fontconfig searches by default.
fn folders() -> Vec<PathBuf> {
    let data = user_folder::base("XDG_DATA_HOME", ".local/share");
    let own = [data.map(|data| data.join("fonts")), user_folder::under_home(".fonts")];
    let shared = ["/usr/local/share/fonts", "/usr/share/fonts"].map(PathBuf::from);
    own.into_iter().flatten().chain(shared).collect()
}

/// The first fonts under `folders` that have characters of `wanted` which those before lack.
fn search(folders: &[PathBuf], wanted: &BTreeSet<char>) -> Vec<OtherFont> {
    let (mut files, mut left) = (Vec::new(), MOST_ENTRIES);
    folders.iter().for_each(|folder| gather(folder, DEEPEST, &mut left, &mut files));
    files.sort_by_cached_key(|path| (oddness(path), path.clone()));
    let (mut wanted, mut fonts) = (wanted.clone(), Vec::new());
    for file in files.iter().take(MOST_FILES) {
        if wanted.is_empty() {
            break;
        }
        let Some(bytes) = read(file) else { continue };
        for face in OtherFont::faces(bytes) {
            let before = wanted.len();
            wanted.retain(|c| !face.draws(*c));
            if wanted.len() < before {
                fonts.push(face);
            }
        }
    }
    fonts
}

/// Font files in `folder` and below, of as many entries as are `left` to look at.
fn gather(folder: &Path, deep: usize, left: &mut usize, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        let Some(fewer) = left.checked_sub(1) else { return };
        *left = fewer;
        if is_font(&path) {
            files.push(path);
        } else if deep > 0 && path.is_dir() {
            gather(&path, deep - 1, left, files);
        }
    }
}

fn is_font(path: &Path) -> bool {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    ["ttf", "otf", "ttc", "otc"].iter().any(|font| ending.eq_ignore_ascii_case(font))
}

/// How unlike upright sans serif text a file's name sounds. Names are all there is to go by without
/// reading every file, and a wrong guess costs looks alone.
fn oddness(path: &Path) -> usize {
    let name = path.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
    let odd = [
        "bold",
        "italic",
        "oblique",
        "mono",
        "serif",
        "condensed",
        "narrow",
        "light",
        "thin",
        "black",
        "medium",
        "emoji",
        "math",
        "symbol",
    ];
    let odd = odd.iter().filter(|word| name.contains(*word)).count();
    2 * odd + usize::from(!name.contains("sans"))
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let of = fs::metadata(path).ok()?;
    (of.is_file() && of.len() <= LARGEST).then(|| fs::read(path).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &[u8] = include_bytes!("../../../report/assets/fonts/test-two-characters.otf");

    #[test]
    fn a_font_that_has_the_character_is_found_among_others() {
        let folder = tempfile::tempdir().unwrap();
        let deep = folder.path().join("truetype/two");
        fs::create_dir_all(&deep).unwrap();
        fs::write(deep.join("Two-Bold.otf"), TWO).unwrap();
        fs::write(folder.path().join("sans.ttf"), "no font").unwrap();
        fs::write(folder.path().join("readme.txt"), TWO).unwrap();
        std::os::unix::fs::symlink(folder.path(), deep.join("round")).unwrap();
        let folders = [folder.path().to_owned(), folder.path().join("absent")];
        let found = search(&folders, &['日', '本'].into_iter().collect());
        assert_eq!(found.len(), 1, "once, though the link leads round");
        assert!(found[0].draws('日') && !found[0].draws('本'));
        assert!(search(&folders, &['本'].into_iter().collect()).is_empty());
    }

    #[test]
    fn links_that_lead_round_many_times_end() {
        let folder = tempfile::tempdir().unwrap();
        for name in 0..20 {
            let link = folder.path().join(name.to_string());
            std::os::unix::fs::symlink(folder.path(), link).unwrap();
        }
        let (mut left, mut files) = (1_000, Vec::new());
        gather(folder.path(), DEEPEST, &mut left, &mut files);
        assert_eq!((left, files.len()), (0, 0));
    }

    #[test]
    fn plain_sans_serif_comes_first() {
        let order = [
            "NotoSansCJK-Regular.ttc",
            "unifont.otf",
            "NotoSansCJK-Bold.ttc",
            "NotoSerifCJK-Bold.ttc",
        ];
        let odd = order.map(|name| oddness(Path::new(name)));
        assert!(odd.is_sorted(), "{odd:?}");
    }
}

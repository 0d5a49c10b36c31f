//! Files that are looked at for changes.
//!
//! By their times and sizes, once a second, rather than by the kernel's notices: those miss network file systems and
//! files that are replaced through links, as orchestrators do, and a second late is early enough.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Between two looks.
const EVERY: Duration = Duration::from_secs(1);
/// By how much the time of a file may be before it was written, at most: the kernel takes the time of its last tick.
pub const TICK: Duration = Duration::from_millis(10);

/// What a file is known by: file system, number, size, time in seconds and nanoseconds. `None` while it is not there.
type Mark = Option<(u64, u64, u64, i64, i64)>;

/// Files, as they were when they were last looked at.
#[derive(Debug)]
pub struct Watched {
    paths: Vec<PathBuf>,
    /// As they were when they were last read.
    read: Vec<Mark>,
    /// As they were at the last look.
    seen: Vec<Mark>,
    next: Option<Instant>,
    /// Those that were missing when that was last asked.
    missing: Vec<PathBuf>,
}

impl Watched {
    /// Of files that were read at this time or later. One that was written since counts as changed: it may have been read before.
    pub fn new(paths: Vec<PathBuf>, read_at: SystemTime) -> Self {
        let seen: Vec<Mark> = paths.iter().map(mark).collect();
        let mut files =
            Self { read: vec![None; paths.len()], paths, seen, next: None, missing: Vec::new() };
        files.note_read(read_at);
        files
    }

    /// Notes that all were read at this time or later, by whomever.
    pub fn note_read(&mut self, read_at: SystemTime) {
        let since = read_at.checked_sub(TICK).unwrap_or(UNIX_EPOCH);
        let since = since.duration_since(UNIX_EPOCH).unwrap_or_default();
        let since = (since.as_secs() as i64, i64::from(since.subsec_nanos()));
        for (path, read) in self.paths.iter().zip(&mut self.read) {
            let mark = mark(path).filter(|_| changed_at(path).is_some_and(|at| at < since));
            *read = mark.or(*read);
        }
    }

    /// Whether these are the files.
    pub fn is_of(&self, paths: &[PathBuf]) -> bool {
        self.paths == paths
    }

    /// Whether one that is there has changed since it was read, and no more since the last look: who writes a file in pieces
    /// is waited for. One that is gone keeps no change of another waiting, which may no longer name it.
    pub fn changed(&mut self, now: Instant) -> bool {
        if self.next.is_some_and(|next| now < next) {
            return false;
        }
        self.next = Some(now + EVERY);
        let marks: Vec<Mark> = self.paths.iter().map(mark).collect();
        let is_news = |(mark, read): (&Mark, &Mark)| mark.is_some() && mark != read;
        let settled = marks == self.seen && marks.iter().zip(&self.read).any(is_news);
        self.seen.clone_from(&marks);
        if settled {
            self.read = marks;
        }
        settled
    }

    /// The files that are gone since the last call, each once until it is there again.
    pub fn gone(&mut self) -> Vec<PathBuf> {
        let marks = self.paths.iter().zip(&self.seen);
        let missing: Vec<PathBuf> =
            marks.filter(|(_, mark)| mark.is_none()).map(|(path, _)| path.clone()).collect();
        let news = missing.iter().filter(|path| !self.missing.contains(path)).cloned().collect();
        self.missing = missing;
        news
    }
}

fn mark(path: &PathBuf) -> Mark {
    let about = fs::metadata(path).ok()?;
    Some((about.dev(), about.ino(), about.size(), about.mtime(), about.mtime_nsec()))
}

/// When a file, or the link to it, was changed last, in seconds and nanoseconds: also when it was renamed, which leaves the time
/// at which it was written as it is.
fn changed_at(path: &Path) -> Option<(i64, i64)> {
    let both = [fs::metadata(path), fs::symlink_metadata(path)];
    both.into_iter().flatten().map(|about| (about.ctime(), about.ctime_nsec())).max()
}

#[cfg(test)]
mod tests {
    use tempfile::TempDir;

    use super::*;

    /// When all that was written so far has been read.
    fn later() -> SystemTime {
        SystemTime::now() + EVERY
    }

    /// Files that were read, in a folder of their own.
    struct Files {
        folder: TempDir,
        watched: Watched,
        now: Instant,
    }

    impl Files {
        fn new(names: &[&str]) -> Self {
            let folder = tempfile::tempdir().unwrap();
            let paths: Vec<PathBuf> = names.iter().map(|name| folder.path().join(name)).collect();
            for path in &paths {
                fs::write(path, "one").unwrap();
            }
            Self { folder, watched: Watched::new(paths, later()), now: Instant::now() }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        /// Whether one has changed, at the next look.
        fn changed(&mut self) -> bool {
            self.now += EVERY;
            self.watched.changed(self.now)
        }
    }

    #[test]
    fn what_was_written_while_a_gateway_started_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("gate.toml");
        // Times of files are those of the kernel's last tick.
        let read_at = SystemTime::now() - EVERY;
        fs::write(&path, "written once it was read").unwrap();
        let mut watched = Watched::new(vec![path], read_at);
        let now = Instant::now();
        assert!(watched.changed(now) && !watched.changed(now + EVERY));
    }

    #[test]
    fn a_change_is_reported_once_and_when_it_has_settled() {
        let mut files = Files::new(&["gate.toml"]);
        let path = files.path("gate.toml");
        assert!(!files.changed());
        assert!(files.watched.gone().is_empty());
        fs::rename(&path, files.path("away")).unwrap();
        assert!(!files.changed());
        assert_eq!(files.watched.gone(), std::slice::from_ref(&path));
        assert!(files.watched.gone().is_empty());
        fs::rename(files.path("away"), &path).unwrap();
        assert!(!files.changed());
        assert!(files.watched.gone().is_empty());
        fs::write(&path, "two!").unwrap();
        assert!(!files.changed(), "it may be written still");
        fs::write(&path, "three").unwrap();
        assert!(!files.changed() && files.changed() && !files.changed());
        // Replaced, as editors do: in between it is not there.
        fs::remove_file(&path).unwrap();
        assert!(!files.changed() && !files.changed());
        fs::write(&path, "three").unwrap();
        assert!(!files.changed() && files.changed());
    }

    /// Somebody writes a file and sends SIGHUP at once.
    #[test]
    fn what_was_read_on_demand_is_not_reported() {
        let mut files = Files::new(&["gate.toml"]);
        let path = files.path("gate.toml");
        assert!(!files.changed());
        fs::write(&path, "another").unwrap();
        files.watched.note_read(later());
        assert!(!files.changed() && !files.changed());
        // Written once it was read.
        let read_at = SystemTime::now() - EVERY;
        fs::write(&path, "a third one").unwrap();
        files.watched.note_read(read_at);
        assert!(!files.changed() && files.changed() && !files.changed());
    }

    /// It was written before the reading, and took the place of the file after it.
    #[test]
    fn a_file_that_is_renamed_once_another_was_read_is_reported() {
        let mut files = Files::new(&["gate.toml"]);
        let (path, new) = (files.path("gate.toml"), files.path("new"));
        assert!(!files.changed());
        let read_at = SystemTime::now() - EVERY;
        fs::write(&new, "another").unwrap();
        let written = fs::File::options().write(true).open(&new).unwrap();
        written.set_modified(read_at - EVERY).unwrap();
        fs::rename(&new, &path).unwrap();
        files.watched.note_read(read_at);
        assert!(!files.changed() && files.changed() && !files.changed());
    }

    /// The certificate was renamed, and the configuration names it by its new name.
    #[test]
    fn a_file_that_is_gone_keeps_no_change_of_another_waiting() {
        let mut files = Files::new(&["gate.toml", "cert.pem"]);
        let (file, cert) = (files.path("gate.toml"), files.path("cert.pem"));
        fs::rename(&cert, files.path("other.pem")).unwrap();
        assert!(!files.changed() && !files.changed());
        fs::write(&file, "another").unwrap();
        assert!(!files.changed() && files.changed() && !files.changed());
        // It was not there when the configuration was read.
        fs::rename(files.path("other.pem"), &cert).unwrap();
        assert!(!files.changed() && files.changed() && !files.changed());
    }
}

//! `run.journal`: what a run brought so far, a line an interval, so that nothing measured is lost to
//! a kill, a crash or a full disk. The first line is the run's head, with the objectives that it was
//! to be judged by; the last one says how a run ended that came to its end, or why the rest of it is missing.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

use model::{Abort, Interval, Run, RunBuilder, RunHead};
use serde::{Deserialize, Serialize};

use crate::files::{Readers, create_new};

/// The journal's name in a result folder.
pub const NAME: &str = "run.journal";
/// Bytes of a line at most: an interval of a thousand endpoints takes less.
const LONGEST_LINE: usize = 32 << 20;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    run: RunHead,
    /// As `--slo` takes them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    objectives: Vec<String>,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
struct Last {
    ended: Ended,
}

/// How a run ended, which its intervals do not show.
#[derive(Debug, Serialize, Deserialize)]
struct Ended {
    interrupted: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    aborted: Option<Abort>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    halted: Option<String>,
}

/// How the last line begins: it is an object of one member.
const LAST: &[u8] = b"{\"ended\":";

/// What a journal holds.
#[derive(Debug)]
pub struct Replayed {
    /// The run, as far as it went, its validity judged.
    pub run: Run,
    /// The objectives that it was to be judged by, as `--slo` takes them.
    pub objectives: Vec<String>,
    /// What is wrong with a whole line: what precedes it stands.
    pub damage: Option<String>,
}

/// Why nothing can be read of a journal, which it names.
#[derive(Debug)]
pub struct JournalError(String);

impl fmt::Display for JournalError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for JournalError {}

/// A journal being written.
#[derive(Debug)]
pub struct Journal {
    file: File,
    /// Where its last whole line ends, and where the one before it does.
    ends: [u64; 2],
}

impl Journal {
    /// Begins a journal in `dir` of a run to be judged by `objectives`.
    ///
    /// # Errors
    /// When it cannot be made or written to.
    pub fn create(dir: &Path, head: &RunHead, objectives: &[String]) -> io::Result<Self> {
        let mut journal = Self { file: create_new(&dir.join(NAME), Readers::Owner)?, ends: [0; 2] };
        journal.write(&Head { run: head.clone(), objectives: objectives.to_vec() })?;
        // The head never makes way.
        journal.ends[1] = journal.ends[0];
        Ok(journal)
    }

    /// Appends an interval.
    ///
    /// # Errors
    /// When it cannot be written. What has been written is a whole journal that says why the rest is missing; no more must be
    /// appended.
    pub fn append(&mut self, interval: &Interval) -> io::Result<()> {
        self.write(interval).inspect_err(|error| self.break_off(error))
    }

    /// Notes how the run ended, behind its last interval.
    ///
    /// # Errors
    /// As [`Journal::append`].
    pub fn end(&mut self, run: &Run) -> io::Result<()> {
        let Run { interrupted, aborted, halted, .. } = run;
        let (aborted, halted) = (aborted.clone(), halted.clone());
        let last = Last { ended: Ended { interrupted: *interrupted, aborted, halted } };
        self.write(&last).inspect_err(|error| self.break_off(error))
    }

    /// Says behind the last whole line why the rest is missing. Where there is no room for that either, the last interval
    /// makes way.
    fn break_off(&mut self, error: &io::Error) {
        let halted = Some(format!("the rest of the run could not be stored in {NAME}: {error}"));
        let last = Last { ended: Ended { interrupted: true, aborted: None, halted } };
        let [end, before] = self.ends;
        let written = self.cut_to(end).and_then(|()| self.write(&last));
        if written.is_err() {
            // The failure reported is the first one.
            let _ = self.cut_to(before).and_then(|()| self.write(&last));
        }
    }

    /// Leaves so many bytes, and goes on behind them.
    fn cut_to(&mut self, end: u64) -> io::Result<()> {
        self.file.set_len(end)?;
        self.file.seek(SeekFrom::Start(end)).map(drop)
    }

    fn write(&mut self, line: &impl Serialize) -> io::Result<()> {
        let mut text = serde_json::to_vec(line).expect("plain data becomes JSON");
        if text.len() > LONGEST_LINE {
            return Err(io::Error::other("an interval is too large for a line of it"));
        }
        text.push(b'\n');
        self.file.write_all(&text)?;
        self.ends = [self.ends[0] + text.len() as u64, self.ends[0]];
        Ok(())
    }
}

/// What is known of a journal's run when it starts; secrets in its command are masked.
///
/// # Errors
/// As [`replay`].
pub fn head(path: &Path) -> Result<RunHead, JournalError> {
    Ok(open(path)?.0.run)
}

/// The run that a journal holds: every whole line of it. It ends at the first damaged line; if
/// others follow, [`Replayed::damage`] says so. Without a line that says how it ended it was interrupted.
///
/// # Errors
/// When the file cannot be read or does not begin like a journal.
pub fn replay(path: &Path) -> Result<Replayed, JournalError> {
    let (Head { run: head, objectives }, mut lines) = open(path)?;
    let (mut builder, mut ended, mut damage) = (RunBuilder::new(head), None, None);
    while let Some(line) = lines.next() {
        let taken = line.and_then(|line| match line.starts_with(LAST) {
            _ if ended.is_some() => {
                Err("more follows the line that says how the run ended".to_owned())
            }
            true => read(&line).map(|Last { ended: last }| ended = Some(last)),
            false => read(&line).map(|interval: Interval| builder.add(&interval)),
        });
        // The last line of a killed run may be cut short, which is no damage; what precedes it stands.
        if let Err(error) = taken {
            damage = (!lines.cut).then_some(error);
            break;
        }
    }
    let mut run = verdict::conclude(builder, ended.as_ref().is_none_or(|ended| ended.interrupted));
    if let Some(Ended { aborted, halted, .. }) = ended {
        (run.aborted, run.halted) = (aborted, halted);
        run.validity = verdict::judge(&run);
    }
    Ok(Replayed { run, objectives, damage })
}

/// A journal's first line, and the lines behind it.
fn open(path: &Path) -> Result<(Head, Lines<Take<File>>), JournalError> {
    let shown = path.display();
    let unreadable = |why: String| JournalError(format!("cannot read {shown}: {why}"));
    let about = fs::metadata(path).map_err(|error| unreadable(error.to_string()))?;
    if !about.is_file() {
        return Err(unreadable("no regular file".to_owned()));
    }
    // What is written while we read is not waited for.
    let file = File::open(path).map_err(|error| unreadable(error.to_string()))?.take(about.len());
    let mut lines = Lines { from: BufReader::new(file), most: LONGEST_LINE, cut: false };
    let empty = || JournalError(format!("{shown} is empty: nothing was measured yet"));
    let head = lines.next().ok_or_else(empty)?.and_then(|line| read(&line));
    let head = head.map_err(|why| JournalError(format!("{shown} is not a journal: {why}")))?;
    Ok((head, lines))
}

/// Lines of a bounded length, whatever a file holds.
pub(crate) struct Lines<R> {
    pub(crate) from: BufReader<R>,
    pub(crate) most: usize,
    /// Whether the file ended before the last line that was read did.
    pub(crate) cut: bool,
}

impl<R: Read> Iterator for Lines<R> {
    type Item = Result<Vec<u8>, String>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut line = Vec::new();
        let most = self.most as u64 + 1;
        match (&mut self.from).take(most).read_until(b'\n', &mut line) {
            Err(error) => return Some(Err(error.to_string())),
            Ok(0) => return None,
            Ok(_) => {}
        }
        let whole = line.pop_if(|last| *last == b'\n').is_some();
        self.cut = !whole && line.len() <= self.most;
        if !whole && !self.cut {
            return Some(Err(format!("a line is longer than {} bytes", self.most)));
        }
        Some(Ok(line))
    }
}

/// A line, if its figures are possible for a run.
fn read<T: serde::de::DeserializeOwned>(line: &[u8]) -> Result<T, String> {
    import::within_reach(line)?;
    serde_json::from_slice(line).map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &[u8], most: usize) -> Vec<Result<Vec<u8>, String>> {
        Lines { from: BufReader::new(text), most, cut: false }.take(5).collect()
    }

    #[test]
    fn a_last_line_that_is_cut_is_no_damage_and_a_whole_one_that_is_none_is() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(NAME);
        let head = serde_json::to_string(&fixture::head(fixture::plan())).unwrap();
        for (rest, damaged) in [("{\"index\":", false), ("{\"index\":0}\n", true), ("", false)] {
            fs::write(&path, format!("{head}\n{rest}")).unwrap();
            assert_eq!(replay(&path).unwrap().damage.is_some(), damaged, "{rest}");
        }
    }

    #[test]
    fn a_run_that_came_to_its_end_is_not_called_interrupted() {
        let dir = tempfile::tempdir().unwrap();
        let head = fixture::head(fixture::plan());
        let interval = Interval::new(0, model::Phase::Window, 0, 1_000_000_000);
        let replayed = |end: Option<&Run>| {
            let mut journal = Journal::create(dir.path(), &head, &[]).unwrap();
            journal.append(&interval).unwrap();
            end.iter().for_each(|run| journal.end(run).unwrap());
            let Replayed { run, damage, .. } = replay(&dir.path().join(NAME)).unwrap();
            assert_eq!((damage, run.totals.duration_ns), (None, 1_000_000_000));
            run
        };
        let killed = replayed(None);
        assert!(killed.interrupted);
        let whole = Run { interrupted: false, ..killed.clone() };
        assert!(!replayed(Some(&whole)).interrupted);
        let (rule, text) = ("p99>2s".to_owned(), "3s".to_owned());
        let aborted = Some(Abort { rule, rate_not_reached: false, at_ns: 1, text });
        let ended = Run { aborted, halted: Some("no rows".to_owned()), ..killed };
        let again = replayed(Some(&ended));
        assert!(
            again.interrupted && again.aborted == ended.aborted && again.halted == ended.halted
        );
    }

    #[test]
    fn a_journal_that_cannot_go_on_says_why() {
        let dir = tempfile::tempdir().unwrap();
        let head = fixture::head(fixture::plan());
        let second = |index: u32| {
            let start_ns = u64::from(index) * 1_000_000_000;
            Interval::new(index, model::Phase::Window, start_ns, start_ns + 1_000_000_000)
        };
        let mut journal = Journal::create(dir.path(), &head, &[]).unwrap();
        journal.append(&second(0)).unwrap();
        // A line that the disk had no room for.
        journal.file.write_all(b"{\"index\":1,\"pha").unwrap();
        journal.break_off(&io::Error::from(io::ErrorKind::StorageFull));
        let Replayed { run, damage, .. } = replay(&dir.path().join(NAME)).unwrap();
        assert_eq!((damage, run.totals.duration_ns), (None, 1_000_000_000));
        let why = run.halted.expect("a reason");
        assert!(run.interrupted && why.contains("could not be stored in run.journal"), "{why}");
    }

    #[test]
    fn no_line_is_longer_than_the_bound() {
        let too_long = || Err("a line is longer than 4 bytes".to_owned());
        assert_eq!(lines(b"abcd\nab", 4), [Ok(b"abcd".to_vec()), Ok(b"ab".to_vec())]);
        assert_eq!(lines(b"ab\nabcde\n", 4)[..2], [Ok(b"ab".to_vec()), too_long()]);
        // What has no end takes no more memory than the bound.
        assert_eq!(
            Lines { from: BufReader::new(io::repeat(0)), most: 4, cut: false }.next(),
            Some(too_long())
        );
        assert!(lines(b"", 4).is_empty());
    }
}

//! The first reading of a log: how many lines it has and how many of them are usable, when most requests came, and the
//! templates of their paths.

use crate::filter::{Filter, Kind, Sorter};
use crate::format::{Format, Reader};
use crate::given::Given;
use crate::hit::Bad;
use crate::repeated::{Frequent, Repeated};
use crate::seconds::{Busiest, Seconds};
use crate::template::Templates;
use crate::time::{SECOND, Stamp};
use crate::trie::{Trie, hash, marks};
use crate::{LONGEST_LINE, lines};

/// Points of the curve over the whole log at most.
const MOST_POINTS: usize = 400;

/// Bytes of a bad line that are shown.
const SAMPLE: usize = 200;

/// A line with its place in the log.
type First = (u64, Vec<u8>);

/// A log in its first reading. Parts of a log may be read by several, in any order, and put together.
#[derive(Debug)]
pub struct Survey {
    sorter: Sorter,
    lines: u64,
    /// How many there are of each kind, and the first of them.
    bad: [(u64, Option<First>); Bad::ALL.len()],
    first: Option<Stamp>,
    last: Option<Stamp>,
    requests: u64,
    counted: u64,
    seconds: Seconds,
    trie: Trie,
    given: Vec<Given>,
    repeated: Repeated,
}

/// What the first reading found.
#[derive(Debug)]
pub struct Surveyed {
    pub(crate) lines: u64,
    pub(crate) bad: Vec<(Bad, u64, Vec<u8>)>,
    pub(crate) first: Stamp,
    pub(crate) last: Stamp,
    pub(crate) seconds: Seconds,
    /// Length of a part, the parts, and what is in none, as [`Seconds::curve`] gives them.
    pub(crate) curve: (i64, Vec<(i64, u64)>, u64),
    pub(crate) by_hour: [u64; 24],
    pub(crate) peak: Busiest,
    pub(crate) templates: Templates,
    /// Paths with methods, and whole requests, that come again and again.
    pub(crate) frequent: (Frequent, Frequent),
}

impl Survey {
    /// Nothing read yet.
    pub fn new(filter: &Filter) -> Self {
        Self {
            sorter: Sorter::new(filter),
            lines: 0,
            bad: Default::default(),
            first: None,
            last: None,
            requests: 0,
            counted: 0,
            seconds: Seconds::default(),
            trie: Trie::default(),
            given: Vec::new(),
            repeated: Repeated::default(),
        }
    }

    /// With templates of which paths are the first that they match, whatever is learnt.
    #[must_use]
    pub fn with_templates(mut self, given: &[Given]) -> Self {
        self.given = given.to_vec();
        self
    }

    /// Reads whole lines; of one that is too long, any beginning that is longer than a line may be will do. `order` is where
    /// in the log the first begins, in bytes.
    pub fn read(&mut self, text: &[u8], mut order: u64, reader: &mut Reader) {
        for line in lines::each(text) {
            self.line(line, order, reader);
            order += line.len() as u64 + 1;
        }
    }

    fn line(&mut self, line: &[u8], order: u64, reader: &mut Reader) {
        if line.len() > LONGEST_LINE {
            self.lines += 1;
            return self.note(Bad::TooLong, line, order);
        }
        let hit = match reader.read(line) {
            Ok(Some(hit)) => hit,
            Ok(None) => return,
            Err(bad) => {
                self.lines += 1;
                return self.note(bad, line, order);
            }
        };
        self.lines += 1;
        self.requests += 1;
        self.repeated.add(&hit, order);
        let at = hit.at;
        if self.first.is_none_or(|first| key(&at) < key(&first)) {
            self.first = Some(at);
        }
        if self.last.is_none_or(|last| key(&at) > key(&last)) {
            self.last = Some(at);
        }
        if self.sorter.kind(&hit, hash(hit.agent)) == Kind::Counted {
            self.counted += 1;
            self.seconds.add(at);
            if !self.given.iter().any(|given| given.find(hit.path, &mut Vec::new())) {
                self.trie.add(hit.path, marks(hit.method, hit.query));
            }
        }
    }

    fn note(&mut self, bad: Bad, line: &[u8], order: u64) {
        let (count, sample) = &mut self.bad[bad.index()];
        *count += 1;
        if sample.as_ref().is_none_or(|(first, _)| order < *first) {
            *sample = Some((order, line[..line.len().min(LONGEST_LINE)].to_vec()));
        }
    }

    /// Adds what another part of the log held.
    pub fn absorb(&mut self, other: Self) {
        self.lines += other.lines;
        self.requests += other.requests;
        self.counted += other.counted;
        for ((count, sample), (more, other)) in self.bad.iter_mut().zip(other.bad) {
            *count += more;
            *sample = sample.take().into_iter().chain(other).min();
        }
        self.first = self.first.into_iter().chain(other.first).min_by_key(key);
        self.last = self.last.into_iter().chain(other.last).max_by_key(key);
        self.seconds.absorb(other.seconds);
        self.trie.absorb(&other.trie);
        self.repeated.absorb(other.repeated);
    }

    /// Lines so far, and bad ones among them.
    pub fn lines(&self) -> (u64, u64) {
        (self.lines, self.bad.iter().map(|(count, _)| count).sum())
    }

    /// The bad lines: what is wrong, how many, and the beginning of one of them.
    pub fn bad(&self) -> impl Iterator<Item = (Bad, u64, &[u8])> {
        let kinds = Bad::ALL.into_iter().zip(&self.bad).filter(|(_, (count, _))| *count > 0);
        kinds.map(|(bad, (count, sample))| {
            (bad, *count, sample.as_ref().map_or(b"".as_slice(), |(_, sample)| start_of(sample)))
        })
    }

    /// Where in the log the first of the bad lines is that another format than the log's reads, and that format. Of each
    /// kind of bad lines the first is tried.
    pub fn other_format(&self) -> Option<(u64, Format)> {
        let samples = self.bad.iter().filter_map(|(_, sample)| sample.as_ref());
        let read = samples.filter_map(|(order, line)| Some((*order, Format::detect(line).ok()?)));
        read.min_by_key(|(order, _)| *order)
    }

    /// What was found; `window_s` is the length of the peak that is looked for.
    ///
    /// # Errors
    /// In words, when there is no request to learn from.
    pub fn finish(mut self, window_s: i64) -> Result<Surveyed, String> {
        let bad = self.bad().map(|(bad, count, sample)| (bad, count, sample.to_vec())).collect();
        let (Some(first), Some(last)) = (self.first, self.last) else {
            return Err("holds no request that can be read".to_owned());
        };
        let Some(peak) = self.seconds.busiest(window_s) else {
            return Err(format!(
                "holds {} requests and none of an API: all are of static files and bots, or left out \
                 by --include and --exclude (--with-static and --with-bots keep them)",
                self.requests
            ));
        };
        let mut templates = self.trie.templates();
        templates.give(self.given);
        Ok(Surveyed {
            lines: self.lines,
            bad,
            first,
            last,
            curve: self.seconds.curve(MOST_POINTS),
            by_hour: self.seconds.by_hour_of_day(),
            seconds: self.seconds,
            peak,
            templates,
            frequent: self.repeated.frequent(),
        })
    }
}

/// What stamps are ordered by.
fn key(stamp: &Stamp) -> (i64, i32) {
    (stamp.ns, stamp.offset_s)
}

/// The beginning of a line, up to a blank: half of a credential would not be recognised as one.
fn start_of(line: &[u8]) -> &[u8] {
    const WITHOUT_BLANK: usize = 40;
    match line.get(..SAMPLE) {
        Some(start) => match memchr::memrchr(b' ', start) {
            Some(blank) => &start[..blank],
            None => &start[..WITHOUT_BLANK],
        },
        None => line,
    }
}

impl Surveyed {
    /// Beginning and end of the peak, in nanoseconds since the epoch.
    pub(crate) fn peak_ns(&self) -> (i64, i64) {
        (self.peak.from * SECOND, self.peak.to * SECOND)
    }

    /// The templates found.
    pub fn templates(&self) -> &Templates {
        &self.templates
    }
}

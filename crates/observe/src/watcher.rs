//! Sources read at a fixed interval, each on its own thread, so that one that hangs does not delay another.
//!
//! Owns the interval, the timestamps and the offset of another machine's clock. The caller decides where samples go.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Condvar, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::{Nanos, Role, Sample};
use net::clock;

use crate::source::{Kind, Source};
use crate::sources::{Reader, exec, wall};

/// Readings that wait to be taken at most; later ones are dropped and counted.
const MOST_WAITING: usize = 4096;

/// The longest that a sample is on its way: what seems to be later was stamped by a clock that was set back.
const LONGEST_WAY_NS: i64 = 30_000_000_000;
/// How long a source may take for a sample. One that takes longer than the pace leaves samples out, and is read all the
/// same: a database under load is slow just when it matters.
const PATIENCE: Duration = Duration::from_secs(2);

/// A sample as it came.
#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// The number of the source, in the order given.
    pub source: usize,
    /// When it was taken, by this machine's monotonic clock.
    pub at_ns: Nanos,
    /// How far the clock of the source's machine is ahead, as far as is known; none for this machine.
    pub offset_ns: Option<i64>,
    /// The sample, with its source's name and role.
    pub sample: Sample,
}

/// Watches sources until it is dropped.
#[derive(Debug)]
pub struct Watcher {
    stop: Arc<Stop>,
    /// Boxed: the channel has its places from the beginning, and hardly one is used.
    readings: Receiver<Box<Reading>>,
    /// Readings of each source that were dropped.
    dropped: Vec<Arc<AtomicU64>>,
    threads: Vec<JoinHandle<()>>,
}

/// Raised once; who waits is woken.
#[derive(Debug, Default)]
struct Stop {
    raised: Mutex<bool>,
    woken: Condvar,
}

impl Stop {
    fn raise(&self) {
        *self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner()) = true;
        self.woken.notify_all();
    }

    /// Waits for this long, or until it is raised; whether it is.
    fn wait(&self, time: Duration) -> bool {
        let raised = self.raised.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        let waited = self.woken.wait_timeout_while(raised, time, |raised| !*raised);
        *waited.unwrap_or_else(|poisoned| poisoned.into_inner()).0
    }
}

impl Watcher {
    /// Begins to watch; each source is read every `every`.
    pub fn start(sources: &[Source], every: Duration) -> Self {
        let (send, readings) = sync_channel(MOST_WAITING);
        let beside = sources.iter().any(|source| source.role == Role::Generator);
        let stop = Arc::new(Stop::default());
        let mut dropped = Vec::with_capacity(sources.len());
        let threads = sources
            .iter()
            .enumerate()
            .filter_map(|(number, source)| {
                let to = Sender::new(number, source.clone(), send.clone());
                dropped.push(Arc::clone(&to.dropped));
                let stop = Arc::clone(&stop);
                // The quotas of a process that sends load are the generator's, and no server's beside it.
                let own_groups = source.role == Role::Generator || !beside;
                let body = move || watch(to, every, own_groups, &stop);
                // Without a thread there are no samples, and a source without samples is reported as such.
                thread::Builder::new().name(format!("observe-{number}")).spawn(body).ok()
            })
            .collect();
        Self { stop, readings, dropped, threads }
    }

    /// The readings that have come.
    pub fn readings(&self) -> impl Iterator<Item = Reading> {
        self.readings.try_iter().map(|reading| *reading)
    }

    /// How many readings of each source were dropped so far, since too many waited to be taken.
    pub fn dropped(&self) -> impl Iterator<Item = u64> {
        self.dropped.iter().map(|dropped| dropped.load(Ordering::Relaxed))
    }

    /// The next reading, if one comes within `time`.
    pub fn next(&self, time: Duration) -> Option<Reading> {
        match self.readings.recv_timeout(time) {
            Ok(reading) => Some(*reading),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => {
                // No thread could be started: who asks again is not to spin.
                thread::sleep(time);
                None
            }
        }
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        self.stop.raise();
        for thread in self.threads.drain(..) {
            // A page that hangs ends with its time-out.
            let _ = thread.join();
        }
    }
}

/// Where the samples of one source go.
struct Sender {
    number: usize,
    source: Source,
    send: SyncSender<Box<Reading>>,
    /// The greatest difference between the clock of the source's machine and this one's when a sample arrived: the
    /// one that was the least time on its way; since that clock was last set back.
    offset: Option<i64>,
    /// When the last sample was taken, by the clock of the source's machine.
    taken: Option<i64>,
    /// Readings that found too many waiting.
    dropped: Arc<AtomicU64>,
}

impl Sender {
    fn new(number: usize, source: Source, send: SyncSender<Box<Reading>>) -> Self {
        Self { number, source, send, offset: None, taken: None, dropped: Arc::default() }
    }

    fn local(&mut self, sample: Sample, at_ns: Nanos) -> bool {
        self.put(sample, at_ns)
    }

    /// A sample of another machine: it was taken when it arrived, less the time on its way.
    fn remote(&mut self, sample: Sample) -> bool {
        let (now_ns, ahead) = (clock::now(), sample.at_unix_ns.saturating_sub(wall()));
        if sample.error.is_some() {
            return self.put(sample, now_ns);
        }
        // Samples come in the order in which they were taken, so that a time before the last one's is of a clock that was
        // set back.
        let set_back =
            self.taken.replace(sample.at_unix_ns).is_some_and(|last| sample.at_unix_ns < last);
        let plausible = |offset: &i64| !set_back && offset.saturating_sub(ahead) <= LONGEST_WAY_NS;
        let known = self.offset.filter(plausible);
        let offset = known.map_or(ahead, |offset| offset.max(ahead));
        self.offset = Some(offset);
        let on_its_way = u64::try_from(offset.saturating_sub(ahead)).unwrap_or(0);
        self.put(sample, now_ns.saturating_sub(on_its_way))
    }

    fn put(&mut self, mut sample: Sample, at_ns: Nanos) -> bool {
        sample.source.clone_from(&self.source.name);
        sample.role = self.source.role;
        let reading = Reading { source: self.number, at_ns, offset_ns: self.offset, sample };
        match self.send.try_send(Box::new(reading)) {
            Ok(()) => true,
            Err(TrySendError::Full(_)) => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
                true
            }
            Err(TrySendError::Disconnected(_)) => false,
        }
    }
}

fn watch(mut to: Sender, every: Duration, own_groups: bool, stop: &Stop) {
    if let Kind::Exec(command) = to.source.kind.clone() {
        return exec::watch(&command, &|time| stop.wait(time), &mut |sample| {
            to.remote(sample);
        });
    }
    let Some(mut reader) = Reader::of(&to.source.kind, own_groups) else { return };
    let mut due = Instant::now();
    loop {
        let at_ns = clock::now();
        let sample = reader.sample(PATIENCE);
        if !to.local(sample, at_ns) {
            return;
        }
        // A sample that took longer than the pace leaves some out.
        let now = Instant::now();
        while due <= now {
            due += every;
        }
        if stop.wait(due - now) {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    use crate::process::Which;

    fn source(kind: Kind) -> Source {
        Source { role: Role::App, name: "it".into(), kind }
    }

    #[test]
    fn this_machine_is_watched_until_the_end() {
        let watcher = Watcher::start(&[source(Kind::Local)], Duration::from_millis(20));
        let [one, two] = [0; 2].map(|_| watcher.next(Duration::from_secs(20)).expect("a sample"));
        assert!(one.at_ns < two.at_ns && one.sample.source == "it");
        // What the kernel tells of idle time may go back.
        assert!(two.sample.counters["cpu.user_ns"] >= one.sample.counters["cpu.user_ns"]);
        assert_eq!(one.offset_ns, None);
    }

    #[test]
    fn the_quotas_of_the_generator_are_no_servers() {
        let beside = |role| Source { role, ..source(Kind::Local) };
        let own = Which::Pids(vec![std::process::id()]);
        let sources =
            [beside(Role::Generator), beside(Role::App), source(Kind::LocalProcesses(own))];
        let told = |sources: &[Source]| {
            let watcher = Watcher::start(sources, Duration::from_secs(60));
            let mut told = vec![false; sources.len()];
            for _ in sources {
                let Reading { source, sample, .. } =
                    watcher.next(Duration::from_secs(20)).expect("a sample");
                told[source] = sample.counters.contains_key("cgroup.periods")
                    || sample.missing.contains_key("cgroup");
            }
            told
        };
        assert_eq!(told(&sources), [true, false, true], "of a process that is watched its own");
        assert_eq!(told(&sources[1..2]), [true], "as in a container");
    }

    #[test]
    fn the_clock_of_another_machine_may_be_minutes_apart() {
        let ahead: i64 = 600_000_000_000;
        let command = format!(
            "for i in 1 2; do echo \"{{\\\"schema\\\":\\\"plimsoll.sample/1\\\",\\\"at_unix_ns\\\":$(($(date +%s%N) + {ahead}))}}\"; done; sleep 60"
        );
        let before_ns = clock::now();
        let watcher = Watcher::start(&[source(Kind::Exec(command))], Duration::from_secs(1));
        let reading = watcher.next(Duration::from_secs(20)).expect("a sample");
        let offset = reading.offset_ns.expect("of another machine");
        assert!((offset - ahead).abs() < 20_000_000_000, "{offset}");
        assert!((before_ns..=clock::now()).contains(&reading.at_ns));
    }

    #[test]
    fn a_clock_that_is_set_back_takes_no_sample_out_of_the_run() {
        let (send, readings) = sync_channel(8);
        let mut to = Sender::new(0, source(Kind::Local), send);
        let (second, hour) = (1_000_000_000, 3_600_000_000_000_i64);
        let before_ns = clock::now();
        // By an hour, and by less than a sample may be on its way.
        for set_back in [-hour, -hour, 0, 10 * second, 10 * second] {
            assert!(to.remote(Sample::new(wall() - set_back)));
        }
        let after_ns = clock::now();
        let taken: Vec<Nanos> = readings.try_iter().map(|reading| reading.at_ns).collect();
        let soon =
            |at_ns: &Nanos| (before_ns.saturating_sub(5_000_000_000)..=after_ns).contains(at_ns);
        assert!(taken.len() == 5 && taken.iter().all(soon), "{taken:?} since {before_ns}");
    }

    #[test]
    fn samples_that_nobody_takes_are_counted() {
        let (send, readings) = sync_channel(2);
        let mut to = Sender::new(0, source(Kind::Local), send);
        for at_ns in 0..5 {
            assert!(to.local(Sample::new(wall()), at_ns));
        }
        assert_eq!((readings.try_iter().count(), to.dropped.load(Ordering::Relaxed)), (2, 3));
    }

    #[test]
    fn a_sample_that_is_long_on_its_way_was_taken_before() {
        let (send, readings) = sync_channel(8);
        let mut to = Sender::new(0, source(Kind::Local), send);
        let begun_ns = clock::now();
        assert!(to.remote(Sample::new(wall())));
        // That one was on its way for no longer than this.
        let first_ns = clock::now() - begun_ns;
        let late = Sample::new(wall());
        thread::sleep(Duration::from_millis(400));
        assert!(to.remote(late));
        let taken: Vec<Nanos> = readings.try_iter().map(|reading| reading.at_ns).collect();
        let latest_ns = clock::now() + first_ns - 350_000_000;
        assert!(taken[1] <= latest_ns, "it was 0.4 s on its way: {taken:?}");
    }

    #[test]
    fn a_server_that_is_slower_than_the_pace_is_read() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            let (stream, _) = listener.accept().unwrap();
            let mut lines = std::io::BufReader::new(stream.try_clone().unwrap());
            let mut line = String::new();
            while std::io::BufRead::read_line(&mut lines, &mut line).is_ok_and(|read| read > 0) {
                thread::sleep(Duration::from_millis(400));
                let mut to = &stream;
                if std::io::Write::write_all(&mut to, b"STAT curr_connections 1\r\nEND\r\n")
                    .is_err()
                {
                    return;
                }
            }
        });
        let slow = Source::parse(&format!("memcached://127.0.0.1:{port}")).unwrap();
        let watcher = Watcher::start(&[slow], Duration::from_millis(100));
        // On a busy machine one may take longer than the patience there is.
        let mut readings = (0..30).map_while(|_| watcher.next(Duration::from_secs(60)));
        assert!(readings.any(|reading| reading.sample.error.is_none()));
    }

    #[test]
    fn a_page_that_is_not_there_is_a_failed_sample() {
        let address = testkit::ports::reserved();
        let url = url::Url::parse(&format!("http://{address}/status")).unwrap();
        let nginx = crate::source::Nginx { status: Some(url), log: None };
        let watcher = Watcher::start(&[source(Kind::Nginx(nginx))], Duration::from_millis(50));
        let reading = watcher.next(Duration::from_secs(20)).expect("a failed sample");
        assert!(reading.sample.error.expect("an error").contains("cannot connect"));
    }
}

//! A command that prints samples, a line of JSON each: `ssh app1 plimsoll watch --stdio`, `ip netns exec …`, `kubectl
//! exec …`. It runs in a process group of its own, which ends with the watching, and is started again when it ends.

use std::io::{BufRead, BufReader, Read};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use model::Sample;
use model::quote::quote;
use model::secret::mask_said;
use rustix::process::{Pid, Signal, kill_process_group};

use super::wall;

/// Bytes of a line at most.
const MOST_LINE_BYTES: usize = 1 << 20;
/// Samples that a command may print in a second.
const MOST_PER_S: u32 = 100;
/// Silence after which a command counts as hanging, and how many times the last pause between two lines it may last: a
/// command has a pace of its own.
const SILENT: (Duration, u32) = (Duration::from_secs(5), 3);
/// How long a command that has closed its output is waited for, and the last words of one that has ended.
const LAST_WORDS: Duration = Duration::from_millis(500);
/// What of its standard error is kept.
const KEPT_ERROR_BYTES: usize = 1024;
/// Pauses before a command is started again, the shortest and the longest.
const PAUSES: (Duration, Duration) = (Duration::from_secs(1), Duration::from_secs(10));

/// Runs its argument in a shell beside a guard that waits for its standard input to end, which it does with this
/// process, however that ends, and kills the process group then. The command itself reads nothing.
const GUARDED: &str = "exec 3<&0 </dev/null; { read -r line <&3; kill -KILL 0; } >/dev/null 2>&1 & \
    exec 3<&-; exec sh -c \"$1\"";

/// Runs `command` until `stopped`, and gives what it prints to `take`.
pub fn watch(command: &str, stopped: &dyn Fn(Duration) -> bool, take: &mut dyn FnMut(Sample)) {
    let mut pause = PAUSES.0;
    loop {
        let came = match Running::start(command) {
            Ok(mut running) => running.read(stopped, &mut |sample| take(masked(command, sample))),
            Err(error) => {
                take(Sample::failed(wall(), format!("cannot start sh: {error}")));
                false
            }
        };
        pause = if came { PAUSES.0 } else { (pause * 2).min(PAUSES.1) };
        if stopped(pause) {
            return;
        }
    }
}

/// A sample that repeats no credential of its command.
fn masked(command: &str, mut sample: Sample) -> Sample {
    sample.error = sample.error.map(|error| mask_said(command, &error));
    for why in sample.missing.values_mut() {
        *why = mask_said(command, why);
    }
    sample
}

/// When lines came, and how long the next one is waited for.
#[derive(Debug, Default)]
struct Pace {
    line: Option<Instant>,
    between: Duration,
}

impl Pace {
    fn line(&mut self, now: Instant) {
        self.between = self.line.map_or(self.between, |line| now.saturating_duration_since(line));
        self.line = Some(now);
    }

    fn patience(&self) -> Duration {
        SILENT.0.max(self.between.saturating_mul(SILENT.1))
    }
}

/// The command while it runs.
struct Running {
    child: Child,
    lines: Receiver<Vec<u8>>,
    error: Arc<Mutex<Vec<u8>>>,
    /// Reads what it says of errors.
    error_reader: Option<JoinHandle<()>>,
}

impl Running {
    fn start(command: &str) -> std::io::Result<Self> {
        let mut child = Command::new("sh")
            .args(["-c", GUARDED, "sh", command])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()?;
        let (send, lines) = sync_channel(16);
        if let Some(out) = child.stdout.take() {
            thread::spawn(move || read_lines(BufReader::new(out), &send));
        }
        let error = Arc::new(Mutex::new(Vec::new()));
        let error_reader = child.stderr.take().map(|from| {
            let kept = Arc::clone(&error);
            thread::spawn(move || keep_end(from, &kept))
        });
        Ok(Self { child, lines, error, error_reader })
    }

    /// Reads until the command ends, misbehaves or is no longer wanted; whether samples came.
    fn read(&mut self, stopped: &dyn Fn(Duration) -> bool, take: &mut dyn FnMut(Sample)) -> bool {
        let (mut came, mut last, mut second) = (false, Instant::now(), (Instant::now(), 0));
        let mut pace = Pace::default();
        loop {
            if stopped(Duration::ZERO) {
                return came;
            }
            let line = match self.lines.recv_timeout(Duration::from_millis(100)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if last.elapsed() < pace.patience() => continue,
                Err(RecvTimeoutError::Timeout) => {
                    last = Instant::now();
                    let silent_s = pace.patience().as_secs();
                    let silent = format!("the command has printed nothing for {silent_s} s");
                    take(Sample::failed(wall(), silent));
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    take(Sample::failed(wall(), self.ended()));
                    return came;
                }
            };
            last = Instant::now();
            pace.line(last);
            if second.0.elapsed() >= Duration::from_secs(1) {
                second = (last, 0);
            }
            second.1 += 1;
            if second.1 > MOST_PER_S {
                take(Sample::failed(wall(), "the command prints more than 100 lines a second"));
                return came;
            }
            match parse(&line) {
                Ok(sample) => {
                    came |= sample.error.is_none();
                    take(sample);
                }
                Err(error) => take(Sample::failed(wall(), error)),
            }
            // What follows a line that is too long is not read.
            if line.len() > MOST_LINE_BYTES {
                return came;
            }
        }
    }

    /// Why it ended, or that it goes on without an output, which ends with this.
    fn ended(&mut self) -> String {
        let begun = Instant::now();
        let wait = || {
            let more = begun.elapsed() < LAST_WORDS;
            if more {
                thread::sleep(Duration::from_millis(5));
            }
            more
        };
        let how = loop {
            match self.child.try_wait() {
                Ok(Some(status)) => break format!("the command ended ({status})"),
                Err(error) => break format!("the command ended ({error})"),
                Ok(None) if wait() => {}
                Ok(None) => break "the command closed its output and went on".to_owned(),
            }
        };
        // Its last words may not be read yet; what it left running may keep the pipe open.
        while self.error_reader.as_ref().is_some_and(|reader| !reader.is_finished()) && wait() {}
        let said = self.error.lock().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let said = said.unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match last {
            "" => how,
            last => format!("{how}: {last}"),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // The group is this command's own (`process_group(0)`), and its guard keeps the number in use until now,
        // also where the command ended and left others behind.
        if let Some(group) = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw) {
            let _ = kill_process_group(group, Signal::KILL);
        }
        let _ = self.child.wait();
    }
}

/// Gives each line; one that is too long ends the reading.
fn read_lines(mut from: impl BufRead, to: &SyncSender<Vec<u8>>) {
    loop {
        let mut line = Vec::new();
        let read = from.by_ref().take(MOST_LINE_BYTES as u64 + 1).read_until(b'\n', &mut line);
        if read.is_err() || line.is_empty() || to.send(line.clone()).is_err() {
            return;
        }
        if line.len() > MOST_LINE_BYTES {
            return;
        }
    }
}

fn keep_end(mut from: impl Read, kept: &Mutex<Vec<u8>>) {
    let mut buffer = [0; 512];
    while let Ok(n) = from.read(&mut buffer) {
        if n == 0 {
            return;
        }
        let Ok(mut kept) = kept.lock() else { return };
        kept.extend_from_slice(&buffer[..n]);
        let past = kept.len().saturating_sub(KEPT_ERROR_BYTES);
        kept.drain(..past);
    }
}

/// The first words of a text: whole ones, so that a credential in it can be found and masked.
fn beginning(text: &str) -> String {
    let text = text.trim();
    match text.char_indices().nth(60) {
        None => text.to_owned(),
        Some((at, _)) => text[..at].rsplit_once(' ').map_or("", |(kept, _)| kept).to_owned(),
    }
}

/// A line as a sample.
///
/// # Errors
/// When it is none.
pub fn parse(line: &[u8]) -> Result<Sample, String> {
    let text = String::from_utf8_lossy(line);
    let shown = || quote(&beginning(&text));
    if line.len() > MOST_LINE_BYTES {
        return Err("the command printed a line of more than 1 MiB".to_owned());
    }
    let sample: Sample = serde_json::from_slice(line)
        .map_err(|_| format!("the command printed something that is not a sample: {}", shown()))?;
    match sample.schema.as_str() {
        model::sample::SCHEMA => Ok(sample.bounded()),
        other => Err(format!(
            "the command printed {}; this version reads {}",
            quote(&other.chars().take(60).collect::<String>()),
            model::sample::SCHEMA
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    /// What `command` gives until `enough` samples came.
    fn taken(command: &str, enough: usize) -> Vec<Sample> {
        let (taken, start) = (RefCell::new(Vec::new()), Instant::now());
        let stopped = |wait: Duration| {
            let done = taken.borrow().len() >= enough || start.elapsed() > Duration::from_secs(20);
            if !done {
                thread::sleep(wait.min(Duration::from_millis(20)));
            }
            done
        };
        watch(command, &stopped, &mut |sample| taken.borrow_mut().push(sample));
        taken.into_inner()
    }

    #[test]
    fn samples_come_from_a_command() {
        let line = r#"{"schema":"plimsoll.sample/1","at_unix_ns":5,"counters":{"a":1}}"#;
        let taken = taken(&format!("echo '{line}'; echo garbage; echo why >&2; exit 3"), 3);
        assert_eq!(taken[0].counters["a"], 1);
        assert!(taken[1].error.as_ref().unwrap().contains("not a sample: `garbage`"), "{taken:?}");
        let ended = taken[2].error.as_ref().unwrap();
        assert!(ended.contains("exit status: 3") && ended.contains("why"), "{ended}");
    }

    #[test]
    fn a_command_that_closes_its_output_is_not_waited_for() {
        let (closed, long) = ("closed its output and went on", "a line of more than 1 MiB");
        for (command, why, other) in [
            ("exec >&-; sleep 1000", closed, long),
            ("head -c 2000000 /dev/zero | tr '\\0' x; sleep 1000", long, closed),
        ] {
            let start = Instant::now();
            let taken = taken(command, 2);
            assert!(start.elapsed() < Duration::from_secs(20), "{command}");
            let said = format!("{taken:?}");
            assert!(said.contains(why) && !said.contains(other), "{command}: {said}");
        }
    }

    #[test]
    fn a_slow_pace_is_no_silence() {
        let (mut pace, start) = (Pace::default(), Instant::now());
        let at = |seconds| start + Duration::from_secs(seconds);
        let mut after = |seconds| {
            pace.line(at(seconds));
            pace.patience().as_secs()
        };
        assert_eq!([after(3), after(4), after(14), after(24)], [5, 5, 30, 30]);
        assert_eq!(after(25), 5, "it prints more often now");
    }

    #[test]
    fn a_command_and_its_children_end_with_who_watches() {
        let folder = tempfile::tempdir().unwrap();
        let pids = folder.path().join("pids");
        let command =
            format!("sleep 1000 & echo $! > {0}.new; mv {0}.new {0}; wait", pids.display());
        let mut running = Running::start(&command).unwrap();
        let patient = |done: &dyn Fn() -> bool| {
            let start = Instant::now();
            while !done() {
                assert!(start.elapsed() < Duration::from_secs(20), "in time");
                thread::sleep(Duration::from_millis(10));
            }
        };
        patient(&|| pids.exists());
        let child = std::fs::read_to_string(&pids).unwrap();
        // As the kernel does when this process is killed.
        drop(running.child.stdin.take());
        let state = || std::fs::read_to_string(format!("/proc/{}/stat", child.trim()));
        patient(&|| state().map_or(true, |stat| stat.contains(") Z ")));
        assert!(!running.child.wait().unwrap().success());
    }

    #[test]
    fn what_a_command_repeats_of_its_secrets_is_masked() {
        let taken = taken("echo hunter2; echo for hunter2 >&2; : --password hunter2; exit 3", 2);
        assert!(taken.len() >= 2 && !format!("{taken:?}").contains("hunter2"), "{taken:?}");
    }

    #[test]
    fn a_command_that_floods_is_stopped() {
        let taken = taken("yes '{}'", 101);
        let last = taken.last().unwrap().error.as_ref().unwrap();
        assert!(last.contains("100 lines a second"), "{last}");
    }

    #[test]
    fn lines_of_another_version_are_refused() {
        let error = parse(br#"{"schema":"plimsoll.sample/9"}"#).unwrap_err();
        assert!(
            error.contains("plimsoll.sample/9") && error.contains("plimsoll.sample/1"),
            "{error}"
        );
        assert!(parse(&vec![b'x'; MOST_LINE_BYTES + 1]).unwrap_err().contains("1 MiB"));
    }
}

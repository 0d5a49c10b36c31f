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
/// Silence after which a command counts as hanging.
const SILENT: Duration = Duration::from_secs(5);
/// How long the last words of a command that has ended are waited for.
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
        loop {
            if stopped(Duration::ZERO) {
                return came;
            }
            let line = match self.lines.recv_timeout(Duration::from_millis(100)) {
                Ok(line) => line,
                Err(RecvTimeoutError::Timeout) if last.elapsed() < SILENT => continue,
                Err(RecvTimeoutError::Timeout) => {
                    last = Instant::now();
                    take(Sample::failed(wall(), "the command has printed nothing for 5 s"));
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    take(Sample::failed(wall(), self.ended()));
                    return came;
                }
            };
            last = Instant::now();
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
        }
    }

    /// Why it ended.
    fn ended(&mut self) -> String {
        let status = self.child.wait().map_or_else(|e| e.to_string(), |status| status.to_string());
        // Its last words may not be read yet; what it left running may keep the pipe open.
        let begun = Instant::now();
        while self.error_reader.as_ref().is_some_and(|reader| !reader.is_finished())
            && begun.elapsed() < LAST_WORDS
        {
            thread::sleep(Duration::from_millis(5));
        }
        let said = self.error.lock().map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
        let said = said.unwrap_or_default();
        let last = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or_default();
        match last {
            "" => format!("the command ended ({status})"),
            last => format!("the command ended ({status}): {last}"),
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
        .map_err(|_| format!("the command printed what is no sample: {}", shown()))?;
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
        assert!(taken[1].error.as_ref().unwrap().contains("no sample: `garbage`"), "{taken:?}");
        let ended = taken[2].error.as_ref().unwrap();
        assert!(ended.contains("exit status: 3") && ended.contains("why"), "{ended}");
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

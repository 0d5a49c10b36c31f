//! Processes on chosen cores: servers in the background, and clients whose resources are counted.
//!
//! Whatever happens to this process, the processes that it started end: on drop, or by the parent-death
//! signal if this process is killed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;
use wait4::{ResUse, Wait4};

use crate::{interrupt, repo};

/// Beyond its own duration, how long a client may take before it counts as hung.
const GRACE: Duration = Duration::from_secs(90);

/// A command that runs on the given cores (`0`, `0,1`) and dies with this process.
pub fn pinned(cores: &str, program: impl AsRef<OsStr>) -> Command {
    let mut command = repo::command("taskset");
    command.args(["--cpu-list", cores, "setpriv", "--pdeathsig", "KILL"]).arg(program);
    command.stdin(Stdio::null());
    command
}

/// Keeps a core of a virtual machine from halting, with what comes after all other processes: the host takes long, and longer
/// the busier it is, to wake a core up that halted. Ended when dropped; what it prints goes to `log`.
///
/// # Errors
/// When it cannot be started.
pub fn kept_awake(core: &str, log: &Path) -> Result<Background> {
    let mut command = pinned(core, "chrt");
    command.args(["--idle", "0", "sh", "-c", "while :; do :; done"]);
    Background::start(command, log)
}

/// A server; ended when dropped.
pub struct Background {
    child: Child,
    what: String,
}

impl Background {
    /// Starts it with all that it prints going to `log`.
    pub fn start(mut command: Command, log: &Path) -> Result<Background> {
        let what = repo::shown(&command);
        let log = File::create(log)?;
        let child = command
            .stdout(log.try_clone()?)
            .stderr(log)
            .spawn()
            .with_context(|| format!("`{what}` could not be started"))?;
        Ok(Background { child, what })
    }

    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Stops it, and lets it go on.
    pub fn pause(&self, length: Duration) {
        signal(&self.child, Signal::STOP);
        thread::sleep(length);
        signal(&self.child, Signal::CONT);
    }

    /// Fails if it has ended by itself.
    pub fn check(&mut self) -> Result<()> {
        match self.child.try_wait()? {
            Some(status) => bail!("`{}` ended by itself ({status})", self.what),
            None => Ok(()),
        }
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        let ended = |child: &mut Child| !matches!(child.try_wait(), Ok(None));
        if ended(&mut self.child) {
            return;
        }
        signal(&self.child, Signal::TERM);
        let patience = Instant::now() + Duration::from_secs(3);
        while Instant::now() < patience && !ended(&mut self.child) {
            thread::sleep(Duration::from_millis(10));
        }
        if !ended(&mut self.child) {
            signal(&self.child, Signal::KILL);
        }
        self.child.wait().ok();
    }
}

fn signal(child: &Child, signal: Signal) {
    // Fails only if it has just ended, which is as good.
    kill_process(Pid::from_child(child), signal).ok();
}

/// A client that has run to its end.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    /// From its start to its end, without its pauses.
    pub awake: Duration,
    pub user: Duration,
    pub system: Duration,
    /// The most memory it held at once. The kernel counts from before `exec`, so it is at least our own (some 4 MiB).
    pub peak_bytes: u64,
}

/// A client under way. Killed when dropped before its end.
pub struct Running {
    pid: Pid,
    what: String,
    output: TempDir,
    ending: Receiver<io::Result<ResUse>>,
    used: Option<ResUse>,
    started: Instant,
    awake_since: Instant,
    awake: Duration,
}

impl Running {
    /// Starts it; what it prints and uses is kept.
    pub fn start(mut command: Command) -> Result<Running> {
        let what = repo::shown(&command);
        let output = tempfile::tempdir()?;
        let started = Instant::now();
        let mut child = command
            .stdout(File::create(output.path().join("out"))?)
            .stderr(File::create(output.path().join("err"))?)
            .spawn()
            .with_context(|| format!("`{what}` could not be started"))?;
        let pid = Pid::from_child(&child);
        let (sender, ending) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait4()));
        Ok(Running {
            pid,
            what,
            output,
            ending,
            used: None,
            started,
            awake_since: started,
            awake: Duration::ZERO,
        })
    }

    /// Lets it run for `most`, or until it ends, or until this process is interrupted, which kills it.
    ///
    /// # Errors
    /// When it has outlived `expected` by far.
    fn watch(&mut self, most: Duration, expected: Duration) -> Result<()> {
        let until = Instant::now() + most;
        while !self.ended() {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            match self.ending.recv_timeout(left.min(Duration::from_millis(100))) {
                Ok(used) => {
                    self.used = Some(used?);
                    self.awake += self.awake_since.elapsed();
                }
                Err(RecvTimeoutError::Timeout) => interrupt::check()?,
                Err(RecvTimeoutError::Disconnected) => bail!("the waiting thread died"),
            }
            let age = self.started.elapsed();
            ensure!(
                self.ended() || age < expected + GRACE,
                "`{}` was ended after {} s: it hung",
                self.what,
                age.as_secs()
            );
        }
        Ok(())
    }

    fn ended(&self) -> bool {
        self.used.is_some()
    }

    /// As [`Running::watch`], pausing it afterwards.
    fn watch_and_pause(&mut self, turn: Duration, expected: Duration) -> Result<()> {
        self.watch(turn, expected)?;
        if !self.ended() {
            kill_process(self.pid, Signal::STOP).ok();
            self.awake += self.awake_since.elapsed();
        }
        Ok(())
    }

    /// Waits until it ends, which it means to do after `expected`.
    ///
    /// # Errors
    /// When it hangs, or when this process is interrupted; it is dead then.
    pub fn wait_for_end(mut self, expected: Duration) -> Result<Finished> {
        while !self.ended() {
            self.watch(expected, expected)?;
        }
        self.finish()
    }

    fn finish(mut self) -> Result<Finished> {
        interrupt::check()?;
        let used = self.used.take().expect("it has ended");
        let printed = |name: &str| -> Result<String> {
            Ok(String::from_utf8_lossy(&fs::read(self.output.path().join(name))?).into_owned())
        };
        let finished = Finished {
            status: used.status,
            stdout: printed("out")?,
            stderr: printed("err")?,
            awake: self.awake,
            user: used.rusage.utime,
            system: used.rusage.stime,
            peak_bytes: used.rusage.maxrss,
        };
        self.used = Some(used);
        Ok(finished)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if !self.ended() {
            kill_process(self.pid, Signal::KILL).ok();
            self.ending.recv_timeout(Duration::from_secs(3)).ok();
        }
    }
}

/// Runs them at the same time, but only one of them at any moment, each for `turn` and then the next, until all have
/// ended, which they mean to do when `expected` has passed since their start.
///
/// # Errors
/// As of [`Running::wait_for_end`], for any of them; all are dead then.
pub fn by_turns(
    commands: Vec<Command>,
    turn: Duration,
    expected: Duration,
) -> Result<Vec<Finished>> {
    let mut all: Vec<Running> = Vec::new();
    for command in commands {
        let mut running = Running::start(command)?;
        running.watch_and_pause(turn, expected)?;
        all.push(running);
    }
    let mut forth = true;
    while all.iter().any(|running| !running.ended()) {
        for position in 0..all.len() {
            let index = if forth { position } else { all.len() - 1 - position };
            let running = &mut all[index];
            if !running.ended() {
                running.awake_since = Instant::now();
                kill_process(running.pid, Signal::CONT).ok();
                running.watch_and_pause(turn, expected)?;
            }
        }
        forth = !forth;
    }
    all.into_iter().map(Running::finish).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_and_output_are_reported() {
        let mut command = pinned("0", "sh");
        command
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exit 3"]);
        let finished =
            Running::start(command).unwrap().wait_for_end(Duration::from_secs(60)).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stdout, "done\n");
        assert!(finished.user + finished.system > Duration::ZERO);
        assert!(finished.user + finished.system <= finished.awake * 2);
        assert!(finished.peak_bytes > 100_000);
    }

    #[test]
    fn turns_are_taken_and_pauses_do_not_count() {
        // Each counts its own wakeful tenths of a second, and ends by the clock that goes on for both.
        let count = "end=$(($(date +%s) + 2)); i=0; while [ $(date +%s) -lt $end ]; do i=$((i+1)); done; echo $i";
        let commands = [0, 1].map(|_| {
            let mut command = pinned("0", "sh");
            command.args(["-c", count]);
            command
        });
        let started = Instant::now();
        let turn = Duration::from_millis(20);
        let both = by_turns(commands.into(), turn, Duration::from_secs(60)).unwrap();
        let took = started.elapsed();
        let awake: Duration = both.iter().map(|finished| finished.awake).sum();
        assert!(awake <= took, "{awake:?} of {took:?}: never both at once");
        for finished in both {
            assert!(
                finished.status.success() && finished.stdout.trim().parse::<u32>().unwrap() > 0
            );
            assert!(finished.awake < took * 3 / 4, "{:?} of {took:?}", finished.awake);
        }
    }

    #[test]
    fn a_background_process_ends_when_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = pinned("0", "sleep");
        command.arg("600");
        let mut background = Background::start(command, &folder.path().join("log")).unwrap();
        background.check().unwrap();
        let pid = Pid::from_child(&background.child);
        drop(background);
        assert!(rustix::process::test_kill_process(pid).is_err(), "still there");
    }

    #[test]
    fn a_server_that_ends_by_itself_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let mut background =
            Background::start(pinned("0", "false"), &folder.path().join("log")).unwrap();
        let patience = Instant::now() + Duration::from_secs(30);
        while background.check().is_ok() && Instant::now() < patience {
            thread::sleep(Duration::from_millis(5));
        }
        assert!(background.check().unwrap_err().to_string().contains("ended by itself"));
    }
}

//! Processes on chosen cores: servers in the background, and clients whose resources are counted.
//!
//! Whatever happens to this process, those it started end: on drop, or by the kernel's word to them if this process
//! is killed.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::process::{Pid, Signal, kill_process};
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
    // Fails only if it has just ended, which is what is wanted.
    kill_process(Pid::from_child(child), signal).ok();
}

/// A client that has run to its end.
pub struct Finished {
    pub status: ExitStatus,
    pub stdout: String,
    pub stderr: String,
    pub wall: Duration,
    pub user: Duration,
    pub system: Duration,
    /// The most memory it held at once. The kernel counts from before `exec`, so it is at least our own (some 4 MiB).
    pub peak_bytes: u64,
}

/// Runs a command that means to last `expected`, and tells what it used.
pub fn run_counted(command: &mut Command, expected: Duration) -> Result<Finished> {
    let what = repo::shown(command);
    let folder = tempfile::tempdir()?;
    let (out, err) = (folder.path().join("out"), folder.path().join("err"));
    let started = Instant::now();
    let mut child = command
        .stdout(File::create(&out)?)
        .stderr(File::create(&err)?)
        .spawn()
        .with_context(|| format!("`{what}` could not be started"))?;
    let used = wait(&mut child, started + expected + GRACE)?;
    let wall = started.elapsed();
    interrupt::check()?;
    ensure!(wall < expected + GRACE, "`{what}` was ended after {} s: it hung", wall.as_secs());
    Ok(Finished {
        status: used.status,
        stdout: String::from_utf8_lossy(&fs::read(out)?).into_owned(),
        stderr: String::from_utf8_lossy(&fs::read(err)?).into_owned(),
        wall,
        user: used.rusage.utime,
        system: used.rusage.stime,
        peak_bytes: used.rusage.maxrss,
    })
}

/// Waits for the child; kills it at the deadline, or when we are told to end.
fn wait(child: &mut Child, deadline: Instant) -> Result<ResUse> {
    let pid = Pid::from_child(child);
    let (tell, told) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(move || tell.send(child.wait4()));
        loop {
            match told.recv_timeout(Duration::from_millis(100)) {
                Ok(used) => return Ok(used?),
                Err(RecvTimeoutError::Timeout) => {
                    if interrupt::received() || Instant::now() > deadline {
                        kill_process(pid, Signal::KILL).ok();
                    }
                }
                Err(RecvTimeoutError::Disconnected) => bail!("the waiting thread died"),
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn resources_and_output_are_told() {
        let mut command = pinned("0", "sh");
        command
            .args(["-c", "i=0; while [ $i -lt 200000 ]; do i=$((i+1)); done; echo done; exit 3"]);
        let finished = run_counted(&mut command, Duration::from_secs(60)).unwrap();
        assert_eq!(finished.status.code(), Some(3));
        assert_eq!(finished.stdout, "done\n");
        assert!(finished.user + finished.system > Duration::ZERO);
        assert!(finished.user + finished.system <= finished.wall * 2);
        assert!(finished.peak_bytes > 100_000);
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
    fn a_server_that_ends_by_itself_is_told() {
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

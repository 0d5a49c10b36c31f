//! Servers in their own processes, to which signals can be sent.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use crate::harness::PLIMSOLL;

/// `plimsoll target` with one thread. It ends on drop.
#[derive(Debug)]
pub struct Process {
    child: Child,
    base: String,
}

impl Process {
    pub fn start() -> Self {
        let mut child = Command::new(PLIMSOLL)
            .args(["target", "--listen", "127.0.0.1:0", "--threads", "1"])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the target starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its first line");
        let url = line.split_whitespace().find(|word| word.starts_with("http")).expect("its URL");
        Self { base: url.trim_end_matches("/healthz").to_owned(), child }
    }

    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base)
    }

    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // Already ended is as good. SIGKILL ends a stopped process too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Sends signals to a process, each so long after the one before.
pub fn signals(pid: u32, course: &[(Duration, &'static str)]) -> JoinHandle<()> {
    let course = course.to_vec();
    thread::spawn(move || {
        for (after, signal) in course {
            thread::sleep(after);
            let args = [format!("-{signal}"), pid.to_string()];
            // A process that has ended needs no signal.
            let _ = Command::new("kill").args(args).stderr(Stdio::null()).status();
        }
    })
}

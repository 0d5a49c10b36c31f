//! Servers in their own processes, to which signals can be sent.

use std::process::{Command, Stdio};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use testkit::process::ServerProcess;

use crate::harness::PLIMSOLL;

/// `plimsoll target` with one thread.
pub fn target() -> ServerProcess {
    let arguments = ["target", "--listen", "127.0.0.1:0", "--threads", "1"];
    ServerProcess::start(Command::new(PLIMSOLL).args(arguments))
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

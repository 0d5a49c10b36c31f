//! Servers as processes of their own, which print their URL on their first line, as `plimsoll target` does.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

/// A running server, ended on drop.
#[derive(Debug)]
pub struct ServerProcess {
    child: Child,
    address: String,
}

impl ServerProcess {
    /// Starts a command and waits until it has printed its URL.
    ///
    /// # Panics
    /// When it does not start, or prints something else first.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the server starts");
        let mut line = String::new();
        let stdout = child.stdout.as_mut().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its first line");
        let url = line.split_once("http://").expect("its URL").1;
        let address = url.split(|c: char| c == '/' || c.is_whitespace()).next();
        let address = address.expect("an address").to_owned();
        Self { child, address }
    }

    /// Its host and port.
    pub fn address(&self) -> &str {
        &self.address
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for ServerProcess {
    fn drop(&mut self) {
        // Already ended is as good. SIGKILL ends a stopped process too.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

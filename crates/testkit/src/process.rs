//! Programs that run as child processes and are ended on drop: servers that print their URL on their first line, as
//! `plimsoll target` does ([`ServerProcess`]), and programs that a test leads from step to step ([`Program`]).

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

/// A running program with pipes to its standard input and output, killed on drop.
#[derive(Debug)]
pub struct Program {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Program {
    /// Starts a command.
    ///
    /// # Panics
    /// When it does not start.
    pub fn start(command: &mut Command) -> Self {
        let command = command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().expect("the program starts");
        let input = child.stdin.take().expect("its input");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        Self { child, input, output }
    }

    /// Runs a script in Python.
    ///
    /// # Panics
    /// When there is no `python3`.
    pub fn python(script: &str) -> Self {
        Self::start(Command::new("python3").args(["-c", script]))
    }

    /// The number of its process.
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Waits for the next line that it prints, and returns it without its end.
    ///
    /// # Panics
    /// When it ends or closes its output instead.
    pub fn read_line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).expect("its output can be read");
        line.strip_suffix('\n').expect("it prints a line").to_owned()
    }

    /// Writes an empty line to its input.
    ///
    /// # Panics
    /// When it has ended.
    pub fn write_line(&mut self) {
        self.input.write_all(b"\n").expect("it reads");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

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

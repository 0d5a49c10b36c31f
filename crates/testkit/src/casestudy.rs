//! Servers of the case study: built with Go, started on a free port, ended on drop.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Stdio};

use tempfile::TempDir;

/// A folder for servers that write logs: in memory where the system has a place for that, so that nobody measures the disk.
///
/// # Panics
/// When there can be no temporary folder.
pub fn folder() -> TempDir {
    let memory = Path::new("/dev/shm");
    let folder = if memory.is_dir() { TempDir::new_in(memory) } else { TempDir::new() };
    folder.expect("a temporary folder")
}

/// A command of the case study, built.
#[derive(Debug)]
pub struct Built {
    binary: PathBuf,
    processor: Option<u32>,
    _folder: TempDir,
}

/// A server of the case study.
#[derive(Debug)]
pub struct Server {
    child: Child,
    /// Kept open: a server that writes to a closed pipe dies, and its log with it.
    #[expect(dead_code, reason = "only to be kept open")]
    stdout: BufReader<ChildStdout>,
    /// `127.0.0.1:PORT`.
    pub address: String,
}

impl Built {
    /// Builds the command of this name. Go must be there: [`needs::has`](crate::needs::has).
    ///
    /// # Errors
    /// When it does not build.
    pub fn of(name: &str) -> Result<Self, String> {
        let folder = TempDir::new().map_err(|error| error.to_string())?;
        let binary = folder.path().join(name);
        let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../casestudy");
        let mut go = Command::new("go");
        go.args(["build", "-o"]).arg(&binary).arg(format!("./cmd/{name}")).current_dir(module);
        match go.status() {
            Ok(status) if status.success() => Ok(Self { binary, processor: None, _folder: folder }),
            other => Err(format!("go build ./cmd/{name}: {other:?}")),
        }
    }

    /// Lets what it starts run on this processor alone, with one of Go's. Needs `taskset`.
    pub fn on_processor(mut self, number: u32) -> Self {
        self.processor = Some(number);
        self
    }

    /// The program's file.
    pub fn path(&self) -> &Path {
        &self.binary
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// When it fails, with what it printed.
    pub fn run(&self, arguments: &[&str]) -> Result<(), String> {
        let output = Command::new(&self.binary).args(arguments).output();
        let output = output.map_err(|error| error.to_string())?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        output.status.success().then_some(()).ok_or(text)
    }

    /// Starts it in a folder and waits until it listens.
    ///
    /// # Errors
    /// When it does not.
    pub fn start(&self, folder: &Path, arguments: &[&str]) -> Result<Server, String> {
        let mut command = match self.processor {
            None => Command::new(&self.binary),
            Some(number) => {
                let mut command = Command::new("taskset");
                command.args(["-c", &number.to_string()]).arg(&self.binary).env("GOMAXPROCS", "1");
                command
            }
        };
        command.args(arguments).args(["-listen", "127.0.0.1:0"]).current_dir(folder);
        let mut child =
            command.stdout(Stdio::piped()).spawn().map_err(|error| error.to_string())?;
        let mut line = String::new();
        let stdout = child.stdout.take().ok_or("no output")?;
        let mut stdout = BufReader::new(stdout);
        let read = stdout.read_line(&mut line);
        let address = line.find("127.0.0.1:").map(|at| {
            line[at..]
                .chars()
                .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ':'))
                .collect()
        });
        let mut server = Server { child, stdout, address: String::new() };
        server.address = address.ok_or_else(|| format!("it said {line:?} ({read:?})"))?;
        Ok(server)
    }
}

impl Server {
    /// Its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Ends it as Ctrl-C does, so that it writes what it holds, and waits for that.
    pub fn stop(mut self) {
        let id = self.child.id().to_string();
        // Already ended is as good.
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.child.wait();
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

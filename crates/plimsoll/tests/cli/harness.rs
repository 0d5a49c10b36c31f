//! A temporary folder, a server, and the program run in it.

use std::fs;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use testkit::needs;
use testkit::process::ServerProcess;

/// The program under test.
pub const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");

/// A folder that the program runs in.
#[derive(Debug)]
pub struct Folder(TempDir);

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Folder {
    pub fn new() -> Self {
        Self(TempDir::new().expect("a temporary folder"))
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `plimsoll` with words separated by blanks.
    pub fn plimsoll(&self, line: &str) -> Ended {
        self.run(Path::new(PLIMSOLL), line)
    }

    /// As [`plimsoll`](Self::plimsoll), with `--slo` and an objective that holds blanks.
    pub fn plimsoll_for(&self, line: &str, objective: &str) -> Ended {
        ended(self.command(Path::new(PLIMSOLL), line).args(["--slo", objective]))
    }

    /// Runs another program, or the same by another name.
    pub fn run(&self, program: &Path, line: &str) -> Ended {
        ended(&mut self.command(program, line))
    }

    /// A command not started yet.
    pub fn command(&self, program: &Path, line: &str) -> Command {
        let mut command = Command::new(program);
        command.args(line.split_whitespace()).current_dir(self.path()).stdin(Stdio::null());
        command.env("XDG_STATE_HOME", self.path().join(".state"));
        command
    }

    /// A link to the program by another name.
    pub fn link(&self, name: &str) -> PathBuf {
        let link = self.path().join(name);
        std::os::unix::fs::symlink(PLIMSOLL, &link).expect("a link");
        link
    }

    /// Puts a file there.
    pub fn put(&self, name: &str, text: impl AsRef<[u8]>) {
        fs::write(self.path().join(name), text).expect("a file");
    }

    /// Puts a published table there.
    pub fn put_published(&self, names: &[&str]) {
        for name in names {
            let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data").join(name);
            fs::copy(from, self.path().join(name)).expect("a published table");
        }
    }

    /// A file's text.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        let path = self.path().join(name);
        fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// Asserts that files are there and not empty.
    #[track_caller]
    pub fn has(&self, names: &[&str]) {
        for name in names {
            let about = fs::metadata(self.path().join(name));
            assert!(about.is_ok_and(|about| about.len() > 0), "{name} is missing or empty");
        }
    }
}

/// wrk itself, to be compared with; where it is missing a line says so.
pub fn real_wrk() -> Option<PathBuf> {
    needs::has("wrk").then(|| needs::path("wrk")).flatten()
}

/// A text whose lines and columns are set apart by one blank each.
pub fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Runs a command to its end.
pub fn ended(command: &mut Command) -> Ended {
    let output = command.output().expect("the program starts");
    Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

impl Folder {
    /// Asserts that a document is what the published schema of its kind says.
    #[track_caller]
    pub fn follows_schema(&self, kind: &str, document: &serde_json::Value) {
        self.plimsoll("generate reference").ok();
        let schema = self.text(&format!("reference/schema/plimsoll.{kind}-1.json"));
        let schema = serde_json::from_str(&schema).expect("JSON");
        let validator = jsonschema::validator_for(&schema).expect("a good schema");
        let errors: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
        assert!(errors.is_empty(), "{errors:?}");
        assert_eq!(document["schema"], format!("plimsoll.{kind}/1"));
    }
}

impl Ended {
    /// Asserts success.
    #[track_caller]
    pub fn ok(self) -> Self {
        self.ends(0)
    }

    /// Asserts that a measurement ran to its end: 0, or 98 where what else this machine does makes it doubtful.
    #[track_caller]
    pub fn measured(self) -> Self {
        let code = if self.code == 98 { 98 } else { 0 };
        self.ends(code)
    }

    /// Asserts an exit code, and that nothing panicked.
    #[track_caller]
    pub fn ends(self, code: i32) -> Self {
        assert!(self.code == code && !self.stderr.contains("panicked"), "{self:#?}");
        self
    }

    /// Asserts what standard error holds.
    #[track_caller]
    pub fn says(self, needle: &str) -> Self {
        assert!(self.stderr.contains(needle), "no `{needle}` in {self:#?}");
        self
    }

    /// Asserts what standard output holds, wherever its lines are wrapped.
    #[track_caller]
    pub fn prints(self, needle: &str) -> Self {
        let unwrapped = unwrapped(&self.stdout);
        assert!(
            self.stdout.contains(needle) || unwrapped.contains(needle),
            "no `{needle}` in {self:#?}"
        );
        self
    }

    /// Asserts a refusal of three lines: what is wrong, the text, and a caret below the place.
    #[track_caller]
    pub fn refuses_at(self, needle: &str, caret: &str) {
        let lines: Vec<&str> = self.stderr.lines().collect();
        let clear = lines.len() == 3 && lines[0].contains(needle) && lines[2] == caret;
        assert!(clear && self.stdout.is_empty(), "no `{needle}` over `{caret}` in {self:#?}");
        self.ends(2);
    }

    /// Asserts a refusal: one line on standard error that holds `needle`, and nothing else.
    #[track_caller]
    pub fn refuses(self, code: i32, needle: &str) {
        let lines = self.stderr.trim_end().lines().count();
        let clear = lines == 1 && self.stderr.contains(needle) && self.stdout.is_empty();
        assert!(clear, "no single line with `{needle}` in {self:#?}");
        self.ends(code);
    }
}

/// `plimsoll target` on a free port, ended on drop.
#[derive(Debug)]
pub struct Target(ServerProcess);

impl Target {
    pub fn start() -> Self {
        Self::listen("127.0.0.1:0")
    }

    /// Ends it, and starts another in its place when something is done.
    pub fn pause(self, meanwhile: impl FnOnce()) -> Self {
        let address = self.0.address().to_owned();
        drop(self);
        meanwhile();
        Self::listen(&address)
    }

    /// Ends it; one more connection is taken at its address, and none after that.
    pub fn dies_behind_the_next_connection(self) {
        let address = self.0.address().to_owned();
        drop(self);
        let begun = Instant::now();
        // What was killed may go on listening for some milliseconds.
        let door = loop {
            match TcpListener::bind(&address) {
                Ok(door) => break door,
                Err(error) => assert!(begun.elapsed() < Duration::from_secs(60), "{error}"),
            }
            thread::sleep(Duration::from_millis(10));
        };
        thread::spawn(move || drop(door.accept()));
    }

    fn listen(address: &str) -> Self {
        let arguments = ["target", "--listen", address, "--threads", "1"];
        Self(ServerProcess::start(Command::new(PLIMSOLL).args(arguments)))
    }

    /// The URL of a path.
    pub fn url(&self, path: &str) -> String {
        self.0.url(path)
    }
}

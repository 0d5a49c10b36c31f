//! A run in one line.

use std::process::{Command, Stdio};

use model::{ReasonCode, Run, Verdict};
use target::{Options, Server};

/// The program under test.
pub const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");
/// Longest that a command may take before it counts as hanging.
const PATIENCE_S: &str = "90";

/// The kernel interfaces that work here.
pub fn interfaces() -> Vec<&'static str> {
    if net::uring_works() { vec!["epoll", "uring"] } else { vec!["epoll"] }
}

/// How a command ended.
#[derive(Debug)]
pub struct Ended {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

/// `plimsoll` with words separated by blanks, ended by force if it hangs.
pub fn command(line: &str) -> Command {
    command_of(line.split_whitespace())
}

/// `plimsoll` with these arguments.
pub fn command_of<'a>(args: impl IntoIterator<Item = &'a str>) -> Command {
    let mut command = Command::new("timeout");
    command.args(["-k", "5", PATIENCE_S, PLIMSOLL]).args(args).stdin(Stdio::null());
    // Where the last run is kept, and what outlasts it: not the calibration of whoever runs the tests.
    command.current_dir(env!("CARGO_TARGET_TMPDIR"));
    command.env("XDG_STATE_HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/state"));
    command
}

/// Runs a command to its end.
#[track_caller]
pub fn end(mut command: Command) -> Ended {
    let output = command.output().expect("the program starts");
    let ended = Ended {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    };
    assert!(!ended.stderr.contains("panicked"), "{ended:#?}");
    assert!(![124, 137].contains(&ended.code), "it hung: {ended:#?}");
    ended
}

/// `plimsoll LINE`, to its end.
#[track_caller]
pub fn plimsoll(line: &str) -> Ended {
    end(command(line))
}

impl Ended {
    /// Asserts a refusal: one line on standard error, beginning with our name.
    #[track_caller]
    pub fn refuses(&self, code: i32, needle: &str) {
        let lines = self.stderr.trim_end().lines().count();
        let clear = lines == 1 && self.stderr.starts_with("plimsoll: ");
        assert!(clear && self.stderr.contains(needle), "no single line with `{needle}`: {self:#?}");
        assert_eq!(self.code, code, "{self:#?}");
    }

    /// As `refuses` with 1, where a run was made first: 98 if what else this machine does makes its result doubtful.
    #[track_caller]
    pub fn refuses_after_a_run(&self, needle: &str) {
        self.refuses(if self.code == 98 { 98 } else { 1 }, needle);
    }
}

/// A run with its result.
#[derive(Debug)]
pub struct Loaded {
    pub ended: Ended,
    pub run: Run,
}

/// `plimsoll run URL FLAGS`, with its result read back and its counts found to add up.
#[track_caller]
pub fn load(url: &str, flags: &str) -> Loaded {
    let ended = plimsoll(&format!("run {url} --format json -q {flags}"));
    loaded(ended)
}

#[track_caller]
pub fn loaded(ended: Ended) -> Loaded {
    let run: Run = match serde_json::from_str(&ended.stdout) {
        Ok(run) => run,
        Err(error) => panic!("no result ({error}): {ended:#?}"),
    };
    adds_up(&run);
    Loaded { ended, run }
}

/// Every attempt ended in exactly one way, and every response had a status.
#[track_caller]
pub fn adds_up(run: &Run) {
    let totals = &run.totals;
    let ends = totals.succeeded + totals.unsent + totals.unfinished + totals.errors.total();
    assert_eq!(totals.attempts, ends, "{totals:?}");
    assert_eq!(totals.requests, totals.statuses.values().sum::<u64>(), "{totals:?}");
    assert_eq!(run.first_byte_ns.count, totals.requests, "{totals:?}");
}

impl Loaded {
    /// The classes of failures that occurred, with `ok` for successes; unfinished ones are left out.
    pub fn ways(&self) -> Vec<&'static str> {
        let totals = &self.run.totals;
        let succeeded = (totals.succeeded > 0).then_some("ok");
        let failed = totals.errors.occurred().map(|(class, _)| class.name());
        succeeded.into_iter().chain(failed).collect()
    }

    /// Asserts that it ran to its end, and that nothing but what else this machine does makes its result doubtful.
    #[track_caller]
    pub fn done(self) -> Run {
        assert_eq!(self.ended.code, i32::from(verdict::exit_code(&self.run)), "{:#?}", self.ended);
        for reason in &self.run.validity.reasons {
            let doubtful = reason.consequence != Verdict::Valid;
            assert!(
                !doubtful || OF_THE_MACHINE.contains(&reason.code),
                "{reason:?}: {:#?}",
                self.ended
            );
        }
        self.run
    }
}

/// Reasons that a run has when other programs take the processors: no test can rule them out.
const OF_THE_MACHINE: [ReasonCode; 11] = [
    ReasonCode::AchievedBelowOffered,
    ReasonCode::BusyNeighbour,
    ReasonCode::ClockJumped,
    ReasonCode::Dips,
    ReasonCode::GeneratorPaused,
    ReasonCode::LateSends,
    ReasonCode::MemoryShort,
    ReasonCode::ObservedLate,
    ReasonCode::SharedCores,
    ReasonCode::Throttled,
    ReasonCode::WorkersSaturated,
];

impl Ended {
    /// Asserts that a measurement ran to its end: 0, or 98 where what else this machine does makes it doubtful.
    #[track_caller]
    pub fn measured(self) -> Self {
        assert!([0, 98].contains(&self.code), "{self:#?}");
        self
    }
}

/// The built-in server in this process, on a free port.
pub fn server() -> Server {
    server_with(|_| {})
}

/// The same with other options.
pub fn server_with(change: impl FnOnce(&mut Options)) -> Server {
    let mut options = Options {
        listen: "127.0.0.1:0".parse().expect("an address"),
        threads: Some(1),
        share_files: true,
        ..Options::default()
    };
    change(&mut options);
    Server::start(options).expect("the server starts")
}

/// The URL of a path on the built-in server.
pub fn url(server: &Server, path: &str) -> String {
    format!("http://{}{path}", server.addr())
}

//! Predictions of `plimsoll profile whatif` against what the changed server then did, on the case study's API server; and
//! servers whose processor is not their limit, of which nothing may be predicted.
//!
//! They measure, so they belong to `cargo xtask truth predictions`, on a machine with little else to do: they are ignored
//! in `cargo test`. The server has one processor, the generator the other, and the generator of the predicted runs spins: to
//! wake one that sleeps costs the server processor time, the less the busier the generator is, which a client on another
//! machine would not cost it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::needs;
use testkit::process::ServerProcess;

const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");

/// The middlewares of the case study's configuration, in its order, with their functions.
const MIDDLEWARES: [(&str, &str); 7] = [
    ("logger", "middleware.logger"),
    ("requestid", "middleware.requestID"),
    ("context", "middleware.requestContext"),
    ("recovery", "middleware.recovery"),
    ("nocache", "middleware.noCache"),
    ("cors", "middleware.cors"),
    ("secure", "middleware.secure"),
];

/// What is removed: each that can be seen in a profile alone, and groups.
const CASES: [&[&str]; 13] = [
    &["logger"],
    &["requestid"],
    &["context"],
    &["nocache"],
    &["secure"],
    &["requestid", "secure"],
    &["logger", "nocache", "secure"],
    &["logger", "requestid"],
    &["nocache", "cors", "secure"],
    &["requestid", "context"],
    &["logger", "context", "nocache"],
    &["logger", "requestid", "context"],
    &["logger", "requestid", "context", "nocache", "cors", "secure"],
];

/// The load of the runs that are profiled and compared.
const LOAD: &str = "-c 64 --spin";
/// Profiles that each prediction is made from.
const PROFILES: usize = 3;
/// Runs of the server without some of its middlewares, each beside one of the server with all: on a machine that others
/// use too, one run of a few seconds differs from the next by some hundredths, whatever the server is.
const ROUNDS: usize = 5;

/// Starts a server with one of Go's processors.
fn start(command: &mut Command) -> ServerProcess {
    ServerProcess::start(command.env("GOMAXPROCS", "1").stderr(Stdio::null()))
}

fn on_processor(number: &str, program: &Path) -> Command {
    let mut command = Command::new("taskset");
    command.args(["-c", number]).arg(program);
    command
}

struct Bench(TempDir);

impl Bench {
    fn new() -> Self {
        Self(testkit::casestudy::folder())
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn build(&self, name: &str, arguments: &[&str], module: &str) -> PathBuf {
        let binary = self.path(name);
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(module);
        let mut go = Command::new(needs::path("go").expect("looked for"));
        go.args(["build", "-o"]).arg(&binary).args(arguments).current_dir(folder);
        assert!(go.status().expect("Go runs").success(), "{name} does not build");
        binary
    }

    /// The API server without some of its middlewares, its files under this name.
    fn api(&self, binary: &Path, without: &[&str], name: &str) -> ServerProcess {
        let names =
            MIDDLEWARES.iter().map(|(name, _)| *name).filter(|name| !without.contains(name));
        let names = names.collect::<Vec<_>>().join(", ");
        let log = self.path(&format!("{name}.log"));
        let config = format!(
            "server:\n  mode: release\n  addr: 127.0.0.1:0\n  middlewares: [{names}]\nlog:\n  level: info\n  \
             output-paths:\n    - {}\nfeature:\n  profiling: true\n",
            log.display()
        );
        let place = self.path(&format!("{name}.yaml"));
        fs::write(&place, config).expect("a file");
        start(on_processor("1", binary).arg("-config").arg(place))
    }

    /// Requests per second of a run.
    fn run(&self, url: &str, flags: &str) -> f64 {
        let qps = self.run_into(url, flags, "run");
        fs::remove_dir_all(self.path("run")).expect("the run's folder goes");
        qps
    }

    /// The same, with its result kept in a folder of this name.
    fn run_into(&self, url: &str, flags: &str, out: &str) -> f64 {
        let mut command = on_processor("0", Path::new(PLIMSOLL));
        command.args(["run", url, "-t", "1", "-q"]).args(flags.split_whitespace());
        command.arg("--out").arg(self.path(out)).env("XDG_STATE_HOME", self.path("state"));
        let ended = command.output().expect("the program starts");
        let text = fs::read_to_string(self.path(out).join("run.json"));
        let text = text.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&ended.stderr)));
        let run: Value = serde_json::from_str(&text).expect("JSON");
        run["rates"]["requests_per_s"].as_f64().expect("a rate")
    }

    fn whatif(&self, dir: &str, functions: &[&str]) -> Value {
        let mut command = Command::new(PLIMSOLL);
        command
            .args(["profile", "whatif"])
            .arg(self.path(dir))
            .args(functions)
            .args(["--format", "json"]);
        let ended = command.output().expect("the program starts");
        let words = String::from_utf8_lossy(&ended.stderr).into_owned();
        serde_json::from_slice(&ended.stdout).unwrap_or_else(|_| panic!("{words}"))
    }
}

/// Prints a claim, and returns whether it is met.
fn claim(claim: &str, reach: &str, got: &str, met: bool) -> bool {
    println!("truth | {claim} | {reach} | {got} | {}", if met { "yes" } else { "no" });
    met
}

/// What a case brought.
struct Measured {
    /// The rate over that of the server with all of its middlewares, the median of the rounds.
    gain: f64,
    /// The mean rate.
    qps: f64,
}

fn measure(bench: &Bench, binary: &Path, without: &[&str]) -> Measured {
    let servers = [bench.api(binary, &[], "all"), bench.api(binary, without, "some")];
    let (mut gains, mut sum) = (Vec::new(), 0.0);
    for round in 0..ROUNDS {
        let mut rates = [0.0; 2];
        // A B B A: what drifts meets both alike.
        for turn in [round % 2, 1 - round % 2] {
            let url = servers[turn].url("/healthz");
            rates[turn] = bench.run(&url, &format!("{LOAD} -d 2s --warmup 500ms"));
        }
        gains.push(rates[1] / rates[0]);
        sum += rates[1];
    }
    // The median: some pairs of a machine that others use too are off by a fifth.
    gains.sort_by(f64::total_cmp);
    Measured { gain: gains[ROUNDS / 2], qps: sum / ROUNDS as f64 }
}

/// How far a prediction was off, and whether what was measured lies in its interval.
fn judged(predicted: [f64; 3], measured: f64) -> (f64, bool) {
    let [low, predicted, high] = predicted;
    ((predicted / measured - 1.0) * 100.0, low <= measured && measured <= high)
}

/// A prediction beside what was measured, judged by the gain and by the rate; nothing where it was refused.
fn compared(name: &str, what: &Value, measured: &Measured) -> Option<[(f64, bool); 2]> {
    if !what["refused"].is_null() {
        println!("{name}: {}", what["refused"]);
        return None;
    }
    let figure = |name: &str| what[name].as_f64().expect("a figure");
    let rates = ["qps_low", "qps_predicted", "qps_high"].map(figure);
    let gains = rates.map(|qps| qps / figure("qps_now"));
    let (by_gain, by_rate) = (judged(gains, measured.gain), judged(rates, measured.qps));
    let word = |held: bool| if held { "" } else { ", outside" };
    println!(
        "{name}: {:.2} times the rate predicted ({:.2} to {:.2}), {:.2} measured in turns: {:+.1} %{}; {:.0}/s predicted, {:.0} \
         measured: {:+.1} %{}",
        gains[1],
        gains[0],
        gains[2],
        measured.gain,
        by_gain.0,
        word(by_gain.1),
        rates[1],
        measured.qps,
        by_rate.0,
        word(by_rate.1)
    );
    Some([by_gain, by_rate])
}

/// The median and the largest of errors, and the share of the intervals that held, all in percent.
fn summed_up(judged: &[(f64, bool)]) -> [f64; 3] {
    let mut errors: Vec<f64> = judged.iter().map(|(error, _)| error.abs()).collect();
    errors.sort_by(f64::total_cmp);
    let held = judged.iter().filter(|(_, held)| *held).count();
    let share = held as f64 / judged.len() as f64 * 100.0;
    [errors[errors.len() / 2], errors[errors.len() - 1], share]
}

#[test]
#[ignore = "minutes of measuring; `cargo xtask truth predictions` runs it"]
fn removing_middlewares_does_what_was_predicted() {
    if !needs::has("go") || !needs::has("taskset") {
        return;
    }
    let bench = Bench::new();
    let binary = bench.build("apiserver", &["./cmd/apiserver"], "../../casestudy");
    for number in 0..PROFILES {
        let server = bench.api(&binary, &[], "all");
        let flags = format!("{LOAD} -d 12s --warmup 2s --profile {}", server.url(""));
        bench.run_into(&server.url("/healthz"), &flags, &format!("profiled{number}"));
    }
    let (mut in_turns, mut alone, mut refused) = (Vec::new(), Vec::new(), 0);
    for without in CASES {
        let function =
            |name: &&str| MIDDLEWARES.iter().find(|(known, _)| known == name).expect("known").1;
        let functions: Vec<&str> = without.iter().map(function).collect();
        let name = without.join("+");
        let measured = measure(&bench, &binary, without);
        for number in 0..PROFILES {
            let what = bench.whatif(&format!("profiled{number}"), &functions);
            match compared(&name, &what, &measured) {
                Some([by_gain, by_rate]) => {
                    in_turns.push(by_gain);
                    alone.push(by_rate);
                }
                None => refused += 1,
            }
        }
    }
    assert!(!in_turns.is_empty(), "all {refused} predictions were refused: is the machine busy?");
    let [median, worst, inside] = summed_up(&alone);
    println!(
        "truth | the same against the mean rate alone, minutes later: median error, worst, inside | for information | \
         {median:.1} %, {worst:.1} %, {inside:.0} % | -"
    );
    let [median, worst, inside] = summed_up(&in_turns);
    let met = [
        claim(
            "predictions made: 13 removals of middlewares, alone and in groups, from 3 profiles each",
            ">= 36",
            &format!("{}, {refused} refused", in_turns.len()),
            in_turns.len() >= 36,
        ),
        claim(
            "predicted QPS against that measured in turns with the server before, median error",
            "<= 7 %",
            &format!("{median:.1} %"),
            median <= 7.0,
        ),
        claim(
            "predicted QPS against that measured in turns, worst error",
            "<= 15 %",
            &format!("{worst:.1} %"),
            worst <= 15.0,
        ),
        claim(
            "QPS measured in turns, inside the predicted interval",
            ">= 90 %",
            &format!("{inside:.0} %"),
            inside >= 90.0,
        ),
    ];
    assert!(met.iter().all(|met| *met), "a claim is not met");
}

#[test]
#[ignore = "a minute of measuring; `cargo xtask truth predictions` runs it"]
fn nothing_is_predicted_where_the_processor_is_not_the_limit() {
    if !needs::has("go") || !needs::has("taskset") {
        return;
    }
    let bench = Bench::new();
    let binary = bench.build("waits", &["waits.go"], "tests/predicted");
    let server = start(&mut on_processor("1", &binary));
    let mut refused = Vec::new();
    for (name, path, function, load) in [
        ("a lock", "lock", "main.held", "-c 32"),
        ("a database", "database", "main.asked", "-c 32"),
        ("a paced generator", "plain", "main.plain", "-c 16 --pace 10ms"),
        ("a fixed rate", "plain", "main.plain", "-c 16 -R 2000"),
    ] {
        let flags = format!("{load} -d 7s --warmup 2s --profile {}", server.url(""));
        bench.run_into(&server.url(&format!("/{path}")), &flags, path);
        // A function that is always there: the one that waits may be in no sample at all.
        let what = bench.whatif(path, &["net/http.(*conn).serve"]);
        println!("{name} ({function}): {}", what["refused"]);
        refused.push(what["refused"].is_string() && what["qps_predicted"].is_null());
    }
    let count = refused.iter().filter(|refused| **refused).count();
    let met = claim(
        "predictions refused where a database, a lock or the generator is the limit",
        "every time",
        &format!("{count} of {}", refused.len()),
        count == refused.len(),
    );
    assert!(met, "something was predicted");
}

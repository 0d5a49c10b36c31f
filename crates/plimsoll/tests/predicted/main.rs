//! Predictions of `plimsoll profile whatif` against what the changed server then did, on the case study's API server; and
//! servers whose processor is not their limit, of which nothing may be predicted.
//!
//! They measure, so they belong to `cargo xtask truth predictions`, on a machine with little else to do: they are ignored
//! in `cargo test`. The server has one processor, the generator the other.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;
use tempfile::TempDir;
use testkit::needs;

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

/// Times that everything is measured: one run of a restarted server differs from the next by some hundredths.
const ROUNDS: usize = 3;

/// A server on processor 1, ended on drop.
struct Server {
    child: Child,
    url: String,
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let child = command.env("GOMAXPROCS", "1").stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = child.spawn().expect("it starts");
        let mut line = String::new();
        let stdout = child.stdout.take().expect("its output");
        BufReader::new(stdout).read_line(&mut line).expect("its first line");
        let at = line.find("http://").expect("its URL");
        let authority = line[at + 7..].split('/').next().expect("an address").trim();
        Self { child, url: format!("http://{authority}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // Already ended is as good.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
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

    /// The API server without some of its middlewares.
    fn api(&self, binary: &Path, without: &[&str]) -> Server {
        let names =
            MIDDLEWARES.iter().map(|(name, _)| *name).filter(|name| !without.contains(name));
        let names = names.collect::<Vec<_>>().join(", ");
        let log = self.path("api.log");
        let config = format!(
            "server:\n  mode: release\n  addr: 127.0.0.1:0\n  middlewares: [{names}]\nlog:\n  level: info\n  \
             output-paths:\n    - {}\nfeature:\n  profiling: true\n",
            log.display()
        );
        let place = self.path("config.yaml");
        fs::write(&place, config).expect("a file");
        Server::start(on_processor("1", binary).arg("-config").arg(place))
    }

    /// Requests per second of a run.
    fn run(&self, url: &str, flags: &str, out: &str) -> f64 {
        let mut command = on_processor("0", Path::new(PLIMSOLL));
        command
            .args(["run", url, "-t", "1", "-q", "--warmup", "2s"])
            .args(flags.split_whitespace());
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

/// Profiles the server with all of its middlewares in each round, and measures it without each case's: the rates of the
/// rounds.
fn measure(bench: &Bench, binary: &Path) -> [[f64; ROUNDS]; CASES.len()] {
    let mut measured = [[0.0; ROUNDS]; CASES.len()];
    for round in 0..ROUNDS {
        {
            let before = bench.api(binary, &[]);
            let flags = format!("-c 64 -d 12s --profile {}", before.url);
            bench.run(&format!("{}/healthz", before.url), &flags, &format!("before{round}"));
        }
        for (at, without) in CASES.iter().enumerate() {
            let after = bench.api(binary, without);
            let out = format!("after{round}-{at}");
            measured[at][round] = bench.run(&format!("{}/healthz", after.url), "-c 64 -d 5s", &out);
        }
    }
    measured
}

fn mean(of: &[f64]) -> f64 {
    of.iter().sum::<f64>() / of.len() as f64
}

/// By how much the rates of the same server, restarted, differ: their standard deviation as a share, of all cases together.
fn between_restarts(measured: &[[f64; ROUNDS]]) -> f64 {
    let squares = measured.iter().flat_map(|rounds| {
        let mean = mean(rounds);
        rounds.iter().map(move |qps| (qps / mean - 1.0).powi(2))
    });
    (squares.sum::<f64>() / (measured.len() * (ROUNDS - 1)) as f64).sqrt()
}

#[test]
#[ignore = "minutes of measuring; `cargo xtask truth predictions` runs it"]
fn removing_middlewares_does_what_was_predicted() {
    if !needs::has("go") || !needs::has("taskset") {
        return;
    }
    let bench = Bench::new();
    let binary = bench.build("apiserver", &["./cmd/apiserver"], "../../casestudy");
    let measured = measure(&bench, &binary);
    let (mut errors, mut inside, mut refused) = (Vec::new(), 0, 0);
    for (without, rounds) in CASES.iter().zip(&measured) {
        let qps = mean(rounds);
        let function =
            |name: &&str| MIDDLEWARES.iter().find(|(known, _)| known == name).expect("known").1;
        let functions: Vec<&str> = without.iter().map(function).collect();
        let name = without.join("+");
        for round in 0..ROUNDS {
            let what = bench.whatif(&format!("before{round}"), &functions);
            let Some(predicted) = what["qps_predicted"].as_f64() else {
                println!("{name}: {}", what["refused"]);
                refused += 1;
                continue;
            };
            let (low, high) =
                (what["qps_low"].as_f64().unwrap(), what["qps_high"].as_f64().unwrap());
            let holds = low <= qps && qps <= high;
            println!(
                "{name}: {:.0} now, {predicted:.0} predicted ({low:.0} to {high:.0}), {qps:.0} measured: {:+.1} %{}",
                what["qps_now"].as_f64().unwrap(),
                (predicted / qps - 1.0) * 100.0,
                if holds { "" } else { ", outside" }
            );
            inside += usize::from(holds);
            errors.push((predicted / qps - 1.0).abs() * 100.0);
        }
    }
    let restarts = between_restarts(&measured) * 100.0;
    println!(
        "truth | rates of one server, restarted: standard deviation | for information | {restarts:.1} % | -"
    );
    assert!(!errors.is_empty(), "all {refused} predictions were refused: is the machine busy?");
    errors.sort_by(f64::total_cmp);
    let (median, worst) = (errors[errors.len() / 2], errors[errors.len() - 1]);
    let share = inside as f64 / errors.len() as f64 * 100.0;
    let met = [
        claim(
            "predictions made: 13 removals of middlewares, alone and in groups, from 3 profiles each",
            ">= 36",
            &format!("{}, {refused} refused", errors.len()),
            errors.len() >= 36,
        ),
        claim(
            "predicted QPS against the mean of 3 runs, median error",
            "<= 7 %",
            &format!("{median:.1} %"),
            median <= 7.0,
        ),
        claim(
            "predicted QPS against the mean of 3 runs, worst error",
            "<= 15 %",
            &format!("{worst:.1} %"),
            worst <= 15.0,
        ),
        claim(
            "measured QPS inside the predicted interval",
            ">= 90 %",
            &format!("{share:.0} %"),
            share >= 90.0,
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
    let server = Server::start(&mut on_processor("1", &binary));
    let mut refused = Vec::new();
    for (name, path, function, load) in [
        ("a lock", "lock", "main.held", "-c 32"),
        ("a database", "database", "main.asked", "-c 32"),
        ("a paced generator", "plain", "main.plain", "-c 16 --pace 10ms"),
        ("a fixed rate", "plain", "main.plain", "-c 16 -R 2000"),
    ] {
        let flags = format!("{load} -d 7s --profile {}", server.url);
        bench.run(&format!("{}/{path}", server.url), &flags, path);
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

//! The folder that the story is played in, and the program that plays it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::TempDir;
use testkit::casestudy::{self, Built, Server};

/// Where the program runs.
#[derive(Debug)]
pub struct Stage(TempDir);

impl Stage {
    pub fn new() -> Self {
        Self(casestudy::folder())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Runs `plimsoll` on the generator's processor; what it printed. Exit codes up to 2 are its own failures, those above
    /// say how it judged.
    pub fn plimsoll(&self, line: &str) -> String {
        self.plimsoll_with(line, &[])
    }

    /// As [`plimsoll`](Self::plimsoll), with words that hold blanks.
    pub fn plimsoll_with(&self, line: &str, words: &[&str]) -> String {
        let program = std::env::var_os("PLIMSOLL_STORY_PROGRAM");
        let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_plimsoll").into());
        let mut command = Command::new("taskset");
        command.args(["-c", "0"]).arg(program).args(line.split_whitespace()).args(words);
        command.current_dir(self.0.path()).env("XDG_STATE_HOME", self.path("state"));
        let ended = command.output().expect("the program starts");
        let code = ended.status.code().unwrap_or(1);
        let told = String::from_utf8_lossy(&ended.stderr);
        assert!(code == 0 || code > 2, "{line}: {code}: {told}");
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// The charts in a folder of results, in the order of their names.
    pub fn charts(&self, folder: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(folder)).expect("its folder").flatten();
        let mut places: Vec<PathBuf> = (entries.map(|entry| entry.path()))
            .filter(|path| path.extension().is_some_and(|end| end == "svg"))
            .collect();
        places.sort();
        places.iter().map(|path| fs::read_to_string(path).expect("a chart")).collect()
    }

    pub fn json(&self, line: &str) -> Value {
        let text = self.plimsoll(&format!("{line} --format json"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{line}: {error}: {text}"))
    }

    /// The API server with these middlewares, at this log level. A debug log goes to a file and to the console, which ends
    /// in a file as well.
    pub fn api(&self, built: &Built, level: &str, middlewares: &[&str]) -> Server {
        let folder = self.path(&format!("api-{level}-{}", middlewares.len()));
        fs::create_dir_all(&folder).expect("a folder");
        let (mode, paths) = match level {
            "debug" => ("debug", "apiserver.log, console.log"),
            _ => ("release", "apiserver.log"),
        };
        let config = format!(
            "server:\n  mode: {mode}\n  addr: 127.0.0.1:0\n  middlewares: [{}]\nlog:\n  level: {level}\n  \
             output-paths: [{paths}]\nfeature:\n  profiling: true\n",
            middlewares.join(", ")
        );
        fs::write(folder.join("config.yaml"), config).expect("a file");
        built.start(&folder, &[]).expect("the API server starts")
    }

    /// A folder for a server.
    pub fn folder(&self, name: &str) -> PathBuf {
        let folder = self.path(name);
        fs::create_dir_all(&folder).expect("a folder");
        folder
    }
}

/// `http://ADDRESS/PATH`.
pub fn url(server: &Server, path: &str) -> String {
    format!("http://{}/{path}", server.address)
}

/// The requests per second of a run's folder, and the server's processor time for each in microseconds.
pub fn cost(stage: &Stage, folder: &Path) -> (f64, f64) {
    let run = stage.text(&folder.join("run.json").display().to_string());
    let run: Value = serde_json::from_str(&run).expect("JSON");
    let qps = run["rates"]["requests_per_s"].as_f64().expect("a rate");
    let sources = run["observed"]["sources"].as_array().expect("what was watched");
    let server = sources.iter().find(|source| source["role"] == "app").expect("the server");
    let busy_ns = server["figures"]["process.cpu_ns"]["mean"].as_f64().unwrap_or(0.0);
    (qps, busy_ns / 1000.0 / qps)
}

//! How a rig is carried out: a shell script in a network namespace and a folder of its own, then `plimsoll explain`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use testkit::casestudy::Built;
use testkit::needs;

use crate::programs::COMMON;

const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");
/// What every script begins with: the loopback interface, and `api` (the built-in one), `serve` (of `server.py`), `web` (nginx,
/// by nginx.conf, up where this URL answers). Everything ends with the script, which is the first process of a namespace.
const BEFORE: &str = "set -e; ip link set lo up\n\
    up() { i=0; while ! \"$P\" run -q -n 1 -T 1s --format json \"$1\" 2> /dev/null | grep -q '\"succeeded\": 1,'; do \
    i=$((i+1)); [ $i -lt 50 ]; sleep 0.1; done; }\n\
    confirm() { \"$P\" explain out --confirm --format json > confirmed.json 2> confirm.log || :; }\n\
    web() { nginx -p . -c \"$PWD/nginx.conf\" -e error.log \
    -g 'daemon off; user root; worker_processes 1; pid nginx.pid; error_log error.log;' & up \"$1\"; }\n\
    serve() { python3 server.py & up http://127.0.0.1:9000/; }\n\
    api() { \"$P\" target --listen 127.0.0.1:9000 \"$@\" > /dev/null & API=$!; up http://127.0.0.1:9000/healthz; }\n";

/// The folder to keep the rigs' folders in, each by its name and number.
const KEEP: &str = "PLIMSOLL_FAULTS_KEEP";

/// A set-up, and what is to be found.
#[derive(Debug)]
pub struct Rig {
    pub name: &'static str,
    /// The codes that are right: the first of a single fault, both of two; none where all is well.
    pub codes: &'static [&'static str],
    /// Programs that it needs.
    pub needs: &'static [&'static str],
    /// Files beside the script.
    pub files: &'static [(&'static str, &'static str)],
    /// What comes before the script, beside what comes before each.
    pub before: &'static str,
    /// Starts servers and runs `"$P" run … --out out`; `confirm` behind it carries out the experiments too.
    pub script: &'static str,
}

/// Commands of the case study, each built once.
fn built() -> [(&'static str, PathBuf); 2] {
    static BUILT: OnceLock<[Built; 2]> = OnceLock::new();
    let [shop, server] =
        BUILT.get_or_init(|| ["shop", "apiserver"].map(|name| Built::of(name).expect("it builds")));
    [("SHOP", shop.path().to_owned()), ("APISERVER", server.path().to_owned())]
}

/// What `explain` said.
#[derive(Debug)]
pub struct Explained {
    /// The codes found, in their order.
    pub codes: Vec<String>,
    /// What experiments said of them, where they were carried out: the code, and whether it was confirmed or refuted.
    pub experiments: Vec<(String, String)>,
    /// Processor time of one sample of the dearest source, mean, in nanoseconds.
    pub cost_ns: u64,
}

impl Explained {
    fn of(folder: &Path, findings: &Value) -> Self {
        let found = findings["findings"].as_array().expect("findings");
        let code = |finding: &Value| finding["code"].as_str().expect("a code").to_owned();
        let json = |file: &str| -> Option<Value> {
            serde_json::from_slice(&fs::read(folder.join(file)).ok()?).ok()
        };
        let confirmed = json("confirmed.json");
        let tried =
            confirmed.iter().flat_map(|said| said["findings"].as_array().into_iter().flatten());
        let experiments = tried
            .filter_map(|finding| {
                Some((code(finding), finding["confirmed"]["outcome"].as_str()?.to_owned()))
            })
            .collect();
        let run = json("out/run.json").expect("a result");
        let sources = run["observed"]["sources"].as_array().into_iter().flatten();
        let cost = sources.filter_map(|source| {
            source["cost_ns"].as_u64()?.checked_div(source["samples"].as_u64()?)
        });
        Self {
            codes: found.iter().map(code).collect(),
            experiments,
            cost_ns: cost.max().unwrap_or(0),
        }
    }
}

impl Rig {
    /// Whether its programs are here; else it says so.
    pub fn can_run(&self) -> bool {
        ["unshare", "ip", "taskset"].iter().chain(self.needs).all(|program| needs::has(program))
    }

    /// Carries it out.
    pub fn carry_out(&self) -> Explained {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in COMMON.iter().chain(self.files) {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let script = format!("{BEFORE}{}{}", self.before, self.script);
        let mut command = Command::new("timeout");
        let own = ["120", "unshare", "-n", "-p", "-f", "--kill-child", "--mount-proc"];
        command.args(own).args(["sh", "-c", &script]);
        if self.needs.contains(&"go") {
            command.envs(built());
        }
        if let Some(folder) = needs::path("initdb").as_deref().and_then(Path::parent) {
            command.env("PGBIN", folder);
        }
        // Stories call it by its name.
        let path = Path::new(PLIMSOLL).parent().map_or("", |folder| folder.to_str().unwrap_or(""));
        let path = format!("{path}:{}", std::env::var("PATH").unwrap_or_default());
        command.env("PATH", path);
        command.env("P", PLIMSOLL).env("XDG_STATE_HOME", folder.path()).current_dir(folder.path());
        let ended = command.stdin(Stdio::null()).output().expect("a shell");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let explain = Command::new(PLIMSOLL)
            .args(["explain", "out", "--format", "json"])
            .current_dir(folder.path())
            .output()
            .expect("the program starts");
        if !explain.status.success() {
            // It counts as wrong, and the others are carried out.
            println!("rig {} gave no result: {said}", self.name);
            self.keep(&folder);
            return Explained { codes: vec!["-".to_owned()], experiments: Vec::new(), cost_ns: 0 };
        }
        self.keep(&folder);
        let findings: Value = serde_json::from_slice(&explain.stdout).expect("JSON");
        Explained::of(folder.path(), &findings)
    }
    /// Keeps its folder, where somebody wants to look into it.
    fn keep(&self, folder: &TempDir) {
        let Some(kept) = std::env::var_os(KEEP) else { return };
        let name = self.name.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
        let to = (1..)
            .map(|n| Path::new(&kept).join(format!("{name}-{n}")))
            .find(|to| !to.exists())
            .expect("a free name");
        fs::create_dir_all(&kept).expect("a folder");
        let copied = Command::new("cp").arg("-r").arg(folder.path()).arg(&to).status();
        assert!(copied.expect("cp starts").success(), "it was not copied to {to:?}");
    }
}

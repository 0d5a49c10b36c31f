//! How a rig is carried out: a shell script in a network namespace and a folder of its own, then `plimsoll explain`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;
use testkit::casestudy::Built;
use testkit::needs;

const PLIMSOLL: &str = env!("CARGO_BIN_EXE_plimsoll");
/// What every script begins with: the loopback interface, and the built-in API. Everything ends with the script, which
/// is the first process of a namespace.
const BEFORE: &str = "set -e; ip link set lo up\n\
    up() { i=0; while ! \"$P\" run -q -n 1 -T 1s --format json \"$1\" 2> /dev/null | grep -q '\"succeeded\": 1,'; do \
    i=$((i+1)); [ $i -lt 50 ]; sleep 0.1; done; }\n\
    api() { \"$P\" target --listen 127.0.0.1:9000 \"$@\" > /dev/null & API=$!; up http://127.0.0.1:9000/healthz; }\n";

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
    /// Starts servers and runs `"$P" run … --out out`.
    pub script: &'static str,
}

/// The case study's shop, built once.
fn shop() -> PathBuf {
    static SHOP: OnceLock<Built> = OnceLock::new();
    SHOP.get_or_init(|| Built::of("shop").expect("it builds")).path().to_owned()
}

/// What `explain` said.
#[derive(Debug)]
pub struct Explained {
    /// The codes found, in their order.
    pub codes: Vec<String>,
}

impl Rig {
    /// Whether its programs are here; else it says so.
    pub fn can_run(&self) -> bool {
        ["unshare", "ip", "taskset"].iter().chain(self.needs).all(|program| needs::has(program))
    }

    /// Carries it out.
    pub fn carry_out(&self) -> Explained {
        let folder = TempDir::new().expect("a temporary folder");
        for (name, text) in self.files {
            fs::write(folder.path().join(name), text).expect("a file");
        }
        let script = format!("{BEFORE}{}{}", self.before, self.script);
        let mut command = Command::new("timeout");
        let own = ["120", "unshare", "-n", "-p", "-f", "--kill-child", "--mount-proc"];
        command.args(own).args(["sh", "-c", &script]);
        if self.needs.contains(&"go") {
            command.env("SHOP", shop());
        }
        if let Some(folder) = needs::path("initdb").as_deref().and_then(Path::parent) {
            command.env("PGBIN", folder);
        }
        command.env("P", PLIMSOLL).env("XDG_STATE_HOME", folder.path()).current_dir(folder.path());
        let ended = command.stdin(Stdio::null()).output().expect("a shell");
        let said = String::from_utf8_lossy(&ended.stderr).into_owned();
        let explain = Command::new(PLIMSOLL)
            .args(["explain", "out", "--format", "json"])
            .current_dir(folder.path())
            .output()
            .expect("the program starts");
        assert!(explain.status.success(), "{}: {said}", self.name);
        let findings: Value = serde_json::from_slice(&explain.stdout).expect("JSON");
        let found = findings["findings"].as_array().expect("findings");
        let code = |finding: &Value| finding["code"].as_str().expect("a code").to_owned();
        Explained { codes: found.iter().map(code).collect() }
    }
}

//! What spoils a part of the load, or the generator, under `sweep`, `capacity` and `compare` in both
//! loops: each is named in what the command prints, and the exit code is not 0.

use std::process::Command;
use std::time::Duration;

use tempfile::TempDir;
use testkit::misbehaving::{Behaviour, Fault, Misbehaving};

use crate::alone;
use crate::harness::{PLIMSOLL, command, end};
use crate::held::Group;

/// What is spoilt, and how it must be named.
struct Rig {
    name: &'static str,
    server: Behaviour,
    /// Words that name it, one of which must be printed.
    named: &'static [&'static str],
    /// The rates of open loops; connections are enough for them.
    rates: [u32; 2],
    /// How long a level, a step and a run of a round last.
    seconds: u32,
}

impl Rig {
    /// A server with this fault that responds in 25 ms, so that an open loop needs a dozen connections
    /// at once too.
    fn faulty(
        name: &'static str,
        fault: Fault,
        after_s: u64,
        named: &'static [&'static str],
    ) -> Self {
        let service = Duration::from_millis(25);
        let server =
            Behaviour { service, ..Behaviour::faulty(fault, Duration::from_secs(after_s)) };
        Self { name, server, named, rates: [300, 700], seconds: 4 }
    }

    /// Each command with its load.
    fn lines(&self) -> [(&'static str, String); 6] {
        let [low, high] = self.rates;
        let each = "--rest 100ms -T 2s -t 1";
        let d = self.seconds;
        let search = format!(
            "--budget {}s --step {}s --hold {d}s",
            8 * d,
            d / 2 * if d > 5 { 2 } else { 1 }
        );
        [
            ("sweep, closed", format!("sweep --levels 20,40 -d {d}s {each} --name api")),
            ("sweep, open", format!("sweep --rates {low},{high} -c 80 -d {d}s {each} --name api")),
            ("capacity, closed", format!("capacity --closed --max 80 {search} {each}")),
            ("capacity, open", format!("capacity --max {high} {search} -c 80 {each}")),
            ("compare, closed", format!("compare --rounds 3 -d {d}s -c 20 --anyway {each}")),
            (
                "compare, open",
                format!("compare --rounds 3 -d {d}s -c 80 -R {high} --anyway {each}"),
            ),
        ]
    }

    /// Prints and asserts the claims; `held` is what holds up the generator.
    fn claims(&self, held: impl Fn(&Command) -> Command) {
        let _alone = alone();
        let unmet = self.lines().map(|(which, line)| {
            let server = Misbehaving::start(self.server.clone());
            let well = Misbehaving::start(Behaviour::well(self.server.service));
            let mut urls = format!("http://{}/", server.addr());
            if which.starts_with("compare") {
                urls = format!("http://{}/ {urls}", well.addr());
            }
            let folder = TempDir::new().expect("a temporary folder");
            let mut command = held(&command(&format!("{line} -q --out out {urls}")));
            command.current_dir(folder.path()).env("XDG_STATE_HOME", folder.path().join("state"));
            let ended = end(command);
            let text = ended.stdout.clone() + &ended.stderr;
            let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
            let named = self.named.iter().any(|name| words.contains(name));
            let met = named && ended.code != 0;
            let word = if met { "yes" } else { "no" };
            let got = format!("{}, exit {}", if named { "named" } else { "not named" }, ended.code);
            println!("truth | rigged: {which}, {} | named, exit not 0 | {got} | {word}", self.name);
            (!met).then_some(text)
        });
        let unmet: Vec<String> = unmet.into_iter().flatten().collect();
        assert!(unmet.is_empty(), "{:?}: {}", self.named, unmet.join("\n"));
    }
}

/// A command as it is.
fn as_it_is(command: &Command) -> Command {
    let mut same = Command::new(command.get_program());
    same.args(command.get_args());
    same
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn deaf_on_each_tenth_connection() {
    let rig =
        Rig::faulty("deaf on each tenth connection", Fault::Deaf, 0, &["starved_connections"]);
    // Steps of 2 s are over before it is known that no response comes.
    Rig { seconds: 6, ..rig }.claims(as_it_is);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn half_of_the_instances_reset() {
    let rig = Rig::faulty(
        "half of the instances reset",
        Fault::HalfReset,
        9,
        &["server_gone", "starved_connections"],
    );
    // Several blocks of a second are needed to see that connections were cut off at once.
    Rig { seconds: 7, ..rig }.claims(as_it_is);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn half_of_the_instances_silent() {
    Rig::faulty("half of the instances silent", Fault::HalfSilent, 5, &["starved_connections"])
        .claims(as_it_is);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn an_error_page_with_a_good_status() {
    let rig =
        Rig::faulty("error page with status 200", Fault::ErrorPage, 5, &["the responses changed"]);
    rig.claims(as_it_is);
}

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn held_by_a_quota() {
    let Some(group) = Group::with_quota(20) else {
        return eprintln!("skipped: no control group with a quota can be made here");
    };
    Rig {
        name: "generator held by a quota of 20 %",
        server: Behaviour::well(Duration::ZERO),
        named: &["throttled"],
        rates: [12_000, 15_000],
        seconds: 4,
    }
    .claims(|command| group.enter(command));
}

/// A shell that stops and continues the program that it becomes, for as long as that runs.
const STOPPING: &str = "(while sleep 1; do kill -STOP $$; sleep 0.7; kill -CONT $$ || exit; done) 2>&- & \
                        exec \"$0\" \"$@\"";

#[test]
#[ignore = "measures; `cargo xtask truth gallery` runs it"]
fn stopped_by_a_signal() {
    Rig {
        name: "generator stopped again and again",
        server: Behaviour::well(Duration::from_millis(2)),
        named: &["generator_paused"],
        rates: [300, 700],
        seconds: 4,
    }
    .claims(|command| {
        let arguments = command.get_args().skip_while(|argument| *argument != PLIMSOLL);
        let mut stopped = Command::new("timeout");
        stopped.args(["-k", "5", "90", "sh", "-c", STOPPING]).args(arguments);
        stopped
    });
}

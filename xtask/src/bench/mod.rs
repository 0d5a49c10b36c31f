//! `cargo xtask bench`: the program's costs, compared with its promises and with other clients side by
//! side.
//!
//! Owns the order of things and the result's files. `process` runs and counts, `server` and `client` say what,
//! `rounds` interleaves, `cases` turns rounds into rows.

mod cases;
mod client;
mod process;
mod proxy;
mod rounds;
mod row;
mod server;
mod statistics;
mod transit;

use std::cell::OnceCell;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Result, bail, ensure};
use pico_args::Arguments;
use serde_json::{Value, json};

use crate::golang::Go;
use crate::needs::{self, AB, GO, GOACCESS, NGINX, Need, OPENSSL, POSTGRES, VALGRIND, WRK};
use crate::{interrupt, repo};
use cases::{
    closed, fill, gate, hold, instructions, mine, open, passage, profile, scale, sizes, traffic,
};
use client::Client;
use rounds::Series;
use row::Row;
use server::Server;

/// The version of k6 that is measured against.
const K6: &str = "go.k6.io/k6@v1.8.1";
/// The version of shb that is measured against.
const SHB: &str = "0.6.0";

type Measure = fn(&Bench) -> Result<Vec<Row>>;

/// How many times longer than others two clients run that are compared alone.
const PAIR: u32 = 3;

/// Something that is measured, giving a few rows.
struct Case {
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: Measure,
}

const fn case(
    name: &'static str,
    about: &'static str,
    needs: &'static [Need],
    run: Measure,
) -> Case {
    Case { name, about, needs, run }
}

const CASES: &[Case] = &[
    case(
        "noise",
        "wrk against itself: how exact the method is on this machine",
        &[NGINX, WRK],
        closed::noise,
    ),
    case(
        "keep-alive",
        "closed loop over io_uring and epoll against wrk, own server",
        &[WRK],
        closed::keepalive,
    ),
    case("nginx", "closed loop against wrk, nginx", &[NGINX, WRK], closed::nginx),
    case("shb", "closed loop over io_uring against shb, own server", &[], sizes::short),
    case(
        "long-responses",
        "responses of 10 kB to 1 MB against wrk and shb, nginx",
        &[NGINX, WRK],
        sizes::responses,
    ),
    case("long-requests", "requests of 100 kB against wrk, nginx", &[NGINX, WRK], sizes::requests),
    case("shb-tls", "TLS 1.3 against shb, nginx", &[NGINX, OPENSSL], sizes::tls),
    case("tls", "closed loop over TLS 1.3 against wrk, nginx", &[NGINX, WRK, OPENSSL], closed::tls),
    case(
        "before",
        "this build against an earlier one, short and long responses, plain and over TLS",
        &[NGINX, OPENSSL],
        sizes::before,
    ),
    case("scripts", "the same wrk scripts against wrk, own server", &[WRK], closed::scripts),
    case(
        "endpoints",
        "twenty weighted endpoints with two pool parameters each, against one URL, own server",
        &[],
        traffic::endpoints,
    ),
    case(
        "token",
        "a JWT signed for every request, against the same request without, own server",
        &[],
        traffic::token,
    ),
    case("k6", "one URL with a random number in it, against k6, own server", &[GO], traffic::k6),
    case(
        "no-keep-alive",
        "a connection for every request, against ab, nginx",
        &[NGINX, AB],
        closed::no_keepalive,
    ),
    case(
        "open-loop",
        "20,000 requests a second on schedule, sleeping and spinning",
        &[],
        open::open_loop,
    ),
    case("memory", "resident memory, whole and per connection", &[], scale::memory),
    case(
        "observe",
        "a closed loop while its server and machine are watched, against the same without, own server",
        &[],
        closed::observe,
    ),
    case("workers", "two workers against one", &[], scale::workers),
    case("connections", "50,000 connections at once", &[], scale::connections),
    case("mine", "access logs read, against GoAccess", &[GOACCESS], mine::mine),
    case(
        "mine-memory",
        "memory to read an access log of 50 million lines in, of 10 million addresses",
        &[],
        mine::memory,
    ),
    case("profile", "a profile read and listed, against go tool pprof", &[GO], profile::top),
    case(
        "fill",
        "a million rows into PostgreSQL, against COPY of the same rows from a file",
        &[POSTGRES],
        fill::postgres,
    ),
    case(
        "gate",
        "the gateway's cost and latency, against nginx with keys and limits",
        &[NGINX],
        gate::gate,
    ),
    case(
        "gate-keys",
        "the gateway's start with a million keys, their memory, and finding one",
        &[],
        gate::many_keys,
    ),
    case(
        "gate-hold",
        "the load line held under overload, and what an honest key keeps beside a greedy one",
        &[],
        hold::hold,
    ),
    case(
        "gate-through",
        "throughput through the gateway against direct; latency beside slow clients",
        &[],
        hold::through,
    ),
    case(
        "gate-busy-poll",
        "latency that the gateway adds, with busy_poll and without",
        &[],
        passage::busy_poll,
    ),
    case("gate-reports", "latency while usage is reported", &[], passage::reports),
    case("parse", "instructions to read a response", &[VALGRIND], instructions::parse),
];

/// What the cases share: how long to measure, and the program itself.
pub struct Bench {
    rounds: u32,
    seconds: u32,
    plimsoll: OnceCell<PathBuf>,
    /// An earlier build of the program to compare with.
    before: Option<PathBuf>,
    bare_loop: OnceCell<PathBuf>,
    shb: OnceCell<PathBuf>,
}

impl Bench {
    /// Measured rounds of each comparison.
    fn rounds(&self) -> u32 {
        self.rounds
    }

    /// The release binary; built the first time it is asked for.
    fn plimsoll(&self) -> Result<&Path> {
        if self.plimsoll.get().is_none() {
            let built = repo::build(&["--release", "--package", "plimsoll"])?;
            self.plimsoll.set(built).ok();
        }
        Ok(self.plimsoll.get().expect("set above"))
    }

    fn client<'s>(&self, options: &str, server: &'s Server) -> Result<Client<'s>> {
        Ok(Client::plimsoll(self.plimsoll()?, options, server))
    }

    /// The floor under a load, closed or at `rate` requests a second: the same net without a worker on it.
    fn bare_loop<'s>(
        &self,
        io: &str,
        connections: u32,
        rate: Option<u32>,
        server: &'s Server,
    ) -> Result<Client<'s>> {
        if self.bare_loop.get().is_none() {
            let example = ["--release", "--package", "net", "--example", "bare_loop"];
            self.bare_loop.set(repo::build(&example)?).ok();
        }
        let program = self.bare_loop.get().expect("set above");
        Ok(Client::bare_loop(program, io, connections, rate, server))
    }

    /// This program with the workload in `file`, which is for `server`.
    fn workload<'s>(&self, file: &Path, options: &str, server: &'s Server) -> Result<Client<'s>> {
        Ok(Client::plimsoll_with(self.plimsoll()?, file, options, server))
    }

    /// k6 with the script in `file`.
    fn k6<'s>(&self, file: &Path, users: u32, server: &'s Server) -> Result<Client<'s>> {
        Ok(Client::k6(&Go::find()?.install(K6)?, file, users, server))
    }

    /// shb, built the first time and kept beside what cargo builds.
    fn shb<'s>(&self, connections: u32, server: &'s Server) -> Result<Client<'s>> {
        if self.shb.get().is_none() {
            self.shb.set(repo::install("shb", SHB)?).ok();
        }
        Ok(Client::shb(self.shb.get().expect("set above"), connections, server))
    }

    /// The program's own server on the second core, one for each of `N` clients.
    fn targets<const N: usize>(&self) -> Result<[Server; N]> {
        let plimsoll = self.plimsoll()?;
        server::each(|| Server::target(plimsoll, "1", 1))
    }

    fn interleave<const N: usize>(&self, clients: [Client; N]) -> Result<[Series; N]> {
        rounds::interleave(&clients, self.seconds, self.rounds)
    }

    /// Two clients in turns. What a program does by the clock it does while it is paused too: the fewer take turns, the less of it
    /// counts too much. They run for so long that what is done once, at the start and the end, hardly counts.
    fn pair(&self, one: Client, other: Client) -> Result<[Series; 2]> {
        rounds::take_turns(&[one, other], self.seconds * PAIR, self.rounds)
    }

    fn take_turns<const N: usize>(&self, clients: [Client; N]) -> Result<[Series; N]> {
        rounds::take_turns(&clients, self.seconds, self.rounds)
    }
}

pub fn help() -> String {
    let cases: Vec<String> =
        CASES.iter().map(|case| format!("  {:14} {}\n", case.name, case.about)).collect();
    format!(
        "Measures the program against what it promises, and against other clients in interleaved rounds.

Usage: cargo xtask bench [OPTIONS] [CASE...]

Cases (without names, all):
{}
Options:
      --rounds <N>   measured rounds of each comparison [default: 5]
      --seconds <N>  time that each client runs in a round [default: 2]
      --quick        2 rounds of 1 second: does it work at all?
      --binary <P>   measure this plimsoll instead of building one
      --before <P>   the earlier build that `before` compares with
  -h, --help         print this

Needs two cores: clients run on core 0, servers on core 1, unless a case says otherwise. Leave the machine alone
meanwhile. The rows are printed as a table and kept in bench/out as JSON. Fails if something could not be measured,
not if a promise is missed.",
        cases.concat()
    )
}

pub fn main(mut arguments: Arguments) -> Result<()> {
    let (rounds, seconds) = if arguments.contains("--quick") { (2, 1) } else { (5, 2) };
    let rounds = arguments.opt_value_from_str("--rounds")?.unwrap_or(rounds);
    let seconds = arguments.opt_value_from_str("--seconds")?.unwrap_or(seconds);
    ensure!(rounds > 0 && seconds > 0, "--rounds and --seconds must be at least 1");
    let plimsoll = OnceCell::new();
    if let Some(binary) = arguments.opt_value_from_str::<_, PathBuf>("--binary")? {
        plimsoll.set(binary.canonicalize()?).ok();
    }
    let before = arguments.opt_value_from_str::<_, PathBuf>("--before")?;
    let before = before.map(|binary| binary.canonicalize()).transpose()?;
    let cases = crate::pick(CASES, &crate::names(arguments)?, |case| case.name)?;
    let cores = std::thread::available_parallelism()?.get();
    ensure!(cores >= 2, "measuring needs two cores, one for the client and one for the server");
    let needs: Vec<Need> = cases.iter().flat_map(|case| case.needs).copied().collect();
    needs::install(needs)?;
    let (bare_loop, shb) = (OnceCell::new(), OnceCell::new());
    measure(&cases, &Bench { rounds, seconds, plimsoll, before, bare_loop, shb })
}

fn measure(cases: &[&Case], bench: &Bench) -> Result<()> {
    let mut rows = Vec::new();
    let mut failed = Vec::new();
    for case in cases {
        println!("\n== {}: {}", case.name, case.about);
        match (case.run)(bench) {
            Ok(measured) => rows.extend(measured),
            Err(error) => {
                interrupt::check()?;
                println!("{} could not be measured: {error:#}", case.name);
                failed.push(case.name);
            }
        }
    }
    if !rows.is_empty() {
        report(&rows, bench)?;
    }
    if failed.is_empty() { Ok(()) } else { bail!("could not be measured: {}", failed.join(", ")) }
}

fn report(rows: &[Row], bench: &Bench) -> Result<()> {
    let promised = rows.iter().filter_map(Row::met);
    println!("\n{}", row::table(rows));
    println!(
        "{} of {} promises met; medians of {} interleaved rounds of {} s, of pairs {} s",
        promised.clone().filter(|met| *met).count(),
        promised.count(),
        bench.rounds,
        bench.seconds,
        bench.seconds * PAIR
    );
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let folder = repo::root().join("bench/out");
    fs::create_dir_all(&folder)?;
    let file = folder.join(format!("{now}.json"));
    let result = json!({
        "measured_at_unix_s": now,
        "rounds": bench.rounds,
        "seconds": bench.seconds,
        "environment": environment(),
        "rows": rows.iter().map(Row::json).collect::<Vec<_>>(),
    });
    fs::write(&file, serde_json::to_string_pretty(&result)? + "\n")?;
    println!("kept in bench/out/{now}.json");
    Ok(())
}

/// The conditions without which a figure cannot be compared. What the machine does not report is null.
fn environment() -> Value {
    let first_line = |path: &str| {
        fs::read_to_string(path).ok().and_then(|text| text.lines().next().map(str::to_owned))
    };
    let cpu = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        Some(line.split_once(':')?.1.trim().to_owned())
    });
    let commit = repo::output(repo::command("git").args(["describe", "--always", "--dirty"]));
    json!({
        "kernel": first_line("/proc/sys/kernel/osrelease"),
        "cpu": cpu,
        "cores": std::thread::available_parallelism().map(usize::from).ok(),
        "commit": commit.ok().map(|text| text.trim().to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn help_names_every_case() {
        let help = help();
        for case in CASES {
            assert!(help.contains(&format!("\n  {} ", case.name)), "{} is missing", case.name);
        }
    }
}

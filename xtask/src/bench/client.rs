//! The load generators that are compared, and one run of one of them.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::process::{Finished, Running, pinned};
use super::server::Server;

/// A load generator with its options, and the server it drives.
pub struct Client<'s> {
    pub name: String,
    cores: &'static str,
    /// [`SECONDS`] stands for how long it is to run.
    command: Vec<OsString>,
    /// Whether it prints a `plimsoll.run/1`.
    reports: bool,
    server: &'s Server,
}

/// Where the one worker of a client runs; its server has the other core.
const CORE: &str = "0";
/// In a command: for how many seconds.
const SECONDS: &str = "{seconds}";

impl<'s> Client<'s> {
    pub fn wrk(connections: u32, server: &'s Server) -> Self {
        let options = format!("wrk -t1 -c{connections} -d{SECONDS}s {}", server.url);
        Client::of_another("wrk".into(), words(&options), server)
    }

    /// With a script.
    pub fn wrk_with(file: &Path, connections: u32, server: &'s Server) -> Self {
        let mut client = Client::wrk(connections, server);
        client.name = format!("wrk -s {}", file.display());
        client.command.extend(["-s".into(), file.into()]);
        client
    }

    /// shb, which waits up to 500 us for a batch of responses.
    pub fn shb(program: &Path, connections: u32, server: &'s Server) -> Self {
        let mut command = vec![program.into()];
        command.extend(words(&format!("-t 1 -c {connections} -z {SECONDS}s {}", server.url)));
        Client::of_another(format!("shb -c{connections}"), command, server)
    }

    /// ab without `-k`: a connection for every request.
    pub fn ab(connections: u32, server: &'s Server) -> Self {
        // The time limit implies a limit of 50,000 requests unless another one follows it.
        let options = format!("ab -q -c {connections} -t {SECONDS} -n 2000000 {}", server.url);
        Client::of_another("ab".into(), words(&options), server)
    }

    /// The cost of a load without parsing, timing and counting: of a closed loop, or at `rate` requests a second.
    pub fn bare_loop(
        program: &Path,
        io: &str,
        connections: u32,
        rate: Option<u32>,
        server: &'s Server,
    ) -> Self {
        let address = server.url.trim_start_matches("http://").trim_end_matches("/healthz");
        let mut command = vec![program.into()];
        command.extend(words(&format!("{io} {connections} {SECONDS} {address} /healthz")));
        command.extend(rate.map(|rate| rate.to_string().into()));
        Client::of_another(format!("bare loop -c{connections} --io {io}"), command, server)
    }

    /// k6 with the script in `file`, which gets the URL as `URL`.
    pub fn k6(program: &Path, file: &Path, users: u32, server: &'s Server) -> Self {
        let mut command = vec![program.into()];
        // By default it would serve a page on another port, and report the run to its developers.
        command.extend(words(&format!(
            "run --quiet --no-summary --no-usage-report --address= --vus {users} --duration {SECONDS}s -e URL={}",
            server.url
        )));
        command.push(file.into());
        Client::of_another(format!("k6 -u{users}"), command, server)
    }

    /// Two processes with the same options at once, counted as one client.
    pub fn two_processes(binary: &Path, options: &str, server: &'s Server) -> Self {
        let one = format!(
            "{} run --quiet -d{SECONDS}s {options} {} >/dev/null",
            binary.display(),
            server.url
        );
        let command = ["sh", "-c", &format!("{one} & {one} & wait")].map(OsString::from);
        Client::of_another(format!("2 x plimsoll {options}"), command.into(), server)
    }

    fn of_another(name: String, command: Vec<OsString>, server: &'s Server) -> Self {
        Client { name, cores: CORE, command, reports: false, server }
    }

    /// One worker unless `options` or [`Client::on`] say otherwise.
    pub fn plimsoll(binary: &Path, options: &str, server: &'s Server) -> Self {
        let name = format!("plimsoll {options}");
        Client::of_run(binary, name, &format!("{options} {}", server.url), server)
    }

    /// The same with the workload in `file`, which says where to: at `server`.
    pub fn plimsoll_with(binary: &Path, file: &Path, options: &str, server: &'s Server) -> Self {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("plimsoll {options} {stem}");
        Client::of_run(binary, name, &format!("{options} {}", file.display()), server)
    }

    fn of_run(binary: &Path, name: String, line: &str, server: &'s Server) -> Self {
        let mut command = vec![binary.into()];
        command.extend(words(&format!("run --quiet --format json -d{SECONDS}s {line}")));
        Client { name, cores: CORE, command, reports: true, server }
    }

    /// Asks for another page of its server.
    pub fn page(mut self, page: &str) -> Self {
        for word in &mut self.command {
            if *word == *self.server.url {
                *word = self.server.url.replace("/healthz", page).into();
            }
        }
        self.name.push_str(page);
        self
    }

    /// Asks this address, which forwards to its server.
    pub fn through(mut self, address: SocketAddr) -> Self {
        let url = format!("http://{address}/healthz");
        for word in &mut self.command {
            if *word == *self.server.url {
                *word = url.clone().into();
            }
        }
        self
    }

    /// Sends this header.
    pub fn header(mut self, line: &str) -> Self {
        self.command.extend(["-H".into(), line.into()]);
        self
    }

    /// Runs on these cores instead.
    pub fn on(self, cores: &'static str) -> Self {
        Client { cores, ..self }
    }

    /// Drives the load once, alone.
    pub fn run(&self, seconds: u32) -> Result<Outcome> {
        let before = self.server.served()?;
        let running = Running::start(self.command(seconds)).with_context(|| self.name.clone())?;
        let finished = running.wait_for_end(Duration::from_secs(seconds.into()));
        self.outcome(before, finished.with_context(|| self.name.clone())?)
    }

    /// The command that runs it for this many seconds.
    pub fn command(&self, seconds: u32) -> Command {
        let mut words = self.command.iter().map(|word| match word.to_str() {
            Some(text) => text.replace(SECONDS, &seconds.to_string()).into(),
            None => word.clone(),
        });
        let mut command = pinned(self.cores, words.next().unwrap_or_default());
        command.args(words);
        command
    }

    /// Requests that its server has served so far, this one included.
    pub fn served(&self) -> Result<u64> {
        self.server.served()
    }

    /// The result of a run that began when the server had served `before` requests.
    pub fn outcome(&self, before: u64, finished: Finished) -> Result<Outcome> {
        // The request for the page counts itself.
        let requests = self.server.served()? - before - 1;
        let shown = || format!("{}\n{}\n{}", self.name, finished.stderr, finished.stdout);
        // 98: plimsoll itself reports its result as invalid; then so does the round's line.
        let done =
            finished.status.success() || (self.reports && finished.status.code() == Some(98));
        ensure!(done, "{} ({})", shown(), finished.status);
        ensure!(requests >= 100, "{}: only {requests} requests", shown());
        let report = if self.reports { Some(Report::read(&finished.stdout)?) } else { None };
        if let Some(report) = &report {
            report.agrees_with(requests)?;
        }
        Ok(Outcome {
            requests,
            cpu: finished.user + finished.system,
            user: finished.user,
            awake: finished.awake,
            peak_bytes: finished.peak_bytes,
            believed: finished.status.success(),
            report,
        })
    }
}

fn words(options: &str) -> Vec<OsString> {
    options.split_whitespace().map(OsString::from).collect()
}

/// What one run took, as counted by the server and the kernel.
pub struct Outcome {
    pub requests: u64,
    cpu: Duration,
    user: Duration,
    awake: Duration,
    pub peak_bytes: u64,
    /// Whether the client itself reports its result as valid.
    pub believed: bool,
    report: Option<Report>,
}

impl Outcome {
    /// CPU time that a request cost the client, in microseconds.
    pub fn cpu_us(&self) -> f64 {
        self.per_request_us(self.cpu)
    }

    /// The part of [`Outcome::cpu_us`] that was spent outside the kernel.
    pub fn user_us(&self) -> f64 {
        self.per_request_us(self.user)
    }

    fn per_request_us(&self, time: Duration) -> f64 {
        time.as_secs_f64() * 1e6 / self.requests as f64
    }

    pub fn requests_per_s(&self) -> f64 {
        self.requests as f64 / self.awake.as_secs_f64()
    }

    /// A number that plimsoll reported, by its path in the run.
    pub fn reported(&self, pointer: &str) -> Result<f64> {
        self.report.as_ref().context("not a plimsoll run")?.number(pointer)
    }
}

/// A `plimsoll.run/1`.
struct Report(Value);

impl Report {
    fn read(text: &str) -> Result<Report> {
        let run: Value = serde_json::from_str(text).context("plimsoll printed no JSON")?;
        ensure!(run["schema"] == "plimsoll.run/1", "unknown schema {}", run["schema"]);
        Ok(Report(run))
    }

    fn number(&self, pointer: &str) -> Result<f64> {
        let value = self.0.pointer(pointer).and_then(Value::as_f64);
        value.with_context(|| format!("plimsoll's run has no number at {pointer}"))
    }

    /// Every response that the client counted was sent by the server; the server may have sent some more, to requests
    /// that the client gave up on.
    fn agrees_with(&self, served: u64) -> Result<()> {
        let responses = self.number("/totals/requests")?;
        let unfinished = self.number("/totals/unfinished")?;
        let errors = self.0.pointer("/totals/errors").and_then(Value::as_object);
        let failed: f64 =
            errors.into_iter().flat_map(|all| all.values()).filter_map(Value::as_f64).sum();
        let served = served as f64;
        // One either way: the status page may be counted before or after it is written.
        if responses > served + 1.0 || responses + unfinished + failed < served - 1.0 {
            bail!(
                "plimsoll counts {responses} responses, {unfinished} unfinished and {failed} errors; \
                 the server counts {served} requests"
            );
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn report(requests: u64, unfinished: u64, timeouts: u64) -> Report {
        let text = format!(
            r#"{{"schema": "plimsoll.run/1", "totals":
                {{"requests": {requests}, "unfinished": {unfinished}, "errors": {{"timeout": {timeouts}}}}}}}"#
        );
        Report::read(&text).unwrap()
    }

    #[test]
    fn a_client_is_not_believed_about_itself() {
        report(1000, 0, 0).agrees_with(1000).unwrap();
        report(1000, 3, 2).agrees_with(1005).unwrap();
        assert!(report(1000, 0, 0).agrees_with(998).is_err(), "more responses than were given");
        assert!(report(1000, 0, 0).agrees_with(1002).is_err(), "responses that were not counted");
    }

    #[test]
    fn a_missing_number_is_named() {
        let error = report(1, 0, 0).number("/late_ns/p50").unwrap_err();
        assert!(error.to_string().contains("/late_ns/p50"));
        assert!(Report::read("{}").is_err());
        assert!(Report::read("wrk says hello").is_err());
    }
}

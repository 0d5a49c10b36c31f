//! The load generators that are compared, and one run of one of them.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use super::process::{pinned, run_counted};
use super::server::Server;

/// A load generator with its options.
pub struct Client {
    pub name: String,
    cores: &'static str,
    command: Vec<OsString>,
    seconds: u32,
    /// Whether it prints a `plimsoll.run/1`.
    reports: bool,
}

/// Where the one worker of a client runs; its server has the other core.
const CORE: &str = "0";

impl Client {
    pub fn wrk(connections: u32, seconds: u32, server: &Server) -> Client {
        let options = format!("wrk -t1 -c{connections} -d{seconds}s {}", server.url);
        Client {
            name: "wrk".into(),
            cores: CORE,
            command: words(&options),
            seconds,
            reports: false,
        }
    }

    /// With a script.
    pub fn wrk_with(file: &Path, connections: u32, seconds: u32, server: &Server) -> Client {
        let mut client = Client::wrk(connections, seconds, server);
        client.name = format!("wrk -s {}", file.display());
        client.command.extend(["-s".into(), file.into()]);
        client
    }

    /// ab without `-k`: a connection for every request.
    pub fn ab(connections: u32, seconds: u32, server: &Server) -> Client {
        // The time limit implies a limit of 50,000 requests unless another one follows it.
        let options = format!("ab -q -c {connections} -t {seconds} -n 2000000 {}", server.url);
        Client { name: "ab".into(), cores: CORE, command: words(&options), seconds, reports: false }
    }

    /// What a closed loop costs without parsing, timing and counting.
    pub fn bare_loop(
        program: &Path,
        io: &str,
        connections: u32,
        seconds: u32,
        server: &Server,
    ) -> Client {
        let address = server.url.trim_start_matches("http://").trim_end_matches("/healthz");
        let mut command = vec![program.into()];
        command.extend(words(&format!("{io} {connections} {seconds} {address} /healthz")));
        let name = format!("bare loop -c{connections} --io {io}");
        Client { name, cores: CORE, command, seconds, reports: false }
    }

    /// k6 with the script in `file`, which it is told the URL as `URL`.
    pub fn k6(program: &Path, file: &Path, users: u32, seconds: u32, server: &Server) -> Client {
        let mut command = vec![program.into()];
        // Of itself it would serve a page on a port of its own, and tell its makers of the run.
        command.extend(words(&format!(
            "run --quiet --no-summary --no-usage-report --address= --vus {users} --duration {seconds}s -e URL={}",
            server.url
        )));
        command.push(file.into());
        Client { name: format!("k6 -u{users}"), cores: CORE, command, seconds, reports: false }
    }

    /// One worker unless `options` or [`Client::on`] say otherwise.
    pub fn plimsoll(binary: &Path, options: &str, seconds: u32, server: &Server) -> Client {
        let name = format!("plimsoll {options}");
        Client::of_run(binary, name, &format!("{options} {}", server.url), seconds)
    }

    /// The same with the workload in `file`, which says where to.
    pub fn plimsoll_with(binary: &Path, file: &Path, options: &str, seconds: u32) -> Client {
        let stem = file.file_stem().unwrap_or_default().to_string_lossy();
        let name = format!("plimsoll {options} {stem}");
        Client::of_run(binary, name, &format!("{options} {}", file.display()), seconds)
    }

    fn of_run(binary: &Path, name: String, line: &str, seconds: u32) -> Client {
        let mut command = vec![binary.into()];
        command.extend(words(&format!("run --quiet --format json -d{seconds}s {line}")));
        Client { name, cores: CORE, command, seconds, reports: true }
    }

    /// Two processes with the same options at once, counted as one client.
    pub fn two_processes(binary: &Path, options: &str, seconds: u32, server: &Server) -> Client {
        let one = format!(
            "{} run --quiet -d{seconds}s {options} {} >/dev/null",
            binary.display(),
            server.url
        );
        let command = ["sh", "-c", &format!("{one} & {one} & wait")].map(OsString::from);
        Client {
            name: format!("2 x plimsoll {options}"),
            cores: CORE,
            command: command.into(),
            seconds,
            reports: false,
        }
    }

    /// Runs on these cores instead.
    pub fn on(self, cores: &'static str) -> Client {
        Client { cores, ..self }
    }

    /// Drives the load once.
    pub fn run(&self, server: &Server) -> Result<Outcome> {
        let before = server.served()?;
        let mut command = pinned(self.cores, &self.command[0]);
        command.args(&self.command[1..]);
        let finished = run_counted(&mut command, Duration::from_secs(self.seconds.into()))
            .with_context(|| self.name.clone())?;
        // The page that is asked for counts itself.
        let requests = server.served()? - before - 1;
        let told = || format!("{}\n{}\n{}", self.name, finished.stderr, finished.stdout);
        // 98: plimsoll itself says that its result may not be believed; then so does the round's line.
        let done =
            finished.status.success() || (self.reports && finished.status.code() == Some(98));
        ensure!(done, "{} ({})", told(), finished.status);
        ensure!(requests >= 100, "{}: only {requests} requests", told());
        let report = if self.reports { Some(Report::read(&finished.stdout)?) } else { None };
        if let Some(report) = &report {
            report.agrees_with(requests)?;
        }
        Ok(Outcome {
            requests,
            cpu: finished.user + finished.system,
            user: finished.user,
            wall: finished.wall,
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
    wall: Duration,
    pub peak_bytes: u64,
    /// Whether the client itself stands by its result.
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
        self.requests as f64 / self.wall.as_secs_f64()
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

    /// Every answer that the client counted was given by the server; the server may have given some more, to requests
    /// that the client gave up on.
    fn agrees_with(&self, served: u64) -> Result<()> {
        let answers = self.number("/totals/requests")?;
        let unfinished = self.number("/totals/unfinished")?;
        let errors = self.0.pointer("/totals/errors").and_then(Value::as_object);
        let failed: f64 =
            errors.into_iter().flat_map(|all| all.values()).filter_map(Value::as_f64).sum();
        let served = served as f64;
        // One either way: the status page may be counted before or after it is written.
        if answers > served + 1.0 || answers + unfinished + failed < served - 1.0 {
            bail!(
                "plimsoll counts {answers} answers, {unfinished} unfinished and {failed} errors; \
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
        assert!(report(1000, 0, 0).agrees_with(998).is_err(), "more answers than were given");
        assert!(report(1000, 0, 0).agrees_with(1002).is_err(), "answers that were not counted");
    }

    #[test]
    fn a_missing_number_is_named() {
        let error = report(1, 0, 0).number("/late_ns/p50").unwrap_err();
        assert!(error.to_string().contains("/late_ns/p50"));
        assert!(Report::read("{}").is_err());
        assert!(Report::read("wrk says hello").is_err());
    }
}

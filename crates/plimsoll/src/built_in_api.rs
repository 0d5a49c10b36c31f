//! The built-in API as a child process: what `plimsoll sweep` without a URL measures. Its queue has
//! a capacity that theory gives, with which the measured capacity can be compared.

use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::thread;

use model::{Curve, Sweep};
use net::limits;
use report::text::{Style, paragraph};
use verdict::figures::{percent, rate};

use crate::failure::{Failure, cannot_run};
use crate::results::output;

/// Servers of the queue.
const SERVERS: u32 = 8;
/// Mean service time of each, in milliseconds.
const MEAN_MS: u32 = 1;
/// What the queue carries at most: as soon as every server is busy, SERVERS / mean.
const CAPACITY_PER_S: f64 = (SERVERS * 1000 / MEAN_MS) as f64;

/// The child, which ends with this value; should this process end without dropping it, the child
/// sees its standard input close and ends by itself.
#[derive(Debug)]
pub struct BuiltIn {
    child: Child,
    url: String,
}

impl BuiltIn {
    /// Starts the API on half of the allowed processors and leaves the others to this thread and
    /// those it starts.
    ///
    /// # Errors
    /// When the child could not be started or did not come to listen.
    pub fn start() -> Result<Self, Failure> {
        let cpus = limits::allowed_cpus();
        let (generator_cpus, api_cpus) = cpus.split_at(cpus.len().div_ceil(2));
        if api_cpus.is_empty() {
            eprintln!(
                "plimsoll: one processor is allowed: the built-in API and the generator share it"
            );
        }
        let api_cpus = if api_cpus.is_empty() { generator_cpus } else { api_cpus };
        let child = spawn_on(api_cpus.to_vec())?;
        let mut built_in = Self { child, url: String::new() };
        built_in.url = built_in.listening()?;
        if let Err(error) = limits::set_allowed_cpus(generator_cpus) {
            eprintln!("plimsoll: cannot bind the generator to its own processors: {error}");
        }
        Ok(built_in)
    }

    /// What to sweep.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Its cheapest response.
    pub fn healthz(&self) -> String {
        let base = self.url.split_once("/queue").map_or(self.url.as_str(), |(base, _)| base);
        format!("{base}/healthz")
    }

    /// The best QPS of a sweep beside the true capacity, as a paragraph.
    pub fn compare(&self, sweep: &Sweep) -> String {
        let best = Curve::from_sweep(sweep).ok().and_then(|curve| {
            let at = verdict::curve::best_row(&curve)?;
            Some(curve.rows[at].qps)
        });
        self.beside_truth(best)
    }

    /// The capacity found beside the true one, as a paragraph.
    pub fn beside_truth(&self, found_per_s: Option<f64>) -> String {
        beside_truth(found_per_s, output::style())
    }

    /// Reads the line that the child says where it listens with.
    fn listening(&mut self) -> Result<String, Failure> {
        let Some(stdout) = self.child.stdout.as_mut() else {
            return cannot_run("the built-in API has no output");
        };
        let mut line = String::new();
        // A child that could not start has printed why on standard error, which it shares with this process.
        let read = BufReader::new(stdout).read_line(&mut line);
        let url = line.split_whitespace().find(|word| word.starts_with("http://"));
        match (read, url) {
            (Ok(_), Some(url)) => {
                let base = url.trim_end_matches("/healthz");
                Ok(format!("{base}/queue?servers={SERVERS}&mean={MEAN_MS}ms&dist=exp&seed=1"))
            }
            (Err(error), _) => cannot_run(format!("the built-in API did not start: {error}")),
            (Ok(_), None) => cannot_run("the built-in API did not start"),
        }
    }
}

fn beside_truth(found_per_s: Option<f64>, style: Style) -> String {
    let truth = format!(
        "true capacity {}/s ({SERVERS} servers of {MEAN_MS} ms each)",
        rate(CAPACITY_PER_S)
    );
    let words = match found_per_s {
        Some(found) => format!(
            "The built-in API: capacity found {}/s, {truth}: {} of it.",
            rate(found),
            percent(found / CAPACITY_PER_S)
        ),
        None => format!("The built-in API: no capacity found, {truth}."),
    };
    format!("\n{}", paragraph(&words, "", style))
}

impl Drop for BuiltIn {
    fn drop(&mut self) {
        // It may have ended already; nobody is left to report a failure to.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A child inherits the processors of the thread that starts it; this one is made for that.
fn spawn_on(cpus: Vec<usize>) -> Result<Child, Failure> {
    let starter = thread::spawn(move || {
        if let Err(error) = limits::set_allowed_cpus(&cpus) {
            eprintln!("plimsoll: cannot bind the built-in API to its processors: {error}");
        }
        let threads = cpus.len().to_string();
        Command::new(std::env::current_exe()?)
            .arg0("plimsoll")
            .args([
                "target",
                "--listen",
                "127.0.0.1:0",
                "--until-input-ends",
                "--threads",
                &threads,
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            // Ctrl-C is for the sweep, which ends its level against a living server.
            .process_group(0)
            .spawn()
    });
    match starter.join() {
        Ok(Ok(child)) => Ok(child),
        Ok(Err(error)) => cannot_run(format!("cannot start the built-in API: {error}")),
        Err(_) => cannot_run("cannot start the built-in API"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_found_fits_the_terminal_beside_the_truth() {
        for columns in [60, 80] {
            for found in [None, Some(8_064.0)] {
                let text = beside_truth(found, Style { columns, ..Style::default() });
                assert!(text.starts_with("\nThe built-in API: "), "{text}");
                assert!(text.lines().all(|line| line.len() <= columns), "{columns}: {text}");
            }
        }
    }
}

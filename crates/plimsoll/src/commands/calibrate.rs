//! `plimsoll calibrate`: what this machine's generator can do at most, against the built-in API.
//!
//! Owns the command: which loads, in which order, on which processors. [`crate::calibrations`] stores
//! the result and compares later runs with it.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use model::calibration::{ClosedCeiling, OpenLateness, SCHEMA};
use model::environment::Program;
use model::quote::counted;
use model::units::{MILLISECOND, show_duration};
use model::{Calibration, Environment, Io, ReasonCode, Run};
use net::limits;
use report::text::{Style, paragraph};
use verdict::exit::INTERRUPTED;
use verdict::figures::{grouped, percent, rate};

use crate::args::{CalibrateArgs, LoadArgs, TextOrJson};
use crate::built_in_api::BuiltIn;
use crate::calibrations;
use crate::failure::{Failure, cannot_run, usage};
use crate::load::shape::{IdleWorkers, Shape};
use crate::results::output;
use crate::runs::execute::execute;
use crate::runs::prepare_url;
use crate::terminal::live::Live;
use crate::terminal::signals::{stop_on_signal, stopped};
use measure::clock::now_rfc3339;
use measure::machine;

/// Connections for each worker: enough to keep it busy, few enough for its caches.
const CONNECTIONS_A_WORKER: u64 = 64;
/// Rates whose lateness is measured.
const RATES: [f64; 4] = [1_000.0, 5_000.0, 20_000.0, 50_000.0];
/// Share of the ceiling up to which a rate is worth measuring.
const WITHIN: f64 = 0.6;
/// Shortest measurement that says anything.
const SHORTEST_NS: u64 = 100 * MILLISECOND;

/// Runs the command; the exit code.
///
/// # Errors
/// When the built-in API could not be started or a load not be made.
pub fn calibrate(args: &CalibrateArgs) -> Result<u8, Failure> {
    if args.duration < SHORTEST_NS {
        return usage("-d: a measurement must last 100ms or longer");
    }
    let all = limits::allowed_cpus();
    let built_in = BuiltIn::start()?;
    let mut bench = Bench {
        url: built_in.healthz(),
        duration_ns: args.duration,
        load: LoadArgs { io: args.io, ..LoadArgs::without_flags() },
        stop: stop_on_signal()?,
        live: Live::new(args.quiet),
    };
    let apart = limits::allowed_cpus().len() as u64;
    let shared = u64::from(all.len() as u64 > apart);
    let most = worker_counts(apart).len() as u64 + shared + RATES.len() as u64;
    bench
        .live
        .announce(&format!("{most} measurements at most"), most.saturating_mul(args.duration));
    let mut measured = bench.closed(&worker_counts(apart), all.len() == 1)?;
    // Every processor, the built-in API's included: what `run` uses by default.
    if limits::set_allowed_cpus(&all).is_ok() && all.len() as u64 > apart {
        measured.extend(bench.closed(&[all.len() as u64], true)?);
    }
    let runs = bench.open(&measured, all.len() as u64)?;
    let Some((_, first)) = measured.first().filter(|_| !stopped(&bench.stop)) else {
        return Ok(INTERRUPTED);
    };
    let calibration = Calibration {
        schema: SCHEMA.to_owned(),
        plimsoll: Program { version: env!("CARGO_PKG_VERSION").to_owned() },
        measured_at: now_rfc3339(),
        // Its own runs left processors to the built-in API; those to come will not.
        environment: Environment { cpus_allowed: all.len() as u32, ..first.environment.clone() },
        io: first.plan.io,
        closed: measured.iter().map(|(shared, run)| closed_ceiling(run, *shared)).collect(),
        open: runs.iter().map(lateness).collect(),
    };
    let kept = calibrations::save(&calibration);
    print_doubts(|code| {
        let all = measured.iter().map(|(_, run)| run).chain(&runs);
        all.flat_map(|run| &run.validity.reasons).any(|reason| reason.code == code)
    });
    let printed = match args.format {
        TextOrJson::Json => output::print(&(output::json(&calibration) + "\n")),
        TextOrJson::Text => {
            let place = kept.as_ref().map(|path| format!("\nkept in {}\n", path.display()));
            output::print(&(words(&calibration, output::style()) + &place.unwrap_or_default()))
        }
    };
    // What was measured is shown where it cannot be kept, too.
    kept?;
    Ok(u8::from(!printed))
}

/// Prints what kept the generator from reaching its ceiling, where a rule found something.
fn print_doubts(found: impl Fn(ReasonCode) -> bool) {
    for (code, words) in [
        (
            ReasonCode::BusyNeighbour,
            "other processes took processor time meanwhile: calibrate again when the machine is idle",
        ),
        (
            ReasonCode::Throttled,
            "a quota on processor time held the generator back: this is its ceiling under that quota",
        ),
        (ReasonCode::GeneratorPaused, "the generator was not running for a while: calibrate again"),
    ] {
        if found(code) {
            eprintln!("plimsoll: {words}");
        }
    }
}

/// 1, 2, 4 ... and the number itself.
fn worker_counts(most: u64) -> Vec<u64> {
    let powers = std::iter::successors(Some(1), |n| Some(n * 2)).take_while(|&n| n < most);
    powers.chain([most.max(1)]).collect()
}

/// What all measurements have in common.
struct Bench {
    url: String,
    duration_ns: u64,
    load: LoadArgs,
    stop: Arc<AtomicBool>,
    live: Live,
}

impl Bench {
    fn closed(&mut self, workers: &[u64], shared: bool) -> Result<Vec<(bool, Run)>, Failure> {
        let mut runs = Vec::new();
        for &workers in workers {
            if stopped(&self.stop) {
                break;
            }
            self.live.set_prefix(format!("[{}] ", counted(workers, "worker")));
            runs.push((shared, self.run(workers, None)?));
        }
        Ok(runs)
    }

    fn open(&mut self, closed: &[(bool, Run)], workers: u64) -> Result<Vec<Run>, Failure> {
        let most = closed.iter().map(|(_, run)| run.rates.requests_per_s).fold(0.0, f64::max);
        let mut runs = Vec::new();
        for rate_per_s in RATES.into_iter().filter(|rate| *rate <= WITHIN * most) {
            if stopped(&self.stop) {
                break;
            }
            self.live.set_prefix(format!("[{}/s] ", grouped(rate_per_s, 0)));
            runs.push(self.run(workers, Some(rate_per_s))?);
        }
        Ok(runs)
    }

    fn run(&mut self, workers: u64, rate_per_s: Option<f64>) -> Result<Run, Failure> {
        let load = LoadArgs { threads: Some(workers), ..self.load.clone() };
        let prepared = prepare_url(&self.url, &load, true)?;
        let shape = Shape {
            connections: CONNECTIONS_A_WORKER * workers,
            rate_per_s,
            duration_ns: Some(self.duration_ns),
            requests: None,
        };
        let (launch, _) = prepared.level(shape, IdleWorkers::LeftOut, &self.stop)?;
        let run = execute(&launch, machine::environment(prepared.files), &mut self.live)?;
        if run.totals.succeeded == 0 && !run.interrupted {
            return cannot_run(
                "the built-in API sent no response: this machine cannot be calibrated",
            );
        }
        Ok(run)
    }
}

/// What the workers could drive: what they did, or what their processor time would do if they were
/// busy all the time, whichever is more. A request costs less the busier they are, so this errs low.
fn closed_ceiling(run: &Run, shared: bool) -> ClosedCeiling {
    let generator = &run.generator;
    let cost_ns = generator.cpu_ns_per_request;
    let by_cost = if cost_ns > 0.0 { f64::from(run.plan.threads) * 1e9 / cost_ns } else { 0.0 };
    ClosedCeiling {
        workers: run.plan.threads,
        requests_per_s: by_cost.max(run.rates.requests_per_s),
        measured_per_s: run.rates.requests_per_s,
        busy_ratio: generator.workers.iter().map(|w| w.busy_ratio).fold(0.0, f64::max),
        cpu_ns_per_request: cost_ns,
        shared,
    }
}

fn lateness(run: &Run) -> OpenLateness {
    OpenLateness {
        rate_per_s: run.plan.rate_per_s.unwrap_or(0.0),
        workers: run.plan.threads,
        achieved_per_s: run.rates.achieved_per_s,
        late_p50_ns: run.late_ns.p50,
        late_p99_ns: run.late_ns.p99,
        late_max_ns: run.late_ns.max,
    }
}

/// The calibration as a terminal shows it.
fn words(calibration: &Calibration, style: Style) -> String {
    let io = match calibration.io {
        Io::Uring => "io_uring",
        other => other.name(),
    };
    let mut text = format!("This generator's ceiling, small plain requests, {io}:\n");
    for closed in &calibration.closed {
        let noun = if closed.workers == 1 { "worker" } else { "workers" };
        let how = if closed.busy_ratio >= 0.95 { "reached" } else { "by its cost per request" };
        let shared = if closed.shared { "; processors shared with the API" } else { "" };
        let most = rate(closed.requests_per_s);
        let mark = format!("  {:>3} {noun:<7} {most:>9}/s  ", closed.workers);
        let by = format!(
            "{how}: {}/s at {} busy, {} ns a request{shared}",
            rate(closed.measured_per_s),
            percent(closed.busy_ratio),
            grouped(closed.cpu_ns_per_request, 0)
        );
        text += &paragraph(&by, &mark, style);
    }
    text += "How late requests leave in an open loop:\n";
    for open in &calibration.open {
        text += &format!(
            "  {:>9}/s  p50 {}, p99 {}, max {}\n",
            rate(open.rate_per_s),
            show_duration(open.late_p50_ns),
            show_duration(open.late_p99_ns),
            show_duration(open.late_max_ns)
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ceiling_fits_the_terminal_it_is_shown_on() {
        let closed = ClosedCeiling {
            workers: 128,
            requests_per_s: 1_234_567.0,
            measured_per_s: 1_111_111.0,
            busy_ratio: 0.9,
            cpu_ns_per_request: 12_345.0,
            shared: true,
        };
        let calibration = Calibration {
            schema: SCHEMA.to_owned(),
            plimsoll: Program::default(),
            measured_at: String::new(),
            environment: Environment::default(),
            io: Io::Uring,
            closed: vec![closed],
            open: Vec::new(),
        };
        for columns in [60, 80] {
            let text = words(&calibration, Style { columns, ..Style::default() });
            assert!(text.contains("shared"), "{text}");
            assert!(text.lines().all(|line| line.len() <= columns), "{columns}: {text}");
        }
    }

    #[test]
    fn workers_double_up_to_the_processors() {
        for (most, counts) in
            [(1, vec![1]), (2, vec![1, 2]), (6, vec![1, 2, 4, 6]), (8, vec![1, 2, 4, 8])]
        {
            assert_eq!(worker_counts(most), counts);
        }
    }
}

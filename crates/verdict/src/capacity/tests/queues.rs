//! Searches on simulated queues with random arrivals: one server of exponential service times, each
//! response time by Lindley's recursion, each step a whole run that is judged as a real one is.

use model::capacity::{Judged, Outcome, Purpose, Settings, Step};
use model::interval::{Interval, Phase, Tally};
use model::units::{MILLISECOND, SECOND};
use model::{Arrivals, Arriving, LevelKind, Run, RunBuilder, Validity};
use rand_core::{Rng as _, SeedableRng as _};
use rand_pcg::Pcg64Mcg;

use super::search;
use crate::capacity::{Answer, SearchObjectives, judge};
use crate::objective::parse;

/// One server that responds in `1 / per_s` on average, first come first served.
struct Queue {
    random: Pcg64Mcg,
    per_s: f64,
    arrivals: Arrivals,
    asked: SearchObjectives,
}

impl Queue {
    fn new(seed: u64, per_s: f64, arrivals: Arrivals, objective: &str) -> Self {
        let asked = SearchObjectives::of(parse(objective).expect("an objective"));
        Self { random: Pcg64Mcg::seed_from_u64(seed), per_s, arrivals, asked }
    }

    fn share(&mut self) -> f64 {
        ((self.random.next_u64() >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    }

    /// Exponential with a mean of `1 / per_s` seconds, in nanoseconds.
    fn pause(&mut self, per_s: f64) -> f64 {
        -self.share().ln() / per_s * 1e9
    }

    /// A step from an empty queue; looks at rest and probes by what they are known to come to.
    fn step(&mut self, step: &Step) -> Judged {
        let mean_ns = 1e9 / self.per_s;
        match step.purpose {
            Purpose::Idle => super::judged(Outcome::Held, 20_f64.min(self.per_s), mean_ns),
            Purpose::Probe => super::judged(Outcome::Held, self.per_s, step.level * mean_ns),
            _ => {
                let run = self.run(step);
                let margins = self.asked.margins(&run, &[], step.purpose);
                judge(&run, margins, Some(mean_ns))
            }
        }
    }

    fn run(&mut self, step: &Step) -> Run {
        let mut head = fixture::head(fixture::plan());
        let seconds = step.window_ns.div_ceil(SECOND) as usize;
        (head.plan.rate_per_s, head.plan.arrivals) = (Some(step.level), Some(self.arrivals));
        (head.plan.connections, head.plan.max_inflight) = (100_000, 100_000);
        (head.plan.warmup_ns, head.plan.duration_ns) = (step.warmup_ns, Some(step.window_ns));
        // One for each second of the window, one for the drain.
        let mut tallies = vec![Tally::default(); seconds + 1];
        let mut due = vec![0; seconds + 1];
        let (begin, end) = (step.warmup_ns as f64, (step.warmup_ns + step.window_ns) as f64);
        let place = |at: f64| if at >= end { seconds } else { ((at - begin) / 1e9) as usize };
        let (mut at, mut free) = (0.0_f64, 0.0_f64);
        loop {
            at += match self.arrivals {
                Arrivals::Poisson => self.pause(step.level),
                _ => 1e9 / step.level,
            };
            if at >= end {
                break;
            }
            let done = at.max(free) + self.pause(self.per_s);
            free = done;
            if done >= begin && done < end {
                tallies[place(done)].responses_done += 1;
            }
            if at >= begin {
                due[place(at)] += 1;
                tallies[place(at)].sent += 1;
                let tally = &mut tallies[place(done)];
                tally.succeeded += 1;
                tally.response.record((done - at) as u64);
                tally.service.record((done - at) as u64);
                tally.late.record(0);
            }
        }
        built(head, step, tallies, &due)
    }
}

fn built(head: model::RunHead, step: &Step, tallies: Vec<Tally>, due: &[u64]) -> Run {
    let mut builder = RunBuilder::new(head);
    let window = step.window_ns;
    let last = tallies.len() - 1;
    for (index, tally) in tallies.into_iter().enumerate() {
        let drain = index == last;
        let start = if drain { window } else { index as u64 * SECOND };
        let end = if drain { window + SECOND } else { (start + SECOND).min(window) };
        builder.add(&Interval {
            due: due[index],
            tally,
            ..Interval::new(
                index as u32,
                if drain { Phase::Drain } else { Phase::Window },
                step.warmup_ns + start,
                step.warmup_ns + end,
            )
        });
    }
    let mut run = builder.finish(false);
    run.validity = Validity::of(Vec::new());
    run
}

/// As `--budget` makes them.
fn settings(budget_ns: u64) -> Settings {
    let step_ns = (budget_ns / 30).clamp(SECOND, 30 * SECOND);
    let tenth = (step_ns / 10).clamp(200 * MILLISECOND, 5 * SECOND);
    Settings {
        kind: LevelKind::Rate,
        arriving: Arriving::Requests,
        arrivals: Some(Arrivals::Poisson),
        connections: 1000,
        most: None,
        precision: 0.05,
        step_ns,
        hold_ns: (budget_ns / 5).max(step_ns),
        hold_attempts: 0,
        warmup_ns: tenth,
        rest_ns: tenth,
        budget_ns,
    }
}

/// What a search of one queue came to.
struct Found {
    confirmed: bool,
    inside: bool,
    /// The level found, relative to the true capacity; absent where nothing was found.
    off: Option<f64>,
    /// Share of the budget that was not used.
    left: f64,
}

/// Searches a queue of 50 to 5,000/s, under an objective that it meets up to half to 0.95 of that.
fn find(seed: u64, budget_ns: u64) -> Found {
    let mut draws = Queue::new(seed, 1.0, Arrivals::Poisson, "p95<1s");
    let per_s = 50.0 * 100_f64.powf(draws.share());
    let truth = (0.5 + 0.45 * draws.share()) * per_s;
    // Response times are exponential with a mean of 1 / (per_s - rate).
    let limit_us = -0.05_f64.ln() / (per_s - truth) * 1e6;
    let objective = format!("p95<{limit_us:.0}us");
    let mut queue = Queue::new(seed, per_s, Arrivals::Poisson, &objective);
    let (search, _) = search(settings(budget_ns), |step| queue.step(step));
    let answer = search.answer();
    let inside = |a: &Answer| a.low <= truth && a.high.is_none_or(|high| truth <= high);
    Found {
        confirmed: answer.as_ref().is_some_and(|answer| answer.confirmed_for_ns.is_some()),
        inside: answer.as_ref().is_some_and(inside),
        off: answer.as_ref().map(|answer| answer.level / truth),
        left: 1.0 - search.spent_ns() as f64 / budget_ns as f64,
    }
}

fn row(claim: &str, reach: &str, got: &str, met: bool) -> bool {
    let word = if met { "yes" } else { "no" };
    println!("truth | capacity search, M/M/1 queues: {claim} | {reach} | {got} | {word}");
    met
}

/// Seeds that nothing was chosen on.
const HELD_OUT: u64 = 20_261_122;

/// What `count` searches within a budget come to: confirmed, and true capacity inside, at least so often.
fn searched(budget: u64, count: u64, confirmed: f64, inside: f64) {
    let found: Vec<Found> =
        (HELD_OUT..HELD_OUT + count).map(|seed| find(seed, budget * SECOND)).collect();
    let share =
        |of: fn(&Found) -> bool| found.iter().filter(|f| of(f)).count() as f64 / count as f64;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let idle = share(|found| !found.confirmed && found.left > 0.25);
    let (was_confirmed, was_inside) = (share(|f| f.confirmed), share(|f| f.inside));
    let mut off: Vec<f64> = found.iter().filter_map(|found| found.off).collect();
    off.sort_by(f64::total_cmp);
    let of = |what: &str| format!("{count} searches of {budget} s: {what}");
    let reach = |share: f64| format!(">= {:.0} %", 100.0 * share);
    let met = [
        row(
            &of("confirmed by a hold"),
            &reach(confirmed),
            &percent(was_confirmed),
            was_confirmed >= confirmed,
        ),
        row(
            &of("true capacity inside the interval"),
            &reach(inside),
            &percent(was_inside),
            was_inside >= inside,
        ),
        row(
            &of("unconfirmed with a quarter of the budget left"),
            "none",
            &percent(idle),
            idle == 0.0,
        ),
    ];
    let claim = of("median of what is found over the truth");
    let median = percent(off[off.len() / 2]);
    println!("truth | capacity search, M/M/1 queues: {claim} | for information | {median} | -");
    assert!(met.iter().all(|met| *met));
}

#[test]
fn random_queues_are_confirmed_within_the_budget() {
    searched(30, 60, 0.7, 0.9);
}

#[test]
#[ignore = "minutes; `cargo xtask truth capacity` runs it"]
fn random_queues_are_confirmed_within_the_budget_by_the_hundred() {
    searched(30, 300, 0.75, 0.9);
    searched(60, 200, 0.8, 0.9);
    searched(300, 100, 0.95, 0.95);
}

/// M/M/1 of 250/s under p95<40ms: evenly spaced arrivals find what random ones do not carry.
#[test]
fn random_arrivals_are_carried_at_lower_rates_than_evenly_spaced_ones() {
    let capacity = |arrivals| {
        let settings = Settings { arrivals: Some(arrivals), ..settings(300 * SECOND) };
        let mut queue = Queue::new(7, 250.0, arrivals, "p95<40ms");
        let (search, _) = search(settings, |step| queue.step(step));
        let answer = search.answer().expect("a level that held");
        (answer.low, answer.level, answer.high.expect("a level that broke"))
    };
    let (low, random, high) = capacity(Arrivals::Poisson);
    assert!(low <= 175.1 && 175.1 <= high, "{low} {high}");
    let (_, even, high) = capacity(Arrivals::Uniform);
    assert!(high > 205.0 && random < 0.95 * even, "{random} {even} {high}");
}

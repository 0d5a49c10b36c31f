//! Searches on simulated servers whose capacity is known: queues with noise in their speed, noise in
//! what is measured of them, hiccups, collapses, generators that give in first.

use model::LevelKind;
use model::capacity::{Judged, Outcome, Purpose, Step};
use model::units::SECOND;
use rand_core::Rng as _;
use rand_pcg::Lcg64Xsh32;

use super::{judged, search, settings};
use crate::capacity::Answer;
use statistics::order::median;

/// The objective: a mean of at most this.
const LIMIT_NS: f64 = 1e8;

/// A server: the mean response takes `base` at rest and `base * (1 + steep * rho / (1 - rho))` at a
/// share rho of its peak.
pub(super) struct Server {
    draws: Lcg64Xsh32,
    peak: f64,
    base_ns: f64,
    steep: f64,
    /// Standard deviation of its peak from run to run, relative.
    speed: f64,
    /// Standard deviation of a measured mean around the true one, relative.
    measured: f64,
    /// Share of runs in which something else breaks the objective.
    hiccups: f64,
    /// A mean this near to its limit, relative, is reported as unclear.
    unclear: f64,
    /// Above the first share of its capacity it collapses; below the second it comes back.
    collapse: Option<(f64, f64)>,
    down: bool,
    /// The most that the generator can send.
    generator: f64,
}

impl Server {
    pub(super) fn drawn(seed: u64) -> Self {
        let mut draws = Lcg64Xsh32::new(seed, 0xca9a);
        let mut between = |low: f64, high: f64| low * (high / low).powf(uniform(&mut draws));
        let peak = between(20.0, 200_000.0);
        let (base_ns, steep) = (between(1e5, 3e7), between(0.3, 3.0));
        let (speed, measured) = (between(0.001, 0.03), between(0.01, 0.2));
        let hiccups = if seed.is_multiple_of(3) { 0.03 } else { 0.0 };
        let unclear = if seed.is_multiple_of(2) { 0.05 } else { 0.0 };
        let above = between(1.02, 1.3);
        let collapse = seed.is_multiple_of(5).then_some((above, between(0.15, 0.9)));
        let generator = f64::INFINITY;
        let down = false;
        Self {
            draws,
            peak,
            base_ns,
            steep,
            speed,
            measured,
            hiccups,
            unclear,
            collapse,
            down,
            generator,
        }
    }

    /// The rate at which the mean is exactly at its limit.
    fn capacity(&self) -> f64 {
        let queue = (LIMIT_NS / self.base_ns - 1.0) / self.steep;
        self.peak * queue / (1.0 + queue)
    }

    fn mean_ns(&self, rate: f64, peak: f64) -> f64 {
        let busy = rate / peak;
        if busy >= 0.999 {
            return 50.0 * LIMIT_NS;
        }
        (self.base_ns * (1.0 + self.steep * busy / (1.0 - busy))).min(50.0 * LIMIT_NS)
    }

    fn normal(&mut self) -> f64 {
        let (a, b) = (uniform(&mut self.draws), uniform(&mut self.draws));
        (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
    }

    pub(super) fn run(&mut self, step: &Step) -> Judged {
        let rate = match step.purpose {
            Purpose::Idle => 20.0_f64.min(0.5 * self.peak),
            Purpose::Probe | Purpose::Saturated => self.peak,
            _ => step.level,
        };
        self.collapses(step, rate);
        let peak = self.peak * (self.speed * self.normal()).exp();
        let peak = if self.down { 0.1 * peak } else { peak };
        let done = rate.min(peak);
        let mean_ns = match step.purpose {
            // Little's law: of this many in flight each waits as long as these take.
            Purpose::Saturated => (step.level / peak * SECOND as f64).max(self.base_ns),
            _ => self.mean_ns(rate, peak),
        };
        let mean_ns = mean_ns * (self.measured * self.normal()).exp();
        let hiccup = uniform(&mut self.draws) < self.hiccups;
        let outcome = match mean_ns / LIMIT_NS {
            _ if rate > self.generator => Outcome::Generator,
            _ if hiccup => Outcome::Broke,
            over if over.ln().abs() < self.unclear => Outcome::Unclear,
            over if over <= 1.0 => Outcome::Held,
            _ => Outcome::Broke,
        };
        judged(outcome, done, mean_ns)
    }

    fn collapses(&mut self, step: &Step, rate: f64) {
        let Some((above, below)) = self.collapse else { return };
        let rested = step.rest_ns >= SECOND || step.purpose == Purpose::Idle;
        self.down &= !rested && rate > below * self.capacity();
        self.down |= rate > above * self.capacity();
    }
}

fn uniform(draws: &mut Lcg64Xsh32) -> f64 {
    (draws.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
}

/// The searches that are held to the claims: the constants of `estimate` and `path` were chosen on
/// other seeds, 0 to 499, and these were looked at once, when nothing was left to choose.
const HELD_OUT: std::ops::Range<u64> = 20_261_121..20_261_621;

/// What a search of one server came to.
struct Found {
    inside: bool,
    /// Of the interval, relative to the true capacity; absent where it has no upper end.
    width: Option<f64>,
    steps: usize,
    seconds: f64,
    confirmed: bool,
    /// A server that stays down at its capacity was reported as not collapsing.
    collapse_missed: bool,
}

/// What finds nothing is outside.
fn find(seed: u64) -> Found {
    let mut server = Server::drawn(seed);
    let truth = server.capacity();
    let (search, _) = search(settings(LevelKind::Rate), |step| server.run(step));
    let answer = search.answer();
    let high = answer.as_ref().and_then(|answer| answer.high);
    let inside = |answer: &Answer| answer.low <= truth && high.is_none_or(|h| truth <= h);
    let missed = |answer: &Answer| {
        let stays_down = |(_, below): (f64, f64)| answer.level > 1.05 * below * truth;
        let collapses = server.collapse.is_some_and(stays_down);
        answer.overload.is_some_and(|overload| collapses && !overload.collapses)
    };
    Found {
        inside: answer.as_ref().is_some_and(inside),
        width: answer.as_ref().and_then(|answer| Some((high? - answer.low) / truth)),
        steps: search.steps(),
        seconds: search.spent_ns() as f64 / 1e9,
        confirmed: answer.as_ref().is_some_and(|answer| answer.confirmed_for_ns.is_some()),
        collapse_missed: answer.as_ref().is_some_and(missed),
    }
}

/// Prints a claim for `cargo xtask truth`; whether it is met.
fn row(claim: &str, reach: &str, got: &str, met: bool) -> bool {
    let word = if met { "yes" } else { "no" };
    println!("truth | capacity search, 500 simulated servers: {claim} | {reach} | {got} | {word}");
    met
}

#[test]
fn the_true_capacity_is_inside_the_interval_of_five_hundred_searches() {
    let found: Vec<Found> = HELD_OUT.map(find).collect();
    let share = |of: fn(&Found) -> bool| found.iter().filter(|f| of(f)).count() as f64 / 500.0;
    let percent = |share: f64| format!("{:.1} %", 100.0 * share);
    let (inside, confirmed) = (share(|f| f.inside), share(|f| f.confirmed));
    let missed = found.iter().filter(|found| found.collapse_missed).count();
    let steps = median(found.iter().map(|found| found.steps as f64).collect());
    let seconds = |of: f64| format!("{of:.0} s");
    let longest = found.iter().map(|found| found.seconds).fold(0.0, f64::max);
    let usual = median(found.iter().map(|found| found.seconds).collect());
    let width = median(found.iter().map(|f| f.width.unwrap_or(f64::INFINITY)).collect());
    let met = [
        row("true capacity inside the interval", ">= 95 %", &percent(inside), inside >= 0.95),
        row("confirmed by a hold", ">= 95 %", &percent(confirmed), confirmed >= 0.95),
        row("median steps", "<= 12", &steps.to_string(), steps <= 12.0),
        row("longest", "<= 300 s, the budget", &seconds(longest), longest <= 300.0),
        row("collapses missed", "none", &missed.to_string(), missed == 0),
        row("median width of the interval", "<= 10 %", &percent(width), width <= 0.1),
    ];
    let claim = "capacity search, 500 simulated servers: median time";
    println!("truth | {claim} | for information | {} | -", seconds(usual));
    assert!(met.iter().all(|met| *met));
}

#[test]
fn a_generator_that_gives_in_first_is_never_taken_for_the_server() {
    for seed in 0..200 {
        let mut server = Server { hiccups: 0.0, ..Server::drawn(seed) };
        let truth = server.capacity();
        server.generator = 0.7 * truth;
        let (search, _) = search(settings(LevelKind::Rate), |step| server.run(step));
        let answer = search.answer().unwrap_or_else(|| panic!("seed {seed}: nothing found"));
        assert!(answer.at_least(), "seed {seed}: {answer:?} of {truth}");
        assert!(
            answer.level <= 0.7 * truth && answer.level > 0.5 * truth,
            "seed {seed}: {answer:?}"
        );
    }
}

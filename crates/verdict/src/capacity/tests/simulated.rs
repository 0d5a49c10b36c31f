//! Searches on simulated servers whose capacity is known: queues with noise in their speed, noise in
//! what is measured of them, hiccups, collapses, generators that give in first.

use model::LevelKind;
use model::capacity::{Judged, Outcome, Purpose, Step};
use model::units::SECOND;
use rand_core::Rng as _;
use rand_pcg::Lcg64Xsh32;

use super::{Ending, judged, search, settings};

/// The objective: a mean of at most this.
const LIMIT_NS: f64 = 1e8;

/// A server: the mean answer takes `base` at rest and `base * (1 + steep * rho / (1 - rho))` at a
/// share rho of its peak.
struct Server {
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
    /// A mean this near to its limit, relative, is told to be unclear.
    unclear: f64,
    /// Above the first share of its capacity it collapses; below the second it comes back.
    collapse: Option<(f64, f64)>,
    down: bool,
    /// The most that the generator can send.
    generator: f64,
}

impl Server {
    fn drawn(seed: u64) -> Self {
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

    fn run(&mut self, step: &Step) -> Judged {
        let rate = match step.purpose {
            Purpose::Idle => 20.0_f64.min(0.5 * self.peak),
            Purpose::Probe => self.peak,
            _ => step.level,
        };
        self.collapses(step, rate);
        let peak = self.peak * (self.speed * self.normal()).exp();
        let peak = if self.down { 0.1 * peak } else { peak };
        let done = rate.min(peak);
        let mean_ns = self.mean_ns(rate, peak) * (self.measured * self.normal()).exp();
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

/// What a search of one server came to.
struct Found {
    inside: bool,
    width: f64,
    steps: usize,
    seconds: f64,
    confirmed: bool,
}

fn find(seed: u64) -> Found {
    let mut server = Server::drawn(seed);
    let truth = server.capacity();
    let (search, ending) = search(settings(LevelKind::Rate), |step| server.run(step));
    assert_ne!(ending, Ending::NeverMet, "seed {seed}");
    let answer = search.answer().unwrap_or_else(|| panic!("seed {seed}: nothing found"));
    assert!(search.spent_ns() <= 300 * SECOND, "seed {seed}");
    if let Some(overload) = answer.overload {
        let stays_down = |(_, below): (f64, f64)| answer.level > 1.05 * below * truth;
        let collapses = server.collapse.is_some_and(stays_down);
        // Hiccups may break a level twice; what is never missed is a real collapse.
        assert!(overload.collapses || !collapses, "seed {seed}: collapse missed");
    }
    let high = answer.high.unwrap_or(f64::INFINITY);
    Found {
        inside: answer.low <= truth && truth <= high,
        width: (high - answer.low) / truth,
        steps: search.steps(),
        seconds: search.spent_ns() as f64 / 1e9,
        confirmed: answer.confirmed_for_ns.is_some(),
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

#[test]
fn the_true_capacity_is_inside_the_interval_of_five_hundred_searches() {
    let found: Vec<Found> = (0..500).map(find).collect();
    let share = |of: fn(&Found) -> bool| found.iter().filter(|f| of(f)).count() as f64 / 500.0;
    let inside = share(|found| found.inside);
    let confirmed = share(|found| found.confirmed);
    let middle = |of: fn(&Found) -> f64| median(found.iter().map(of).collect());
    let (steps, seconds) = (middle(|f| f.steps as f64), middle(|f| f.seconds));
    let width = middle(|f| f.width);
    println!(
        "500 searches: true capacity inside the interval {:.1} %, confirmed {:.1} %; median {steps} \
         steps, {seconds:.0} s, interval {:.1} % wide",
        100.0 * inside,
        100.0 * confirmed,
        100.0 * width
    );
    assert!(inside >= 0.95, "{inside}");
    assert!(confirmed >= 0.95, "{confirmed}");
    assert!(steps <= 12.0, "{steps}");
    assert!(width <= 0.10, "{width}");
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

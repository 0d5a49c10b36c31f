//! The ceiling beside a limiter that finds the limit out by itself, at twice what a server carries, in virtual time.
//!
//! The other one is the gradient controller of Envoy's adaptive concurrency filter as its documentation describes it
//! (envoyproxy.io, "Adaptive Concurrency"): every 60 s and up to 15 % more it measures a latency to aim at, of 50
//! requests; every 0.1 s the limit becomes limit x gradient + its square root, where gradient = aim x 1.25 / (latency
//! since), from 0.5 to 2. By default it lets 3 requests at a time through while it measures, and measures too when the
//! limit was the least five times in a row. Where its `min_concurrency_limit` is set it measures what comes and holds
//! nothing back; both are here.
//!
//! Goodput is requests answered within the objective over what the server carries. The ceiling is what a search measured
//! while a bounded number in flight kept the server busy (`saturated` of the load line). Goodput, that of the worst second,
//! and p99 in ms:
//!
//! | server | held at the line | gradient, pinned | gradient, unpinned |
//! |---|---|---|---|
//! | 4 at a time, 4 ms | 1.000, 1.000, 11 | 0.998, 0.970, 8 | 0.999, 0.822, 87 |
//! | 4 at a time, 4 ms at random | 0.996, 0.910, 25 | 0.982, 0.895, 22 | 0.995, 0.650, 96 |
//! | 8 at a time, 2 or 50 ms | 0.992, 0.833, 61 | 0.965, 0.830, 54 | 0.661, 0.000, 584 |
//! | 64 at a time, 60 ms | 0.985, 0.979, 60 | 0.959, 0.045, 111 | 0.509, 0.000, 649 |
//! | 800 at a time, 60 ms | 1.000, 0.993, 60 | 0.985, 0.267, 97 | 1.000, 0.997, 79 |
//!
//! Held at the rate of random arrivals, as where no saturated rate was measured, it has 0.855 to 0.951.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use model::loadline::keeps_busy;
use model::random::Draws;

use super::line::AHEAD_NS;
use super::{Ceiling, Envelope, Governor, Line, Part};

const SECOND: u64 = 1_000_000_000;
const MS: u64 = 1_000_000;
/// What both are judged by, for 99 % of requests.
const OBJECTIVE_NS: u64 = 100 * MS;
/// What `plimsoll capacity` finds of the highest rate that holds the objective: 941 to 951 of 977 requests a second of
/// the first server here (`cargo xtask bench gate-hold`).
const FOUND: f64 = 0.965;
/// The first seconds, in which both settle, are not judged.
const SETTLING: usize = 5;

trait Limiter {
    fn admits(&mut self, now_ns: u64) -> bool;
    fn answered(&mut self, now_ns: u64, latency_ns: u64);
    /// Called every tenth of a second.
    fn look(&mut self, now_ns: u64);
}

/// Lets everything through.
struct Open;

impl Limiter for Open {
    fn admits(&mut self, _now_ns: u64) -> bool {
        true
    }

    fn answered(&mut self, _now_ns: u64, _latency_ns: u64) {}

    fn look(&mut self, _now_ns: u64) {}
}

struct Held {
    line: Line,
    ceiling: Ceiling,
    governor: Governor,
    looks: u32,
}

impl Held {
    fn new(rate_per_s: f64, at_once: f64) -> Self {
        let envelope = Envelope { share: 0.99, limit_ns: OBJECTIVE_NS, from: "p99<100ms".into() };
        let line = Line {
            rate_per_s,
            at_once,
            ahead_ns: AHEAD_NS,
            envelope: envelope.clone(),
            ..Line::default()
        };
        let ceiling = Ceiling::default();
        ceiling.set(&line, 1.0, Part::WHOLE);
        Self { line, ceiling, governor: Governor::new(rate_per_s, envelope), looks: 0 }
    }
}

impl Limiter for Held {
    fn admits(&mut self, now_ns: u64) -> bool {
        self.ceiling.take(1000, 1000, now_ns).is_ok()
    }

    fn answered(&mut self, _now_ns: u64, latency_ns: u64) {
        self.ceiling.finish(1000, latency_ns);
    }

    fn look(&mut self, _now_ns: u64) {
        self.looks += 1;
        if self.looks.is_multiple_of(5) {
            let verdict = self.governor.step(&self.ceiling.look(), 0.5);
            self.ceiling.set(&self.line, verdict.factor, Part::WHOLE);
        }
    }
}

/// What is configured of the gradient controller.
#[derive(Clone, Copy)]
struct Settings {
    /// The percentile that stands for a window, 0..1.
    percentile: f64,
    /// Requests at a time while it measures; `None` where it measures what comes.
    pinned: Option<u32>,
    /// The lowest limit.
    least: u32,
}

/// The defaults of its API.
const PINNED: Settings = Settings { percentile: 0.5, pinned: Some(3), least: 3 };
/// The example of its documentation.
const UNPINNED: Settings = Settings { percentile: 0.9, pinned: None, least: 25 };

struct Gradient {
    settings: Settings,
    limit: u32,
    in_flight: u32,
    latencies: Vec<u64>,
    aim_ns: f64,
    /// While the latency to aim at is measured: since when, and the limit before.
    measuring: Option<(u64, u32)>,
    measures_at_ns: u64,
    least_for: u32,
    draws: Draws,
}

impl Gradient {
    const MOST: u32 = 1000;
    const MEASURED: usize = 50;
    const EVERY_NS: u64 = 60 * SECOND;
    const JITTER: f64 = 0.15;
    const BUFFER: f64 = 1.25;

    fn new(settings: Settings) -> Self {
        let limit = settings.least;
        Self {
            settings,
            limit,
            in_flight: 0,
            latencies: Vec::new(),
            aim_ns: 0.0,
            measuring: Some((0, limit)),
            measures_at_ns: 0,
            least_for: 0,
            draws: Draws::of(7),
        }
    }

    fn summed_up(&mut self) -> Option<f64> {
        self.latencies.sort_unstable();
        let place = (self.latencies.len() as f64 * self.settings.percentile) as usize;
        let summed = self.latencies.get(place).map(|ns| *ns as f64);
        self.latencies.clear();
        summed
    }

    fn follow(&mut self, latency_ns: f64) {
        let gradient = (self.aim_ns * Self::BUFFER / latency_ns).clamp(0.5, 2.0);
        let limit = f64::from(self.limit) * gradient;
        let (least, before) = (self.settings.least, self.limit);
        self.limit = ((limit + limit.sqrt()) as u32).clamp(least, Self::MOST);
        let at_least = self.limit == least && before == least;
        self.least_for = if at_least { self.least_for + 1 } else { 0 };
    }
}

impl Limiter for Gradient {
    fn admits(&mut self, _now_ns: u64) -> bool {
        let admits = self.in_flight < self.limit;
        self.in_flight += u32::from(admits);
        admits
    }

    fn answered(&mut self, now_ns: u64, latency_ns: u64) {
        self.in_flight -= 1;
        // What was sent before the measuring began says nothing about it.
        if self.measuring.is_some_and(|(since_ns, _)| now_ns - latency_ns < since_ns) {
            return;
        }
        self.latencies.push(latency_ns);
        if self.latencies.len() >= Self::MEASURED
            && let Some((_, before)) = self.measuring.take()
        {
            self.aim_ns = self.summed_up().expect("some were answered");
            self.limit = before;
            let jitter = 1.0 + self.draws.unit() * Self::JITTER;
            self.measures_at_ns = now_ns + (Self::EVERY_NS as f64 * jitter) as u64;
        }
    }

    fn look(&mut self, now_ns: u64) {
        if self.measuring.is_some() {
            return;
        }
        if now_ns >= self.measures_at_ns || self.least_for >= 5 {
            self.measuring = Some((now_ns, self.limit));
            self.limit = self.settings.pinned.unwrap_or(self.limit);
            self.least_for = 0;
            self.latencies.clear();
        } else if let Some(latency_ns) = self.summed_up() {
            self.follow(latency_ns);
        }
    }
}

/// How long a request is worked on.
#[derive(Clone, Copy)]
enum Takes {
    /// As long as all.
    Fixed(u64),
    /// Exponentially distributed with this mean.
    Random(u64),
    /// Nine of ten the first, the tenth the second.
    Mixed(u64, u64),
}

/// A server that works on so many requests at a time and queues the others.
#[derive(Clone, Copy)]
struct Server {
    at_a_time: usize,
    takes: Takes,
}

impl Server {
    fn carries_per_s(self) -> f64 {
        let mean_ns = match self.takes {
            Takes::Fixed(ns) | Takes::Random(ns) => ns as f64,
            Takes::Mixed(usual, long) => 0.9 * usual as f64 + 0.1 * long as f64,
        };
        self.at_a_time as f64 * SECOND as f64 / mean_ns
    }

    fn works_for_ns(self, draws: &mut Draws) -> u64 {
        match self.takes {
            Takes::Fixed(ns) => ns,
            Takes::Random(ns) => exponential(draws, ns as f64).max(1.0) as u64,
            Takes::Mixed(usual, long) => {
                if draws.unit() < 0.9 {
                    usual
                } else {
                    long
                }
            }
        }
    }
}

fn exponential(draws: &mut Draws, mean: f64) -> f64 {
    -(1.0 - draws.unit()).ln() * mean
}

/// The response times of what was answered in each second.
fn play(
    limiter: &mut dyn Limiter,
    server: Server,
    rate_per_s: f64,
    seconds: usize,
) -> Vec<Vec<u64>> {
    let mut draws = Draws::of(11);
    let mut answered = vec![Vec::new(); seconds];
    let mut ends: BinaryHeap<Reverse<(u64, u64)>> = BinaryHeap::new();
    let mut queue: VecDeque<u64> = VecDeque::new();
    let (mut arrives_ns, mut looks_ns) = (0.0, SECOND / 10);
    loop {
        let end_ns = ends.peek().map_or(u64::MAX, |Reverse((at, _))| *at);
        let now_ns = end_ns.min(arrives_ns as u64).min(looks_ns);
        if now_ns >= seconds as u64 * SECOND {
            return answered;
        }
        let mut begun = None;
        if now_ns == looks_ns {
            limiter.look(now_ns);
            looks_ns += SECOND / 10;
        } else if now_ns == end_ns {
            let Reverse((_, came_ns)) = ends.pop().expect("seen above");
            limiter.answered(now_ns, now_ns - came_ns);
            answered[(now_ns / SECOND) as usize].push(now_ns - came_ns);
            begun = queue.pop_front();
        } else {
            arrives_ns += exponential(&mut draws, SECOND as f64 / rate_per_s);
            if limiter.admits(now_ns) {
                if ends.len() < server.at_a_time {
                    begun = Some(now_ns);
                } else {
                    queue.push_back(now_ns);
                }
            }
        }
        if let Some(came_ns) = begun {
            ends.push(Reverse((now_ns + server.works_for_ns(&mut draws), came_ns)));
        }
    }
}

/// Holds this many in flight.
struct AtOnce(u32, u32);

impl Limiter for AtOnce {
    fn admits(&mut self, _now_ns: u64) -> bool {
        let admits = self.1 < self.0;
        self.1 += u32::from(admits);
        admits
    }

    fn answered(&mut self, _now_ns: u64, _latency_ns: u64) {
        self.1 -= 1;
    }

    fn look(&mut self, _now_ns: u64) {}
}

/// What the server completes while so many keep it busy, and their p99: of arrivals so many that one always waits.
fn saturated(server: Server, at_once: f64) -> (f64, u64) {
    let seconds = 20;
    let rate_per_s = 10.0 * server.carries_per_s();
    let answered = play(&mut AtOnce(at_once as u32, 0), server, rate_per_s, seconds);
    let mut times: Vec<u64> = answered.into_iter().skip(SETTLING).flatten().collect();
    times.sort_unstable();
    (times.len() as f64 / (seconds - SETTLING) as f64, times[times.len() * 99 / 100])
}

/// The load line as a search finds it: its rate, and how many at once.
fn line_of(server: Server) -> (f64, f64) {
    let held = |share: f64| {
        let rate_per_s = share * server.carries_per_s();
        let seconds = play(&mut Open, server, rate_per_s, 20);
        let mut times: Vec<u64> = seconds.into_iter().skip(SETTLING).flatten().collect();
        times.sort_unstable();
        let p99_ns = times[times.len() * 99 / 100];
        let mean_ns = times.iter().sum::<u64>() as f64 / times.len() as f64;
        (p99_ns, rate_per_s * mean_ns / SECOND as f64)
    };
    let (mut low, mut high) = (0.1, 1.0);
    for _ in 0..6 {
        let share = f64::midpoint(low, high);
        if held(share).0 <= OBJECTIVE_NS {
            low = share;
        } else {
            high = share;
        }
    }
    let share = low * FOUND;
    let at_a_time = share * server.at_a_time as f64;
    let mut at_once = keeps_busy(at_a_time);
    loop {
        let (rate_per_s, p99_ns) = saturated(server, at_once);
        if p99_ns <= OBJECTIVE_NS {
            return (rate_per_s, at_once);
        }
        at_once = f64::midpoint(at_a_time, at_once).floor();
    }
}

/// Of each second after the settling, what was answered within the objective over what the server carries.
#[derive(Debug)]
struct Goodput {
    mean: f64,
    worst_second: f64,
    p99_ms: f64,
}

fn goodput(limiter: &mut dyn Limiter, server: Server, seconds: usize) -> Goodput {
    let carries = server.carries_per_s();
    let answered = play(limiter, server, 2.0 * carries, seconds);
    let judged = &answered[SETTLING..];
    let good =
        |times: &Vec<u64>| times.iter().filter(|ns| **ns <= OBJECTIVE_NS).count() as f64 / carries;
    let mut times: Vec<u64> = judged.iter().flatten().copied().collect();
    times.sort_unstable();
    Goodput {
        mean: judged.iter().map(good).sum::<f64>() / judged.len() as f64,
        worst_second: judged.iter().map(good).fold(f64::INFINITY, f64::min),
        p99_ms: times[times.len() * 99 / 100] as f64 / MS as f64,
    }
}

/// Name, server, virtual seconds, and what of the line the ceiling lets through in the worst second.
type Tried = (&'static str, Server, usize, f64);
const SERVERS: [Tried; 5] = [
    ("4 at a time, 4 ms", Server { at_a_time: 4, takes: Takes::Fixed(4 * MS) }, 200, 0.95),
    (
        "4 at a time, 4 ms at random",
        Server { at_a_time: 4, takes: Takes::Random(4 * MS) },
        200,
        0.9,
    ),
    // Long requests that come together put even the line outside of the objective at times.
    (
        "8 at a time, 2 or 50 ms",
        Server { at_a_time: 8, takes: Takes::Mixed(2 * MS, 50 * MS) },
        200,
        0.7,
    ),
    ("64 at a time, 60 ms", Server { at_a_time: 64, takes: Takes::Fixed(60 * MS) }, 200, 0.95),
    ("800 at a time, 60 ms", Server { at_a_time: 800, takes: Takes::Fixed(60 * MS) }, 75, 0.95),
];

#[test]
fn the_line_is_given_without_probing() {
    for (name, server, seconds, worst) in SERVERS {
        let (line, at_once) = line_of(server);
        let mut held = Held::new(line, at_once);
        let line = line / server.carries_per_s();
        let [held, pinned, unpinned] = [
            &mut held as &mut dyn Limiter,
            &mut Gradient::new(PINNED),
            &mut Gradient::new(UNPINNED),
        ]
        .map(|limiter| goodput(limiter, server, seconds));
        let all = format!("{name}: line {line:.3}, {held:?} {pinned:?} {unpinned:?}");
        assert!(held.mean >= 0.95 * line, "it gives the line: {all}");
        assert!(held.worst_second >= worst * line, "its worst second: {all}");
        assert!(held.p99_ms * MS as f64 <= OBJECTIVE_NS as f64, "inside the objective: {all}");
        let more = held.mean > pinned.mean && held.worst_second > pinned.worst_second;
        assert!(more, "more goodput than the gradient controller, and no dips: {all}");
    }
    let slow = SERVERS[3].1;
    let probing = goodput(&mut Gradient::new(PINNED), slow, 200);
    assert!(probing.worst_second < 0.5, "its probe is seen: {}", probing.worst_second);
    let drifting = goodput(&mut Gradient::new(UNPINNED), slow, 200);
    assert!(drifting.p99_ms * MS as f64 > OBJECTIVE_NS as f64, "it drifts: {}", drifting.p99_ms);
}

//! The ceiling beside a limiter that finds the limit out by itself ([`gradient`]), in virtual time.
//!
//! The ceiling is what a search measured while a bounded number in flight kept the server busy (`saturated` of the load
//! line), of the numbers that a search tries ([`busy_next`]) the first well inside of the objective. Goodput is requests
//! answered within the objective over what the server carries. At twice that, goodput, that of the worst second, and p99 in
//! ms:
//!
//! | server | in flight | held at the line | gradient, pinned | gradient, unpinned |
//! |---|---|---|---|---|
//! | 4 at a time, 4 ms | 37 | 1.000, 1.000, 39 | 0.998, 0.970, 8 | 0.999, 0.822, 87 |
//! | 4 at a time, 4 ms at random | 34 | 1.002, 0.922, 52 | 0.982, 0.895, 22 | 0.995, 0.650, 96 |
//! | 8 at a time, 2 or 50 ms | 20 | 0.996, 0.853, 66 | 0.965, 0.830, 54 | 0.661, 0.000, 584 |
//! | 64 at a time, 60 ms | 64 | 0.985, 0.979, 60 | 0.959, 0.045, 111 | 0.509, 0.000, 649 |
//! | 800 at a time, 60 ms | 803 | 1.000, 0.991, 60 | 0.985, 0.267, 97 | 1.000, 0.997, 79 |
//!
//! While the same servers do nothing for 0.15 s, six times within 3 s, or for 1 s, or are starved of all but a twentieth for 3 s
//! ([`stalls`]), the ceiling's lowest place as a share of the line; 2 s after latency is inside it is above 0.95:
//!
//! | server | six pauses | a second | starved |
//! |---|---|---|---|
//! | 4 at a time, 4 ms | 1.000 | 1.000 | 0.500 |
//! | 4 at a time, 4 ms at random | 0.861 | 1.000 | 0.500 |
//! | 8 at a time, 2 or 50 ms | 0.806 | 1.000 | 0.500 |
//! | 64 at a time, 60 ms | 1.000 | 1.000 | 0.225 |
//! | 800 at a time, 60 ms | 1.000 | 1.000 | 0.050 |

mod gradient;
mod near;
pub(crate) mod queue;
mod stalls;

use model::loadline::{WITHIN, busy_next, seldom_exceeded};

use self::gradient::{Gradient, PINNED, UNPINNED};
use self::queue::{Limiter, SECOND, Second, Server, Takes, play};
use super::line::AHEAD_NS;
use super::{Ceiling, Envelope, Governor, Line, Part, Room, Short, Shortfall, Verdict};

const MS: u64 = 1_000_000;
/// What both are judged by, for 99 % of requests.
const OBJECTIVE_NS: u64 = 100 * MS;
/// What `plimsoll capacity` finds of the highest rate that holds the objective: 941 to 951 of 977 requests a second of
/// the first server here (`cargo xtask bench gate-hold`).
const FOUND: f64 = 0.965;
/// The first seconds, in which both settle, are not judged.
const SETTLING: usize = 5;
const SEED: u64 = 11;

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
    verdict: Verdict,
    shortfall: Shortfall,
    /// Of the last look that was told to be short.
    short: Option<Short>,
    looks: u32,
}

impl Held {
    fn new(found: &Found) -> Self {
        let Found { arrivals_per_s, arrivals_at_once, rate_per_s, at_once, mean_ns } = *found;
        let envelope = Envelope { share: 0.99, limit_ns: OBJECTIVE_NS, from: "p99<100ms".into() };
        let ahead_ns = if rate_per_s > arrivals_per_s { AHEAD_NS } else { 0 };
        let line = Line {
            rate_per_s,
            at_once,
            ahead_ns,
            arrivals_per_s,
            arrivals_at_once,
            mean_ns,
            envelope,
            ..Line::default()
        };
        let ceiling = Ceiling::default();
        ceiling.set(&line, 1.0, Part::WHOLE);
        let verdict = Verdict { factor: 1.0, latency_ns: None, fits: true };
        let governor = Governor::new(&line);
        let shortfall = Shortfall::default();
        Self { line, ceiling, governor, verdict, shortfall, short: None, looks: 0 }
    }
}

impl Limiter for Held {
    fn admits(&mut self, now_ns: u64) -> bool {
        self.ceiling.take(1000, Room::ALL, now_ns).is_ok()
    }

    fn answered(&mut self, now_ns: u64, latency_ns: u64) {
        self.ceiling.finish(1000, latency_ns);
        self.ceiling.ran(now_ns, latency_ns);
    }

    fn look(&mut self, now_ns: u64) {
        self.looks += 1;
        if self.looks.is_multiple_of(5) {
            let seen = self.ceiling.look(now_ns);
            let (per_s, at_once) = (self.ceiling.own_per_s(), self.ceiling.at_once());
            self.short = self.shortfall.learn(&seen, 0.5, per_s, at_once).or(self.short);
            self.verdict = self.governor.step(&seen, 0.5);
            self.ceiling.set(&self.line, self.verdict.factor, Part::WHOLE);
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

/// The response times of all seconds that are judged, in order.
fn times(seconds: &[Second]) -> Vec<u64> {
    let judged = seconds.iter().skip(SETTLING);
    let mut times: Vec<u64> = judged.flat_map(|second| &second.answered).copied().collect();
    times.sort_unstable();
    times
}

fn p99_ns(times: &[u64]) -> u64 {
    times[times.len() * 99 / 100]
}

/// What the server completes while so many keep it busy, and their p99: of arrivals so many that one always waits.
fn saturated(server: Server, at_once: f64) -> (f64, u64) {
    let seconds = 20;
    let rate_per_s = 10.0 * server.carries_per_s();
    let times = times(&play(&mut AtOnce(at_once as u32, 0), server, rate_per_s, seconds, SEED));
    (times.len() as f64 / (seconds - SETTLING) as f64, p99_ns(&times))
}

/// A load line as a search finds it.
struct Found {
    /// Of random arrivals, and how many these seldom exceed in flight.
    arrivals_per_s: f64,
    arrivals_at_once: f64,
    /// While so many keep the server busy.
    rate_per_s: f64,
    at_once: f64,
    /// The mean response time of either, whichever is longer.
    mean_ns: u64,
}

impl Found {
    fn of(server: Server) -> Self {
        // Mean and p99 at a share of what it carries.
        let at = |share: f64| {
            let rate_per_s = share * server.carries_per_s();
            let times = times(&play(&mut Open, server, rate_per_s, 20, SEED));
            let mean_ns = times.iter().sum::<u64>() as f64 / times.len() as f64;
            (mean_ns, p99_ns(&times))
        };
        let (mut low, mut high) = (0.1, 1.0);
        for _ in 0..6 {
            let share = f64::midpoint(low, high);
            if at(share).1 <= OBJECTIVE_NS {
                low = share;
            } else {
                high = share;
            }
        }
        let share = low * FOUND;
        let (arrivals_per_s, (mean_ns, p99_ns)) = (share * server.carries_per_s(), at(share));
        let in_flight = arrivals_per_s * mean_ns / SECOND as f64;
        let most = seldom_exceeded(arrivals_per_s, in_flight, p99_ns);
        let at_a_time = share * server.at_a_time as f64;
        let mut tried = Vec::new();
        while let Some(at_once) = busy_next(most, at_a_time, &tried) {
            let (rate_per_s, p99_ns) = saturated(server, at_once);
            if p99_ns as f64 <= WITHIN * OBJECTIVE_NS as f64 {
                let busy_ns = at_once / rate_per_s * SECOND as f64;
                let mean_ns = mean_ns.max(busy_ns) as u64;
                return Self {
                    arrivals_per_s,
                    arrivals_at_once: most,
                    rate_per_s,
                    at_once,
                    mean_ns,
                };
            }
            tried.push(at_once);
        }
        // Kept busy it is not well inside of the objective, so that only random arrivals were measured.
        let (rate_per_s, at_once) = (arrivals_per_s, most);
        let mean_ns = mean_ns as u64;
        Self { arrivals_per_s, arrivals_at_once: most, rate_per_s, at_once, mean_ns }
    }

    fn held(&self) -> Held {
        Held::new(self)
    }
}

/// Of each second after the settling, what was answered within the objective over what could be.
#[derive(Debug)]
struct Goodput {
    mean: f64,
    worst_second: f64,
    p99_ms: f64,
    refused: f64,
}

impl Goodput {
    fn of(played: &[Second], most_per_s: f64) -> Self {
        let judged = &played[SETTLING..];
        let good = |second: &Second| {
            let answered = second.answered.iter();
            answered.filter(|ns| **ns <= OBJECTIVE_NS).count() as f64 / most_per_s
        };
        let sum = |of: fn(&Second) -> u32| judged.iter().map(of).sum::<u32>();
        Self {
            mean: judged.iter().map(good).sum::<f64>() / judged.len() as f64,
            worst_second: judged.iter().map(good).fold(f64::INFINITY, f64::min),
            p99_ms: p99_ns(&times(played)) as f64 / MS as f64,
            refused: f64::from(sum(|s| s.refused)) / f64::from(sum(|s| s.arrived)),
        }
    }
}

fn goodput(limiter: &mut dyn Limiter, server: Server, seconds: usize) -> Goodput {
    let carries = server.carries_per_s();
    Goodput::of(&play(limiter, server, 2.0 * carries, seconds, SEED), carries)
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
        let found = Found::of(server);
        let mut held = found.held();
        let line = found.rate_per_s / server.carries_per_s();
        let [held, pinned, unpinned] = [
            &mut held as &mut dyn Limiter,
            &mut Gradient::new(PINNED),
            &mut Gradient::new(UNPINNED),
        ]
        .map(|limiter| goodput(limiter, server, seconds));
        let at_once = found.at_once;
        let all = format!("{name}: line {line:.3}, {at_once}, {held:?} {pinned:?} {unpinned:?}");
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

/// With four in flight a server that takes four times as long stays inside of the objective, so that the ceiling stays at the
/// line.
#[test]
fn a_slower_server_inside_of_the_objective_is_reported() {
    let found = Found {
        arrivals_per_s: 868.0,
        arrivals_at_once: 15.0,
        rate_per_s: 869.0,
        at_once: 4.0,
        mean_ns: 4 * MS,
    };
    for (takes_ns, is_short) in [(4 * MS, false), (16 * MS, true)] {
        let mut held = found.held();
        let server = Server { at_a_time: 4, takes: Takes::Fixed(takes_ns) };
        play(&mut held, server, 868.0, 20, SEED);
        assert_eq!((held.verdict.factor, held.verdict.fits), (1.0, true), "{takes_ns}");
        assert_eq!(held.short.is_some(), is_short, "{takes_ns}: {:?}", held.short);
    }
}

/// At parts and multiples of the line that random arrivals may come at, the least goodput of several seeds, with the longest
/// p99 and the most that is refused.
#[test]
fn the_line_itself_is_hardly_refused() {
    for (name, server, _, _) in SERVERS {
        let found = Found::of(server);
        for factor in [0.5, 1.0, 2.0, 5.0] {
            let (mut least, mut p99_ms, mut refused) = (f64::INFINITY, 0.0f64, 0.0f64);
            for seed in 21..26 {
                let rate_per_s = factor * found.arrivals_per_s;
                let mut held = found.held();
                let played = play(&mut held, server, rate_per_s, 30, seed);
                assert_eq!(held.short, None, "{name}, {factor} x: it carries its line");
                let arrived: u32 = played[SETTLING..].iter().map(|second| second.arrived).sum();
                // What came, up to the line: more or less than that comes by chance.
                let came_per_s = f64::from(arrived) / (played.len() - SETTLING) as f64;
                let goodput = Goodput::of(&played, came_per_s.min(found.arrivals_per_s));
                least = least.min(goodput.mean);
                p99_ms = p99_ms.max(goodput.p99_ms);
                refused = refused.max(goodput.refused);
            }
            let all = format!(
                "{name}, {} at once, {factor} x: goodput {least:.3}, p99 {p99_ms:.1} ms, refused {refused:.4}",
                found.at_once
            );
            assert!(least >= 0.95, "{all}");
            assert!(p99_ms * MS as f64 <= OBJECTIVE_NS as f64, "{all}");
        }
    }
}

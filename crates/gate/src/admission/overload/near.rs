//! A ceiling that fell in trouble, at servers whose requests take almost the whole objective even alone.

use super::queue::{Trouble, play_troubled};
use super::stalls::Watched;
use super::*;

/// A server that does a twentieth of its work from the 10th second to the 13th, and runs at this part of its speed afterwards.
fn troubles(speed: f64) -> [Trouble; 2] {
    let over_ns = 13 * SECOND;
    [
        Trouble { from_ns: 10 * SECOND, to_ns: over_ns, speed: 0.05 },
        Trouble { from_ns: over_ns, to_ns: u64::MAX, speed },
    ]
}

/// What came of it, from this second on.
struct Later {
    least_factor: f64,
    falls: usize,
    refused: f64,
    p99_ms: u64,
    all: String,
}

fn later(server: Server, found: &Found, times: f64, speed: f64, seed: u64, from: usize) -> Later {
    let mut held = Watched::new(found);
    let rate_per_s = times * found.arrivals_per_s;
    let played = play_troubled(&mut held, server, &troubles(speed), rate_per_s, 120, seed);
    let seconds = &played[from..];
    let sum = |of: fn(&Second) -> u32| f64::from(seconds.iter().map(of).sum::<u32>());
    let factors = &held.factors[from..];
    let p99_ms = p99_ns(&super::times(&played[from - SETTLING..])) / MS;
    let all = format!(
        "{:?} at {speed}, {times} times the line, seed {seed}: ceiling {:.2?}, p99 {p99_ms} ms",
        server.takes,
        &held.factors[10..]
    );
    Later {
        least_factor: factors.iter().copied().fold(1.0, f64::min),
        falls: factors.windows(2).filter(|pair| pair[1] < pair[0]).count(),
        refused: sum(|second| second.refused) / sum(|second| second.arrived),
        p99_ms,
        all,
    }
}

/// Latency is between 80 % of the limit and all of it, at whatever ceiling. It stayed at 0.3 to 0.6 of the line for ever.
#[test]
fn a_ceiling_that_fell_in_trouble_is_at_the_line_again() {
    for takes_ms in [78, 85, 91] {
        let server = Server { at_a_time: 64, takes: Takes::Fixed(takes_ms * MS) };
        let found = Found::of(server);
        for (times, seed) in [0.85, 1.0, 2.0].into_iter().zip(21..) {
            let later = later(server, &found, times, 1.0, seed, 25);
            assert_eq!(later.least_factor, 1.0, "{}", later.all);
            assert!(later.p99_ms * MS <= OBJECTIVE_NS, "{}", later.all);
            assert!(times > 1.0 || later.refused < 0.02, "{}: {}", later.refused, later.all);
        }
    }
}

/// Slower than it was measured, and inside of the objective as far as its ceiling goes.
#[test]
fn a_slower_server_inside_of_the_objective_is_not_left_far_below_what_it_carries() {
    let server = Server { at_a_time: 64, takes: Takes::Fixed(60 * MS) };
    let later = later(server, &Found::of(server), 2.0, 0.7, SEED, 60);
    assert!(later.least_factor >= 0.7, "{}", later.all);
    assert!(later.p99_ms * MS <= OBJECTIVE_NS, "{}", later.all);
}

/// A server that gets slower, with a line that was measured at 0.8 of what it carries, and so hardly below what it carries then.
/// The ceiling finds its place without going up and down.
#[test]
fn a_ceiling_near_the_limit_does_not_oscillate() {
    let server = Server { at_a_time: 8, takes: Takes::Mixed(10 * MS, 70 * MS) };
    let line = 0.8 * server.carries_per_s();
    let found = Found {
        arrivals_per_s: line,
        arrivals_at_once: 34.0,
        rate_per_s: line,
        at_once: 34.0,
        mean_ns: 22 * MS,
    };
    for speed in [0.8, 0.7] {
        let later = later(server, &found, 2.0, speed, SEED, 40);
        assert!(later.falls <= 5, "{} falls in 80 s: {}", later.falls, later.all);
    }
}

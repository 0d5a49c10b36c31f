//! What a moment of trouble costs: servers that stop for a while, that get almost no processor time, or that stay slower.

use super::queue::{Trouble, play_troubled};
use super::*;

/// Twice what the server carries, or the line, whichever is more.
const TIMES: f64 = 2.0;
/// The second in which trouble begins.
const BEGINS: usize = 10;
/// Seconds after it in which the ceiling comes back.
const RECOVERY: usize = 2;

/// What happens to a server.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Nothing is done for 0.15 s, six times within 3 s.
    Pauses,
    /// Nothing is done for a second.
    Pause,
    /// A twentieth is done for 3 s.
    Starved,
}

impl Kind {
    /// The troubles, and the second in which latency is inside again.
    fn troubles(self) -> (Vec<Trouble>, usize) {
        let begins_ns = BEGINS as u64 * SECOND;
        let trouble = |from_ms: u64, for_ms: u64, speed| {
            let from_ns = begins_ns + from_ms * MS;
            Trouble { from_ns, to_ns: from_ns + for_ms * MS, speed }
        };
        match self {
            Self::Pauses => ((0..6).map(|n| trouble(n * 500, 150, 0.0)).collect(), BEGINS + 3),
            Self::Pause => (vec![trouble(0, 1000, 0.0)], BEGINS + 1),
            // Latency is inside once the queue is worked off, within a second.
            Self::Starved => (vec![trouble(0, 3000, 0.05)], BEGINS + 4),
        }
    }
}

/// A limiter that keeps what the ceiling was.
pub(super) struct Watched {
    held: Held,
    /// The least ceiling of each second, as a share of the line.
    pub(super) factors: Vec<f64>,
    fits: bool,
}

impl Watched {
    pub(super) fn new(found: &Found) -> Self {
        Self { held: found.held(), factors: Vec::new(), fits: true }
    }
}

impl Limiter for Watched {
    fn admits(&mut self, now_ns: u64) -> bool {
        self.held.admits(now_ns)
    }

    fn answered(&mut self, now_ns: u64, latency_ns: u64) {
        self.held.answered(now_ns, latency_ns);
    }

    fn look(&mut self, now_ns: u64) {
        self.held.look(now_ns);
        let second = (now_ns / SECOND) as usize;
        self.factors.resize(second + 1, 1.0);
        let verdict = self.held.verdict;
        self.factors[second] = self.factors[second].min(verdict.factor);
        self.fits &= verdict.fits;
    }
}

/// The servers, and one that a line holds far below what it carries.
fn servers() -> Vec<(&'static str, Server, Found)> {
    let mut servers: Vec<_> =
        SERVERS.iter().map(|(name, server, ..)| (*name, *server, Found::of(*server))).collect();
    let roomy = Server { at_a_time: 4, takes: Takes::Random(4 * MS) };
    let line = Found {
        arrivals_per_s: 581.0,
        arrivals_at_once: 37.0,
        rate_per_s: 581.0,
        at_once: 37.0,
        mean_ns: 5 * MS,
    };
    servers.push(("held at 0.58 of what it carries", roomy, line));
    servers
}

/// What was answered within the objective in these seconds, over what `per_s` would have been.
fn good(played: &[Second], seconds: std::ops::Range<usize>, per_s: f64) -> f64 {
    let count = seconds.len() as f64;
    let answered = played[seconds].iter().flat_map(|second| &second.answered);
    answered.filter(|ns| **ns <= OBJECTIVE_NS).count() as f64 / count / per_s
}

#[test]
fn a_stall_costs_what_it_lasts() {
    for (name, server, found) in servers() {
        for kind in [Kind::Pauses, Kind::Pause, Kind::Starved] {
            let (troubles, over) = kind.troubles();
            let mut held = Watched::new(&found);
            let rate_per_s = TIMES * server.carries_per_s();
            let played = play_troubled(&mut held, server, &troubles, rate_per_s, over + 12, SEED);
            let before = good(&played, 5..BEGINS, found.rate_per_s);
            let after = good(&played, over + RECOVERY..over + 12, found.rate_per_s);
            let all = format!(
                "{name}, {kind:?}: goodput before {before:.3}, after {after:.3}; ceiling {:.3?}, fits {}",
                &held.factors[BEGINS..],
                held.fits
            );
            assert!(after >= 0.95 * before.min(1.0), "{all}");
            assert!(held.factors[over + RECOVERY..].iter().all(|factor| *factor >= 0.95), "{all}");
            if !matches!(kind, Kind::Starved) {
                assert!(held.factors.iter().all(|factor| *factor >= 0.8), "{all}");
            }
            assert!(held.fits, "{all}");
        }
    }
}

/// What a key that asks for little is let through, at a server with half of its speed and a third, and p99.
#[test]
fn a_slower_server_is_held_inside_the_objective() {
    for (name, server, found) in servers() {
        for speed in [0.5, 0.33] {
            let begins_ns = BEGINS as u64 * SECOND;
            let slower = [Trouble { from_ns: begins_ns, to_ns: u64::MAX, speed }];
            let mut held = Watched::new(&found);
            let rate_per_s = TIMES * server.carries_per_s();
            let played = play_troubled(&mut held, server, &slower, rate_per_s, 90, SEED);
            let carries = (speed * server.carries_per_s()).min(found.rate_per_s);
            let goodput = good(&played, BEGINS + 5..90, carries);
            let p99_ms = p99_ns(&times(&played[BEGINS..])) as f64 / MS as f64;
            let all = format!(
                "{name}, speed {speed}: goodput {goodput:.3}, p99 {p99_ms:.1} ms, ceiling {:.2?}, fits {}",
                &held.factors[BEGINS..BEGINS + 30],
                held.held.verdict.fits
            );
            // Where what a request takes alone leaves no half of the objective for the queue, nothing is promised.
            let takes_ns = server.longest_ns() as f64 / speed;
            if takes_ns <= 0.5 * OBJECTIVE_NS as f64 {
                assert!(goodput >= 0.95, "{all}");
                assert!(p99_ms * MS as f64 <= OBJECTIVE_NS as f64, "{all}");
            }
        }
    }
}

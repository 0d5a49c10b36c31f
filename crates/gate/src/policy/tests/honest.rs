//! What an honest key keeps beside a greedy one, in virtual time: decisions, shares and the ceiling as they run, before a
//! server with a queue that may be slower than it was when its load line was measured.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::ops::Range;

use model::random::Draws;

use super::*;
use crate::admission::queue::{Server, Takes, exponential};
use crate::admission::{Envelope, Governor, Throughput};
use crate::usage::Reporter;

const MS: u64 = 1_000_000;
const BEGIN: u64 = 10 * SECOND;
/// Of the line of random arrivals, what the honest key asks for.
const HONEST: f64 = 0.2;
/// Who tries again does so after this time, mean.
const TURN_NS: f64 = 2e6;

/// How the greedy key asks.
#[derive(Debug, Clone, Copy)]
enum Greedy {
    /// At random, so many times the line.
    Open(f64),
    /// At random, so many times the line, for a tenth of a second of every four.
    Pulses(f64),
    /// So many connections, each of which asks again soon whatever it was answered.
    Storm(usize),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    Look,
    Ends(usize),
    Honest,
    Greedy,
}

#[derive(Clone, Copy)]
struct Job {
    ticket: Ticket,
    came_ns: u64,
    greedy: bool,
}

/// Four at a time of 4 ms each: 1,000 a second when kept busy, and 941 of random arrivals.
const FOUR: Server = Server { at_a_time: 4, takes: Takes::Fixed(4 * MS) };

/// A load line of 1,000 a second, before a server that may be another than was measured.
struct World {
    desk: Desk,
    policy: Policy,
    collector: Collector,
    _reporter: Reporter,
    asking: Asking,
    throughput: Throughput,
    governor: Governor,
    line: Arc<Line>,
    server: Server,
    greedy: Greedy,
    draws: Draws,
    events: BinaryHeap<Reverse<(u64, Event)>>,
    jobs: Vec<Job>,
    queue: VecDeque<usize>,
    working: usize,
    looks: u32,
    /// When the server takes ten times as long.
    slow_ns: Range<u64>,
    /// Since when the honest key's requests count: both begin before.
    counts_from_ns: u64,
    honest: Luck,
    answered: u32,
}

const ARRIVALS_PER_S: f64 = 941.0;

impl World {
    fn new(at_once: f64, server: Server, greedy: Greedy, seed: u64) -> Self {
        let mut desk = Desk::new();
        let envelope = Envelope { share: 0.99, limit_ns: 100 * MS, from: "p99<100ms".into() };
        let line =
            Line { rate_per_s: 1000.0, at_once, ahead_ns: SECOND, envelope, ..Line::default() };
        desk.state.ceiling.set(&line, 1.0, Part::WHOLE);
        let line = Arc::new(line);
        desk.settings.line = Some(Arc::clone(&line));
        desk.key("honest", Settings::default());
        desk.key("greedy", Settings::default());
        let (collector, reporter) = Collector::new(Arc::clone(&desk.state.usage), 1);
        Self {
            policy: desk.policy(),
            desk,
            collector,
            _reporter: reporter,
            asking: Asking::default(),
            throughput: Throughput::default(),
            governor: Governor::new(&line),
            line,
            server,
            greedy,
            draws: Draws::of(seed),
            events: BinaryHeap::new(),
            jobs: Vec::new(),
            queue: VecDeque::new(),
            working: 0,
            looks: 0,
            slow_ns: 0..0,
            counts_from_ns: BEGIN + SECOND / 2,
            honest: Luck::default(),
            answered: 0,
        }
    }

    /// What the honest key was let through of what it asked for.
    fn kept(&self) -> f64 {
        f64::from(self.honest.passed) / f64::from(self.honest.asked)
    }

    /// Plays so many seconds.
    fn play(mut self, seconds: u64) -> Self {
        let end_ns = BEGIN + seconds * SECOND;
        self.after(BEGIN, SECOND as f64 / 10.0, Event::Look);
        self.after(BEGIN, 0.0, Event::Honest);
        let connections =
            if let Greedy::Storm(connections) = self.greedy { connections } else { 1 };
        for _ in 0..connections {
            self.after(BEGIN, 0.0, Event::Greedy);
        }
        while let Some(Reverse((now_ns, event))) = self.events.pop() {
            if now_ns >= end_ns {
                break;
            }
            self.take(event, now_ns);
        }
        self
    }

    fn take(&mut self, event: Event, now_ns: u64) {
        match event {
            Event::Look => {
                self.look(now_ns);
                self.after(now_ns, SECOND as f64 / 10.0, Event::Look);
            }
            Event::Ends(job) => self.ends(job, now_ns),
            Event::Honest => {
                let counts = u32::from(now_ns >= self.counts_from_ns);
                self.honest.asked += counts;
                self.honest.passed += counts * u32::from(self.ask(false, now_ns));
                self.at_random(now_ns, HONEST * ARRIVALS_PER_S, Event::Honest);
            }
            Event::Greedy => {
                let pulses = matches!(self.greedy, Greedy::Pulses(_));
                let pauses = pulses && !(now_ns / (SECOND / 10)).is_multiple_of(4);
                let passed = !pauses && self.ask(true, now_ns);
                match self.greedy {
                    Greedy::Open(times) | Greedy::Pulses(times) => {
                        self.at_random(now_ns, times * ARRIVALS_PER_S, Event::Greedy);
                    }
                    Greedy::Storm(_) if !passed => self.turn(now_ns),
                    Greedy::Storm(_) => {}
                }
            }
        }
    }

    fn after(&mut self, now_ns: u64, wait_ns: f64, event: Event) {
        self.events.push(Reverse((now_ns + wait_ns as u64, event)));
    }

    fn at_random(&mut self, now_ns: u64, per_s: f64, event: Event) {
        let wait_ns = exponential(&mut self.draws, SECOND as f64 / per_s);
        self.after(now_ns, wait_ns, event);
    }

    fn turn(&mut self, now_ns: u64) {
        let wait_ns = exponential(&mut self.draws, TURN_NS);
        self.after(now_ns, wait_ns, Event::Greedy);
    }

    fn ask(&mut self, greedy: bool, now_ns: u64) -> bool {
        let key = if greedy { "greedy" } else { "honest" };
        let decision = self.desk.ask(&self.policy, Some(key), "/", now_ns);
        let Decision::Forward(ticket) = decision else { return false };
        self.jobs.push(Job { ticket, came_ns: now_ns, greedy });
        self.queue.push_back(self.jobs.len() - 1);
        self.work(now_ns);
        true
    }

    fn work(&mut self, now_ns: u64) {
        while self.working < self.server.at_a_time
            && let Some(job) = self.queue.pop_front()
        {
            self.working += 1;
            let slower = if self.slow_ns.contains(&now_ns) { 10 } else { 1 };
            let wait_ns = slower * self.server.works_for_ns(&mut self.draws);
            self.after(now_ns, wait_ns as f64, Event::Ends(job));
        }
    }

    fn ends(&mut self, job: usize, now_ns: u64) {
        let Job { ticket, came_ns, greedy } = self.jobs[job];
        let latency_ns = now_ns - came_ns;
        let outcome = Outcome {
            status: 200,
            bytes_in: 1,
            bytes_out: 1,
            latency_ns,
            upstream_ns: latency_ns,
            waited_ns: 0,
            upstream_failed: false,
        };
        self.policy.finish(&ticket, &outcome, now_ns, &mut self.desk.usage);
        self.answered += 1;
        self.working -= 1;
        self.work(now_ns);
        if greedy && matches!(self.greedy, Greedy::Storm(_)) {
            self.turn(now_ns);
        }
    }

    /// What the thread that keeps time does ten times a second.
    fn look(&mut self, now_ns: u64) {
        let ceiling = &self.desk.state.ceiling;
        self.looks += 1;
        if self.looks.is_multiple_of(5) {
            let seen = ceiling.look(now_ns);
            self.throughput.learn(&seen, 0.5, ceiling.rate_per_s(), ceiling.at_once());
            let factor = self.governor.step(&seen, 0.5).factor;
            ceiling.set(&self.line, factor, Part::WHOLE);
        }
        self.desk.usage.hand_over();
        let second = (now_ns / SECOND) as i64;
        self.collector.collect(second, u64::from, |number| number.to_string());
        self.desk.state.note_asked(&mut self.asking, self.collector.asked_milli(), 0.1);
        self.policy.share_out(&self.asking, self.throughput.per_s());
    }
}

/// As `cargo xtask bench gate-hold` tries it over sockets, with as many in flight as its search finds and as few as keep the
/// server busy: at once from the beginning, and over longer.
#[test]
fn an_honest_key_keeps_its_rate_whatever_the_other_does() {
    for greedy in [Greedy::Open(5.0), Greedy::Storm(64)] {
        for (slower, at_once, seconds, seeds) in [
            (1, 10.0, 5, 4),
            (1, 38.0, 5, 4),
            (2, 10.0, 5, 8),
            (2, 38.0, 5, 8),
            (2, 10.0, 20, 2),
            (2, 38.0, 20, 2),
        ] {
            let (mut least, mut carried) = (1.0f64, 0.0);
            let server = Server { takes: Takes::Fixed(4 * MS * slower), ..FOUR };
            for seed in 0..seeds {
                let world = World::new(at_once, server, greedy, seed).play(seconds);
                least = least.min(world.kept());
                let most = 1000.0 * seconds as f64 / slower as f64;
                carried += f64::from(world.answered) / most / seeds as f64;
            }
            let all = format!(
                "{greedy:?}, {slower} times slower, {at_once} at once, {seconds} s: kept {least:.3}, carried {carried:.3}"
            );
            println!("{all}");
            assert!(least >= 0.98, "{all}");
            assert!(carried >= 0.93, "{all}");
        }
    }
}

/// Such a server completes as much as was measured only with all that may be in flight.
#[test]
fn an_api_that_needs_all_its_places_is_kept_busy_by_a_greedy_key() {
    let server = Server { at_a_time: 64, takes: Takes::Fixed(64 * MS) };
    for greedy in [Greedy::Open(5.0), Greedy::Storm(200)] {
        for seed in 0..2 {
            let world = World::new(66.0, server, greedy, seed).play(5);
            let kept = world.kept();
            let carried = f64::from(world.answered) / 5000.0;
            let all = format!("{greedy:?}: kept {kept:.3}, carried {carried:.3}");
            assert!(kept >= 0.95, "{all}");
            assert!(carried >= 0.88, "{all}");
        }
    }
}

/// What it asks for in a tenth of a second is known when it comes again.
#[test]
fn a_key_that_comes_in_bursts_takes_little_from_an_honest_one() {
    for at_once in [10.0, 38.0] {
        for seed in 0..2 {
            let kept = World::new(at_once, FOUR, Greedy::Pulses(5.0), seed).play(8).kept();
            assert!(kept >= 0.93, "{at_once} at once: kept {kept:.3}");
        }
    }
}

/// The server takes ten times as long for three seconds, in which less is carried than the honest key asks for.
#[test]
fn an_honest_key_has_its_rate_two_seconds_after_the_api_is_well_again() {
    for seed in 0..2 {
        let mut world = World::new(38.0, FOUR, Greedy::Open(5.0), seed);
        world.slow_ns = BEGIN + SECOND..BEGIN + 4 * SECOND;
        world.counts_from_ns = BEGIN + 6 * SECOND;
        let kept = world.play(10).kept();
        assert!(kept >= 0.95, "kept {kept:.3}");
    }
}
